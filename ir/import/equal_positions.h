// Updates of one position by many: their combination, so that a scatter sees at most one update a position.
#pragma once
#include "ir/import/node.h"

namespace plumb::ir::onnx_import {

struct Updates {
  ValueId positions, values;  ///< [m] and [m, …]
};
/// The updates in the order of their positions; of those with equal positions the last holds all of them combined by the
/// operation (a binary one), the others what leaves a sum as it is: -0, or the integer 0.
Updates combined(NodeImport& n, std::string_view op, const Updates& u);
/// Likewise, each position's last update standing for all.
Updates last_ones(NodeImport& n, const Updates& u);

}  // namespace plumb::ir::onnx_import
