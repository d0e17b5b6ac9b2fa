#include "interpreter/domains/enclosure_elementary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plumb::interp {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using namespace scalar;

/// Where the function is defined, and how it runs there: from -0, where a root takes numbers from 0 on.
struct Shape {
  double low = -inf, high = inf;
  enum { increasing, decreasing, even, wave } run = increasing;
};

Shape shape_of(FnId fn) {
  switch (fn) {
    case fn_id<Rsqrt>: return {-0.0, inf, Shape::decreasing};
    case fn_id<Sqrt>:
    case fn_id<Log>:
    case fn_id<Log2>:
    case fn_id<Log10>: return {-0.0, inf, Shape::increasing};
    case fn_id<Log1p>: return {-1, inf, Shape::increasing};
    case fn_id<Asin>:
    case fn_id<Atanh>: return {-1, 1, Shape::increasing};
    case fn_id<Acos>: return {-1, 1, Shape::decreasing};
    case fn_id<Acosh>: return {1, inf, Shape::increasing};
    case fn_id<Erfc>: return {-inf, inf, Shape::decreasing};
    case fn_id<Cosh>: return {-inf, inf, Shape::even};
    case fn_id<Sin>:
    case fn_id<Cos>:
    case fn_id<Tan>: return {-inf, inf, Shape::wave};
    default: return {};
  }
}

/// What a lowering may give at a point: within the bound of the exact value, rounded or not.
Enclosed at_point(FnId fn, DType t, double x, double y = 0) {
  const double v = approximate(fn, x, y);
  if (std::isnan(v)) return Enclosed::not_a_number();
  if (std::isinf(v) && (std::isinf(x) || x == 0 || std::isinf(y) || fn == fn_id<Atanh> || fn == fn_id<Log1p>)) return rounded_hull(t, v, v, false);
  if (fn == fn_id<Sqrt>) {
    const bool exact = std::fma(v, v, -x) == 0;
    return exact ? rounded_hull(t, v, v, false) : rounded_hull(t, std::nextafter(v, -inf), std::nextafter(v, inf), false);
  }
  if (v == 0 && x == 0) return Enclosed::real(v, v);
  const double largest = std::scalbn(2 - std::scalbn(1.0, 1 - row(t).precision), row(t).emax);
  const double slack = row(fn).ulp * ulp(t, std::min(std::fabs(v), largest)) + std::fabs(std::isinf(v) ? 0 : v) * 0x1p-48 + 0x1p-1074;
  double lo = (std::isinf(v) && v > 0 ? std::numeric_limits<double>::max() : v) - slack, hi = (std::isinf(v) && v < 0 ? std::numeric_limits<double>::lowest() : v) + slack;
  if (v > 0 && lo < 0) lo = 0;  // the sign is never wrong
  if (v < 0 && hi > 0) hi = -0.0;
  // Where there is no infinity, storing saturates, and only f32, in which the value may be kept, overflows.
  const double overflow = row(t).has_inf ? largest : static_cast<double>(std::numeric_limits<float>::max());
  if (hi > overflow) hi = inf;
  if (lo < -overflow) lo = -inf;
  return rounded_hull(t, lo, hi, false);
}

Enclosed wave(FnId fn, DType t, const Enclosed& x) {
  if (std::isinf(x.lo) || std::isinf(x.hi)) return fn == fn_id<Tan> ? Enclosed::anything() : Enclosed::real(-1, 1, true);
  const double half = x.hi / 2 - x.lo / 2, mid = x.lo / 2 + x.hi / 2;
  if (fn == fn_id<Tan>) {  // within a branch only when both ends lie close together on one side of every pole
    const double a = std::tan(x.lo), b = std::tan(x.hi);
    if (x.hi - x.lo > 1 || a > b) return Enclosed::anything();
    return hull(at_point(fn, t, x.lo), at_point(fn, t, x.hi), t);
  }
  const auto e = at_point(fn, t, mid);  // |slope| <= 1
  return Enclosed::real(std::max(-1.0 - ulp(t, 1) * 4, e.lo - half * (1 + 0x1p-40) - 0x1p-1074), std::min(1.0 + ulp(t, 1) * 4, e.hi + half * (1 + 0x1p-40) + 0x1p-1074));
}

Enclosed power(DType t, const Enclosed& x, const Enclosed& y) {
  const bool points = x.is_point(t) && y.is_point(t);
  if (points) {
    const double a = x.nan ? std::nan("") : x.lo, b = y.nan ? std::nan("") : y.lo;
    const double v = std::pow(a, b);
    if (std::isnan(v)) return Enclosed::not_a_number();
    if (b == 1 || b == 0 || a == 1) return Enclosed::real(v, v);
    return at_point(fn_id<Pow>, t, a, b);
  }
  if (x.nan || y.nan || !(x.lo > 0) || std::isinf(x.hi) || !std::isfinite(y.lo) || !std::isfinite(y.hi)) {
    const bool even = y.is_point(t) && y.lo == 2;  // squares are common
    if (!even || x.nan || std::isinf(x.lo) || std::isinf(x.hi)) return Enclosed::anything();
    const double most = std::max(std::fabs(x.lo), std::fabs(x.hi));
    const double low = x.lo <= 0 && x.hi >= 0 ? 0 : std::min(std::fabs(x.lo), std::fabs(x.hi));
    return hull(at_point(fn_id<Pow>, t, low, 2), at_point(fn_id<Pow>, t, most, 2), t);
  }
  Enclosed r = at_point(fn_id<Pow>, t, x.lo, y.lo);  // x > 0: monotone in each argument, so the corners bound it
  r = hull(r, at_point(fn_id<Pow>, t, x.lo, y.hi), t);
  r = hull(r, at_point(fn_id<Pow>, t, x.hi, y.lo), t);
  r = hull(r, at_point(fn_id<Pow>, t, x.hi, y.hi), t);
  if (x.lo <= 1 && x.hi >= 1) r = hull(r, Enclosed::real(1, 1), t);
  return r;
}

Enclosed angle(DType t, const Enclosed& y, const Enclosed& x) {
  if (y.is_point(t) && x.is_point(t)) return y.nan || x.nan ? Enclosed::not_a_number() : at_point(fn_id<Atan2>, t, y.lo, x.lo);
  const bool one_branch = !y.nan && !x.nan && (x.lo > 0 || y.lo > 0 || y.hi < 0);
  if (!one_branch) {
    const double most = at_point(fn_id<Atan2>, t, 0.0, -1.0).hi;
    return Enclosed::real(-most, most, y.nan || x.nan);
  }
  Enclosed r = at_point(fn_id<Atan2>, t, y.lo, x.lo);
  for (auto [a, b] : {std::pair{y.lo, x.hi}, {y.hi, x.lo}, {y.hi, x.hi}}) r = hull(r, at_point(fn_id<Atan2>, t, a, b), t);
  return r;
}

/// Grows with both magnitudes. An infinite side decides, whatever the other is.
Enclosed hypotenuse(DType t, const Enclosed& x, const Enclosed& y) {
  const auto empty = [](const Enclosed& e) { return !(e.lo <= e.hi); };
  const auto least = [](const Enclosed& e) { return e.lo <= 0 && e.hi >= 0 ? 0 : std::min(std::fabs(e.lo), std::fabs(e.hi)); };
  const auto most = [](const Enclosed& e) { return std::max(std::fabs(e.lo), std::fabs(e.hi)); };
  const auto infinite = [&](const Enclosed& e) { return !empty(e) && !e.nan && std::isinf(least(e)); };
  if (infinite(x) || infinite(y)) return Enclosed::real(inf, inf);
  const bool may_be_infinite = (!empty(x) && std::isinf(most(x))) || (!empty(y) && std::isinf(most(y)));
  if (empty(x) || empty(y)) return may_be_infinite ? Enclosed::real(inf, inf, true) : Enclosed::not_a_number();
  Enclosed r = hull(at_point(fn_id<Hypot>, t, least(x), least(y)), at_point(fn_id<Hypot>, t, most(x), most(y)), t);
  r.nan = x.nan || y.nan;
  return r;
}

}  // namespace

Enclosed enclose_elementary(FnId fn, DType t, std::span<const Enclosed> args) {
  if (fn == fn_id<Pow>) return power(t, args[0], args[1]);
  if (fn == fn_id<Atan2>) return angle(t, args[0], args[1]);
  if (fn == fn_id<Hypot>) return hypotenuse(t, args[0], args[1]);
  const Enclosed& x = args[0];
  if (!(x.lo <= x.hi)) return x;  // NaN alone
  const Shape s = shape_of(fn);
  if (x.hi < s.low || x.lo > s.high) return Enclosed::not_a_number();
  const bool outside = x.lo < s.low || x.hi > s.high;
  const double lo = std::max(x.lo, s.low), hi = std::min(x.hi, s.high);
  Enclosed r;
  if (lo == hi && std::signbit(lo) == std::signbit(hi)) r = at_point(fn, t, lo);
  else if (s.run == Shape::wave) r = wave(fn, t, x);
  else {
    r = hull(at_point(fn, t, lo), at_point(fn, t, hi), t);
    if (fn == fn_id<Rsqrt> && lo == 0) r = hull(r, at_point(fn, t, +0.0), t);  // between -inf at -0 and what follows
    if (s.run == Shape::even && lo < 0 && hi > 0) r = hull(r, at_point(fn, t, 0), t);
  }
  r.nan = r.nan || x.nan || outside;
  return r;
}

}  // namespace plumb::interp
