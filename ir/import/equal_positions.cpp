#include "ir/import/equal_positions.h"

namespace plumb::ir::onnx_import {
namespace {

constexpr double no_position = -2;  // -1 is a position outside the operand, which a scatter reports

/// x's rows moved by that many places (towards the end, or the start when negative); `filler` comes in.
ValueId shifted(NodeImport& n, ValueId x, std::int64_t by, double filler) {
  const auto rows = n.extents(x)[0];
  Ints low(n.rank(x), 0), high(n.rank(x), 0);
  low[0] = by;
  high[0] = -by;
  if (by >= rows || -by >= rows) return n.b.splat_like(x, filler);
  return n.b.op("pad", {x, n.b.scalar(n.type(x).dtype, filler)}, attrs({{"low", low}, {"high", high}}));
}
ValueId along_rows(NodeImport& n, ValueId flags, ValueId like) { return n.broadcast(flags, n.type(like).shape, {0}); }

Updates sorted(NodeImport& n, const Updates& u) {
  const auto order = n.b.op("argsort", {u.positions}, attrs({{"axis", std::int64_t{0}}}));
  return {n.gather(u.positions, order, 0), n.gather(u.values, order, 0)};
}
/// Only the last of equal positions keeps its value.
Updates ends_of_runs(NodeImport& n, const Updates& u) {
  const auto last = n.b.op("ne", {u.positions, shifted(n, u.positions, -1, no_position)});
  const auto nothing = n.b.splat_like(u.values, is_float(n.type(u.values).dtype) ? -0.0 : 0);
  return {u.positions, n.b.op("select", {along_rows(n, last, u.values), u.values, nothing})};
}
}  // namespace

/// Doubling: after the step of s, a row holds the combination of the up to 2s rows of its position that end with it.
Updates combined(NodeImport& n, std::string_view op, const Updates& u) {
  const auto count = n.extents(u.positions)[0];
  Updates r = sorted(n, u);
  for (std::int64_t s = 1; s < count; s *= 2) {
    const auto same = n.b.op("eq", {r.positions, shifted(n, r.positions, s, no_position)});
    r.values = n.b.op("select", {along_rows(n, same, r.values), n.b.op(op, {shifted(n, r.values, s, 0), r.values}), r.values});
  }
  return ends_of_runs(n, r);
}
Updates last_ones(NodeImport& n, const Updates& u) { return ends_of_runs(n, sorted(n, u)); }

}  // namespace plumb::ir::onnx_import
