// The shape of an operation's record: name, operands, attributes, shape rule, equation, kink, doc, in one struct.
//
// An equation is a formula over a value domain D (interpreter/domains/domain.h): it never branches in C++ on a
// value, so that the same text can be rounded, enclosed, differentiated or handed to a solver. It gives the output
// element at an index from its input elements; `sum`, `scan` and `select` belong to the domain.
#pragma once
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/scalar/edge.h"
#include "ir/scalar/functions.h"
#include "ir/tensor/attr.h"
#include "ir/tensor/graph.h"

namespace plumb::ir {

class Builder;

/// Result types, or why there are none (a sentence that starts with the constraint's label: "C2: …").
using Inferred = std::variant<std::vector<Type>, std::string>;

/// How a primitive moves data; lowering and fusion dispatch on it.
enum class OpClass : std::uint8_t { elementwise, convert, select, source, view, gather, scatter, reduce, arg_reduce, window, scan, sort, contract, control, composite, complex /* of complex operands: gone once these are parts */, library /* a step of its own (ir/linalg) */ };

struct OpRow {
  std::string_view name;
  std::string_view operands;   ///< names, comma separated; a last name ending in "..." is variadic
  OpClass op_class = OpClass::composite;
  std::string_view doc;
  std::string_view kink = "";  ///< convention where no derivative exists
  FnId fn = 0;                 ///< elementwise and reduce: the scalar function applied or combined with
};

/// A condition on operands and attributes. Where it is broken, infer's sentence starts with the label ("C2: …").
struct Constraint { std::string_view label, text; };
using plumb::Edge;

/// A record also has, where there is something to say: `equation` (the output element, as a formula), `constraints` and
/// `edges` (arrays), `no_edges` (why there are none), `derivative` (the result's tangent from the operands').
/// interpreter/SPECIFICATION.md is made from them.
template <class Op> concept TensorOp = requires(std::span<const Type> in, const AttrMap& a) {
  { Op::row } -> std::convertible_to<const OpRow&>;
  { Op::attrs } -> std::convertible_to<std::span<const AttrSpec>>;
  { Op::infer(in, a) } -> std::same_as<Inferred>;
};
template <class Op> concept Composite = requires(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
  { Op::decompose(b, in, a) } -> std::same_as<std::vector<ValueId>>;
};

/// A value where complex ones are pairs of real ones; a real value has no imaginary part.
struct Parts {
  ValueId re = -1, im = -1;
  bool is_complex() const { return im >= 0; }
};
/// What the operation means where an operand or a result is complex: operations on the parts (ir/tensor/split_complex.h).
/// A composite may instead say `complex = true`: its decomposition then means the same for complex operands. All other
/// operations reject complex types.
template <class Op> concept HasComplexParts = requires(Builder& b, std::span<const Parts> in, const AttrMap& a) {
  { Op::complex_parts(b, in, a) } -> std::same_as<std::vector<Parts>>;
};

inline constexpr std::array<AttrSpec, 0> no_attrs{};

}  // namespace plumb::ir
