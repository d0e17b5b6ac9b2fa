// AffineGrid and GridSample: where an image is read, and its values there.
#include "ir/import/families.h"
#include "ir/import/sampling.h"
#include "ir/import/tensor_proto.h"
#include "ir/import/window.h"
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

struct Rule {
  std::string mode, padding;
  bool align_corners;
};
Rule rule_of(NodeImport& n) {
  Rule r{n.text("mode", n.opset < 20 ? "bilinear" : "linear"), n.text("padding_mode", "zeros"), n.integer("align_corners", 0) != 0};
  if (r.mode == (n.opset < 20 ? "bilinear" : "linear")) r.mode = "linear";
  else if (r.mode == (n.opset < 20 ? "bicubic" : "cubic")) r.mode = "cubic";
  else if (r.mode != "nearest") n.fail("mode is '" + r.mode + "'");
  if (r.padding != "zeros" && r.padding != "border" && r.padding != "reflection") n.fail("padding_mode is '" + r.padding + "'");
  return r;
}

/// One axis of the image: its size, and where its border lies.
struct Axis {
  std::int64_t size;
  double low, high;
  double last() const { return static_cast<double>(size - 1); }
};

ValueId clamped(NodeImport& n, ValueId x, const Axis& a) { return n.b.op("clamp", {x, n.b.splat_like(x, 0), n.b.splat_like(x, a.last())}); }

/// Mirrored at the borders as often as it takes.
ValueId reflected(NodeImport& n, ValueId x, const Axis& a) {
  if (a.high == a.low) return n.b.splat_like(x, a.low);
  const double range = a.high - a.low;
  const auto below = n.with("lt", x, a.low), above = n.with("gt", x, a.high);
  const auto beyond = n.b.op("select", {below, n.b.op("sub", {n.b.splat_like(x, a.low), x}), n.with("sub", x, a.high)});
  const auto times = n.unary("trunc", n.with("div", beyond, range));
  const auto rest = n.b.op("sub", {beyond, n.with("mul", times, range)});
  const auto even = n.b.op("eq", {times, n.with("mul", n.unary("floor", n.with("mul", times, 0.5)), 2)});
  const auto from_low = n.b.op("eq", {below, even});
  const auto inside = n.b.op("select", {from_low, n.with("add", rest, a.low), n.b.op("sub", {n.b.splat_like(rest, a.high), rest})});
  return n.b.op("select", {n.b.op("or", {below, above}), inside, x});
}

/// A coordinate beyond the border, moved by the padding mode; under "zeros" it stays.
ValueId moved(NodeImport& n, const Rule& r, ValueId x, const Axis& a) {
  if (r.padding == "zeros") return x;
  if (r.padding == "reflection") return reflected(n, x, a);
  return n.b.op("select", {n.b.op("or", {n.with("lt", x, a.low), n.with("gt", x, a.high)}), clamped(n, x, a), x});
}
/// A tap at a whole position, which may lie outside the axis.
Tap tap_at(NodeImport& n, const Rule& r, ValueId position, ValueId weight, const Axis& a) {
  if (r.padding == "zeros") return {clamped(n, position, a), weight, n.b.op("and", {n.with("ge", position, 0), n.with("le", position, a.last())})};
  // A reflected position lies inside but for rounding far away, or where it is NaN.
  return {clamped(n, n.unary("trunc", moved(n, r, position, a)), a), weight, -1};
}

/// Keys' cubic kernel with a = -0.75: weights of the elements before, at, after and two after the fraction's base.
std::vector<ValueId> cubic_weights(NodeImport& n, ValueId fraction) {
  const double a = -0.75;
  const auto one_less = n.b.op("sub", {n.b.splat_like(fraction, 1), fraction});
  const auto horner = [&](ValueId s, std::initializer_list<double> coefficients) {
    ValueId sum = -1;
    for (double c : coefficients) sum = sum < 0 ? n.b.splat_like(s, c) : n.with("add", n.b.op("mul", {sum, s}), c);
    return sum;
  };
  const auto near = [&](ValueId s) { return horner(s, {a + 2, -(a + 3), 0, 1}); };
  const auto far = [&](ValueId s) { return horner(s, {a, -5 * a, 8 * a, -4 * a}); };
  return {far(n.with("add", fraction, 1)), near(fraction), near(one_less), far(n.with("add", one_less, 1))};
}

std::vector<Tap> taps_of(NodeImport& n, const Rule& r, ValueId x, const Axis& a) {
  if (r.mode == "nearest") return {tap_at(n, r, moved(n, r, n.unary("round_even", x), a), -1, a)};
  x = moved(n, r, x, a);
  const auto base = n.unary("floor", x), fraction = n.b.op("sub", {x, base});
  const bool cubic = r.mode == "cubic";
  const auto weights = cubic ? cubic_weights(n, fraction) : std::vector<ValueId>{n.b.op("sub", {n.b.splat_like(fraction, 1), fraction}), fraction};
  std::vector<Tap> taps;
  for (std::size_t k = 0; k < weights.size(); ++k) taps.push_back(tap_at(n, r, n.with("add", base, static_cast<double>(k) - (cubic ? 1 : 0)), weights[k], a));
  return taps;
}

/// From [-1, 1] to positions of the axis.
ValueId position_of(NodeImport& n, const Rule& r, ValueId unit, const Axis& a) {
  const auto from_start = n.with("add", unit, 1);
  if (r.align_corners) return n.with("mul", n.with("mul", from_start, 0.5), a.last());
  return n.with("mul", n.with("sub", n.with("mul", from_start, static_cast<double>(a.size)), 1), 0.5);
}

void grid_sample(NodeImport& n) {
  const Rule r = rule_of(n);
  const auto x = n.in(0);
  const Ints sizes = spatial_sizes(n, x);
  const Extents e = n.extents(n.in(1));
  const auto axes = sizes.size();
  if (e.size() != axes + 2 || e[0] != n.extents(x)[0] || e.back() != static_cast<std::int64_t>(axes)) n.fail("the grid " + n.type_in(1).str() + " does not fit " + n.type(x).str());
  if (r.mode != "nearest" && !is_float(n.type(x).dtype)) n.unsupported("mode '" + r.mode + "' of " + n.type(x).str());
  const auto points = element_count(std::span(e).subspan(1, axes));
  const DType given = n.type_in(1).dtype, t = given == DType::f64 ? given : DType::f32;
  const auto grid = n.b.reshape(n.b.convert(n.in(1), t), {e[0], points, e.back()});
  std::vector<std::vector<Tap>> taps;
  for (std::size_t d = 0; d < axes; ++d) {
    if (sizes[d] == 0) n.fail("the image " + n.type(x).str() + " has no elements to read");
    const double border = r.align_corners ? 0 : 0.5;
    const Axis a{sizes[d], -border, static_cast<double>(sizes[d] - 1) + border};
    const auto k = static_cast<std::int64_t>(axes - 1 - d);
    const auto unit = n.b.reshape(n.slice(grid, 2, k, k + 1), {e[0], points});
    taps.push_back(taps_of(n, r, position_of(n, r, unit, a), a));
  }
  const auto y = sample_all(n, rows_of(n, x), n.iota(DType::i64, {e[0], points}, 0), taps);
  Shape shape{e[0], n.extents(x)[1]};
  for (std::size_t d = 0; d < axes; ++d) shape.push_back(e[d + 1]);
  n.out(n.b.reshape(n.b.transpose(y, {0, 2, 1}), shape));
}

constexpr OpEntry entries[] = {{"AffineGrid", 2, 2, affine_grid}, {"GridSample", 2, 2, grid_sample}};
}  // namespace
std::span<const OpEntry> sample_family() { return entries; }
}  // namespace plumb::ir::onnx_import
