// The second output of MaxPool.
#pragma once
#include "ir/import/window.h"

namespace plumb::ir::onnx_import {

/// For each window, where in the flattened operand its greatest element stands: the first of several, or the first NaN.
/// With column_major, the spatial axes are numbered from the first on.
ValueId pool_indices(NodeImport& n, ValueId x, const Window& w, bool column_major);

}  // namespace plumb::ir::onnx_import
