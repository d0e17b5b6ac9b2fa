// Reading an image at the positions of a grid.
#include "ir/tensor/ops/resample.h"
#include "ir/tensor/ops/sampling.h"

namespace plumb::ir::ops {
namespace {

struct Rule {
  std::string mode, padding;
  bool align_corners, by_tap;
};
/// One axis of the image: its size, and where its border lies.
struct Axis {
  std::int64_t size;
  double low, high;
  double last() const { return static_cast<double>(size - 1); }
};

ValueId clamped(const Words& w, ValueId x, const Axis& a) { return w.b.op("clamp", {x, w.b.splat_like(x, 0), w.b.splat_like(x, a.last())}); }

/// Mirrored at the borders as often as it takes.
ValueId reflected(const Words& w, ValueId x, const Axis& a) {
  if (a.high == a.low) return w.b.splat_like(x, a.low);
  const double range = a.high - a.low;
  const auto below = w.with("lt", x, a.low), above = w.with("gt", x, a.high);
  const auto beyond = w.b.op("select", {below, w.b.op("sub", {w.b.splat_like(x, a.low), x}), w.with("sub", x, a.high)});
  const auto times = w("trunc", w.with("div", beyond, range));
  const auto rest = w.b.op("sub", {beyond, w.with("mul", times, range)});
  const auto even = w.b.op("eq", {times, w.with("mul", w("floor", w.with("mul", times, 0.5)), 2)});
  const auto from_low = w.b.op("eq", {below, even});
  const auto inside = w.b.op("select", {from_low, w.with("add", rest, a.low), w.b.op("sub", {w.b.splat_like(rest, a.high), rest})});
  return w.b.op("select", {w.b.op("or", {below, above}), inside, x});
}

/// A coordinate beyond the border, moved by the padding mode; under "zeros" it stays.
ValueId moved(const Words& w, const Rule& r, ValueId x, const Axis& a) {
  if (r.padding == "zeros") return x;
  if (r.padding == "reflection") return reflected(w, x, a);
  return w.b.op("select", {w.b.op("or", {w.with("lt", x, a.low), w.with("gt", x, a.high)}), clamped(w, x, a), x});
}
/// A tap at a whole position, which may lie outside the axis.
Tap tap_at(const Words& w, const Rule& r, ValueId position, ValueId weight, const Axis& a) {
  if (r.padding == "zeros") return {clamped(w, position, a), weight, w.b.op("and", {w.with("ge", position, 0), w.with("le", position, a.last())})};
  // A reflected position lies inside but for rounding far away, or where it is NaN.
  return {clamped(w, w("trunc", moved(w, r, position, a)), a), weight, -1};
}

/// Keys' cubic kernel with a = -0.75: weights of the elements before, at, after and two after the fraction's base.
std::vector<ValueId> cubic_weights(const Words& w, ValueId fraction) {
  const double a = -0.75;
  const auto one_less = w.b.op("sub", {w.b.splat_like(fraction, 1), fraction});
  const auto horner = [&](ValueId s, std::initializer_list<double> coefficients) {
    ValueId sum = -1;
    for (double c : coefficients) sum = sum < 0 ? w.b.splat_like(s, c) : w.with("add", w.b.op("mul", {sum, s}), c);
    return sum;
  };
  const auto near = [&](ValueId s) { return horner(s, {a + 2, -(a + 3), 0, 1}); };
  const auto far = [&](ValueId s) { return horner(s, {a, -5 * a, 8 * a, -4 * a}); };
  return {far(w.with("add", fraction, 1)), near(fraction), near(one_less), far(w.with("add", one_less, 1))};
}

std::vector<Tap> taps_of(const Words& w, const Rule& r, ValueId x, const Axis& a) {
  if (r.mode == "nearest") return {tap_at(w, r, moved(w, r, w("round_even", x), a), -1, a)};
  if (!r.by_tap || r.mode != "cubic") x = moved(w, r, x, a);
  const auto base = w("floor", x), fraction = w.b.op("sub", {x, base});
  const bool cubic = r.mode == "cubic";
  const auto weights = cubic ? cubic_weights(w, fraction) : std::vector<ValueId>{w.b.op("sub", {w.b.splat_like(fraction, 1), fraction}), fraction};
  std::vector<Tap> taps;
  for (std::size_t k = 0; k < weights.size(); ++k) taps.push_back(tap_at(w, r, w.with("add", base, static_cast<double>(k) - (cubic ? 1 : 0)), weights[k], a));
  return taps;
}

/// From [-1, 1] to positions of the axis.
ValueId position_of(const Words& w, const Rule& r, ValueId unit, const Axis& a) {
  const auto from_start = w.with("add", unit, 1);
  if (r.align_corners) return w.with("mul", w.with("mul", from_start, 0.5), a.last());
  return w.with("mul", w.with("sub", w.with("mul", from_start, static_cast<double>(a.size)), 1), 0.5);
}

}  // namespace

Inferred GridSample::infer(std::span<const Type> in, const AttrMap& a) {
  const Type &x = in[0], &grid = in[1];
  const auto &mode = a.text("mode"), &padding = a.text("padding");
  const auto axes = static_cast<std::int64_t>(x.rank()) - 2;
  if (axes < 1 || axes > 3 || grid.rank() != x.rank() || grid.shape.back() != Dim(axes) || grid.shape[0] != x.shape[0]) return no("C1: the grid " + grid.str() + " does not fit " + x.str());
  Shape s{x.shape[0], x.shape[1]};
  for (std::size_t d = 2; d < x.rank(); ++d) {
    if (x.shape[d] == Dim(0)) return no("C2: the image " + x.str() + " has no elements to read");
    s.push_back(grid.shape[d - 1]);
  }
  if (mode != "nearest" && mode != "linear" && mode != "cubic") return no("C3: mode is '" + mode + "', not nearest, linear or cubic");
  if (padding != "zeros" && padding != "border" && padding != "reflection") return no("C3: padding is '" + padding + "', not zeros, border or reflection");
  if (!is_float(grid.dtype) || (mode != "nearest" && !is_float(x.dtype))) return no("C4: mode '" + mode + "' of " + x.str() + " at " + grid.str());
  return one({x.dtype, s});
}

Out GridSample::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const Rule r{a.text("mode"), a.text("padding"), a.flag("align_corners"), a.flag("by_tap")};
  const Extents image = w.type(in[0]).extents(), e = w.type(in[1]).extents();
  const auto axes = image.size() - 2;
  const auto points = element_count(std::span(e).subspan(1, axes));
  const auto grid = b.reshape(b.convert(in[1], w.type(in[1]).dtype != DType::f64 ? DType::f32 : DType::f64), {e[0], points, e.back()});
  std::vector<std::vector<Tap>> taps;
  for (std::size_t d = 0; d < axes; ++d) {
    const double border = r.align_corners ? 0 : 0.5;
    const Axis axis{image[d + 2], -border, static_cast<double>(image[d + 2] - 1) + border};
    const auto k = static_cast<std::int64_t>(axes - 1 - d);
    const auto unit = b.reshape(w.slice(grid, 2, k, k + 1), {e[0], points});
    taps.push_back(taps_of(w, r, position_of(w, r, unit, axis), axis));
  }
  const auto y = sample_all(w, rows_of(w, in[0]), w.iota(DType::i64, {e[0], points}, 0), taps);
  Shape shape{e[0], image[1]};
  for (std::size_t d = 0; d < axes; ++d) shape.push_back(e[d + 1]);
  return {b.reshape(b.transpose(y, {0, 2, 1}), shape)};
}

}  // namespace plumb::ir::ops
