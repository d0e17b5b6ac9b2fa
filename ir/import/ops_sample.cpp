// AffineGrid and GridSample.
#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"
#include "ir/scalar/storage.h"

namespace plumb::ir::onnx_import {
namespace {

/// Positions of an axis on [-1, 1]: of the elements' centres, or from end to end.
double unit_position(std::int64_t i, std::int64_t size, bool align_corners) {
  const auto at = static_cast<double>(i), length = static_cast<double>(size);
  if (!align_corners) return (2 * at + 1) / length - 1;
  return size == 1 ? -1 : 2 * at / (length - 1) - 1;
}

/// [spatial + 1, points]: the points' coordinates, the last axis' first, and a row of ones.
ValueId base_grid(NodeImport& n, DType t, const Ints& sizes, bool align_corners) {
  const auto axes = static_cast<std::int64_t>(sizes.size()), points = element_count(sizes);
  n.check_table((axes + 1) * points);
  Literal grid(Type{t, {axes + 1, points}});
  Index at(sizes.size(), 0);
  for (std::int64_t p = 0; p < points; ++p, plumb::advance(at, sizes)) {
    for (std::int64_t k = 0; k < axes; ++k) {
      const auto d = static_cast<std::size_t>(axes - 1 - k);
      store_element(t, grid.mutable_raw(), k * points + p, unit_position(at[d], sizes[d], align_corners));
    }
    store_element(t, grid.mutable_raw(), axes * points + p, 1);
  }
  return n.b.constant(std::move(grid));
}

/// Each point of the result's grid by the image's matrix theta.
void affine_grid(NodeImport& n) {
  const auto theta = n.in(0);
  const Ints size = n.need_ints(1, "size");
  if (size.size() != 4 && size.size() != 5) n.fail("size has " + std::to_string(size.size()) + " entries, not 4 or 5");
  for (auto s : size)
    if (s < 1 || s > max_dim) n.fail("size has entry " + std::to_string(s));
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  const Type wanted{n.type(theta).dtype, {size[0], axes, axes + 1}};
  if (n.type(theta) != wanted) n.fail("theta must be " + wanted.str() + ", not " + n.type(theta).str());
  const Ints spatial(size.begin() + 2, size.end());
  const auto grid = base_grid(n, wanted.dtype, spatial, n.integer("align_corners", 0) != 0);
  const auto points = n.b.op("dot_general", {theta, grid}, attrs({{"lhs_contract", Ints{2}}, {"rhs_contract", Ints{0}}}));
  Shape shape{size[0]};
  for (auto s : spatial) shape.push_back(s);
  shape.push_back(axes);
  n.out(n.b.reshape(n.b.transpose(points, {0, 2, 1}), shape));
}

void grid_sample(NodeImport& n) {
  const bool old = n.opset < 20;
  const auto mode = n.text("mode", old ? "bilinear" : "linear");
  const auto linear = old ? "bilinear" : "linear", cubic = old ? "bicubic" : "cubic";
  if (mode != linear && mode != cubic && mode != "nearest") n.fail("mode is '" + mode + "'");
  n.out(n.b.op("grid_sample", {n.in(0), n.in(1)}, attrs({{"mode", std::string(mode == linear ? "linear" : mode == cubic ? "cubic" : "nearest")}, {"padding", n.text("padding_mode", "zeros")},
                                                         {"align_corners", n.integer("align_corners", 0) != 0}})));
}

constexpr OpEntry entries[] = {{"AffineGrid", 2, 2, affine_grid}, {"GridSample", 2, 2, grid_sample}};
}  // namespace
std::span<const OpEntry> sample_family() { return entries; }
}  // namespace plumb::ir::onnx_import
