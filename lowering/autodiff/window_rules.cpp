// Windows of a reduction, and pooling.
#include "lowering/autodiff/rules.h"

namespace plumb::lowering::autodiff {
namespace {

/// A window's attributes, an entry an axis.
struct Window {
  Ints window, stride, low, high, dilation;
  explicit Window(const Step& s) : window(s.a.ints("window")), stride(of(s, "stride", 1)), low(of(s, "low", 0)), high(of(s, "high", 0)), dilation(of(s, "dilation", 1)) {}
  static Ints of(const Step& s, std::string_view name, std::int64_t filler) { return entries(s.a, name, s.w.rank(s.in[0]), filler); }
};

/// dx[j] = sum of g[i] over i·stride + t·dilation = j + low: the windows' sums of g, spread out by the stride.
std::vector<ValueId> window_sum(const Step& s) {
  const Window v(s);
  if (s.w.type(s.g[0]).elements() == 0) return s.nothing();
  Ints low, high, interior;
  for (std::size_t d = 0; d < v.window.size(); ++d) {
    const auto axis = static_cast<std::int64_t>(d);
    const auto reach = (v.window[d] - 1) * v.dilation[d], spread = (s.w.size(s.g[0], axis) - 1) * v.stride[d] + 1;
    low.push_back(reach - v.low[d]);
    high.push_back(s.w.size(s.in[0], axis) + reach - spread - low[d]);
    interior.push_back(v.stride[d] - 1);
  }
  const auto wide = s.w.pad(s.g[0], 0, low, high, interior);
  return s.first(s.w.b.op("reduce_window_sum", {wide}, attrs({{"window", v.window}, {"dilation", v.dilation}})));
}

/// A window, position by position: the elements of x that every window has at one of its positions, and the way back.
class Positions {
 public:
  explicit Positions(const Step& s) : s_(s), w_(s.w), v_(s) {
    if (count() > 4096) fail_unsupported(std::string(s.op) + " has no derivative here for windows of more than 4096 positions", s.w.b.where());
  }
  std::int64_t count() const { return element_count(v_.window); }
  /// x at the position p of each window, `outside` where the position is in the padding.
  ValueId at(ValueId x, std::int64_t p, double outside) const {
    const Ints start = starts(p);
    Ints limit;
    for (std::size_t d = 0; d < start.size(); ++d) limit.push_back(start[d] + covered(d));
    return w_.slice(w_.pad(x, outside, v_.low, v_.high), start, limit, v_.stride);
  }
  /// Values at the position p of each window, at their places in x.
  ValueId back(ValueId values, std::int64_t p) const {
    const Ints start = starts(p);
    Ints low, high, interior;
    for (std::size_t d = 0; d < start.size(); ++d) {
      low.push_back(start[d] - v_.low[d]);
      high.push_back(w_.size(s_.in[0], static_cast<std::int64_t>(d)) - low[d] - covered(d));
      interior.push_back(v_.stride[d] - 1);
    }
    return w_.pad(values, 0, low, high, interior);
  }
  /// The sum of f(p), each at its places in x.
  template <class F> ValueId sum_back(F f) const {
    ValueId total = -1;
    for (std::int64_t p = 0; p < count(); ++p) total = p == 0 ? back(f(p), p) : w_("add", total, back(f(p), p));
    return total;
  }

 private:
  std::int64_t covered(std::size_t d) const { return (w_.size(s_.out[0], static_cast<std::int64_t>(d)) - 1) * v_.stride[d] + 1; }
  Ints starts(std::int64_t p) const {
    Ints r(v_.window.size());
    for (std::size_t d = r.size(); d-- > 0; p /= v_.window[d]) r[d] = p % v_.window[d] * v_.dilation[d];
    return r;
  }
  const Step& s_;
  const Words& w_;
  Window v_;
};

/// What equals a window's extremum shares its cotangent evenly.
std::vector<ValueId> window_extremum(const Step& s) {
  if (s.w.type(s.g[0]).elements() == 0) return s.nothing();
  const auto& w = s.w;
  const Positions positions(s);
  const auto t = s.type(0).dtype, count_in = is_narrow_float(t) ? DType::f32 : t;
  const auto inside = w.b.broadcast_to(w.b.scalar(t, 1), s.type(0).shape);
  std::vector<ValueId> chosen;
  ValueId ties = -1;
  for (std::int64_t p = 0; p < positions.count(); ++p) {
    chosen.push_back(w("and", w("eq", positions.at(s.in[0], p, 0), s.out[0]), w.with("eq", positions.at(inside, p, 0), 1)));
    const auto one = w.b.convert(chosen.back(), count_in);
    ties = p == 0 ? one : w("add", ties, one);
  }
  const auto share = w.b.convert(w("div", w.b.convert(s.g[0], count_in), ties), t);
  return s.first(positions.sum_back([&](std::int64_t p) { return w.select(chosen[static_cast<std::size_t>(p)], share, 0); }));
}

/// Each element's slope is the product of the window's others: of those before it times of those after.
std::vector<ValueId> window_product(const Step& s) {
  if (s.w.type(s.g[0]).elements() == 0) return s.nothing();
  const auto& w = s.w;
  const Positions positions(s);
  const auto n = static_cast<std::size_t>(positions.count());
  std::vector<ValueId> x, after(n);
  for (std::int64_t p = 0; p < positions.count(); ++p) x.push_back(positions.at(s.in[0], p, 1));
  after[n - 1] = w.b.splat_like(s.out[0], 1);
  for (std::size_t p = n - 1; p > 0; --p) after[p - 1] = w("mul", after[p], x[p]);
  auto before = w.b.splat_like(s.out[0], 1);
  return s.first(positions.sum_back([&](std::int64_t p) {
    const auto k = static_cast<std::size_t>(p);
    const auto pulled = w("mul", s.g[0], w("mul", before, after[k]));
    before = w("mul", before, x[k]);
    return pulled;
  }));
}

// ── pooling, whose transposes are operations ──

std::vector<ValueId> max_pool(const Step& s) {
  const auto spatial = s.a.ints("kernel").size();
  Ints size;
  for (auto d : numbers(s.w.rank(s.in[0]) - spatial, s.w.rank(s.in[0]))) size.push_back(s.w.size(s.in[0], d));
  return s.first(s.w.b.op("max_pool_backward", {s.g[0], s.out[1]}, attrs({{"size", size}})));
}
bool row_major(const ir::AttrMap& a) { return !a.flag("column_major"); }

std::vector<ValueId> avg_pool(const Step& s) { return s.first(s.w.b.op("avg_pool_backward", {s.g[0], s.in[0]}, s.a)); }
bool small_window(const ir::AttrMap& a) { return element_count(a.ints("kernel")) <= 4096; }

std::vector<ValueId> adaptive_avg_pool(const Step& s) {
  return s.first(s.w.b.op("adaptive_avg_pool_backward", {s.g[0], s.in[0]}, attrs({{"axes", static_cast<std::int64_t>(s.a.ints("size").size())}})));
}

constexpr Rule rules[] = {{"reduce_window_sum", &window_sum}, {"reduce_window_max", &window_extremum}, {"reduce_window_min", &window_extremum}, {"reduce_window_prod", &window_product},
                          {"max_pool", &max_pool, &row_major}, {"avg_pool", &avg_pool, &small_window}, {"adaptive_avg_pool", &adaptive_avg_pool}};

}  // namespace

std::span<const Rule> window_rules() { return rules; }

}  // namespace plumb::lowering::autodiff
