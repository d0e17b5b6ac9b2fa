#include "ir/tensor/ops/sampling.h"

namespace plumb::ir::ops {

Sampled rows_of(const Words& w, ValueId x) {
  const Extents e = w.type(x).extents();
  Ints perm{0}, sizes(e.begin() + 2, e.end());
  std::int64_t rows = e[0];
  for (std::size_t d = 2; d < e.size(); ++d) {
    perm.push_back(static_cast<std::int64_t>(d));
    rows *= e[d];
  }
  perm.push_back(1);
  return {w.b.reshape(w.b.transpose(x, perm), {rows, e[1]}), sizes};
}

ValueId sample(const Words& w, const Sampled& x, ValueId image, const std::vector<Tap>& taps) {
  ValueId row = image, weight = -1, counts = -1;
  const DType t = w.type(x.rows).dtype;
  for (std::size_t d = 0; d < taps.size(); ++d) {
    row = w.b.op("add", {w.with("mul", row, static_cast<double>(x.sizes[d])), w.b.convert(taps[d].position, DType::i64)});
    if (taps[d].weight >= 0) weight = weight < 0 ? taps[d].weight : w.b.op("mul", {weight, taps[d].weight});
    if (taps[d].counts >= 0) counts = counts < 0 ? taps[d].counts : w.b.op("and", {counts, taps[d].counts});
  }
  auto y = w.gather(x.rows, row, 0);
  const Shape shape = w.type(y).shape;
  if (weight >= 0) y = w.b.op("mul", {y, w.broadcast(w.b.convert(weight, t), shape, {0, 1})});
  return counts < 0 ? y : w.b.op("select", {w.broadcast(counts, shape, {0, 1}), y, w.b.splat_like(y, 0)});
}

ValueId sample_all(const Words& w, const Sampled& x, ValueId image, const std::vector<std::vector<Tap>>& axes) {
  ValueId sum = -1;
  std::vector<std::size_t> which(axes.size(), 0);
  for (;;) {
    std::vector<Tap> taps;
    for (std::size_t d = 0; d < axes.size(); ++d) taps.push_back(axes[d][which[d]]);
    const auto term = sample(w, x, image, taps);
    sum = sum < 0 ? term : w.b.op("add", {sum, term});
    std::size_t d = axes.size();
    while (d > 0 && ++which[d - 1] == axes[d - 1].size()) which[--d] = 0;
    if (d == 0) return sum;
  }
}

std::vector<Tap> linear_taps(const Words& w, ValueId coordinate, std::int64_t size) {
  const auto low = w("floor", coordinate), above = w.b.op("sub", {coordinate, low});
  const double last = static_cast<double>(size - 1);
  std::vector<Tap> taps;
  for (int k = 0; k < 2; ++k) {
    const auto at = w.with("add", low, k);
    const auto inside = w.b.op("clamp", {at, w.b.splat_like(at, 0), w.b.splat_like(at, last)});
    const auto weight = k == 1 ? above : w.b.op("sub", {w.b.splat_like(above, 1), above});
    taps.push_back({inside, weight, w.b.op("and", {w.with("ge", at, 0), w.with("le", at, last)})});
  }
  return taps;
}

}  // namespace plumb::ir::ops
