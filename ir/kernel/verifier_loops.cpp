// Loops and conditions: how kinds nest, and what stands under which control.
#include "ir/kernel/verifier_parts.h"
#include "ir/kernel/walk.h"

namespace plumb::kir {
namespace {

std::int64_t count(const Block& b) {
  std::int64_t n = 0;
  for_each_statement(b, [&](const Stmt&) { ++n; });
  return n;
}

const For* gpu_loop(const Stmt& s, LoopKind kind) {
  const auto* f = std::get_if<For>(&s.node);
  return f && f->kind == kind ? f : nullptr;
}

bool depends_on_loads(const Predicate& p) {
  return std::any_of(p.begin(), p.end(), [](const Condition& c) { return c.expr.mentions_value(); });
}

}  // namespace

bool Verifier::inside(LoopKind k) const {
  return std::any_of(loops_.begin(), loops_.end(), [&](const For* f) { return f->kind == k; });
}

void Verifier::no_lanes(const char* what) const {
  if (inside(LoopKind::vector) || inside(LoopKind::tile)) broken("L2: " + std::string(what) + " stands in a vector or tile loop");
}

void Verifier::check(const Barrier&) const {
  if (!inside(LoopKind::gpu_thread)) broken("B1: a barrier stands outside a gpu_thread nest");
  no_lanes("a barrier");
  if (loaded_control_ > 0) broken("B1: a barrier stands under control that depends on loaded data");
}

void Verifier::nesting(const For& f) {
  const LoopKind outer = loops_.empty() ? LoopKind::gpu_block : loops_.back()->kind;
  const bool gpu = inside(LoopKind::gpu_block) || inside(LoopKind::gpu_thread), lanes = inside(LoopKind::vector) || inside(LoopKind::tile);
  switch (f.kind) {
    case LoopKind::gpu_block:
      if (outer != LoopKind::gpu_block || conditions_ > 0) broken("L2: a gpu_block loop is not outermost");
      break;
    case LoopKind::gpu_thread:
      if (conditions_ > 0 || (outer != LoopKind::gpu_block && outer != LoopKind::gpu_thread)) broken("L2: a gpu_thread loop stands in other loops or conditions than gpu ones");
      if (outer != LoopKind::gpu_thread && thread_nests_++ > 0) broken("L2: a second nest of gpu_thread loops");
      if (!loops_.empty() && outer == LoopKind::gpu_thread && loops_.back()->body.size() != 1) broken("L2: gpu_thread loops do not nest directly");
      break;
    case LoopKind::parallel:
      if (gpu || lanes) broken("L2: a parallel loop stands in a gpu, vector or tile loop");
      break;
    case LoopKind::vector:
      if (lanes) broken("L2: a vector loop stands in a vector or tile loop");
      break;
    case LoopKind::tile:
      if (lanes || !inside(LoopKind::gpu_thread)) broken("L2: a tile loop stands outside a gpu_thread nest, or in vector or tile loops");
      break;
    default: break;
  }
  if (f.kind == LoopKind::gpu_block || f.kind == LoopKind::gpu_thread)
    for (const auto* l : loops_)
      if (l->kind == f.kind && l->width == f.width) broken("L1: two loops of one kind have the gpu axis " + std::to_string(f.width));
}

/// Beside the nest of threads, a block only allocates and defines.
void Verifier::thread_nest(const For& f) {
  const bool holds = std::any_of(f.body.begin(), f.body.end(), [](const Stmt& s) { return gpu_loop(s, LoopKind::gpu_thread) || gpu_loop(s, LoopKind::gpu_block); });
  if (f.kind != LoopKind::gpu_block || !holds) return;
  for (const auto& s : f.body) {
    const bool fits = gpu_loop(s, LoopKind::gpu_thread) || gpu_loop(s, LoopKind::gpu_block) || std::holds_alternative<Alloc>(s.node) || result_of(s) >= 0;
    if (!fits) broken("L2: beside a gpu loop's nest stand only allocations and definitions");
  }
}

void Verifier::check(const For& f) {
  if (f.var < 0 || f.var >= static_cast<VarId>(k_.vars.size())) broken("L1: loop variable id " + std::to_string(f.var) + " lies outside the table");
  if (has_loop_[static_cast<std::size_t>(f.var)]++) broken("L1: a second loop has the variable " + printer_.var(f.var));
  const bool fixed = f.kind != LoopKind::serial && f.kind != LoopKind::parallel;
  if (fixed && !f.extent.is_constant()) broken("L1: the extent of a " + std::string(name(f.kind)) + " loop is a constant");
  if (f.extent.is_constant() && f.extent.constant() < 0) broken("L1: a negative extent");
  const bool gpu = f.kind == LoopKind::gpu_block || f.kind == LoopKind::gpu_thread;
  if (gpu ? f.width < 0 || f.width > 2 : f.width < 1 || f.width > 4096) broken(gpu ? "L1: a gpu axis is 0, 1 or 2" : "L1: a width lies in [1, 4096]");
  nesting(f);
  thread_nest(f);
  const auto m = bounds_.mark();
  bounds_.enter(f.var, f.extent);
  const bool loaded = f.extent.mentions_value();
  loaded_control_ += loaded;
  loops_.push_back(&f);
  loop_ends_.push_back(place_ + 1 + count(f.body));
  block(f.body);
  loops_.pop_back();
  loop_ends_.pop_back();
  loaded_control_ -= loaded;
  bounds_.forget(m);
}

void Verifier::check(const If& i) {
  const bool loaded = depends_on_loads(i.condition);
  loaded_control_ += loaded;
  ++conditions_;
  const auto m = bounds_.mark();
  bounds_.assume(i.condition);
  block(i.then);
  bounds_.forget(m);
  bounds_.assume_not(i.condition);
  block(i.otherwise);
  bounds_.forget(m);
  --conditions_;
  loaded_control_ -= loaded;
}

void Verifier::check(const IfValue& i) {
  same(dtype(i.condition), DType::boolean, "a condition is a bool");
  ++loaded_control_;
  ++conditions_;
  block(i.then);
  --conditions_;
  --loaded_control_;
}

}  // namespace plumb::kir
