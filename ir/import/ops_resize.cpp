// Resize and Upsample: along each axis, every output position is a weighted sum of a few positions of the operand.
// Positions and weights are computed here; the program holds gathers (or views, where the positions form one) and sums.
#include <cmath>
#include <numeric>

#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"
#include "ir/scalar/storage.h"

namespace plumb::ir::onnx_import {
namespace {

struct Plan {
  std::string mode, coordinates, nearest;
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};
struct Axis {
  std::size_t axis;
  std::int64_t in, out;
  double scale;       ///< out / in as stated, or exactly that
  double start, end;  ///< the region of interest, as parts of the axis
  double resized = 0; ///< ONNX's length_resized: out, or scale times in where scales are stated, which need not be whole
};

/// Where output position x lies in the operand.
double source_of(const NodeImport& n, const Plan& p, const Axis& a, std::int64_t x) {
  const auto at = static_cast<double>(x), in = static_cast<double>(a.in);
  const std::string& how = p.coordinates;
  if (how == "half_pixel") return (at + 0.5) / a.scale - 0.5;
  if (how == "pytorch_half_pixel") return a.resized > 1 ? (at + 0.5) / a.scale - 0.5 : 0;
  if (how == "half_pixel_symmetric") return in / 2 * (1 - static_cast<double>(a.out) / (a.scale * in)) + (at + 0.5) / a.scale - 0.5;
  if (how == "align_corners") return at == 0 ? 0 : at * (in - 1) / (a.resized - 1);
  if (how == "asymmetric") return at / a.scale;
  if (how == "tf_half_pixel_for_nn") return (at + 0.5) / a.scale;
  if (how == "tf_crop_and_resize") return a.resized > 1 ? a.start * (in - 1) + at * (a.end - a.start) * (in - 1) / (a.resized - 1) : 0.5 * (a.start + a.end) * (in - 1);
  n.fail("coordinate_transformation_mode is '" + how + "'");
}

double rounded(const NodeImport& n, const Plan& p, const Axis& a, double x) {
  if (p.nearest == "round_prefer_floor") return std::ceil(x - 0.5);
  if (p.nearest == "round_prefer_ceil") return std::floor(x + 0.5);
  if (p.nearest == "floor") return std::floor(x);
  if (p.nearest == "ceil") return std::ceil(x);
  if (p.nearest == "simple") return a.scale < 1 ? std::ceil(x) : std::floor(x);  // before opset 11
  n.fail("nearest_mode is '" + p.nearest + "'");
}

double linear(double distance) { return std::max(1 - distance, 0.0); }
double cubic(double a, double s) {
  if (s <= 1) return ((a + 2) * s - (a + 3)) * s * s + 1;
  return s < 2 ? ((a * s - 5 * a) * s + 8 * a) * s - 4 * a : 0;
}

/// How far the kernel reaches on either side of a position, in elements of the operand. To smooth, a shrinking axis
/// stretches it over the elements that one result stands for.
struct Reach {
  double stretch;  ///< of distances, at most 1
  std::int64_t side;
};
Reach reach_of(const NodeImport& n, const Plan& p, const Axis& a) {
  const std::int64_t radius = p.mode == "linear" ? 1 : 2;
  if (!p.antialias || a.scale >= 1) return {1, radius};
  const double side = std::ceil(static_cast<double>(radius) / a.scale);
  if (side > 512) n.unsupported("antialias over " + std::to_string(side) + " positions on either side");
  return {a.scale, static_cast<std::int64_t>(side)};
}
/// Weights of the positions floor(x) + 1 - side … floor(x) + side for the fraction of x; their sum is 1 but for rounding
/// unless the kernel is stretched.
std::vector<double> weights_of(const Plan& p, const Reach& r, double fraction) {
  std::vector<double> w;
  for (auto k = 1 - r.side; k <= r.side; ++k) {
    const double distance = std::fabs(static_cast<double>(k) - fraction) * r.stretch;
    w.push_back(p.mode == "linear" ? linear(distance) : cubic(p.cubic_a, distance));
  }
  return w;
}

/// For tap k of each output position: a position of the operand and its weight.
struct Taps {
  std::vector<Ints> positions;
  std::vector<std::vector<double>> weights;
};
Taps taps_of(const NodeImport& n, const Plan& p, const Axis& a) {
  const Reach reach = reach_of(n, p, a);
  const std::size_t count = p.mode == "nearest" ? 1 : static_cast<std::size_t>(2 * reach.side);
  const auto first = 1 - reach.side;
  Taps t{std::vector<Ints>(count), std::vector<std::vector<double>>(count)};
  const auto place = [&](double k) { return static_cast<std::int64_t>(std::clamp(k, 0.0, static_cast<double>(a.in - 1))); };
  for (std::int64_t o = 0; o < a.out; ++o) {
    const double x = source_of(n, p, a, o);
    if (!std::isfinite(x)) n.fail("the scales give no finite positions");
    if (p.mode == "nearest") {
      t.positions[0].push_back(place(rounded(n, p, a, x)));
      t.weights[0].push_back(1);
      continue;
    }
    const double whole = std::floor(x);
    auto w = weights_of(p, reach, x - whole);
    double total = p.exclude_outside || reach.stretch < 1 ? 0 : 1;
    for (std::size_t k = 0; k < count; ++k) {
      const double at = whole + static_cast<double>(first) + static_cast<double>(k);
      if (p.exclude_outside && (at < 0 || at >= static_cast<double>(a.in))) w[k] = 0;
    }
    if (total == 0) total = std::accumulate(w.begin(), w.end(), 0.0);
    for (std::size_t k = 0; k < count; ++k) {
      t.positions[k].push_back(place(whole + static_cast<double>(first) + static_cast<double>(k)));
      t.weights[k].push_back(total == 0 ? 0 : w[k] / total);
    }
  }
  return t;
}

ValueId along(const NodeImport& n, ValueId like, std::size_t axis, const std::vector<double>& values) {
  const Type t = n.type(like);
  Literal l(Type{t.dtype, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) store_element(t.dtype, l.mutable_raw(), static_cast<std::int64_t>(i), values[i]);
  return n.broadcast(n.b.constant(std::move(l)), t.shape, {static_cast<std::int64_t>(axis)});
}
bool all_equal(const std::vector<double>& w, double value) { return std::all_of(w.begin(), w.end(), [&](double v) { return v == value; }); }

ValueId resize_axis(const NodeImport& n, const Plan& p, const Axis& a, ValueId x) {
  const Taps t = taps_of(n, p, a);
  ValueId sum = -1;
  for (std::size_t k = 0; k < t.positions.size(); ++k) {
    if (all_equal(t.weights[k], 0)) continue;
    auto term = n.pick(x, a.axis, t.positions[k]);
    if (!all_equal(t.weights[k], 1)) term = n.b.op("mul", {term, along(n, term, a.axis, t.weights[k])});
    sum = sum < 0 ? term : n.b.op("add", {sum, term});
  }
  if (sum < 0) n.fail("no position of the operand has a weight");
  return sum;
}

/// tf_crop_and_resize: positions outside the operand give extrapolation_value.
ValueId extrapolated(const NodeImport& n, const Plan& p, const Axis& a, ValueId y) {
  Literal outside(Type{DType::boolean, {a.out}});
  for (std::int64_t o = 0; o < a.out; ++o) {
    const double x = source_of(n, p, a, o);
    outside.mutable_data<std::uint8_t>()[o] = x < 0 || x > static_cast<double>(a.in - 1);
  }
  const auto mask = n.broadcast(n.b.constant(std::move(outside)), n.type(y).shape, {static_cast<std::int64_t>(a.axis)});
  return n.b.op("select", {mask, n.b.splat_like(y, p.extrapolation), y});
}

Plan plan_of(NodeImport& n) {
  Plan p;
  const bool old = n.op_type() == "Upsample" || n.opset < 11;
  p.mode = n.text("mode", "nearest");
  if (p.mode == "bilinear") p.mode = "linear";
  if (p.mode != "nearest" && p.mode != "linear" && p.mode != "cubic") n.fail("mode is '" + p.mode + "'");
  p.coordinates = old ? "asymmetric" : n.text("coordinate_transformation_mode", "half_pixel");
  p.nearest = old ? "simple" : n.text("nearest_mode", "round_prefer_floor");
  p.cubic_a = n.real("cubic_coeff_a", -0.75);
  p.extrapolation = n.real("extrapolation_value", 0);
  p.antialias = n.integer("antialias", 0) != 0;
  if (p.antialias && p.mode == "nearest") n.fail("antialias is for the modes linear and cubic");
  p.exclude_outside = n.integer("exclude_outside", 0) != 0 && p.mode != "nearest";
  return p;
}

std::vector<double> scales_of(NodeImport& n) {
  if (n.op_type() == "Upsample" && n.opset < 9) {
    const auto scales = n.real_list("scales");
    if (!scales) n.fail("attribute 'scales' is missing");
    return *scales;
  }
  const std::size_t index = n.op_type() == "Upsample" || n.opset < 11 ? 1 : 2;
  return n.has(index) ? n.need_reals(index, "scales") : std::vector<double>{};
}

/// Sizes as stated, or with the aspect ratio kept: one scale for all axes.
void from_sizes(NodeImport& n, std::vector<Axis>& axes, const Ints& sizes) {
  const auto policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") n.fail("keep_aspect_ratio_policy is '" + policy + "'");
  double common = 0;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (sizes[k] < 0 || sizes[k] > max_dim) n.fail("sizes has entry " + std::to_string(sizes[k]));
    if (axes[k].in == 0 && sizes[k] != 0) n.fail("an empty axis cannot grow");
    axes[k].out = sizes[k];
    axes[k].resized = static_cast<double>(sizes[k]);
    axes[k].scale = axes[k].in == 0 ? 1 : static_cast<double>(sizes[k]) / static_cast<double>(axes[k].in);
    const bool better = policy == "not_larger" ? axes[k].scale < common : axes[k].scale > common;
    if (k == 0 || better) common = axes[k].scale;
  }
  if (policy == "stretch") return;
  for (auto& a : axes) {
    const double size = std::floor(common * static_cast<double>(a.in) + 0.5);
    if (size > static_cast<double>(max_dim)) n.fail("the result would have a dimension above 2^40");
    a.scale = common;
    a.resized = common * static_cast<double>(a.in);
    a.out = static_cast<std::int64_t>(size);
  }
}
void from_scales(NodeImport& n, std::vector<Axis>& axes, const std::vector<double>& scales) {
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (!(scales[k] > 0)) n.fail("scales has entry " + std::to_string(scales[k]));
    axes[k].scale = scales[k];
    const float resized = static_cast<float>(axes[k].in) * static_cast<float>(scales[k]), size = std::floor(resized);  // in f32, as shape inference has it
    if (!(size <= static_cast<float>(max_dim))) n.fail("the result would have a dimension above 2^40");
    axes[k].resized = resized;
    axes[k].out = static_cast<std::int64_t>(size);
  }
}

std::vector<Axis> axes_of(NodeImport& n, const Plan& p) {
  const auto e = n.extents(n.in(0));
  const auto listed = n.int_list("axes");
  std::vector<Axis> axes;
  if (listed)
    for (auto d : n.axes(*listed, e.size())) axes.push_back({static_cast<std::size_t>(d), e[static_cast<std::size_t>(d)], 0, 1, 0, 1});
  else
    for (std::size_t d = 0; d < e.size(); ++d) axes.push_back({d, e[d], 0, 1, 0, 1});
  const auto scales = scales_of(n);
  const auto check = [&](std::size_t count, const char* what) {
    if (count != axes.size()) n.fail(std::string(what) + " has " + std::to_string(count) + " entries for " + std::to_string(axes.size()) + " axes");
  };
  if (!scales.empty()) {
    check(scales.size(), "scales");
    from_scales(n, axes, scales);
  } else {
    if (!n.has(3)) n.fail("neither scales nor sizes are given");
    const auto sizes = n.need_ints(3, "sizes");
    check(sizes.size(), "sizes");
    from_sizes(n, axes, sizes);
  }
  if (p.coordinates == "tf_crop_and_resize") {
    const auto roi = n.need_reals(1, "roi");
    check(roi.size() / 2, "half of roi");
    for (std::size_t k = 0; k < axes.size(); ++k) {
      axes[k].start = roi[k];
      axes[k].end = roi[k + axes.size()];
    }
  }
  return axes;
}

void resize(NodeImport& n) {
  const Plan p = plan_of(n);
  const auto axes = axes_of(n, p);
  const bool crop = p.coordinates == "tf_crop_and_resize";
  const DType given = n.type_in(0).dtype;
  // Weighted sums of integers are taken in f32.
  ValueId x = p.mode == "nearest" || is_float(given) ? n.in(0) : n.b.convert(n.in(0), DType::f32);
  std::vector<Axis> moving;
  for (const auto& a : axes)
    if (crop || a.out != a.in || a.scale != 1) moving.push_back(a);
  for (const auto& a : moving) {
    if (a.in == 0 && a.out != 0) n.fail("an empty axis cannot grow");
    n.check_table(a.out);
    if (a.out == 0) x = n.slice(x, a.axis, 0, 0);
    else x = resize_axis(n, p, a, x);
  }
  if (crop)
    for (const auto& a : moving)
      if (a.out != 0) x = extrapolated(n, p, a, x);
  n.out(n.b.convert(x, given));
}

constexpr OpEntry entries[] = {{"Resize", 1, 4, resize}, {"Upsample", 1, 2, resize}};
}  // namespace
std::span<const OpEntry> resize_family() { return entries; }
}  // namespace plumb::ir::onnx_import
