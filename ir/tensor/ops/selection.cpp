#include "ir/tensor/ops/selection.h"

namespace plumb::ir::ops {
namespace {

ValueId zero(Builder& b) { return b.scalar(DType::i64, 0); }
ValueId filled(const Words& w, const Shape& shape, double value, DType t = DType::i64) { return w.b.broadcast_to(w.b.scalar(t, value), shape); }
AttrMap along(std::int64_t axis) { return attr_list({{"axis", axis}}); }

}  // namespace

/// The k-th true entry writes its place into slot k; false ones after it add 0 there.
Chosen chosen(const Words& w, ValueId mask) {
  auto& b = w.b;
  const Shape shape = w.type(mask).shape;
  const auto place = w.iota(DType::i64, shape, 0);
  if (shape[0] == Dim(0)) return {place, mask, zero(b)};
  const auto ones = b.convert(mask, DType::i64);
  const auto slot = w.with("maximum", w.with("sub", b.op("cumsum", {ones}, along(0)), 1), 0);
  const auto none = filled(w, shape, 0);
  const auto positions = b.op("scatter_add", {none, slot, w("select", mask, place, none)}, along(0));
  const auto count = w.reduce("reduce_sum", ones, {0});
  return {positions, w("lt", place, b.broadcast_to(count, shape)), count};
}

ValueId taken(const Words& w, ValueId x, const Chosen& c, std::int64_t axis) {
  const auto all = w.gather(x, c.positions, axis);
  return w("select", w.broadcast(c.exists, w.type(all).shape, {axis}), all, w.b.splat_like(all, 0));
}

// ── nonzero ──
Out NonZero::decompose(Builder& b, In in, const AttrMap&) {
  const Words w{b};
  const Type t = b.type(in[0]);
  const auto elements = t.elements();
  const Shape flat{elements};
  const auto x = b.reshape(in[0], flat);
  const Chosen c = chosen(w, is_bool(t.dtype) ? x : w.with("ne", x, 0));
  std::vector<ValueId> rows;
  std::int64_t stride = elements;
  for (std::size_t d = 0; d < t.rank() && elements > 0; ++d) {
    const auto size = t.shape[d].size();
    stride /= size;
    auto at = stride == 1 ? c.positions : w.with("floor_div", c.positions, static_cast<double>(stride));
    if (d > 0) at = w.with("remainder", at, static_cast<double>(size));
    rows.push_back(b.reshape(w("select", c.exists, at, filled(w, flat, -1)), {1, elements}));
  }
  return {rows.empty() ? filled(w, {static_cast<std::int64_t>(t.rank()), elements}, -1) : w.concat(rows, 0), c.count};
}

// ── unique ──
Inferred Unique::infer(std::span<const Type> in, const AttrMap& a) {
  const auto axis = a.integer("axis");
  if (axis != -1)
    if (auto e = check_axis(axis, in[0].rank()); !e.empty()) return no("C1: " + e);
  const Shape values = axis == -1 ? Shape{in[0].elements()} : in[0].shape, each{values[static_cast<std::size_t>(std::max<std::int64_t>(axis, 0))]};
  return std::vector<Type>{{in[0].dtype, values}, {DType::i64, each}, {DType::i64, each}, {DType::i64, each}, {DType::i64, {}}};
}
namespace {

/// For each column of a matrix with rows: how many distinct values are less. NaNs are one value, so are zeros.
ValueId ranks_in_columns(const Words& w, ValueId x) {
  auto& b = w.b;
  const auto rows = w.size(x, 0);
  const auto order = b.op("argsort", {x}, along(0));
  const auto sorted = b.op("gather_elements", {x, order}, along(0));
  const auto before = w.slice(sorted, 0, 0, rows - 1), after = w.slice(sorted, 0, 1, rows);
  auto differ = w("ne", before, after);
  if (is_float(w.type(x).dtype)) differ = w("and", differ, w("not", w("and", w("is_nan", before), w("is_nan", after))));
  const auto rank = b.op("cumsum", {w.pad(b.convert(differ, DType::i64), 0, {1, 0}, {0, 0})}, along(0));
  return b.op("gather_elements", {rank, b.op("argsort", {order}, along(0))}, along(0));
}

/// For each row of a matrix: how many distinct rows come before it. Ranks of two neighbouring columns are one number, whose
/// ranks take their place, until one column is left.
ValueId ranks_of_rows(const Words& w, ValueId x) {
  const auto rows = w.size(x, 0);
  if (w.size(x, 1) == 0) return filled(w, {rows}, 0);
  auto ranks = ranks_in_columns(w, x);
  for (auto columns = w.size(x, 1); columns > 1; columns = (columns + 1) / 2) {
    if (columns % 2 == 1) ranks = w.pad(ranks, 0, {0, 0}, {0, 1});
    const auto even = w.slice(ranks, 1, 0, columns + columns % 2, 2), odd = w.slice(ranks, 1, 1, columns + columns % 2, 2);
    ranks = ranks_in_columns(w, w("add", w.scaled(even, static_cast<double>(rows)), odd));
  }
  return w.b.reshape(ranks, {rows});
}

}  // namespace
Out Unique::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const bool flat = a.integer("axis") == -1;
  const auto x = flat ? b.reshape(in[0], {b.type(in[0]).elements()}) : in[0];
  const auto axis = flat ? 0 : static_cast<std::size_t>(a.integer("axis"));
  const Type t = w.type(x);
  const auto n = t.shape[axis].size();
  const Shape each{n};
  const auto place = w.iota(DType::i64, each, 0);
  if (n == 0) return {x, place, place, place, zero(b)};
  const Shape matrix{n, element_count(Type{t.dtype, drop(t.shape, Ints{static_cast<std::int64_t>(axis)})}.extents())};
  auto inverse = ranks_of_rows(w, b.reshape(w.move_axis(x, axis, 0), matrix));
  auto first = b.op("scatter_min", {filled(w, each, static_cast<double>(n)), inverse, place}, along(0));
  auto counts = b.op("scatter_add", {filled(w, each, 0), inverse, filled(w, each, 1)}, along(0));
  const auto count = w.with("add", w.reduce("reduce_max", inverse, {0}), 1);
  if (!a.flag("sorted")) {  // what does not exist has first = n, and stays last
    const auto order = b.op("argsort", {first}, along(0));
    inverse = w.gather(b.op("argsort", {order}, along(0)), inverse, 0);
    first = w.gather(first, order, 0);
    counts = w.gather(counts, order, 0);
  }
  const auto exists = w("lt", place, b.broadcast_to(count, each));
  const auto values = t.elements() == 0 ? x : taken(w, x, {w.with("minimum", first, static_cast<double>(n - 1)), exists, count}, static_cast<std::int64_t>(axis));
  return {values, w("select", exists, first, filled(w, each, -1)), inverse, counts, count};
}

}  // namespace plumb::ir::ops
