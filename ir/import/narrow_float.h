// ONNX's conversion to 8-bit floats.
#pragma once
#include "ir/import/node.h"

namespace plumb::ir::onnx_import {

/// A float tensor as f8: infinities saturate, too, unless `saturate` is false: then overflow gives infinity or NaN.
ValueId to_narrow_float(const NodeImport& n, ValueId x, DType to, bool saturate);

}  // namespace plumb::ir::onnx_import
