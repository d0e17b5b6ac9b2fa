// MaxRoiPool: the greatest element in each cell of a region of an image (Girshick: Fast R-CNN; ICCV 2015), in whole pixels.
#include <limits>

#include "ir/import/families.h"

namespace plumb::ir::onnx_import {
namespace {

/// To the nearest integer, ties away from 0.
ValueId rounded(NodeImport& n, ValueId x) {
  const auto size = n.unary("abs", x), whole = n.unary("floor", size);
  const auto up = n.with("ge", n.b.op("sub", {size, whole}), 0.5);
  return n.b.op("mul", {n.unary("sign", x), n.b.op("select", {up, n.with("add", whole, 1), whole})});
}

/// [regions, cells, size]: whether a cell has a row (or column) of the image. Cells are [floor(k length / cells), ceil((k + 1)
/// length / cells)) from the region's first row on, where the region has last - first + 1 rows, or 1.
ValueId cells_of(NodeImport& n, ValueId first, ValueId last, std::int64_t cells, std::int64_t size) {
  const auto regions = n.extents(first)[0];
  const Shape each{regions, cells}, all{regions, cells, size};
  const auto length = n.with("maximum", n.with("add", n.b.op("sub", {last, first}), 1), 1);
  const auto cell = n.broadcast(n.with("div", length, static_cast<double>(cells)), each, {0}), start = n.broadcast(first, each, {0});
  const auto k = n.iota(n.type(first).dtype, each, 1);
  const auto from = n.b.op("add", {n.unary("floor", n.b.op("mul", {k, cell})), start}), to = n.b.op("add", {n.unary("ceil", n.b.op("mul", {n.with("add", k, 1), cell})), start});
  const auto at = n.iota(n.type(first).dtype, all, 2);
  return n.b.op("and", {n.b.op("ge", {at, n.broadcast(from, all, {0, 1})}), n.b.op("lt", {at, n.broadcast(to, all, {0, 1})})});
}

void max_roi_pool(NodeImport& n) {
  const Type x = n.type_in(0), rois = n.type_in(1);
  if (x.rank() != 4 || !is_float(x.dtype)) n.fail("takes floats [N,C,H,W], not " + x.str());
  if (rois.rank() != 2 || rois.shape[1] != Dim(5) || rois.dtype != x.dtype) n.fail("regions are [count,5] of the operand's dtype, not " + rois.str());
  const auto cells = n.int_list("pooled_shape");
  if (!cells || cells->size() != 2 || std::min(cells->front(), cells->back()) < 1 || std::max(cells->front(), cells->back()) > (1 << 20)) n.fail("pooled_shape must be two sizes above 0");
  const auto regions = rois.shape[0].size(), channels = x.shape[1].size(), rows = x.shape[2].size(), columns = x.shape[3].size();
  const Shape result{regions, channels, (*cells)[0], (*cells)[1]};
  if (regions * channels * rows * columns == 0) return n.out(n.broadcast(n.b.scalar(x.dtype, 0), result, {}));
  const auto entry = [&](std::int64_t k) { return n.b.reshape(n.slice(n.in(1), 1, k, k + 1), {regions}); };
  const auto corner = [&](std::int64_t k) { return rounded(n, n.with("mul", entry(k), n.real("spatial_scale", 1))); };
  const auto has_row = cells_of(n, corner(2), corner(4), (*cells)[0], rows), has_column = cells_of(n, corner(1), corner(3), (*cells)[1], columns);
  const auto images = n.gather(n.in(0), n.b.convert(entry(0), DType::i64), 0);
  const auto greatest = [&](ValueId values, ValueId has, const Shape& all, Ints value_dims, Ints has_dims, std::int64_t axis) {
    const auto spread = n.broadcast(values, all, std::move(value_dims));
    return n.reduce("reduce_max", n.b.op("select", {n.broadcast(has, all, std::move(has_dims)), spread, n.b.splat_like(spread, -std::numeric_limits<double>::infinity())}), {axis});
  };
  const auto of_columns = greatest(images, has_column, {regions, channels, rows, result[3], columns}, {0, 1, 2, 4}, {0, 3, 4}, 4);
  const auto y = greatest(n.b.transpose(of_columns, {0, 1, 3, 2}), has_row, {regions, channels, result[2], result[3], rows}, {0, 1, 3, 4}, {0, 2, 4}, 4);
  const auto some = [&](ValueId has, std::int64_t dim) { return n.broadcast(n.reduce("reduce_or", has, {2}), result, {0, dim}); };
  n.out(n.select(n.b.op("and", {some(has_row, 2), some(has_column, 3)}), y, n.b.splat_like(y, 0)));
}

constexpr OpEntry entries[] = {{"MaxRoiPool", 2, 2, max_roi_pool}};
}  // namespace
std::span<const OpEntry> roi_pool_family() { return entries; }
}  // namespace plumb::ir::onnx_import
