#include "ir/import/pool_indices.h"

namespace plumb::ir::onnx_import {
namespace {

/// i64: each element's position in x flattened.
ValueId numbered(NodeImport& n, ValueId x, bool column_major) {
  const Shape shape = n.type(x).shape;
  Ints order;
  for (std::size_t d = 0; d < shape.size(); ++d) order.push_back(static_cast<std::int64_t>(column_major && d >= 2 ? shape.size() + 1 - d : d));
  ValueId at = -1;
  for (auto d : order) {
    const auto index = n.iota(DType::i64, shape, d);
    at = at < 0 ? index : n.b.op("add", {n.with("mul", at, static_cast<double>(shape[static_cast<std::size_t>(d)].size())), index});
  }
  return at;
}

ValueId padded(NodeImport& n, ValueId x, const Window& w, double filler) {
  return n.b.op("pad", {x, n.b.scalar(n.type(x).dtype, filler)}, attrs({{"low", with_batch_and_channel(w.low, 0)}, {"high", with_batch_and_channel(w.high, 0)}}));
}
/// One element of every window.
ValueId element_of(NodeImport& n, ValueId x, const Window& w, const Index& at) {
  for (std::size_t d = 0; d < at.size(); ++d) {
    const auto size = n.extents(x)[d + 2], first = at[d] * w.dilation[d];
    const auto count = size < w.span(d) ? 0 : (size - w.span(d)) / w.stride[d] + 1;
    x = n.slice(x, d + 2, count == 0 ? 0 : first, count == 0 ? 0 : first + (count - 1) * w.stride[d] + 1, w.stride[d]);
  }
  return x;
}
}  // namespace

ValueId pool_indices(NodeImport& n, ValueId x, const Window& w, bool column_major) {
  const auto size = element_count(w.kernel);
  if (size > 4096) n.unsupported("indices of a window of " + std::to_string(size) + " elements");
  const auto values = padded(n, x, w, 0), positions = padded(n, numbered(n, x, column_major), w, -1);
  ValueId best = -1, where = -1;
  Index at(w.kernel.size(), 0);
  for (std::int64_t k = 0; k < size; ++k, plumb::advance(at, w.kernel)) {
    const auto value = element_of(n, values, w, at), position = element_of(n, positions, w, at);
    if (best < 0) {
      best = value;
      where = position;
      continue;
    }
    auto above = n.b.op("gt", {value, best});
    if (is_float(n.type(x).dtype)) above = n.b.op("or", {above, n.b.op("and", {n.b.op("ne", {value, value}), n.b.op("eq", {best, best})})});
    // A position of -1 lies in the padding, whose value does not count.
    const auto better = n.b.op("and", {n.with("ge", position, 0), n.b.op("or", {n.with("lt", where, 0), above})});
    best = n.b.op("select", {better, value, best});
    where = n.b.op("select", {better, position, where});
  }
  return where;
}

}  // namespace plumb::ir::onnx_import
