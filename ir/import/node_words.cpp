// Short forms of tensor IR operations that the handlers share.
#include "ir/import/node.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::onnx_import {

std::int64_t NodeImport::axis(std::int64_t a, std::size_t rank) const {
  const auto r = static_cast<std::int64_t>(rank);
  if (a < -r || a >= r) fail("axis " + std::to_string(a) + " is outside rank " + std::to_string(rank));
  return a < 0 ? a + r : a;
}
Ints NodeImport::axes(Ints list, std::size_t rank) const {
  for (auto& a : list) a = axis(a, rank);
  if (auto wrong = ops::check_axes(list, rank, "axis"); !wrong.empty()) fail(wrong);
  return list;
}

ValueId NodeImport::reduce(std::string_view op, ValueId x, const Ints& axes, bool keep) const {
  Shape kept = type(x).shape;
  const auto r = b.op(op, {x}, attrs({{"axes", axes}}));
  for (auto d : axes) kept[static_cast<std::size_t>(d)] = 1;
  return keep ? b.reshape(r, kept) : r;
}

ValueId NodeImport::select(ValueId condition, ValueId yes, ValueId no) const {
  Shape shape = type(condition).shape;
  for (auto v : {yes, no}) {
    auto wider = broadcast_shapes(shape, type(v).shape);
    if (auto* why = std::get_if<std::string>(&wider)) fail(*why);
    shape = std::get<Shape>(wider);
  }
  return b.op("select", {b.broadcast_to(condition, shape), b.broadcast_to(yes, shape), b.broadcast_to(no, shape)});
}

ValueId NodeImport::slice(ValueId x, std::size_t axis, std::int64_t start, std::int64_t limit, std::int64_t stride) const {
  const Extents e = extents(x);
  if (start == 0 && limit == e[axis] && stride == 1) return x;
  Ints starts(e.size(), 0), limits(e.begin(), e.end()), strides(e.size(), 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return b.op("slice", {x}, attrs({{"start", starts}, {"limit", limits}, {"stride", strides}}));
}

ValueId NodeImport::concat(std::span<const ValueId> xs, std::int64_t axis) const {
  return xs.size() == 1 ? xs[0] : b.op("concat", xs, attrs({{"axis", axis}}));
}
ValueId NodeImport::gather(ValueId x, ValueId indices, std::int64_t axis) const { return b.op("gather", {x, indices}, attrs({{"axis", axis}})); }
ValueId NodeImport::reverse(ValueId x, Ints axes) const { return axes.empty() ? x : b.op("reverse", {x}, attrs({{"axes", std::move(axes)}})); }
ValueId NodeImport::iota(DType dtype, const Shape& shape, std::int64_t axis) const {
  return b.op("iota", {}, attrs({{"dtype", dtype}, {"shape", shape}, {"axis", axis}}));
}
ValueId NodeImport::broadcast(ValueId x, const Shape& shape, Ints dims) const {
  return b.op("broadcast", {x}, attrs({{"shape", shape}, {"dims", std::move(dims)}}));
}
ValueId NodeImport::ints(const Ints& values) const {
  const std::int64_t n[] = {static_cast<std::int64_t>(values.size())};
  return b.constant(Literal::of<std::int64_t>(DType::i64, n, values));
}

void NodeImport::check_table(std::int64_t elements) const {
  if (elements > (std::int64_t{1} << 22)) unsupported("a table of " + std::to_string(elements) + " entries would be needed");
}

namespace {
/// The step of an arithmetic progression of at least two terms; 0 when it is none.
std::int64_t step_of(const Ints& p) {
  const auto step = p[1] - p[0];
  for (std::size_t i = 2; i < p.size(); ++i)
    if (p[i] - p[i - 1] != step) return 0;
  return step;
}
/// k when every position of [0, size) comes k times in a row; 0 otherwise.
std::int64_t repeats_of(const Ints& p, std::int64_t size) {
  const auto n = static_cast<std::int64_t>(p.size());
  if (size == 0 || n % size != 0) return 0;
  const auto k = n / size;
  for (std::int64_t i = 0; i < n; ++i)
    if (p[static_cast<std::size_t>(i)] != i / k) return 0;
  return k;
}
}  // namespace

ValueId NodeImport::pick(ValueId x, std::size_t axis, const Ints& positions) const {
  const Extents e = extents(x);
  const auto n = static_cast<std::int64_t>(positions.size());
  if (n == 0) return slice(x, axis, 0, 0);
  if (n == 1) return slice(x, axis, positions[0], positions[0] + 1);
  if (const auto step = step_of(positions); step > 0) return slice(x, axis, positions.front(), positions.back() + 1, step);
  else if (step < 0) return reverse(slice(x, axis, positions.back(), positions.front() + 1, -step), {static_cast<std::int64_t>(axis)});
  const auto k = repeats_of(positions, e[axis]);
  if (k == 0 || e.size() == max_rank) return gather(x, ints(positions), static_cast<std::int64_t>(axis));
  Shape wide, shape = type(x).shape;
  Ints dims;
  for (std::size_t d = 0; d < e.size(); ++d) {
    dims.push_back(static_cast<std::int64_t>(wide.size()));
    wide.push_back(e[d]);
    if (d == axis) wide.push_back(k);
  }
  shape[axis] = n;
  return b.reshape(broadcast(x, wide, dims), shape);
}

}  // namespace plumb::ir::onnx_import
