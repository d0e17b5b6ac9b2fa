// Reductions and running combinations.
#include "lowering/autodiff/rules.h"

namespace plumb::lowering::autodiff {
namespace {

std::vector<ValueId> sum(const Step& s) { return s.first(s.w.spread(s.g[0], s.a.ints("axes"), s.in[0])); }

/// What equals the extremum shares the cotangent evenly. Ties are counted in f32 at least: a narrow float's count would stop.
std::vector<ValueId> extremum(const Step& s) {
  const auto& w = s.w;
  const auto& axes = s.a.ints("axes");
  const auto t = s.type(0).dtype;
  const auto count_in = is_narrow_float(t) ? DType::f32 : t;
  const auto chosen = w("eq", s.in[0], w.spread(s.out[0], axes, s.in[0]));
  const auto ties = w.sum(w.b.convert(chosen, count_in), axes);
  const auto share = w.b.convert(w("div", w.b.convert(s.g[0], count_in), ties), t);
  return s.first(w.select(chosen, w.spread(share, axes, s.in[0]), 0));
}

/// The product of the other elements: of those before times of those after. Nothing is divided by, so zeros do no harm.
std::vector<ValueId> product(const Step& s) {
  const auto& w = s.w;
  const auto& axes = s.a.ints("axes");
  const Type x = s.type(0);
  const Ints kept = others(axes, x.rank());
  Ints perm = kept, back(x.rank());
  perm.insert(perm.end(), axes.begin(), axes.end());
  for (std::size_t k = 0; k < perm.size(); ++k) back[static_cast<std::size_t>(perm[k])] = static_cast<std::int64_t>(k);
  const auto turned = w.transpose(s.in[0], perm);
  const Shape apart = w.type(turned).shape;
  Shape line(apart.begin(), apart.begin() + static_cast<std::ptrdiff_t>(kept.size()));
  std::int64_t n = 1;
  for (auto d : axes) n *= w.size(s.in[0], d);
  line.push_back(n);
  const auto flat = w.b.reshape(turned, line);
  const auto axis = static_cast<std::int64_t>(kept.size());
  const auto side = [&](bool reverse) { return w.b.op("cumprod", {flat}, attrs({{"axis", axis}, {"exclusive", true}, {"reverse", reverse}})); };
  const auto rest = w.transpose(w.b.reshape(w("mul", side(false), side(true)), apart), back);
  return s.first(w("mul", w.spread(s.g[0], axes, s.in[0]), rest));
}

constexpr Rule rules[] = {{"reduce_sum", &sum}, {"reduce_max", &extremum}, {"reduce_min", &extremum}, {"reduce_prod", &product}};

// ── running combinations ──

std::vector<ValueId> cumsum(const Step& s) {
  return s.first(s.w.b.op("cumsum", {s.g[0]}, attrs({{"axis", s.a.integer("axis")}, {"exclusive", s.a.flag("exclusive")}, {"reverse", !s.a.flag("reverse")}})));
}

/// x moved by one step along the axis, away from its end (by = -1) or its begin (by = 1), the gap filled.
ValueId shifted(const Words& w, ValueId x, std::int64_t axis, std::int64_t by, double fill) {
  Ints low(w.rank(x), 0), high(w.rank(x), 0);
  low[static_cast<std::size_t>(axis)] = by;
  high[static_cast<std::size_t>(axis)] = -by;
  return w.pad(x, fill, low, high);
}

/// Both directions and kinds by the plain one: turned round where it runs from the end, moved by one where the element itself is
/// left out.
template <class Plain> std::vector<ValueId> as_plain(const Step& s, Plain plain) {
  const auto& w = s.w;
  const auto axis = s.a.integer("axis");
  if (w.size(s.in[0], axis) == 0) return s.nothing();
  const Ints turn = s.a.flag("reverse") ? Ints{axis} : Ints{};
  const auto x = w.reverse(s.in[0], turn);
  auto g = w.reverse(s.g[0], turn);
  if (s.a.flag("exclusive")) g = shifted(w, g, axis, -1, 0);
  return s.first(w.reverse(plain(x, g, axis), turn));
}

/// dx[k] = (product before k) · S[k], S[k] = g[k] + x[k+1] S[k+1]; S by doubling: after the step d, S[k] = B[k] + A[k] S[k+d].
std::vector<ValueId> cumprod(const Step& s) {
  return as_plain(s, [&](ValueId x, ValueId g, std::int64_t axis) {
    const auto& w = s.w;
    auto ahead = shifted(w, x, axis, -1, 0), total = g;
    for (std::int64_t d = 1; d < w.size(x, axis); d *= 2) {
      total = w("add", total, w("mul", ahead, shifted(w, total, axis, -d, 0)));
      ahead = w("mul", ahead, shifted(w, ahead, axis, -d, 0));
    }
    const auto before = w.b.op("cumprod", {x}, attrs({{"axis", axis}, {"exclusive", true}}));
    return w("mul", before, total);
  });
}

/// The cotangent goes to the last element up to the place that equals the running extremum.
std::vector<ValueId> running_extremum(const Step& s) {
  return as_plain(s, [&](ValueId x, ValueId g, std::int64_t axis) {
    const auto& w = s.w;
    const auto best = w.along(s.op, x, axis);
    const auto place = w.iota(DType::i64, w.type(x).shape, axis);
    const auto at = w.along("cummax", w.select(w("eq", x, best), place, 0), axis);
    return w.b.op("scatter_elements", {w.zeros(w.type(x)), at, g}, attrs({{"axis", axis}, {"mode", std::string("add")}}));
  });
}

constexpr Rule running[] = {{"cumsum", &cumsum}, {"cumprod", &cumprod}, {"cummax", &running_extremum}, {"cummin", &running_extremum}};

}  // namespace

std::span<const Rule> reduce_rules() { return rules; }
std::span<const Rule> scan_rules() { return running; }

}  // namespace plumb::lowering::autodiff
