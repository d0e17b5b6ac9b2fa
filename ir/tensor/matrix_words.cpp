#include "ir/tensor/matrix_words.h"

#include <numeric>

namespace plumb::ir {

ValueId matrix_product(Builder& b, ValueId x, ValueId y) { return b.op("matmul", {x, y}); }

ValueId matrix_transpose(Builder& b, ValueId x) {
  Ints perm(b.type(x).rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return b.transpose(x, perm);
}

ValueId matrix_adjoint(Builder& b, ValueId x) {
  const auto t = matrix_transpose(b, x);
  return is_complex(b.type(x).dtype) ? b.op("conj", {t}) : t;
}

ValueId identity_like(Builder& b, ValueId x) {
  const Type t = b.type(x);
  auto index = [&](std::size_t from_last) {
    AttrMap a;
    a.set("dtype", DType::i32), a.set("shape", Shape{t.shape[t.rank() - 2], t.shape[t.rank() - 1]}), a.set("axis", static_cast<std::int64_t>(2 - from_last));
    return b.op("iota", {}, std::move(a));
  };
  const auto row = index(2);
  return b.broadcast_to(b.convert(b.op("eq", {row, index(1)}), t.dtype), t.shape);
}

ValueId matrix_diagonal(Builder& b, ValueId x) {
  Shape flat = b.type(x).shape;
  const std::int64_t n = flat.back().size();
  flat.pop_back();
  flat.back() = n * n;
  Ints start(flat.size(), 0), limit, stride(flat.size(), 1);
  for (const auto& d : flat) limit.push_back(d.size());
  stride.back() = n + 1;
  AttrMap a;
  a.set("start", start), a.set("limit", limit), a.set("stride", stride);
  return b.op("slice", {b.reshape(x, flat)}, std::move(a));
}

namespace {
ValueId spread(Builder& b, ValueId v, const Shape& shape, std::int64_t axis) {
  Ints dims;
  for (std::size_t d = 0; d + 1 < b.type(v).rank(); ++d) dims.push_back(static_cast<std::int64_t>(d));
  if (b.type(v).rank() > 0) dims.push_back(axis);
  AttrMap a;
  a.set("shape", shape), a.set("dims", dims);
  return b.op("broadcast", {v}, std::move(a));
}
}  // namespace
ValueId as_columns(Builder& b, ValueId v, const Shape& shape) { return spread(b, v, shape, static_cast<std::int64_t>(shape.size()) - 2); }
ValueId as_rows(Builder& b, ValueId v, const Shape& shape) { return spread(b, v, shape, static_cast<std::int64_t>(shape.size()) - 1); }

ValueId reduce_last(Builder& b, std::string_view op, ValueId x, std::size_t axes) {
  Ints which;
  for (std::size_t k = b.type(x).rank() - axes; k < b.type(x).rank(); ++k) which.push_back(static_cast<std::int64_t>(k));
  AttrMap a;
  a.set("axes", which);
  return b.op(op, {x}, std::move(a));
}

ValueId at_last(Builder& b, ValueId x, std::int64_t i) {
  const Shape shape = b.type(x).shape;
  Ints start(shape.size(), 0), limit;
  for (const auto& d : shape) limit.push_back(d.size());
  start.back() = i;
  limit.back() = i + 1;
  AttrMap a;
  a.set("start", start), a.set("limit", limit);
  return b.reshape(b.op("slice", {x}, std::move(a)), Shape(shape.begin(), shape.end() - 1));
}

ValueId times(Builder& b, ValueId x, double c) { return b.op("mul", {x, b.splat_like(x, c)}); }

}  // namespace plumb::ir
