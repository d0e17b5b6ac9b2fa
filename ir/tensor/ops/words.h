// Words that decompositions and importers share: short forms of operations on a builder.
#pragma once
#include "ir/tensor/builder.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

using In = std::span<const ValueId>;
using Out = std::vector<ValueId>;

/// attrs({{"axis", 1}, …}).
inline AttrMap attr_list(std::initializer_list<std::pair<std::string_view, AttrValue>> list) {
  AttrMap m;
  for (auto& [name, value] : list) m.set(name, value);
  return m;
}
inline AttrMap axes_attr(Ints axes) { return attr_list({{"axes", std::move(axes)}}); }

struct Words {
  Builder& b;

  Type type(ValueId v) const { return b.type(v); }  ///< a copy: building more values moves the function's types
  std::int64_t size(ValueId v, std::size_t axis) const { return b.type(v).shape[axis].size(); }
  std::size_t rank(ValueId v) const { return b.type(v).rank(); }

  // ── element by element ──
  template <class... V> ValueId operator()(std::string_view op, ValueId x, V... more) const { return b.op(op, {x, more...}); }
  ValueId with(std::string_view op, ValueId x, double constant) const { return b.op(op, {x, b.splat_like(x, constant)}); }
  ValueId from(std::string_view op, double constant, ValueId x) const { return b.op(op, {b.splat_like(x, constant), x}); }
  ValueId scaled(ValueId x, double factor) const { return factor == 1 ? x : with("mul", x, factor); }
  ValueId select(ValueId condition, ValueId yes, ValueId no) const;  ///< with broadcasting
  ValueId square(ValueId x) const { return b.op("mul", {x, x}); }
  ValueId clamp(ValueId x, double low, double high) const { return b.op("clamp", {x, b.splat_like(x, low), b.splat_like(x, high)}); }

  // ── shapes and positions ──
  ValueId reduce(std::string_view op, ValueId x, const Ints& axes, bool keep = false) const;  ///< keep: reduced axes stay, of size 1
  ValueId spread(ValueId reduced, const Ints& axes, ValueId like) const { return b.keep_dims(reduced, axes, b.type(like).shape, like); }
  ValueId broadcast(ValueId x, const Shape& shape, Ints dims) const { return b.op("broadcast", {x}, attr_list({{"shape", shape}, {"dims", std::move(dims)}})); }
  ValueId per_channel(ValueId vector, ValueId like) const { return broadcast(vector, type(like).shape, {1}); }  ///< along axis 1
  ValueId slice(ValueId x, std::size_t axis, std::int64_t start, std::int64_t limit, std::int64_t stride = 1) const;
  ValueId pad(ValueId x, double value, const Ints& low, const Ints& high, const Ints& interior = {}) const;
  ValueId concat(std::span<const ValueId> xs, std::int64_t axis) const;
  ValueId gather(ValueId x, ValueId indices, std::int64_t axis) const { return b.op("gather", {x, indices}, attr_list({{"axis", axis}})); }
  ValueId reverse(ValueId x, Ints axes) const { return axes.empty() ? x : b.op("reverse", {x}, axes_attr(std::move(axes))); }
  ValueId iota(DType dtype, const Shape& shape, std::int64_t axis) const { return b.op("iota", {}, attr_list({{"dtype", dtype}, {"shape", shape}, {"axis", axis}})); }
  ValueId ints(const Ints& values) const;                                   ///< an i64 vector
  ValueId along(ValueId like, std::size_t axis, const Reals& values) const; ///< a vector of like's dtype, broadcast to its shape along the axis
  /// x at the given positions of one axis; a view where the positions allow one.
  ValueId pick(ValueId x, std::size_t axis, const Ints& positions) const;
  ValueId transpose(ValueId x, const Ints& perm) const;                     ///< x itself when perm changes nothing
  ValueId move_axis(ValueId x, std::size_t from, std::size_t to) const;
};

/// 0 … n-1.
inline Ints first_axes(std::size_t n, std::size_t from = 0) {
  Ints axes;
  for (auto d = from; d < n; ++d) axes.push_back(static_cast<std::int64_t>(d));
  return axes;
}

/// Runs a decomposition with its narrow float operands widened to f32; its results return to the dtype of the operand
/// `like`. What has several roundings rounds to the narrow dtype once.
template <class F> Out in_f32(Builder& b, In in, std::size_t like, F decomposition) {
  const DType t = b.type(in[like]).dtype;
  if (!is_narrow_float(t)) return decomposition(in);
  std::vector<ValueId> wide;
  for (auto v : in) wide.push_back(is_narrow_float(b.type(v).dtype) ? b.convert(v, DType::f32) : v);
  Out results = decomposition(In(wide));
  for (auto& v : results)
    if (b.type(v).dtype == DType::f32) v = b.convert(v, t);
  return results;
}

}  // namespace plumb::ir::ops
