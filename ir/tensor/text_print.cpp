#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"
#include "ir/tensor/text_literal.h"

namespace plumb::ir {
namespace {

std::string join(const auto& items, auto spell) {
  std::string s;
  bool first = true;
  for (const auto& item : items) {
    if (!first) s += ", ";
    s += spell(item);
    first = false;
  }
  return s;
}

std::string print_ints(const Ints& xs) {
  std::string s = "[";
  for (std::size_t i = 0; i < xs.size(); ++i) s += (i ? "," : "") + std::to_string(xs[i]);
  return s + "]";
}

/// Every value's name as the text has it: its own where no earlier value took it.
std::vector<std::string> unique_names(const Function& f) {
  std::vector<std::string> names(f.values.size());
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, int> clashes;  // so that a thousand equal names take a thousand steps
  for (const auto& v : f.values) taken.insert(v.name);
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = f.values[i].name.empty() ? std::to_string(i) : f.values[i].name;
    const std::string base = names[i];
    if (f.values[i].name.empty() ? taken.insert(base).second : seen.insert(base).second) continue;
    do names[i] = base + "_" + std::to_string(++clashes[base]);
    while (!taken.insert(names[i]).second);
  }
  for (auto& n : names) n = "%" + spell_name(n);
  return names;
}

/// Two attribute values that no reader could tell apart: -0 is not 0, and a NaN is itself.
bool same(const AttrValue& a, const AttrValue& b) {
  auto same_bits = [](double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); };
  if (const auto *x = std::get_if<double>(&a), *y = std::get_if<double>(&b); x && y) return same_bits(*x, *y);
  if (const auto *x = std::get_if<Reals>(&a), *y = std::get_if<Reals>(&b); x && y) return std::ranges::equal(*x, *y, same_bits);
  return a == b;
}

AttrValue blank(AttrKind kind) {
  switch (kind) {
    case AttrKind::boolean: return false;
    case AttrKind::integer: return std::int64_t{0};
    case AttrKind::real: return 0.0;
    case AttrKind::text: return std::string();
    case AttrKind::ints: return Ints{};
    case AttrKind::reals: return Reals{};
    case AttrKind::shape: return Shape{};
    case AttrKind::dtype: return DType::f32;
    case AttrKind::literal: return Literal(Type{});
  }
  fail_internal("an attribute kind without a blank");
}

/// The operation's attributes as they are when only the needed ones are given.
AttrMap defaults(OpCode op) {
  AttrMap a;
  for (const auto& spec : attr_specs(op))
    if (spec.fallback.empty()) a.set(spec.name, blank(spec.kind));
  complete_attrs(op, a);
  return a;
}

class Printer {
 public:
  /// types_follow: an attribute may be left to the result's type.
  explicit Printer(bool types_follow = true) : types_follow_(types_follow) {}
  std::string function(const Function& f) {
    const auto names = unique_names(f);
    auto name = [&](ValueId v) { return names.at(static_cast<std::size_t>(v)); };
    std::string s = "func @" + spell_name(f.name) + "(";
    s += join(f.params, [&](ValueId v) { return name(v) + ": " + f.type(v).str(); }) + ") -> (";
    s += join(f.results, [&](ValueId v) { return f.type(v).str(); }) + ") {\n";
    for (const auto& n : f.nodes) {
      s += "  " + join(n.results, name) + (n.results.empty() ? "" : " = ") + call(f, n, names);
      s += (n.results.empty() ? "" : " : ") + join(n.results, [&](ValueId v) { return f.type(v).str(); }) + "\n";
    }
    s += "  return" + std::string(f.results.empty() ? "" : " ") + join(f.results, name) + "\n}\n";
    return s;
  }

  /// The operation without its results.
  std::string call(const Function& f, const Node& n, const std::vector<std::string>& names) {
    return std::string(row(n.op).name) + "(" + join(n.operands, [&](ValueId v) { return names.at(static_cast<std::size_t>(v)); }) + ")" + attributes(f, n);
  }

  std::string attributes(const Function& f, const Node& n) {
    std::string s;
    const Type* result = n.results.empty() || !types_follow_ ? nullptr : &f.type(n.results[0]);
    for (const auto& spec : attr_specs(n.op)) {
      const auto* v = n.attrs.find(spec.name);
      if (!v) continue;
      if (!spec.fallback.empty() && same(*v, *defaults_of(n.op).find(spec.name))) continue;
      if (spec.fallback.empty() && result && spec.name == "shape" && *v == AttrValue(result->shape)) continue;
      if (spec.fallback.empty() && result && spec.name == "dtype" && *v == AttrValue(result->dtype)) continue;
      const auto* literal = std::get_if<Literal>(v);
      const bool typed = literal && !(result && literal->type() == *result);
      if (!s.empty()) s += ", ";
      s += std::string(spec.name) + "=" + value(*v, row(n.op).op_class == OpClass::control, typed);
    }
    return s.empty() ? s : " {" + s + "}";
  }

 private:
  std::string value(const AttrValue& v, bool function_name, bool typed_literal) {
    if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
    if (const auto* i = std::get_if<std::int64_t>(&v)) return std::to_string(*i);
    if (const auto* r = std::get_if<double>(&v)) return shortest(*r);
    if (const auto* t = std::get_if<std::string>(&v)) return function_name ? "@" + spell_name(*t) : text(*t);
    if (const auto* xs = std::get_if<Ints>(&v)) return print_ints(*xs);
    if (const auto* xs = std::get_if<Reals>(&v)) return "[" + join(*xs, shortest) + "]";
    if (const auto* s = std::get_if<Shape>(&v)) return str(*s);
    if (const auto* d = std::get_if<DType>(&v)) return std::string(plumb::name(*d));
    const auto& l = std::get<Literal>(v);
    return (typed_literal ? l.type().str() + " " : "") + print_elements(l, splats_left_);
  }

  static std::string text(const std::string& t) {
    const bool word = !t.empty() && t.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == std::string::npos && !(t[0] >= '0' && t[0] <= '9') && t[0] != '.';
    if (word) return t;
    const std::string spelled = spell_name(t);
    return spelled.starts_with('"') ? spelled : '"' + spelled + '"';
  }

  const AttrMap& defaults_of(OpCode op) {
    auto it = defaults_.find(op);
    return it != defaults_.end() ? it->second : defaults_.emplace(op, defaults(op)).first->second;
  }

  bool types_follow_;
  std::unordered_map<OpCode, AttrMap> defaults_;
  std::int64_t splats_left_ = splat_budget;
};

}  // namespace

std::string print(const Module& m) {
  Printer p;
  std::string s;
  for (const auto& f : m.functions) s += (s.empty() ? "" : "\n") + p.function(f);
  return s;
}

std::string print(const Function& f) { return Printer().function(f); }

std::string print_attributes(const Function& f, const Node& n) { return Printer(false).attributes(f, n); }

std::string print_node(const Function& f, const Node& n) { return Printer(false).call(f, n, unique_names(f)); }

std::string print_literal(const Literal& l) {
  std::int64_t splats_left = splat_budget;
  return print_elements(l, splats_left);
}

}  // namespace plumb::ir
