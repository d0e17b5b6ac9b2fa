// Det by elimination with the greatest pivot of each column, unrolled over the matrix's size.
#include "ir/import/families.h"

namespace plumb::ir::onnx_import {
namespace {

constexpr std::int64_t most_rows = 64;

/// [batch, m - 1, m - 1] and the factors of the determinant that the first column gives. The pivot's row changes places
/// with the first; a column of zeros makes the determinant 0.
struct Step {
  ValueId rest, factor;
};
Step eliminate(NodeImport& n, ValueId a) {
  const auto batch = n.extents(a)[0], m = n.extents(a)[1];
  const auto column = n.b.reshape(n.slice(a, 2, 0, 1), {batch, m});
  const auto at = n.b.op("argmax", {n.unary("abs", column)}, attrs({{"axis", std::int64_t{1}}}));
  const auto row = n.b.op("gather_elements", {a, n.broadcast(at, {batch, 1, m}, {0})}, attrs({{"axis", std::int64_t{1}}}));
  const auto pivot = n.b.reshape(n.slice(row, 2, 0, 1), {batch});
  const auto factor = n.b.op("select", {n.with("eq", at, 0), pivot, n.unary("neg", pivot)});
  if (m == 1) return {-1, factor};
  const Shape shape{batch, m, m}, below{batch, m - 1, m - 1};
  const auto is_pivot = n.b.op("eq", {n.iota(DType::i64, shape, 1), n.broadcast(at, shape, {0})});
  const auto first_row = n.b.broadcast_to(n.slice(a, 1, 0, 1), shape);
  const auto others = n.slice(n.b.op("select", {is_pivot, first_row, a}), 1, 1, m);
  const auto zero = n.with("eq", pivot, 0);
  const auto divisor = n.b.op("select", {zero, n.b.splat_like(pivot, 1), pivot});
  const auto heads = n.b.broadcast_to(n.slice(others, 2, 0, 1), below);
  const auto factors = n.b.op("div", {heads, n.broadcast(divisor, below, {0})});
  const auto tail = n.b.broadcast_to(n.slice(row, 2, 1, m), below);
  return {n.b.op("sub", {n.slice(others, 2, 1, m), n.b.op("mul", {factors, tail})}), factor};
}

void det(NodeImport& n) {
  const Type t = n.type_in(0);
  const Extents e = t.extents();
  if (e.size() < 2 || e[e.size() - 1] != e[e.size() - 2] || !is_float(t.dtype)) n.fail("takes square matrices of floats, not " + t.str());
  const auto m = e.back(), batch = element_count({e.begin(), e.size() - 2});
  if (m > most_rows) n.unsupported("matrices of " + std::to_string(m) + " rows");
  const Shape result(t.shape.begin(), t.shape.end() - 2);
  if (m == 0) return n.out(n.broadcast(n.b.scalar(t.dtype, 1), result, {}));
  ValueId rest = n.b.reshape(n.in(0), {batch, m, m}), product = -1;
  for (std::int64_t k = 0; k < m; ++k) {
    const Step s = eliminate(n, rest);
    product = product < 0 ? s.factor : n.b.op("mul", {product, s.factor});
    rest = s.rest;
  }
  n.out(n.b.reshape(product, result));
}

constexpr OpEntry entries[] = {{"Det", 1, 1, det}};
}  // namespace
std::span<const OpEntry> determinant_family() { return entries; }
}  // namespace plumb::ir::onnx_import
