// Pooling over windows and over whole channels.
#include <cmath>

#include "ir/import/families.h"
#include "ir/import/pool_indices.h"
#include "ir/import/window.h"
#include "ir/scalar/storage.h"

namespace plumb::ir::onnx_import {
namespace {

/// With ceil_mode a last window that begins inside the operand or its leading padding may end beyond the trailing
/// padding: the extra positions widen `high`. A window that would begin in the trailing padding does not exist.
Window pool_window(NodeImport& n, Ints& declared_high) {
  const Ints sizes = spatial_sizes(n, n.in(0));
  Window w = read_window(n, kernel_shape(n, sizes.size()), sizes);
  declared_high = w.high;
  if (n.integer("ceil_mode", 0) == 0) return w;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto free = sizes[d] + w.low[d] + w.high[d] - w.span(d);
    if (free < 0) continue;
    auto out = (free + w.stride[d] - 1) / w.stride[d] + 1;
    if ((out - 1) * w.stride[d] >= sizes[d] + w.low[d]) --out;
    w.high[d] += std::max<std::int64_t>((out - 1) * w.stride[d] - free, 0);
  }
  return w;
}
ValueId pooled(NodeImport& n, const char* op, ValueId x, const Window& w) {
  auto y = n.b.op(op, {x}, attrs({{"window", with_batch_and_channel(w.kernel, 1)}, {"stride", with_batch_and_channel(w.stride, 1)}, {"low", with_batch_and_channel(w.low, 0)},
                                  {"high", with_batch_and_channel(w.high, 0)}, {"dilation", with_batch_and_channel(w.dilation, 1)}}));
  return y;
}

void max_pool(NodeImport& n) {
  Ints high;
  const Window w = pool_window(n, high);
  n.out(pooled(n, "reduce_window_max", n.in(0), w));
  if (n.wants(1)) n.out(1, pool_indices(n, n.in(0), w, n.integer("storage_order", 0) != 0));
}

/// How many positions each window of one axis counts: those of the operand, or also those of the declared padding.
std::vector<double> counts(const Window& w, std::size_t d, std::int64_t size, std::int64_t out, std::int64_t declared_high, bool include_pad) {
  const auto first = include_pad ? -w.low[d] : 0, last = include_pad ? size + declared_high : size;
  std::vector<double> r;
  for (std::int64_t o = 0; o < out; ++o) {
    std::int64_t inside = 0;
    for (std::int64_t k = 0; k < w.kernel[d]; ++k) {
      const auto at = o * w.stride[d] - w.low[d] + k * w.dilation[d];
      inside += at >= first && at < last;
    }
    r.push_back(static_cast<double>(inside));
  }
  return r;
}

/// The divisor of AveragePool, broadcast to the result: one vector of counts an axis, multiplied (exact in a float).
ValueId divisor(NodeImport& n, ValueId sum, const Window& w, const Ints& declared_high, bool include_pad) {
  const Type t = n.type(sum);
  const Ints sizes = spatial_sizes(n, n.in(0));
  double common = 1;
  ValueId product = -1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto out = t.shape[d + 2].size();
    n.check_table(out);
    n.check_table(out * w.kernel[d]);
    const auto c = counts(w, d, sizes[d], out, declared_high[d], include_pad);
    if (std::all_of(c.begin(), c.end(), [&](double v) { return v == c[0]; })) {
      common *= c.empty() ? 1 : c[0];
      continue;
    }
    Literal vector(Type{t.dtype, {out}});
    for (std::size_t i = 0; i < c.size(); ++i) store_element(t.dtype, vector.mutable_raw(), static_cast<std::int64_t>(i), c[i]);
    const auto spread = n.broadcast(n.b.constant(vector), t.shape, {static_cast<std::int64_t>(d) + 2});
    product = product < 0 ? spread : n.b.op("mul", {product, spread});
  }
  if (product < 0) return n.b.splat_like(sum, common);
  return common == 1 ? product : n.with("mul", product, common);
}
void average_pool(NodeImport& n) {
  Ints declared_high;
  const Window w = pool_window(n, declared_high);
  const auto sum = pooled(n, "reduce_window_sum", n.in(0), w);
  n.out(n.b.op("div", {sum, divisor(n, sum, w, declared_high, n.integer("count_include_pad", 0) != 0)}));
}

ValueId power_mean_step(NodeImport& n, ValueId x, std::int64_t p) { return p == 1 ? n.unary("abs", x) : p == 2 ? n.b.op("mul", {x, x}) : n.with("pow", n.unary("abs", x), static_cast<double>(p)); }
ValueId root(NodeImport& n, ValueId x, std::int64_t p) { return p == 1 ? x : p == 2 ? n.unary("sqrt", x) : n.with("pow", x, 1.0 / static_cast<double>(p)); }
std::int64_t power(NodeImport& n) {
  const auto p = n.integer("p", 2);
  if (p < 1 || p > 1024) n.fail("p is " + std::to_string(p));
  return p;
}
void lp_pool(NodeImport& n) {
  Ints high;
  const auto p = power(n);
  n.out(root(n, pooled(n, "reduce_window_sum", power_mean_step(n, n.in(0), p), pool_window(n, high)), p));
}

Ints all_spatial(NodeImport& n) {
  Ints axes;
  for (std::size_t d = 2; d < spatial_sizes(n, n.in(0)).size() + 2; ++d) axes.push_back(static_cast<std::int64_t>(d));
  return axes;
}
void global_average_pool(NodeImport& n) { n.out(n.reduce("reduce_mean", n.in(0), all_spatial(n), true)); }
void global_max_pool(NodeImport& n) { n.out(n.reduce("reduce_max", n.in(0), all_spatial(n), true)); }
void global_lp_pool(NodeImport& n) {
  const auto p = power(n);
  n.out(root(n, n.reduce("reduce_sum", power_mean_step(n, n.in(0), p), all_spatial(n), true), p));
}

constexpr OpEntry entries[] = {
    {"AveragePool", 1, 1, average_pool}, {"GlobalAveragePool", 1, 1, global_average_pool}, {"GlobalLpPool", 1, 1, global_lp_pool}, {"GlobalMaxPool", 1, 1, global_max_pool},
    {"LpPool", 1, 1, lp_pool}, {"MaxPool", 1, 1, max_pool},
};
}  // namespace
std::span<const OpEntry> pool_family() { return entries; }
}  // namespace plumb::ir::onnx_import
