#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "ir/kernel/text.h"
#include "ir/kernel/walk.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/lexer.h"
#include "ir/tensor/text.h"

namespace plumb::kir {
namespace {

template <class... F> struct Overloaded : F... { using F::operator()...; };
template <class... F> Overloaded(F...) -> Overloaded<F...>;

std::string quoted(std::string_view s) {
  const auto spelled = ir::spell_name(s);
  return spelled.starts_with('"') ? spelled : '"' + spelled + '"';
}

std::string type(const Buffer& b) {
  std::string s(name(b.dtype));
  s += "[";
  for (std::size_t d = 0; d < b.extents.size(); ++d) s += (d ? "," : "") + std::to_string(b.extents[d]);
  return s + "]";
}

bool is_number(std::string_view s) { return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; }); }

/// A loop variable's name as a plain word that means nothing else.
std::string word(const std::string& s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool plain = !s.empty() && letter(s[0]) && std::all_of(s.begin(), s.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; });
  return plain && !is_reserved(s) ? s : "v";
}

/// The name, or the name and the least number that makes it new.
std::string unique(const std::string& wanted, std::set<std::string>& taken) {
  std::string s = wanted;
  for (int n = 1; !taken.insert(s).second; ++n) s = wanted + "." + std::to_string(n);
  return s;
}

std::string in_reduction(int r) { return r < 0 ? "" : " reduction " + std::to_string(r); }

}  // namespace

Printer::Printer(const Kernel& k) : k_(k), buffers_(k.buffers.size()), vars_(k.vars.size()), scalars_(k.scalars.size(), -1) {
  const auto ours = [&](BufferId b) { return b >= 0 && b < static_cast<BufferId>(k.buffers.size()); };
  for (const auto* list : {&k.inputs, &k.outputs})
    for (auto b : *list)
      if (ours(b) && std::find(order_.begin(), order_.end(), b) == order_.end()) order_.push_back(b);
  std::vector<BufferId> allocated;
  const auto find = [&](const auto& self, const Block& block) -> void {
    for (const auto& s : block) {
      if (auto* a = std::get_if<Alloc>(&s.node)) allocated.push_back(a->buffer);
      for_each_block(s, [&](const Block& b) { self(self, b); });
    }
  };
  find(find, k.body);
  // Buffers that nothing declares stand among the parameters, so that nothing is lost.
  for (std::size_t b = 0; b < k.buffers.size(); ++b)
    if (std::find(allocated.begin(), allocated.end(), static_cast<BufferId>(b)) == allocated.end() && std::find(order_.begin(), order_.end(), static_cast<BufferId>(b)) == order_.end())
      order_.push_back(static_cast<BufferId>(b));
  std::set<std::string> taken;
  const auto name_it = [&](BufferId b) {
    const auto& given = k.buffers[static_cast<std::size_t>(b)].name;
    auto& to = buffers_[static_cast<std::size_t>(b)];
    if (to.empty()) to = unique(given.empty() || is_number(given) ? "b" + given : given, taken);
  };
  for (auto b : order_) name_it(b);
  for (auto b : allocated)
    if (ours(b)) name_it(b);
  number(k.body);
  taken.clear();
  for (std::size_t v = 0; v < vars_.size(); ++v) vars_[v] = unique(word(k.vars[v]), taken);
}

void Printer::number(const Block& b) {
  for (const auto& s : b) {
    if (const auto r = result_of(s); r >= 0 && r < static_cast<ScalarId>(scalars_.size()) && scalars_[static_cast<std::size_t>(r)] < 0)
      scalars_[static_cast<std::size_t>(r)] = next_scalar_++;
    for_each_block(s, [&](const Block& inner) { number(inner); });
  }
}

std::string Printer::buffer(BufferId b) const {
  const bool known = b >= 0 && b < static_cast<BufferId>(buffers_.size());
  return "%" + (known ? ir::spell_name(buffers_[static_cast<std::size_t>(b)]) : "unknown_buffer_" + std::to_string(b));
}
std::string Printer::scalar(ScalarId s) const {
  const bool known = s >= 0 && s < static_cast<ScalarId>(scalars_.size()) && scalars_[static_cast<std::size_t>(s)] >= 0;
  return known ? "%" + std::to_string(scalars_[static_cast<std::size_t>(s)]) : "%undefined_" + std::to_string(s);
}
std::string Printer::var(VarId v) const { return v >= 0 && v < static_cast<VarId>(vars_.size()) ? vars_[static_cast<std::size_t>(v)] : "unknown_var_" + std::to_string(v); }

std::string Printer::atom(const Atom& a) const {
  const auto inner = [&](const Affine& x) {
    const bool single = x.terms().empty() || (x.terms().size() == 1 && x.constant() == 0 && x.terms()[0].coefficient == 1);
    return single ? affine(x) : "(" + affine(x) + ")";
  };
  switch (a.kind) {
    case Atom::Kind::var: return var(a.id);
    case Atom::Kind::symbol: return "dim(" + ir::symbol_name(a.id) + ")";
    case Atom::Kind::coordinate: return "coord(" + std::to_string(a.id) + ")";
    case Atom::Kind::value: return scalar(a.id);
    case Atom::Kind::floor_div: return "(" + inner(*a.a) + " floordiv " + std::to_string(a.divisor) + ")";
    case Atom::Kind::mod: return "(" + inner(*a.a) + " mod " + std::to_string(a.divisor) + ")";
    case Atom::Kind::bit_xor: return "(" + inner(*a.a) + " xor " + inner(*a.b) + ")";
  }
  return {};
}

/// Terms as they stand, then the constant. The first term never starts with a bare minus (a number would be read).
std::string Printer::affine(const Affine& a) const {
  std::string s;
  for (const auto& t : a.terms()) {
    const bool minus = t.coefficient < 0 && !s.empty() && t.coefficient != INT64_MIN;
    const auto c = minus ? -t.coefficient : t.coefficient;
    if (!s.empty()) s += minus ? " - " : " + ";
    s += c == 1 ? atom(t.atom) : s.empty() && c < 0 ? std::to_string(c) + "*" + atom(t.atom) : atom(t.atom) + "*" + std::to_string(c);
  }
  if (s.empty()) return std::to_string(a.constant());
  if (a.constant() > 0) s += " + " + std::to_string(a.constant());
  else if (a.constant() < 0) s += a.constant() == INT64_MIN ? " + " + std::to_string(a.constant()) : " - " + std::to_string(-a.constant());
  return s;
}

/// Positive terms on the left, the others on the right: 15 - i >= 0 reads i < 16.
std::string Printer::condition(const Condition& c) const {
  Affine left, right;
  for (const auto& t : c.expr.terms()) {
    const Affine one = affine_of(t.atom) * t.coefficient;
    if (t.coefficient > 0) left = left + one;
    else right = right - one;
  }
  const auto k = c.expr.constant();
  if (k > 0) left = left + k;
  else right = right - k;
  if (c.equality) return affine(left) + " == " + affine(right);
  if (left.is_constant() && left.constant() < INT64_MAX) return affine(right) + " < " + std::to_string(left.constant() + 1);
  if (k == -1) return affine(left) + " > " + affine(right + k);
  return affine(left) + " >= " + affine(right);
}

std::string Printer::predicate(const Predicate& p) const {
  std::string s;
  for (const auto& c : p) s += (s.empty() ? "" : " and ") + condition(c);
  return p.empty() ? "true" : s;
}

std::string Printer::access(BufferId b, const Indices& index) const {
  std::string s = buffer(b) + "[";
  for (std::size_t d = 0; d < index.size(); ++d) s += (d ? ", " : "") + affine(index[d]);
  return s + "]";
}

std::string Printer::constant(const Constant& c) const {
  const DType t = c.result >= 0 && c.result < static_cast<ScalarId>(k_.scalars.size()) ? k_.scalars[static_cast<std::size_t>(c.result)] : DType::u64;
  if (is_bool(t)) return c.bits ? "true" : "false";
  if (is_signed(t)) {
    const int spare = 64 - 8 * byte_size(t);
    return std::to_string(static_cast<std::int64_t>(c.bits << spare) >> spare);
  }
  if (is_unsigned(t)) return std::to_string(c.bits);
  const double v = decode_float(t, c.bits);
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char text[40];
  if (!std::isnan(v) && encode_float(t, v) == c.bits) {
    const auto end = t == DType::f32 ? std::to_chars(text, text + sizeof text, static_cast<float>(v)).ptr : std::to_chars(text, text + sizeof text, v).ptr;
    return std::string(text, end);
  }
  return "0x" + std::string(text, std::to_chars(text, text + sizeof text, c.bits, 16).ptr);
}

std::string Printer::definition(const Stmt& s, ScalarId& result) const {
  result = result_of(s);
  return std::visit(Overloaded{[&](const Constant& c) { return "constant " + constant(c); },
                               [&](const Apply& a) {
                                 std::string r = std::string(row(a.fn).name) + "(";
                                 for (std::size_t i = 0; i < a.args.size(); ++i) r += (i ? ", " : "") + scalar(a.args[i]);
                                 return r + ")";
                               },
                               [&](const Convert& c) { return (c.bits ? "bitcast " : "convert ") + scalar(c.arg); },
                               [&](const Select& c) { return "select(" + scalar(c.condition) + ", " + scalar(c.on_true) + ", " + scalar(c.on_false) + ")"; },
                               [&](const IndexValue& i) { return "index " + affine(i.expr); },
                               [&](const Test& t) { return "test " + predicate(t.predicate); },
                               [&](const Load& l) {
                                 const auto r = "load " + access(l.buffer, l.index);
                                 return l.guard.empty() && l.other < 0 ? r : r + " if " + predicate(l.guard) + " else " + scalar(l.other);
                               },
                               [&](const Shuffle& x) { return "shuffle " + std::string(name(x.mode)) + " " + scalar(x.arg) + ", " + affine(x.lane); },
                               [&](const CheckIndex& c) { return "check_index " + scalar(c.value) + " in " + std::to_string(c.extent) + " site " + std::to_string(c.site); },
                               [&](const auto&) { return std::string(); }},
                    s.node);
}

std::string Printer::statement(const Stmt& s) const {
  ScalarId result = -1;
  if (const auto d = definition(s, result); !d.empty()) {
    const bool known = result >= 0 && result < static_cast<ScalarId>(k_.scalars.size());
    return scalar(result) + " = " + d + " : " + std::string(known ? plumb::name(k_.scalars[static_cast<std::size_t>(result)]) : "unknown");
  }
  return std::visit(
      Overloaded{[&](const Store& x) { return access(x.buffer, x.index) + " = " + scalar(x.value); },
                 [&](const Combine& c) {
                   return access(c.buffer, c.index) + " " + std::string(row(c.fn).name) + "= " + scalar(c.a) + (c.b >= 0 ? ", " + scalar(c.b) : "") + in_reduction(c.reduction);
                 },
                 [&](const Alloc& a) {
                   const bool known = a.buffer >= 0 && a.buffer < static_cast<BufferId>(k_.buffers.size());
                   const auto& b = known ? k_.buffers[static_cast<std::size_t>(a.buffer)] : Buffer{};
                   return "alloc " + buffer(a.buffer) + ": " + std::string(name(b.space)) + " " + type(b);
                 },
                 [&](const Barrier& b) { return "barrier " + std::string(name(b.scope)); },
                 [&](const AsyncCopy& c) {
                   std::string tile;
                   for (auto e : c.tile) tile += (tile.empty() ? "" : ", ") + std::to_string(e);
                   return "async_copy " + access(c.to, c.to_index) + " = " + access(c.from, c.from_index) + " tile [" + tile + "]";
                 },
                 [&](const AsyncCommit&) { return std::string("async_commit"); },
                 [&](const AsyncWait& w) { return "async_wait " + std::to_string(w.pending); },
                 [&](const TileFill& t) { return "tile_fill " + buffer(t.fragment) + " = " + scalar(t.value); },
                 [&](const TileLoad& t) { return "tile_load " + buffer(t.fragment) + " = " + access(t.from, t.index) + (t.transposed ? " transposed" : ""); },
                 [&](const TileMma& t) { return "tile_mma " + buffer(t.d) + " = " + buffer(t.a) + " * " + buffer(t.b) + " " + std::string(name(t.scope)) + in_reduction(t.reduction); },
                 [&](const TileStore& t) { return "tile_store " + access(t.to, t.index) + " = " + buffer(t.fragment); },
                 [&](const For& f) {
                   return "for " + var(f.var) + " in " + affine(f.extent) + " " + std::string(name(f.kind)) + (f.width != 1 ? "(" + std::to_string(f.width) + ")" : "") + " {";
                 },
                 [&](const If& i) { return "if " + predicate(i.condition) + " {"; }, [&](const IfValue& i) { return "if " + scalar(i.condition) + " {"; },
                 [&](const auto&) { return std::string(); }},
      s.node);
}

void Printer::block(std::string& out, const Block& b, int depth) const {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  for (const auto& s : b) {
    out += indent + statement(s) + "\n";
    const auto* i = std::get_if<If>(&s.node);
    bool first = true;
    for_each_block(s, [&](const Block& inner) {
      if (!first && inner.empty()) return;
      if (!first) out += indent + "} else {\n";
      block(out, inner, depth + 1);
      first = false;
    });
    if (!first || i) out += indent + "}\n";
  }
}

void Printer::header(std::string& out) const {
  if (k_.correctly_rounded) out += "  correctly_rounded\n";
  for (std::size_t i = 0; i < k_.reductions.size(); ++i) {
    const auto& r = k_.reductions[i];
    out += "  reduction " + std::to_string(i) + ": " + std::string(row(r.fn).name) + " in " + std::string(plumb::name(r.accumulator)) + " terms " + std::to_string(r.terms) + " height " +
           std::to_string(r.height) + (r.spec_node >= 0 ? " node " + std::to_string(r.spec_node) : "") + (r.truncates ? " truncates" : "") + "\n";
  }
  for (std::size_t i = 0; i < k_.sites.size(); ++i) {
    const auto& s = k_.sites[i];
    out += "  site " + std::to_string(i) + ": " + quoted(s.operation);
    if (s.where.known()) out += " at " + quoted(s.where.file) + " " + std::to_string(s.where.line) + " " + std::to_string(s.where.column);
    out += "\n";
  }
  for (const auto& m : k_.output_maps) {
    out += "  map " + buffer(m.buffer) + ":";
    for (std::size_t i = 0; i < m.inverse.size(); ++i) out += (i ? ", " : " ") + var(m.inverse[i].first) + " = " + affine(m.inverse[i].second);
    out += "\n";
  }
}

std::string Printer::kernel() const {
  std::string out = "kernel @" + ir::spell_name(k_.name) + "(";
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto b = order_[i];
    const auto& info = k_.buffers[static_cast<std::size_t>(b)];
    const bool in = std::find(k_.inputs.begin(), k_.inputs.end(), b) != k_.inputs.end(), given = std::find(k_.outputs.begin(), k_.outputs.end(), b) != k_.outputs.end();
    out += (i ? ", " : "") + std::string(in ? "in" : given ? "out" : name(info.space)) + " " + buffer(b) + ": " + type(info);
  }
  out += ")" + (k_.schedule.empty() ? "" : " schedule " + quoted(k_.schedule)) + " {\n";
  header(out);
  if (k_.spec) {
    std::string text = ir::print(*k_.spec);
    out += "  spec {\n";
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      out += end > at ? "    " + text.substr(at, end - at) + "\n" : "\n";
      at = end + 1;
    }
    out += "  }\n";
  }
  block(out, k_.body, 1);
  return out + "}\n";
}

std::string print(const Kernel& kernel) { return Printer(kernel).kernel(); }

bool is_reserved(std::string_view s) {
  static const std::set<std::string_view> words{"floordiv", "mod", "xor", "dim", "coord", "in", "if", "else", "and", "true", "to", "for", "tile", "serial", "vector"};
  return words.contains(s);
}

std::string_view name(Space s) {
  constexpr std::string_view names[] = {"global", "shared", "local", "fragment"};
  return names[static_cast<std::size_t>(s)];
}
std::string_view name(LoopKind k) {
  constexpr std::string_view names[] = {"serial", "unrolled", "parallel", "vector", "gpu_block", "gpu_thread", "tile"};
  return names[static_cast<std::size_t>(k)];
}
std::string_view name(Scope s) {
  constexpr std::string_view names[] = {"warp", "warpgroup", "block"};
  return names[static_cast<std::size_t>(s)];
}
std::string_view name(ShuffleMode m) {
  constexpr std::string_view names[] = {"xor", "down", "up", "from"};
  return names[static_cast<std::size_t>(m)];
}

}  // namespace plumb::kir
