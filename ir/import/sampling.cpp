#include "ir/import/sampling.h"

namespace plumb::ir::onnx_import {

Sampled rows_of(NodeImport& n, ValueId x) {
  const Extents e = n.extents(x);
  Ints perm{0}, sizes(e.begin() + 2, e.end());
  std::int64_t rows = e[0];
  for (std::size_t d = 2; d < e.size(); ++d) {
    perm.push_back(static_cast<std::int64_t>(d));
    rows *= e[d];
  }
  perm.push_back(1);
  return {n.b.reshape(n.b.transpose(x, perm), {rows, e[1]}), sizes};
}

ValueId sample(NodeImport& n, const Sampled& x, ValueId image, const std::vector<Tap>& taps) {
  ValueId row = image, weight = -1, counts = -1;
  const DType t = n.type(x.rows).dtype;
  for (std::size_t d = 0; d < taps.size(); ++d) {
    row = n.b.op("add", {n.with("mul", row, static_cast<double>(x.sizes[d])), n.b.convert(taps[d].position, DType::i64)});
    if (taps[d].weight >= 0) weight = weight < 0 ? taps[d].weight : n.b.op("mul", {weight, taps[d].weight});
    if (taps[d].counts >= 0) counts = counts < 0 ? taps[d].counts : n.b.op("and", {counts, taps[d].counts});
  }
  auto y = n.gather(x.rows, row, 0);
  const Shape shape = n.type(y).shape;
  if (weight >= 0) y = n.b.op("mul", {y, n.broadcast(n.b.convert(weight, t), shape, {0, 1})});
  return counts < 0 ? y : n.b.op("select", {n.broadcast(counts, shape, {0, 1}), y, n.b.splat_like(y, 0)});
}

ValueId sample_all(NodeImport& n, const Sampled& x, ValueId image, const std::vector<std::vector<Tap>>& axes) {
  ValueId sum = -1;
  std::vector<std::size_t> which(axes.size(), 0);
  for (;;) {
    std::vector<Tap> taps;
    for (std::size_t d = 0; d < axes.size(); ++d) taps.push_back(axes[d][which[d]]);
    const auto term = sample(n, x, image, taps);
    sum = sum < 0 ? term : n.b.op("add", {sum, term});
    std::size_t d = axes.size();
    while (d > 0 && ++which[d - 1] == axes[d - 1].size()) which[--d] = 0;
    if (d == 0) return sum;
  }
}

std::vector<Tap> linear_taps(NodeImport& n, ValueId coordinate, std::int64_t size) {
  const auto low = n.unary("floor", coordinate), above = n.b.op("sub", {coordinate, low});
  const double last = static_cast<double>(size - 1);
  std::vector<Tap> taps;
  for (int k = 0; k < 2; ++k) {
    const auto at = n.with("add", low, k);
    const auto inside = n.b.op("clamp", {at, n.b.splat_like(at, 0), n.b.splat_like(at, last)});
    const auto weight = k == 1 ? above : n.b.op("sub", {n.b.splat_like(above, 1), above});
    taps.push_back({inside, weight, n.b.op("and", {n.with("ge", at, 0), n.with("le", at, last)})});
  }
  return taps;
}

}  // namespace plumb::ir::onnx_import
