// Resizing: along each axis, every output position is a weighted sum of a few positions of x, known here.
#include "ir/tensor/ops/resample.h"

#include <cmath>

namespace plumb::ir::ops {
namespace {

struct Taps {
  std::vector<Ints> positions;  ///< tap by tap, one of each output position
  std::vector<Reals> weights;
};

double cubic(double s) {
  constexpr double a = -0.75;
  s = std::fabs(s);
  if (s <= 1) return ((a + 2) * s - (a + 3)) * s * s + 1;
  return s < 2 ? ((a * s - 5 * a) * s + 8 * a) * s - 4 * a : 0;
}

/// Where output position o lies in an axis of n elements.
double source_of(const std::string& mode, bool align_corners, std::int64_t n, std::int64_t out, double step, std::int64_t o) {
  const auto at = static_cast<double>(o);
  if (mode == "nearest") return std::floor(at * step);
  if (mode == "nearest_exact") return std::floor((at + 0.5) * step);
  if (align_corners) return out > 1 ? at * (static_cast<double>(n - 1) / static_cast<double>(out - 1)) : 0;
  const double p = (at + 0.5) * step - 0.5;
  return mode == "linear" && p < 0 ? 0 : p;
}

Taps taps_of(const std::string& mode, bool align_corners, std::int64_t n, std::int64_t out, double scale) {
  const double step = scale > 0 ? 1 / scale : static_cast<double>(n) / static_cast<double>(out);
  const bool nearest = mode.starts_with("nearest");
  const std::int64_t before = mode == "cubic" ? 1 : 0;
  const std::size_t count = nearest ? 1 : mode == "linear" ? 2 : 4;
  Taps t{std::vector<Ints>(count), std::vector<Reals>(count)};
  for (std::int64_t o = 0; o < out; ++o) {
    const double p = std::clamp(source_of(mode, align_corners, n, out, step, o), -2.0, static_cast<double>(n) + 2), whole = std::floor(p);
    for (std::size_t k = 0; k < count; ++k) {
      const auto at = static_cast<std::int64_t>(whole) - before + static_cast<std::int64_t>(k);
      const double distance = p - static_cast<double>(at);
      t.positions[k].push_back(std::clamp<std::int64_t>(at, 0, n - 1));
      t.weights[k].push_back(nearest ? 1 : mode == "linear" ? 1 - std::fabs(distance) : cubic(distance));
    }
  }
  return t;
}

bool all_equal(const Reals& w, double value) { return std::all_of(w.begin(), w.end(), [&](double v) { return v == value; }); }

/// A tap of weight 0 is left out where it is 0 everywhere; elsewhere its element is selected away, lest it be NaN.
ValueId weighted(const Words& w, ValueId x, std::size_t axis, const Ints& positions, const Reals& weights) {
  auto term = w.pick(x, axis, positions);
  if (all_equal(weights, 1)) return term;
  const auto factor = w.along(term, axis, weights);
  const auto product = w("mul", term, factor);
  if (std::count(weights.begin(), weights.end(), 0.0) == 0) return product;
  return w("select", w.with("eq", factor, 0), w.b.splat_like(product, 0), product);
}

ValueId resized(const Words& w, ValueId x, std::size_t axis, const Taps& t) {
  ValueId sum = -1;
  for (std::size_t k = 0; k < t.positions.size(); ++k) {
    if (all_equal(t.weights[k], 0)) continue;
    const auto term = weighted(w, x, axis, t.positions[k], t.weights[k]);
    sum = sum < 0 ? term : w("add", sum, term);
  }
  return sum;
}

}  // namespace

Inferred Upsample::infer(std::span<const Type> in, const AttrMap& a) {
  const auto& size = a.ints("size");
  const auto& mode = a.text("mode");
  const auto& scales = a.reals("scales");
  if (size.empty() || size.size() > 3 || in[0].rank() != size.size() + 2) return no("C1: size has " + std::to_string(size.size()) + " entries for " + in[0].str());
  Type t = in[0];
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (size[d] < 1 || size[d] > (1 << 20)) return no("C1: size has entry " + std::to_string(size[d]));
    if (t.shape[d + 2].size() == 0) return no("C2: axis " + std::to_string(d + 2) + " of " + t.str() + " is empty");
    t.shape[d + 2] = size[d];
  }
  if (mode != "nearest" && mode != "nearest_exact" && mode != "linear" && mode != "cubic") return no("C3: mode is '" + mode + "', not nearest, nearest_exact, linear or cubic");
  if (!mode.starts_with("nearest") && !is_float(t.dtype)) return no("C4: mode '" + mode + "' takes floats, not " + std::string(name(t.dtype)));
  const auto usable = [](double s) { return s >= 0 && std::isfinite(s); };
  if (!scales.empty() && (scales.size() != size.size() || !std::all_of(scales.begin(), scales.end(), usable))) return no("C5: scales need an entry a spatial axis, 0 or positive");
  return one(t);
}
Out Upsample::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const auto& size = a.ints("size");
    auto x = v[0];
    for (std::size_t d = 0; d < size.size(); ++d)
      x = resized(w, x, d + 2, taps_of(a.text("mode"), a.flag("align_corners"), w.size(x, d + 2), size[d], a.reals("scales").empty() ? 0 : a.reals("scales")[d]));
    return {x};
  });
}

// ── pixel_shuffle ──
Inferred PixelShuffle::infer(std::span<const Type> in, const AttrMap& a) {
  Type t = in[0];
  const auto r = a.integer("factor");
  if (t.rank() < 3 || t.rank() > 9) return no("C1: x has " + std::to_string(t.rank()) + " axes");
  const auto c = t.rank() - 3;
  const std::int64_t channels = t.shape[c].size(), height = t.shape[c + 1].size(), width = t.shape[c + 2].size();
  const bool divides = r >= 1 && r <= (1 << 20) && (a.flag("inverse") ? height % r == 0 && width % r == 0 : channels % (r * r) == 0);
  if (!divides) return no("C2: " + t.str() + " does not divide by " + std::to_string(r));
  if (!a.flag("inverse") && (!fits(Wide(height) * r) || !fits(Wide(width) * r))) return no("C2: the sizes times " + std::to_string(r) + " are beyond 64 bits");
  if (a.flag("inverse") && !fits(Wide(channels) * r * r)) return no("C2: the channels times " + std::to_string(r) + " twice are beyond 64 bits");
  t.shape[c] = a.flag("inverse") ? channels * r * r : channels / (r * r);
  t.shape[c + 1] = a.flag("inverse") ? height / r : height * r;
  t.shape[c + 2] = a.flag("inverse") ? width / r : width * r;
  return one(t);
}
Out PixelShuffle::decompose(Builder& b, In in, const AttrMap& a) {
  const Type t = b.type(in[0]), result = std::get<std::vector<Type>>(infer(std::array{t}, a))[0];
  const auto c = t.rank() - 3;
  const auto r = a.integer("factor");
  const Shape& fine = a.flag("inverse") ? t.shape : result.shape;
  Shape cut(t.shape.begin(), t.shape.begin() + static_cast<std::ptrdiff_t>(c));
  const std::int64_t channels = fine[c].size(), height = fine[c + 1].size() / r, width = fine[c + 2].size() / r;
  for (auto d : a.flag("inverse") ? Ints{channels, height, r, width, r} : Ints{channels, r, r, height, width}) cut.push_back(d);
  Ints perm = first_axes(c);
  for (auto d : a.flag("inverse") ? Ints{0, 2, 4, 1, 3} : Ints{0, 3, 1, 4, 2}) perm.push_back(static_cast<std::int64_t>(c) + d);
  return {b.reshape(b.transpose(b.reshape(in[0], cut), perm), result.shape)};
}

}  // namespace plumb::ir::ops
