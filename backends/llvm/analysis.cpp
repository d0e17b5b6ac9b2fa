#include "backends/llvm/analysis.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace plumb::backends::codegen {

using kir::Affine;
using kir::Stmt;

namespace {

template <class... Fs> struct Overload : Fs... { using Fs::operator()...; };

void visit_predicate(const kir::Predicate& p, const OperandVisitor& v) {
  for (const auto& c : p) v.index(c.expr);
}

void visit_access(kir::BufferId b, const kir::Indices& index, const OperandVisitor& v, bool read, bool write) {
  for (const auto& i : index) v.index(i);
  if (read) v.read(b, index);
  if (write) v.write(b, index);
}

/// The blocks nested directly in a statement.
std::vector<const kir::Block*> blocks_of(const Stmt& s) {
  if (auto* f = std::get_if<kir::For>(&s.node)) return {&f->body};
  if (auto* i = std::get_if<kir::If>(&s.node)) return {&i->then, &i->otherwise};
  if (auto* v = std::get_if<kir::IfValue>(&s.node)) return {&v->then};
  return {};
}

double cost_of(const kir::Kernel& k, const kir::Apply& a) {
  const auto& r = row(a.fn);
  if (r.ulp > 0.5) return 16;
  if (a.fn == fn_id<scalar::Fmod> || a.fn == fn_id<scalar::Remainder> || a.fn == fn_id<scalar::FloorDiv>) return 100;
  return is_narrow_float(k.scalars[static_cast<std::size_t>(a.args[0])]) ? 8 : 1;
}

}  // namespace

void visit_operands(const Stmt& s, const OperandVisitor& v) {
  std::visit(Overload{
                 [&](const kir::Apply& a) { std::ranges::for_each(a.args, v.scalar); },
                 [&](const kir::Convert& c) { v.scalar(c.arg); },
                 [&](const kir::Select& c) { v.scalar(c.condition), v.scalar(c.on_true), v.scalar(c.on_false); },
                 [&](const kir::IndexValue& i) { v.index(i.expr); },
                 [&](const kir::Test& t) { visit_predicate(t.predicate, v); },
                 [&](const kir::Load& l) {
                   visit_access(l.buffer, l.index, v, true, false);
                   visit_predicate(l.guard, v);
                   if (l.other >= 0) v.scalar(l.other);
                 },
                 [&](const kir::Shuffle& c) { v.scalar(c.arg), v.index(c.lane); },
                 [&](const kir::Store& c) { visit_access(c.buffer, c.index, v, false, true), v.scalar(c.value); },
                 [&](const kir::Combine& c) {
                   visit_access(c.buffer, c.index, v, true, true), v.scalar(c.a);
                   if (c.b >= 0) v.scalar(c.b);
                 },
                 [&](const kir::CheckIndex& c) { v.scalar(c.value); },
                 [&](const kir::For& f) { v.index(f.extent); },
                 [&](const kir::If& i) { visit_predicate(i.condition, v); },
                 [&](const kir::IfValue& i) { v.scalar(i.condition); },
                 [](const auto&) {},
             },
             s.node);
}

void walk(const kir::Block& b, const std::function<void(const Stmt&)>& f) {
  for (const auto& s : b) {
    f(s);
    for (const auto* inner : blocks_of(s)) walk(*inner, f);
  }
}

void walk_atoms(const Affine& a, const std::function<void(const kir::Atom&)>& f) {
  for (const auto& t : a.terms()) {
    f(t.atom);
    if (t.atom.a) walk_atoms(*t.atom.a, f);
    if (t.atom.b) walk_atoms(*t.atom.b, f);
  }
}

double work(const kir::Kernel& k, const kir::Block& b) {
  double w = 0;
  for (const auto& s : b) {
    if (auto* a = std::get_if<kir::Apply>(&s.node)) w += cost_of(k, *a);
    else if (!std::holds_alternative<kir::Constant>(s.node)) w += 1;
    double inner = 0;
    for (const auto* block : blocks_of(s)) inner += work(k, *block);
    if (auto* f = std::get_if<kir::For>(&s.node)) {
      const double n = static_cast<double>(f->extent.as_constant().value_or(16));
      inner *= f->kind == kir::LoopKind::vector ? std::ceil(n / std::max(1, f->width)) : n;
    }
    w += inner;
  }
  return w;
}

Uses free_uses(const kir::Kernel& k, const kir::Block& b) {
  std::set<kir::ScalarId> scalars, defined;
  std::set<kir::VarId> vars, loops;
  std::set<kir::BufferId> buffers, allocated;
  auto access = [&](kir::BufferId buffer, const kir::Indices&) { buffers.insert(buffer); };
  const OperandVisitor v{[&](kir::ScalarId s) { scalars.insert(s); },
                         [&](const Affine& a) {
                           walk_atoms(a, [&](const kir::Atom& atom) {
                             if (atom.kind == kir::Atom::Kind::var) vars.insert(atom.id);
                             if (atom.kind == kir::Atom::Kind::value) scalars.insert(atom.id);
                           });
                         },
                         access, access};
  walk(b, [&](const Stmt& s) {
    visit_operands(s, v);
    if (auto* f = std::get_if<kir::For>(&s.node)) loops.insert(f->var);
    if (auto* a = std::get_if<kir::Alloc>(&s.node)) allocated.insert(a->buffer);
    std::visit([&](const auto& n) {
      if constexpr (requires { n.result; }) defined.insert(n.result);
    }, s.node);
  });
  Uses u;
  std::ranges::set_difference(scalars, defined, std::back_inserter(u.scalars));
  std::ranges::set_difference(vars, loops, std::back_inserter(u.vars));
  std::ranges::set_difference(buffers, allocated, std::back_inserter(u.buffers));
  require(k.buffers.size() >= u.buffers.size(), "a block uses buffers of its kernel");
  return u;
}

bool unroll_steps(const kir::Kernel& k, const kir::For& f) {
  const auto n = f.extent.as_constant();
  if (!n || *n <= 0) return false;
  const std::int64_t steps = (*n + f.width - 1) / f.width;
  if (steps == 1) return true;
  if (steps > 16 || static_cast<double>(steps) * work(k, f.body) > 320) return false;
  std::set<kir::BufferId> own;
  walk(f.body, [&](const Stmt& s) {
    if (auto* a = std::get_if<kir::Alloc>(&s.node)) own.insert(a->buffer);
  });
  bool local = false;
  auto access = [&](kir::BufferId b, const kir::Indices& index) {
    const bool outer = k.buffers[static_cast<std::size_t>(b)].space != kir::Space::global && !own.contains(b);
    local = local || (outer && std::ranges::any_of(index, [&](const Affine& a) { return a.mentions(f.var); }));
  };
  OperandVisitor v;
  v.read = v.write = access;
  walk(f.body, [&](const Stmt& s) { visit_operands(s, v); });
  return local;
}

int widening(const kir::Kernel& k, const kir::For& f) {
  const auto n = f.extent.as_constant();
  if (!n) return 1;
  bool chains = false;
  std::set<kir::BufferId> own, reads, writes;
  OperandVisitor v;
  v.read = [&](kir::BufferId b, const kir::Indices&) { reads.insert(b); };
  v.write = [&](kir::BufferId b, const kir::Indices&) { writes.insert(b); };
  walk(f.body, [&](const Stmt& s) {
    visit_operands(s, v);
    if (auto* a = std::get_if<kir::Alloc>(&s.node)) own.insert(a->buffer);
    chains = chains || std::holds_alternative<kir::For>(s.node);
  });
  // Steps run in order when one may read what an earlier one wrote.
  for (auto b : writes)
    if (reads.contains(b) && !own.contains(b)) return 1;
  std::int64_t private_bytes = 0;
  for (auto b : own) {
    const auto& buffer = k.buffers[static_cast<std::size_t>(b)];
    private_bytes += element_count(buffer.extents) * byte_size(buffer.dtype);
  }
  if (!chains || private_bytes > 64) return 1;
  const std::int64_t steps = *n / f.width;
  for (int by : {4, 2})
    if (f.width * by <= 64 && (steps % by == 0 || steps >= 8 * by) && steps >= by) return by;
  return 1;
}

int widest_step(const kir::Kernel& k) {
  int lanes = 1;
  walk(k.body, [&](const Stmt& s) {
    if (auto* f = std::get_if<kir::For>(&s.node); f && f->kind == kir::LoopKind::vector) lanes = std::max(lanes, std::max(f->width, std::min(4 * f->width, 64)));
  });
  return lanes;
}

std::optional<TripGuard> trip_guard(const kir::For& f) {
  if (f.body.size() != 1) return std::nullopt;
  auto* i = std::get_if<kir::If>(&f.body[0].node);
  if (!i || !i->otherwise.empty()) return std::nullopt;
  TripGuard g;
  g.body = &i->then;
  const Affine lane = Affine::var(f.var);
  for (const auto& c : i->condition) {
    if (!c.expr.mentions(f.var)) {
      g.uniform.push_back(c);
      continue;
    }
    const Affine rest = c.expr + lane;  // rest - lane >= 0
    if (c.equality || rest.mentions(f.var)) return std::nullopt;
    g.limits.push_back(rest + 1);
  }
  return g;
}

}  // namespace plumb::backends::codegen
