// Reading at computed positions: Gather, GatherElements, GatherND, OneHot, TopK.
#include "ir/import/families.h"
#include "ir/import/flat_position.h"

namespace plumb::ir::onnx_import {
namespace {

/// ONNX counts negative indices from the end; `gather` does not. Known indices show whether any is negative.
ValueId from_the_start(NodeImport& n, ValueId indices, std::int64_t size) {
  const DType t = n.type(indices).dtype;
  if (t != DType::i32 && t != DType::i64) n.fail("indices must be i32 or i64, not " + n.type(indices).str());
  if (const auto* l = n.known(indices)) {
    bool negative = false;
    for (std::int64_t i = 0; i < l->elements(); ++i) negative = negative || l->int_at(i) < 0;
    if (!negative) return indices;
  }
  return n.b.op("select", {n.with("lt", indices, 0), n.with("add", indices, static_cast<double>(size)), indices});
}

void gather(NodeImport& n) {
  const auto x = n.in(0);
  const auto axis = n.axis(n.integer("axis", 0), n.rank(x));
  n.out(n.gather(x, from_the_start(n, n.in(1), n.extents(x)[static_cast<std::size_t>(axis)]), axis));
}

/// Beside the axis, indices may cover less than x: the first positions.
void gather_elements(NodeImport& n) {
  ValueId x = n.in(0);
  const auto axis = n.axis(n.integer("axis", 0), n.rank(x));
  const Extents of_indices = n.extents(n.in(1));
  if (of_indices.size() != n.rank(x)) n.fail("operand and indices differ in rank");
  const auto size = n.extents(x)[static_cast<std::size_t>(axis)];
  for (std::size_t d = 0; d < of_indices.size(); ++d)
    if (static_cast<std::int64_t>(d) != axis) {
      if (of_indices[d] > n.extents(x)[d]) n.fail("indices reach beyond axis " + std::to_string(d));
      x = n.slice(x, d, 0, of_indices[d]);
    }
  n.out(n.b.op("gather_elements", {x, from_the_start(n, n.in(1), size)}, attrs({{"axis", axis}})));
}

/// The last axis of indices holds coordinates: they become one position in the flattened leading axes.
void gather_nd(NodeImport& n) {
  const auto x = n.in(0);
  const Extents e = n.extents(x), shape = n.extents(n.in(1));
  const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(n.integer("batch_dims", 0), 0));
  if (shape.empty() || batch >= shape.size() || batch >= e.size()) n.fail("batch_dims is " + std::to_string(batch));
  const auto depth = static_cast<std::size_t>(shape[shape.size() - 1]);
  if (depth < 1 || batch + depth > e.size()) n.fail("indices have " + std::to_string(depth) + " coordinates for " + n.type(x).str());
  for (std::size_t d = 0; d < batch; ++d)
    if (shape[d] != e[d]) n.fail("the batch axes differ");
  Shape lead(shape.begin(), shape.end() - 1);
  FlatPosition p(n);
  for (std::size_t d = 0; d < batch; ++d) p.add_index(lead, d, e[d]);
  for (std::size_t k = 0; k < depth; ++k) {
    const auto at = static_cast<std::int64_t>(k);
    p.add(n.b.reshape(n.slice(n.in(1), shape.size() - 1, at, at + 1), lead), e[batch + k]);
  }
  Shape flat{element_count({e.begin(), batch + depth})};
  for (std::size_t d = batch + depth; d < e.size(); ++d) flat.push_back(e[d]);
  n.out(n.gather(n.b.reshape(x, flat), p.value(), 0));
}

/// on where the index along the new axis equals the class, else off; classes out of range are off everywhere.
void one_hot(NodeImport& n) {
  const Type t = n.type_in(0);
  const auto& depth_value = n.need(n.in(1), "depth");
  if (depth_value.elements() != 1) n.fail("depth must be a scalar, not " + depth_value.type().str());
  const auto depth_known = n.known(n.b.convert(n.b.reshape(n.in(1), {}), DType::i64));
  const auto depth = depth_known ? depth_known->int_at(0) : -1;
  if (depth < 0 || depth > (std::int64_t{1} << 31)) n.fail("depth is " + std::to_string(depth));
  const Type pair = n.type_in(2);
  if (pair.rank() != 1 || pair.elements() != 2) n.fail("values must be a pair, not " + pair.str());
  if (t.rank() == max_rank) n.unsupported("rank " + std::to_string(max_rank));
  const auto axis = n.axis(n.integer("axis", -1), t.rank() + 1);
  const auto classes = n.b.convert(n.in(0), DType::i64);
  const auto wrapped = n.b.op("select", {n.with("lt", classes, 0), n.with("add", classes, static_cast<double>(depth)), classes});
  Shape shape;
  Ints dims;
  for (std::size_t d = 0, from = 0; d <= t.rank(); ++d) {
    if (static_cast<std::int64_t>(d) != axis) dims.push_back(static_cast<std::int64_t>(d));
    shape.push_back(static_cast<std::int64_t>(d) == axis ? Dim(depth) : t.shape[from++]);
  }
  const auto hit = n.b.op("eq", {n.broadcast(wrapped, shape, dims), n.iota(DType::i64, shape, axis)});
  const auto value = [&](std::int64_t k) { return n.broadcast(n.b.reshape(n.slice(n.in(2), 0, k, k + 1), {}), shape, {}); };
  n.out(n.b.op("select", {hit, value(1), value(0)}));
}

/// The first k of the stable order; an attribute before opset 10, an input since.
void top_k(NodeImport& n) {
  const auto x = n.in(0);
  const auto axis = n.axis(n.integer("axis", -1), n.rank(x));
  const auto k = n.opset < 10 ? n.integer("k") : n.need_int(1, "k");
  const auto size = n.extents(x)[static_cast<std::size_t>(axis)];
  if (k < 0 || k > size) n.fail("k is " + std::to_string(k) + " for an axis of size " + std::to_string(size));
  const auto r = n.b.add("top_k", std::array{x}, attrs({{"k", k}, {"axis", axis}, {"largest", n.integer("largest", 1) != 0}}));
  n.out(0, r[0]);
  n.out(1, r[1]);
}

constexpr OpEntry entries[] = {
    {"Gather", 2, 2, gather}, {"GatherElements", 2, 2, gather_elements}, {"GatherND", 2, 2, gather_nd}, {"OneHot", 3, 3, one_hot}, {"TopK", 1, 2, top_k},
};
}  // namespace
std::span<const OpEntry> gather_family() { return entries; }
}  // namespace plumb::ir::onnx_import
