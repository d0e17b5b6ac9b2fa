// ScatterElements and ScatterND by scatter_add over the flattened operand.
//
// Replacing (reduction "none") is exact, too: ONNX leaves duplicate indices undefined, so each position gets at most
// one update, and that update is added to -0, which keeps every value, -0 included. For the reductions beside "add",
// the updates of one position are combined first.
#include "ir/import/equal_positions.h"
#include "ir/import/families.h"
#include "ir/import/flat_position.h"

namespace plumb::ir::onnx_import {
namespace {

/// The binary operation of the reduction; "" for replacing.
std::string reduction_of(NodeImport& n) {
  const auto r = n.text("reduction", "none");
  if (r == "none") return "";
  if (r == "max" || r == "min") return r == "max" ? "maximum" : "minimum";
  if (r != "add" && r != "mul") n.fail("reduction is '" + r + "'");
  return r;
}

/// x [count, …] with the updates [m, …] at positions [m] of the leading axis.
ValueId scatter(NodeImport& n, const std::string& reduction, ValueId x, ValueId positions, ValueId updates) {
  const auto add_at = [&](ValueId base, ValueId at, ValueId values) { return n.b.op("scatter_add", {base, at, values}, attrs({{"axis", std::int64_t{0}}})); };
  if (reduction == "add") return add_at(x, positions, updates);
  const DType t = n.type(x).dtype, number = is_bool(t) ? DType::u8 : t;
  const auto numbers = n.b.convert(x, number);
  Updates u{positions, n.b.convert(updates, number)};
  if (!reduction.empty()) u = combined(n, reduction, u);
  auto result = add_at(n.b.splat_like(numbers, is_float(t) ? -0.0 : 0), u.positions, u.values);
  if (!reduction.empty()) result = n.b.op(reduction, {numbers, result});
  const auto zero = n.broadcast(n.b.scalar(DType::i32, 0), n.type(x).shape, {}), one = n.broadcast(n.b.scalar(DType::i32, 1), n.type(updates).shape, {});
  return n.b.op("select", {n.with("gt", add_at(zero, positions, one), 0), n.b.convert(result, t), x});
}

void scatter_elements(NodeImport& n) {
  const auto x = n.in(0);
  const Extents e = n.extents(x), of_indices = n.extents(n.in(1));
  const auto axis = static_cast<std::size_t>(n.axis(n.integer("axis", 0), e.size()));
  if (of_indices.size() != e.size()) n.fail("operand and indices differ in rank");
  if (n.type_in(2).shape != n.type_in(1).shape) n.fail("updates " + n.type_in(2).str() + " and indices " + n.type_in(1).str() + " differ in shape");
  const Shape shape = n.type_in(1).shape;
  const auto count = n.type_in(1).elements();
  FlatPosition p(n);
  for (std::size_t d = 0; d < e.size(); ++d) {
    if (d != axis && shape[d].size() > e[d]) n.fail("indices reach beyond axis " + std::to_string(d));
    if (d == axis) p.add(n.in(1), e[d]);
    else p.add_index(shape, d, e[d]);
  }
  const auto flat = n.b.reshape(x, {n.type(x).elements()});
  n.out(n.b.reshape(scatter(n, reduction_of(n), flat, n.b.reshape(p.value(), {count}), n.b.reshape(n.in(2), {count})), n.type(x).shape));
}

void scatter_nd(NodeImport& n) {
  const auto x = n.in(0);
  const Extents e = n.extents(x), shape = n.extents(n.in(1));
  if (shape.empty()) n.fail("indices must have rank 1 or more");
  const auto last = shape.size() - 1;
  const auto depth = static_cast<std::size_t>(shape[last]);
  if (depth < 1 || depth > e.size()) n.fail("indices have " + std::to_string(shape[last]) + " coordinates for " + n.type(x).str());
  const Shape lead(shape.begin(), shape.end() - 1);
  const auto count = element_count({shape.begin(), last});
  FlatPosition p(n);
  for (std::size_t k = 0; k < depth; ++k) {
    const auto at = static_cast<std::int64_t>(k);
    p.add(n.b.reshape(n.slice(n.in(1), last, at, at + 1), lead), e[k]);
  }
  Shape flat{element_count({e.begin(), depth})}, updates{count};
  for (std::size_t d = depth; d < e.size(); ++d) {
    flat.push_back(e[d]);
    updates.push_back(e[d]);
  }
  const auto r = scatter(n, reduction_of(n), n.b.reshape(x, flat), n.b.reshape(p.value(), {count}), n.b.reshape(n.in(2), updates));
  n.out(n.b.reshape(r, n.type(x).shape));
}

constexpr OpEntry entries[] = {{"Scatter", 3, 3, scatter_elements}, {"ScatterElements", 3, 3, scatter_elements}, {"ScatterND", 3, 3, scatter_nd}};
}  // namespace
std::span<const OpEntry> scatter_family() { return entries; }
}  // namespace plumb::ir::onnx_import
