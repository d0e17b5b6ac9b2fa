#include "ir/tensor/ops/words.h"

#include <numeric>

#include "ir/scalar/storage.h"

namespace plumb::ir::ops {

ValueId Words::select(ValueId condition, ValueId yes, ValueId no) const {
  Shape shape = type(condition).shape;
  for (auto v : {yes, no}) {
    auto wider = broadcast_shapes(shape, type(v).shape);
    if (auto* why = std::get_if<std::string>(&wider)) fail_input(*why, b.where());
    shape = std::get<Shape>(wider);
  }
  return b.op("select", {b.broadcast_to(condition, shape), b.broadcast_to(yes, shape), b.broadcast_to(no, shape)});
}

ValueId Words::reduce(std::string_view op, ValueId x, const Ints& axes, bool keep) const {
  Shape kept = type(x).shape;
  const auto r = b.op(op, {x}, axes_attr(axes));
  for (auto d : axes) kept[static_cast<std::size_t>(d)] = 1;
  return keep ? b.reshape(r, kept) : r;
}

ValueId Words::slice(ValueId x, std::size_t axis, std::int64_t start, std::int64_t limit, std::int64_t stride) const {
  const Extents e = type(x).extents();
  if (start == 0 && limit == e[axis] && stride == 1) return x;
  Ints starts(e.size(), 0), limits(e.begin(), e.end()), strides(e.size(), 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return b.op("slice", {x}, attr_list({{"start", starts}, {"limit", limits}, {"stride", strides}}));
}

ValueId Words::pad(ValueId x, double value, const Ints& low, const Ints& high, const Ints& interior) const {
  return b.op("pad", {x, b.scalar(type(x).dtype, value)}, attr_list({{"low", low}, {"high", high}, {"interior", interior}}));
}

ValueId Words::concat(std::span<const ValueId> xs, std::int64_t axis) const {
  return xs.size() == 1 ? xs[0] : b.op("concat", xs, attr_list({{"axis", axis}}));
}

ValueId Words::ints(const Ints& values) const {
  const std::int64_t n[] = {static_cast<std::int64_t>(values.size())};
  return b.constant(Literal::of<std::int64_t>(DType::i64, n, values));
}

ValueId Words::along(ValueId like, std::size_t axis, const Reals& values) const {
  const Type t = type(like);
  Literal l(Type{t.dtype, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) store_element(t.dtype, l.mutable_raw(), static_cast<std::int64_t>(i), values[i]);
  return broadcast(b.constant(std::move(l)), t.shape, {static_cast<std::int64_t>(axis)});
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

ValueId Words::pick(ValueId x, std::size_t axis, const Ints& positions) const {
  const Extents e = type(x).extents();
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

ValueId Words::transpose(ValueId x, const Ints& perm) const { return std::is_sorted(perm.begin(), perm.end()) ? x : b.transpose(x, perm); }

ValueId Words::move_axis(ValueId x, std::size_t from, std::size_t to) const {
  Ints perm = first_axes(rank(x));
  const auto axis = perm[from];
  perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(from));
  perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(to), axis);
  return transpose(x, perm);
}

}  // namespace plumb::ir::ops
