#include "ir/import/narrow_float.h"

#include <limits>

namespace plumb::ir::onnx_import {
namespace {

/// f8e4m3fn has no infinity: what would round beyond 448 (above 464, the midpoint to the next step) becomes NaN.
ValueId without_saturation(const NodeImport& n, ValueId x) {
  const auto y = n.b.convert(x, DType::f8e4m3fn);
  return n.b.op("select", {n.with("gt", n.unary("abs", x), 464), n.b.splat_like(y, std::numeric_limits<double>::quiet_NaN()), y});
}
}  // namespace

ValueId to_narrow_float(const NodeImport& n, ValueId x, DType to, bool saturate) {
  const double greatest = to == DType::f8e4m3fn ? 448 : 57344;
  if (saturate && byte_size(n.type(x).dtype) > 1) x = n.b.op("clamp", {x, n.b.splat_like(x, -greatest), n.b.splat_like(x, greatest)});
  if (!saturate && to == DType::f8e4m3fn) return without_saturation(n, x);
  return n.b.convert(x, to);
}

}  // namespace plumb::ir::onnx_import
