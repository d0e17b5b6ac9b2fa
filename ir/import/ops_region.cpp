// RoiAlign and DeformConv: sums over values read at positions that are data.
#include <cmath>

#include "ir/import/families.h"
#include "ir/import/flat_position.h"
#include "ir/tensor/ops/sampling.h"
#include "ir/import/window.h"
#include "ir/scalar/storage.h"

namespace plumb::ir::onnx_import {
namespace {

// ── RoiAlign ──

struct Pooling {
  std::int64_t regions, cells[2];  ///< rows and columns of the result
  double scale;
  bool half_pixel, average;
};
Pooling pooling_of(NodeImport& n) {
  Pooling p{};
  const auto x = n.in(0), rois = n.in(1);
  if (n.rank(x) != 4 || !is_float(n.type(x).dtype)) n.fail("takes floats [N,C,H,W], not " + n.type(x).str());
  if (n.rank(rois) != 2 || n.extents(rois)[1] != 4 || n.type(rois).dtype != n.type(x).dtype) n.fail("regions are [count,4] of the operand's dtype, not " + n.type(rois).str());
  p.regions = n.extents(rois)[0];
  if (n.rank(n.in(2)) != 1 || n.extents(n.in(2))[0] != p.regions) n.fail("there are " + std::to_string(p.regions) + " regions, but batch indices " + n.type_in(2).str());
  p.cells[0] = n.integer("output_height", 1);
  p.cells[1] = n.integer("output_width", 1);
  if (std::min(p.cells[0], p.cells[1]) < 1 || std::max(p.cells[0], p.cells[1]) > (1 << 20)) n.fail("output_height and output_width are " + std::to_string(p.cells[0]) + " and " + std::to_string(p.cells[1]));
  p.scale = n.real("spatial_scale", 1);
  const auto mode = n.text("mode", "avg"), coordinates = n.opset < 16 ? "output_half_pixel" : n.text("coordinate_transformation_mode", "half_pixel");
  if (mode != "avg" && mode != "max") n.fail("mode is '" + mode + "'");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") n.fail("coordinate_transformation_mode is '" + coordinates + "'");
  p.average = mode == "avg";
  p.half_pixel = coordinates == "half_pixel";
  return p;
}

constexpr std::int64_t most_samples = 4096;  ///< along one axis of a cell

/// One axis of the regions: starts and cell lengths [regions], and how many samples a cell has in each region.
struct Span {
  ValueId start, cell, samples;  ///< samples as floats
  std::int64_t most = 0;         ///< samples of a cell in any region
};
/// Without sampling_ratio, a cell has as many samples as elements that it covers, rounded up: the regions must be known.
Span span_of(NodeImport& n, const Pooling& p, std::size_t axis) {
  const auto rois = n.in(1);
  const auto edge = [&](std::int64_t k) {
    const auto v = n.with("mul", n.b.reshape(n.slice(rois, 1, k, k + 1), {p.regions}), p.scale);
    return p.half_pixel ? n.with("sub", v, 0.5) : v;
  };
  const auto first = axis == 0 ? 1 : 0;
  Span s{edge(first), -1, -1};
  auto length = n.b.op("sub", {edge(first + 2), s.start});
  if (!p.half_pixel) length = n.with("maximum", length, 1);
  s.cell = n.with("div", length, static_cast<double>(p.cells[axis]));
  if (const auto ratio = n.integer("sampling_ratio", 0); ratio > 0) {
    if (ratio > most_samples) n.unsupported("sampling_ratio " + std::to_string(ratio));
    s.most = ratio;
    s.samples = n.b.splat_like(s.cell, static_cast<double>(ratio));
    return s;
  }
  const auto& known = n.need(n.unary("ceil", s.cell), "the regions, of which the number of samples follows as sampling_ratio is 0");
  for (std::int64_t r = 0; r < p.regions; ++r) {
    const double samples = load_element(known.dtype(), known.raw(), r);
    if (!(samples <= most_samples)) n.unsupported("a cell of " + std::to_string(samples) + " samples");
    s.most = std::max(s.most, static_cast<std::int64_t>(samples));
  }
  s.samples = n.with("maximum", n.b.constant(known), 0);
  return s;
}

/// Samples of one axis, [regions, cells * most]: their coordinates, and whether the region has them.
struct Samples {
  ValueId coordinate, exists;
};
Samples samples_of(NodeImport& n, const Pooling& p, const Span& s, std::size_t axis) {
  const Shape shape{p.regions, p.cells[axis], s.most}, flat{p.regions, p.cells[axis] * s.most};
  const DType t = n.type(s.start).dtype;
  const auto spread = [&](ValueId v) { return n.broadcast(v, shape, {0}); };
  const auto sample = n.iota(t, shape, 2);
  const auto cells = n.b.op("mul", {n.iota(t, shape, 1), spread(s.cell)});
  const auto within = n.b.op("div", {n.b.op("mul", {n.with("add", sample, 0.5), spread(s.cell)}), spread(s.samples)});
  const auto at = n.b.op("add", {n.b.op("add", {spread(s.start), cells}), within});
  return {n.b.reshape(at, flat), n.b.reshape(n.b.op("lt", {sample, spread(s.samples)}), flat)};
}

/// Up to 1 beyond the image a sample reads its edge; farther away it reads 0.
std::vector<ops::Tap> edge_taps(NodeImport& n, ValueId coordinate, std::int64_t size) {
  const auto length = static_cast<double>(size);
  const auto counts = n.b.op("and", {n.with("ge", coordinate, -1), n.with("le", coordinate, length)});
  const auto inside = n.b.op("clamp", {coordinate, n.b.splat_like(coordinate, 0), n.b.splat_like(coordinate, length - 1)});
  auto taps = ops::linear_taps(n.words(), inside, size);
  for (auto& t : taps) t.counts = counts;
  return taps;
}

/// [regions, rows * columns] from values of the rows or of the columns.
ValueId over_grid(NodeImport& n, ValueId v, std::size_t axis, std::int64_t rows, std::int64_t columns) {
  const auto regions = n.extents(v)[0];
  return n.b.reshape(n.broadcast(v, {regions, rows, columns}, {0, axis == 0 ? 1 : 2}), {regions, rows * columns});
}

/// ONNX's maximum is over the four weighted elements of every sample, not over the interpolated values.
ValueId greatest_term(NodeImport& n, const ops::Sampled& x, ValueId image, const std::vector<ops::Tap>& rows, const std::vector<ops::Tap>& columns) {
  ValueId most = -1;
  for (const auto& r : rows)
    for (const auto& c : columns) {
      const auto term = ops::sample(n.words(), x, image, {r, c});
      most = most < 0 ? term : n.b.op("maximum", {most, term});
    }
  return most;
}

void roi_align(NodeImport& n) {
  const Pooling p = pooling_of(n);
  const Extents e = n.extents(n.in(0));
  const Span spans[] = {span_of(n, p, 0), span_of(n, p, 1)};
  const Shape result{p.regions, e[1], p.cells[0], p.cells[1]};
  const auto rows = p.cells[0] * spans[0].most, columns = p.cells[1] * spans[1].most;
  if (element_count(Ints{p.regions, rows, columns, e[1], e[2], e[3]}) == 0) return n.out(n.broadcast(n.b.scalar(n.type_in(0).dtype, 0), result, {}));
  std::vector<std::vector<ops::Tap>> taps;
  ValueId exists = -1;
  for (std::size_t axis : {0, 1}) {
    const Samples s = samples_of(n, p, spans[axis], axis);
    taps.push_back(edge_taps(n, over_grid(n, s.coordinate, axis, rows, columns), e[axis + 2]));
    const auto has = over_grid(n, s.exists, axis, rows, columns);
    exists = exists < 0 ? has : n.b.op("and", {exists, has});
  }
  FlatPosition batch(n);
  batch.add(n.in(2), e[0]);
  const auto image = n.broadcast(batch.value(), {p.regions, rows * columns}, {0});
  const ops::Sampled x = ops::rows_of(n.words(), n.in(0));
  auto y = p.average ? ops::sample_all(n.words(), x, image, taps) : greatest_term(n, x, image, taps[0], taps[1]);
  const double none = p.average ? 0 : -std::numeric_limits<double>::infinity();
  y = n.b.op("select", {n.broadcast(exists, n.type(y).shape, {0, 1}), y, n.b.splat_like(y, none)});
  y = n.b.reshape(y, {p.regions, p.cells[0], spans[0].most, p.cells[1], spans[1].most, e[1]});
  y = n.b.transpose(n.reduce(p.average ? "reduce_sum" : "reduce_max", y, {2, 4}), {0, 3, 1, 2});
  const auto count = n.broadcast(n.b.op("mul", {spans[0].samples, spans[1].samples}), result, {0});
  const auto some = n.with("gt", count, 0);
  n.out(n.b.op("select", {some, p.average ? n.b.op("div", {y, count}) : y, n.b.splat_like(y, 0)}));
}

// ── DeformConv ──

struct Deformed {
  Window window;
  Ints sizes, out;
  std::int64_t images, channels, groups, offset_groups, taps, points;
};
Deformed deformed_of(NodeImport& n) {
  Deformed d{};
  const auto x = n.in(0), w = n.in(1), offset = n.in(2);
  d.sizes = spatial_sizes(n, x);
  const Ints kernel = spatial_sizes(n, w);
  if (kernel.size() != d.sizes.size() || n.rank(offset) != n.rank(x)) n.fail("operand " + n.type(x).str() + ", weights " + n.type(w).str() + " and offsets " + n.type(offset).str() + " differ in rank");
  d.window = read_window(n, kernel, d.sizes);
  d.images = n.extents(x)[0];
  d.channels = n.extents(x)[1];
  d.groups = n.integer("group", 1);
  d.offset_groups = n.integer("offset_group", 1);
  d.taps = element_count(kernel);
  if (d.channels == 0) n.fail("the operand " + n.type(x).str() + " has no channels");
  if (d.groups < 1 || d.channels % d.groups != 0 || n.extents(w)[1] != d.channels / d.groups || n.extents(w)[0] % d.groups != 0) n.fail("weights " + n.type(w).str() + " in " + std::to_string(d.groups) + " groups do not fit " + n.type(x).str());
  if (d.offset_groups < 1 || d.channels % d.offset_groups != 0) n.fail(std::to_string(d.channels) + " channels do not divide into " + std::to_string(d.offset_groups) + " offset groups");
  Shape wanted{d.images, d.offset_groups * d.taps * static_cast<std::int64_t>(kernel.size())};
  for (std::size_t k = 0; k < kernel.size(); ++k) {
    const auto free = d.sizes[k] + d.window.low[k] + d.window.high[k] - d.window.span(k);
    d.out.push_back(free < 0 ? 0 : free / d.window.stride[k] + 1);
    wanted.push_back(d.out.back());
  }
  if (n.type(offset).shape != wanted) n.fail("offsets must be " + Type{n.type(offset).dtype, wanted}.str() + ", not " + n.type(offset).str());
  d.points = element_count(d.out);
  return d;
}

/// Along one axis, where the window's elements stand at each point before they are offset: [taps, points].
ValueId window_positions(NodeImport& n, const Deformed& d, std::size_t axis, DType t) {
  n.check_table(element_count(Ints{d.taps, d.points}));
  Literal l(Type{t, {d.taps, d.points}});
  Index tap(d.sizes.size(), 0);
  for (std::int64_t k = 0; k < d.taps; ++k, plumb::advance(tap, d.window.kernel)) {
    Index at(d.sizes.size(), 0);
    for (std::int64_t o = 0; o < d.points; ++o, plumb::advance(at, d.out))
      store_element(t, l.mutable_raw(), k * d.points + o, static_cast<double>(at[axis] * d.window.stride[axis] - d.window.low[axis] + tap[axis] * d.window.dilation[axis]));
  }
  return n.b.constant(std::move(l));
}

/// The elements under each point's window, [images, channels, taps, points].
ValueId columns_of(NodeImport& n, const Deformed& d) {
  const auto axes = static_cast<std::int64_t>(d.sizes.size()), images = d.images * d.offset_groups, per_group = d.channels / d.offset_groups;
  const DType t = n.type_in(2).dtype;
  const auto offsets = n.b.reshape(n.in(2), {images, d.taps, axes, d.points});
  std::vector<std::vector<ops::Tap>> taps;
  for (std::size_t k = 0; k < d.sizes.size(); ++k) {
    const auto a = static_cast<std::int64_t>(k);
    const auto offset = n.b.reshape(n.slice(offsets, 2, a, a + 1), {images, d.taps, d.points});
    const auto at = n.b.op("add", {offset, n.broadcast(window_positions(n, d, k, t), {images, d.taps, d.points}, {1, 2})});
    taps.push_back(ops::linear_taps(n.words(), n.b.reshape(at, {images, d.taps * d.points}), d.sizes[k]));
  }
  Shape grouped{images, per_group};
  for (auto s : d.sizes) grouped.push_back(s);
  const auto x = ops::rows_of(n.words(), n.b.reshape(n.in(0), grouped));
  auto y = ops::sample_all(n.words(), x, n.iota(DType::i64, {images, d.taps * d.points}, 0), taps);
  if (n.has(4)) {
    if (n.type_in(4).elements() != images * d.taps * d.points) n.fail("the mask " + n.type_in(4).str() + " does not fit the offsets");
    y = n.b.op("mul", {y, n.broadcast(n.b.reshape(n.in(4), {images, d.taps * d.points}), n.type(y).shape, {0, 1})});
  }
  return n.b.reshape(n.b.transpose(y, {0, 2, 1}), {d.images, d.channels, d.taps, d.points});
}

void deform_conv(NodeImport& n) {
  const Deformed d = deformed_of(n);
  const auto per_group = d.channels / d.groups, features = n.extents(n.in(1))[0];
  Shape result{d.images, features};
  for (auto s : d.out) result.push_back(s);
  if (element_count(d.sizes) == 0) n.fail("the operand " + n.type_in(0).str() + " has no elements to read");
  const auto columns = n.b.reshape(columns_of(n, d), {d.images, d.groups, per_group * d.taps, d.points});
  const auto weights = n.b.reshape(n.in(1), {d.groups, features / d.groups, per_group * d.taps});
  auto y = n.b.op("dot_general", {weights, columns}, attrs({{"lhs_batch", Ints{0}}, {"rhs_batch", Ints{1}}, {"lhs_contract", Ints{2}}, {"rhs_contract", Ints{2}}}));
  y = n.b.reshape(n.b.transpose(y, {2, 0, 1, 3}), result);
  if (n.has(3)) y = n.b.op("add", {y, n.per_channel(n.in(3), y)});
  n.out(y);
}

constexpr OpEntry entries[] = {{"DeformConv", 3, 5, deform_conv}, {"RoiAlign", 3, 3, roi_align}};
}  // namespace
std::span<const OpEntry> region_family() { return entries; }
}  // namespace plumb::ir::onnx_import
