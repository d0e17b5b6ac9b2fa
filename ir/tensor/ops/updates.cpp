#include "ir/tensor/ops/updates.h"

#include "ir/tensor/ops/positions.h"

namespace plumb::ir::ops {
namespace {

/// The scatter along an axis that a mode stands for.
std::string scatter_of(const AttrMap& a) { return a.text("mode") == "replace" ? "scatter" : "scatter_" + a.text("mode"); }

}  // namespace

// ── scatter_elements ──
Inferred ScatterElements::infer(std::span<const Type> in, const AttrMap& a) {
  const Type &x = in[0], &indices = in[1];
  const auto axis = a.integer("axis");
  if (auto e = check_axis(axis, x.rank()); !e.empty()) return no("C1: " + e);
  bool within = is_integer(indices.dtype) && indices.rank() == x.rank();
  for (std::size_t d = 0; within && d < x.rank(); ++d) within = static_cast<std::int64_t>(d) == axis || indices.shape[d].size() <= x.shape[d].size();
  if (!within) return no("C2: indices must be integers that lie within " + x.str() + " beside axis " + std::to_string(axis) + ", not " + indices.str());
  if (in[2] != Type{x.dtype, indices.shape}) return no("C3: updates must be " + Type{x.dtype, indices.shape}.str() + ", not " + in[2].str());
  const auto& mode = a.text("mode");
  const bool extremum = mode == "max" || mode == "min";
  if (mode != "replace" && mode != "add" && mode != "mul" && !extremum) return no("C4: mode is '" + mode + "', not replace, add, mul, max or min");
  if ((is_bool(x.dtype) && mode != "replace" && !extremum) || (is_complex(x.dtype) && mode != "replace" && mode != "add")) return no("C4: mode " + mode + " does not take " + x.str());
  return one(x);
}
Out ScatterElements::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const Type x = b.type(in[0]);
  const Shape shape = b.type(in[1]).shape;
  const auto count = b.type(in[1]).elements();
  if (count == 0) return {in[0]};
  const auto axis = static_cast<std::size_t>(a.integer("axis"));
  FlatPositions flat(w);
  for (std::size_t d = 0; d < x.rank(); ++d) {
    if (d != axis) flat.add_inside(w.iota(DType::i64, shape, static_cast<std::int64_t>(d)), x.shape[d].size());
    else if (x.rank() == 1) flat.add_inside(b.convert(in[1], DType::i64), x.shape[d].size());
    else flat.add(b.convert(in[1], DType::i64), x.shape[d].size());
  }
  const auto r = b.op(scatter_of(a), {b.reshape(in[0], {x.elements()}), b.reshape(flat.value(), {count}), b.reshape(in[2], {count})}, attr_list({{"axis", std::int64_t{0}}}));
  return {b.reshape(r, x.shape)};
}

// ── index_put ──
Inferred IndexPut::infer(std::span<const Type> in, const AttrMap& a) {
  const auto& axes = a.ints("axes");
  const auto plan = index_plan(in[0], in.subspan(2), axes);
  if (const auto* why = std::get_if<std::string>(&plan)) return no(*why);
  const Shape shape = indexed_shape(in[0], std::get<IndexPlan>(plan), axes);
  const auto together = broadcast_shapes(in[1].shape, shape);
  if (in[1].dtype != in[0].dtype || !std::holds_alternative<Shape>(together) || std::get<Shape>(together) != shape) return no("C4: updates must broadcast to " + Type{in[0].dtype, shape}.str() + ", not be " + in[1].str());
  const auto& mode = a.text("mode");
  if (mode != "replace" && mode != "add") return no("C5: mode is '" + mode + "', not replace or add");
  if (mode == "add" && is_bool(in[0].dtype)) return no("C5: mode add does not take " + in[0].str());
  return one(in[0]);
}
/// The named axes, brought together, are one axis; the indices together, in their order, are a vector of positions along it.
Out IndexPut::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const auto& axes = a.ints("axes");
  const Type x = b.type(in[0]);
  std::vector<Type> types;
  for (auto v : in.subspan(2)) types.push_back(b.type(v));
  const auto p = std::get<IndexPlan>(index_plan(x, types, axes));
  const auto j = join_axes(x, p, axes);
  const auto at = joined_positions(w, x, p, in.subspan(2), axes);
  const auto count = b.type(at).elements();
  if (count == 0) return {in[0]};
  Shape updates = j.joined;
  updates[p.where] = count;
  const auto moved = b.reshape(w.transpose(in[0], j.perm), j.joined);
  const auto source = b.reshape(b.broadcast_to(in[1], indexed_shape(x, p, axes)), updates);
  const auto r = b.op(scatter_of(a), {moved, b.reshape(at, {count}), source}, attr_list({{"axis", static_cast<std::int64_t>(p.where)}}));
  Ints back(j.perm.size());
  for (std::size_t d = 0; d < j.perm.size(); ++d) back[static_cast<std::size_t>(j.perm[d])] = static_cast<std::int64_t>(d);
  return {w.transpose(b.reshape(r, j.moved), back)};
}

}  // namespace plumb::ir::ops
