// The op table as everyone but the equations' readers sees it: rows, attribute specs, shape rules, decompositions.
#pragma once
#include <optional>
#include <span>

#include "ir/tensor/record.h"

namespace plumb::ir {

std::size_t op_count();
const OpRow& row(OpCode op);
std::span<const AttrSpec> attr_specs(OpCode op);
std::span<const Constraint> constraints(OpCode op);
std::span<const Edge> edges(OpCode op);
/// The output element as a formula, "" where the record has none.
std::string_view equation(OpCode op);
/// The result's tangent as a formula of the operands' tangents, "" where the record has none.
std::string_view derivative(OpCode op);
/// Why the record names no edges, "" where it names some.
std::string_view no_edges(OpCode op);
std::optional<OpCode> find_op(std::string_view name);
/// The op of that name; an internal error when there is none.
OpCode op(std::string_view name);
inline std::string_view name(const Node& n) { return row(n.op).name; }

/// Result types of an operation, or the reason why it has none. Checks the operand count first.
/// `attrs` must be complete (see complete_attrs).
Inferred infer(OpCode op, std::span<const Type> operands, const AttrMap& attrs);
/// Fills defaults in; gives a sentence when an attribute is unknown, missing or of another kind.
std::optional<std::string> complete_attrs(OpCode op, AttrMap& attrs);
/// Whether the record says what the operation means on the parts of complex operands and results.
bool has_complex_parts(OpCode op);
/// Appends that meaning to the builder's function; gives what stands for the results.
std::vector<Parts> complex_parts(OpCode op, Builder& builder, std::span<const Parts> operands, const AttrMap& attrs);
bool is_composite(OpCode op);
/// Appends the composite's decomposition to the builder's function; gives the values that stand for its results.
std::vector<ValueId> decompose(OpCode op, Builder& builder, std::span<const ValueId> operands, const AttrMap& attrs);

}  // namespace plumb::ir
