// Words that rules are written in: short forms of operations on a builder.
#pragma once
#include "ir/tensor/builder.h"

namespace plumb::lowering::autodiff {

using ir::Builder;
using ir::Ints;
using ir::Shape;
using ir::Type;
using ir::ValueId;

inline ir::AttrMap attrs(std::initializer_list<std::pair<std::string_view, ir::AttrValue>> list) {
  ir::AttrMap m;
  for (const auto& [name, value] : list) m.set(name, value);
  return m;
}

struct Words {
  Builder& b;

  Type type(ValueId v) const { return b.type(v); }   ///< a copy: building moves the function's types
  std::size_t rank(ValueId v) const { return b.type(v).rank(); }
  std::int64_t size(ValueId v, std::int64_t axis) const { return b.type(v).shape[static_cast<std::size_t>(axis)].size(); }

  template <class... V> ValueId operator()(std::string_view op, ValueId x, V... more) const { return b.op(op, {x, more...}); }
  ValueId with(std::string_view op, ValueId x, double c) const { return b.op(op, {x, b.splat_like(x, c)}); }
  ValueId zeros(Type t) const { return b.broadcast_to(b.scalar(t.dtype, 0), t.shape); }
  ValueId select(ValueId c, ValueId yes, double no) const { return b.op("select", {c, yes, b.splat_like(yes, no)}); }
  ValueId reduce(std::string_view op, ValueId x, const Ints& axes) const { return axes.empty() ? x : b.op(op, {x}, attrs({{"axes", axes}})); }
  ValueId sum(ValueId x, const Ints& axes) const { return reduce("reduce_sum", x, axes); }
  /// A reduction's result over the axes, along these again.
  ValueId spread(ValueId reduced, const Ints& axes, ValueId like) const { return b.keep_dims(reduced, axes, type(like).shape, like); }
  ValueId broadcast(ValueId x, const Shape& shape, Ints dims) const { return b.op("broadcast", {x}, attrs({{"shape", shape}, {"dims", std::move(dims)}})); }
  ValueId slice(ValueId x, const Ints& start, const Ints& limit, const Ints& stride = {}) const;
  ValueId pad(ValueId x, double value, const Ints& low, const Ints& high, const Ints& interior = {}) const;
  ValueId reverse(ValueId x, const Ints& axes) const { return axes.empty() ? x : b.op("reverse", {x}, attrs({{"axes", axes}})); }
  ValueId transpose(ValueId x, const Ints& perm) const;
  ValueId iota(DType t, const Shape& shape, std::int64_t axis) const { return b.op("iota", {}, attrs({{"dtype", t}, {"shape", shape}, {"axis", axis}})); }
  ValueId along(std::string_view op, ValueId x, std::int64_t axis) const { return b.op(op, {x}, attrs({{"axis", axis}})); }
};

/// from … to - 1.
Ints numbers(std::size_t from, std::size_t to);
Ints all_axes(const Type& t);
/// The axes of `rank` that are not among these.
Ints others(const Ints& axes, std::size_t rank);
/// The attribute's entries, or as many fillers where it has none.
Ints entries(const ir::AttrMap& a, std::string_view name, std::size_t count, std::int64_t filler);

}  // namespace plumb::lowering::autodiff
