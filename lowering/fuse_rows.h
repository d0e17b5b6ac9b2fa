// Row programs: reductions along the last axis, what they are made of, and what is done to the same rows with their results.
#pragma once
#include <vector>

#include "ir/kernel/target.h"
#include "ir/tensor/graph.h"

namespace plumb::lowering {

/// One kernel over rows: its nodes, in order. The last of them is its only result; it has the shape of the rows.
using RowGroup = std::vector<int>;

/// The row programs of a function among nodes that are not `taken`: softmax, normalisations and the like. Each holds one
/// reduction at least, and no value of it but the last leaves it.
std::vector<RowGroup> row_groups(const ir::Function& f, const std::vector<bool>& taken, const kir::TargetFacts& target);

/// Whether a kernel's specification is a row program: its reductions run along the last axis of operands shaped as its result.
bool is_row_program(const ir::Function& spec);

/// Whether a node gives rows' values to each element of the rows.
bool spreads_rows(const ir::Function& f, const ir::Node& n, const ir::Shape& rows);
/// Whether a shape has one element a row.
bool one_a_row(const ir::Shape& s, const ir::Shape& rows);

}  // namespace plumb::lowering
