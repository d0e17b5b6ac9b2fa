#include "ir/tensor/op_table.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "ir/tensor/builder.h"
#include "ir/tensor/ops/all.h"

namespace plumb::ir {
namespace {

using InferFn = Inferred (*)(std::span<const Type>, const AttrMap&);
using DecomposeFn = std::vector<ValueId> (*)(Builder&, std::span<const ValueId>, const AttrMap&);
constexpr auto infer_table = AllOps::map([]<class Op>() -> InferFn { return &Op::infer; });
constexpr auto attr_table = AllOps::map([]<class Op>() { return std::span<const AttrSpec>(Op::attrs); });
constexpr auto decompose_table = AllOps::map([]<class Op>() -> DecomposeFn {
  if constexpr (Composite<Op>) return &Op::decompose;
  else return nullptr;
});
using PartsFn = std::vector<Parts> (*)(Builder&, std::span<const Parts>, const AttrMap&);
constexpr auto parts_table = AllOps::map([]<class Op>() -> PartsFn {
  if constexpr (HasComplexParts<Op>) return &Op::complex_parts;
  else return nullptr;
});
/// Control flow passes any value on.
constexpr auto complex_table = AllOps::map([]<class Op>() {
  if constexpr (requires { Op::complex; }) return Op::complex;
  else return HasComplexParts<Op> || Op::row.op_class == OpClass::control;
});
constexpr auto constraint_table = AllOps::map([]<class Op>() {
  if constexpr (requires { Op::constraints; }) return std::span<const Constraint>(Op::constraints);
  else return std::span<const Constraint>();
});
constexpr auto edge_table = AllOps::map([]<class Op>() {
  if constexpr (requires { Op::edges; }) return std::span<const Edge>(Op::edges);
  else return std::span<const Edge>();
});
constexpr auto equation_table = AllOps::map([]<class Op>() {
  if constexpr (requires { Op::equation; }) return std::string_view(Op::equation);
  else return std::string_view();
});
constexpr auto derivative_table = AllOps::map([]<class Op>() {
  if constexpr (requires { Op::derivative; }) return std::string_view(Op::derivative);
  else return std::string_view();
});
constexpr auto no_edges_table = AllOps::map([]<class Op>() {
  if constexpr (requires { Op::no_edges; }) return std::string_view(Op::no_edges);
  else return std::string_view();
});

std::string count_operands(const OpRow& r, std::size_t given) {
  std::size_t names = r.operands.empty() ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(r.operands, ','));
  const bool variadic = r.operands.ends_with("...");
  if (variadic ? given + 1 >= names : given == names) return {};
  return "takes " + std::string(variadic ? "at least " : "") + std::to_string(variadic ? names - 1 : names) + " operands (" + std::string(r.operands) + "), not " + std::to_string(given);
}

/// "C4: …" of dot_general ends in " [dot_general_c4]", the label that the specification and the tests have.
std::string labelled(const OpRow& r, std::string why) {
  const auto colon = why.find(':');
  const bool label = why.starts_with('C') && colon != why.npos && colon > 1 && why.find_first_not_of("0123456789", 1) == colon;
  return label ? why + " [" + std::string(r.name) + "_c" + why.substr(1, colon - 1) + "]" : why;
}

/// For operations without a meaning for complex numbers: a sentence where their own rule has none, and what to do in each.
void reject_complex(const OpRow& r, std::span<const Type> operands, Inferred& inferred) {
  auto complex = [](const Type& t) { return is_complex(t.dtype); };
  const auto* types = std::get_if<std::vector<Type>>(&inferred);
  if (std::ranges::none_of(operands, complex) && !(types && std::ranges::any_of(*types, complex))) return;
  const std::string mend = "; real and imag give a complex number's parts";
  if (auto* why = std::get_if<std::string>(&inferred)) *why += mend;
  else inferred = std::string(r.name) + " does not take or give complex numbers" + mend;
}

AttrValue parse_fallback(const AttrSpec& spec) {
  switch (spec.kind) {
    case AttrKind::boolean: return spec.fallback == "true";
    case AttrKind::integer: {
      std::int64_t v = 0;
      std::from_chars(spec.fallback.data(), spec.fallback.data() + spec.fallback.size(), v);
      return v;
    }
    case AttrKind::real: {
      double v = 0;
      std::from_chars(spec.fallback.data(), spec.fallback.data() + spec.fallback.size(), v);
      return v;
    }
    case AttrKind::text: return std::string(spec.fallback);
    case AttrKind::ints: return Ints{};
    case AttrKind::reals: return Reals{};
    default: fail_internal("an attribute of this kind has no default");
  }
}

}  // namespace

std::size_t op_count() { return AllOps::rows.size(); }
const OpRow& row(OpCode op) { return AllOps::rows[op]; }
std::span<const AttrSpec> attr_specs(OpCode op) { return attr_table[op]; }

std::span<const Constraint> constraints(OpCode op) { return constraint_table[op]; }
std::span<const Edge> edges(OpCode op) { return edge_table[op]; }
std::string_view equation(OpCode op) { return equation_table[op]; }
std::string_view derivative(OpCode op) { return derivative_table[op]; }
std::string_view no_edges(OpCode op) { return no_edges_table[op]; }

std::optional<OpCode> find_op(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, OpCode> m;
    for (std::size_t i = 0; i < AllOps::rows.size(); ++i) m.emplace(AllOps::rows[i].name, static_cast<OpCode>(i));
    return m;
  }();
  auto it = by_name.find(name);
  return it == by_name.end() ? std::nullopt : std::optional(it->second);
}

OpCode op(std::string_view name) {
  if (auto code = find_op(name)) return *code;
  fail_internal("no operation '" + std::string(name) + "'");
}

Inferred infer(OpCode code, std::span<const Type> operands, const AttrMap& attrs) {
  if (auto wrong = count_operands(row(code), operands.size()); !wrong.empty()) return wrong;
  auto inferred = infer_table[code](operands, attrs);
  if (!complex_table[code]) reject_complex(row(code), operands, inferred);
  if (auto* why = std::get_if<std::string>(&inferred)) *why = labelled(row(code), std::move(*why));
  return inferred;
}

std::optional<std::string> complete_attrs(OpCode code, AttrMap& attrs) {
  const auto specs = attr_specs(code);
  for (const auto& [name, value] : attrs.entries()) {
    auto spec = std::ranges::find(specs, name, &AttrSpec::name);
    if (spec == specs.end()) return "has no attribute '" + name + "'";
    if (value.index() != static_cast<std::size_t>(spec->kind)) return "attribute '" + name + "' is of another kind";
  }
  AttrMap complete;  // in the record's order, so that equal nodes print alike
  for (const auto& spec : specs) {
    if (const auto* v = attrs.find(spec.name)) complete.set(spec.name, *v);
    else if (spec.fallback.empty()) return "needs the attribute '" + std::string(spec.name) + "'";
    else complete.set(spec.name, parse_fallback(spec));
  }
  attrs = std::move(complete);
  return std::nullopt;
}

bool has_complex_parts(OpCode code) { return parts_table[code] != nullptr; }

std::vector<Parts> complex_parts(OpCode code, Builder& builder, std::span<const Parts> operands, const AttrMap& attrs) {
  require(has_complex_parts(code), "an operation on complex numbers has a meaning on their parts");
  return parts_table[code](builder, operands, attrs);
}

bool is_composite(OpCode code) { return decompose_table[code] != nullptr; }

std::vector<ValueId> decompose(OpCode code, Builder& builder, std::span<const ValueId> operands, const AttrMap& attrs) {
  require(is_composite(code), "only composites decompose");
  return decompose_table[code](builder, operands, attrs);
}

}  // namespace plumb::ir
