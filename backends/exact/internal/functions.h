// Each function of doubles: special values, exact cases, then the kernels and one rounding. Meanings: ir/scalar/functions.h.
#pragma once
#include "backends/exact/internal/cases.h"
#include "backends/exact/internal/kernels.h"

namespace plumb::backends::exact {

inline double finish(const Wide& x, Mode mode) { return rounded(x, mode, true); }
inline double finish(const Dyadic& x, Mode mode) { return rounded(wide(x), mode, false); }

/// |x| < 2^-60: functions that are x + c·x² + … or x + c·x³ + … there have the number beside x.
inline bool tiny(const Wide& x) { return x.e < -60; }
inline double finish_beside(double x, bool outward, Mode mode) { return finish(beside(wide(x), outward), mode); }

/// Arguments beyond ±limit act as that, far beyond where results leave the range of doubles.
inline double clamped(double x, double limit) { return x > limit ? limit : x < -limit ? -limit : x; }

// ── exponentials ──
[[gnu::noinline]] inline double exp(double x, Mode mode) {
  if (is_nan(x) || x == infinity) return x;
  if (is_infinite(x)) return 0;
  return x == 0 ? 1 : finish(exp(wide(clamped(x, 0x1p14))), mode);
}
[[gnu::noinline]] inline double exp2(double x, Mode mode) {
  if (is_nan(x) || x == infinity) return x;
  if (is_infinite(x)) return 0;
  x = clamped(x, 0x1p14);
  if (is_integer(x)) return finish(Dyadic{1, static_cast<int>(x), false}, mode);
  return finish(exp2(wide(x)), mode);
}
/// sinh |x|, without cancellation.
[[gnu::noinline]] inline Wide sinh(const Wide& x) {
  if (x.e < -1) return sine_series(x, false);
  const Wide e = exp(x);
  return scaled(e - one / e, -1);
}
inline Wide cosh(const Wide& x) {
  const Wide e = exp(x);
  return scaled(e + one / e, -1);
}
/// e^x - 1 = 2·sinh(x/2)·e^(x/2) near zero.
[[gnu::noinline]] inline double expm1(double x, Mode mode) {
  if (is_nan(x) || x == 0 || x == infinity) return x;
  if (is_infinite(x)) return -1;
  const Wide w = wide(clamped(x, 0x1p14)), half = scaled(w, -1);
  if (tiny(w)) return finish_beside(x, x > 0, mode);
  return finish(w.e < -1 ? scaled(sine_series(half, false), 1) * exp(half) : exp(w) - one, mode);
}
[[gnu::noinline]] inline double sinh(double x, Mode mode) {
  if (is_nan(x) || x == 0 || is_infinite(x)) return x;
  const double r = finish(sinh(wide(magnitude(clamped(x, 0x1p14)))), mode);
  return with_sign(r, x < 0);
}
[[gnu::noinline]] inline double cosh(double x, Mode mode) {
  if (is_nan(x)) return x;
  if (is_infinite(x)) return infinity;
  const Wide w = wide(clamped(x, 0x1p14));
  if (tiny(w)) return x == 0 ? 1 : finish_beside(1, true, mode);
  return finish(cosh(w), mode);
}
/// sinh/cosh near zero, else 1 - 2/(e^2x + 1).
[[gnu::noinline]] inline double tanh(double x, Mode mode) {
  if (is_nan(x) || x == 0) return x;
  if (is_infinite(x)) return x < 0 ? -1 : 1;
  const Wide w = wide(magnitude(clamped(x, 0x1p14)));
  if (tiny(w)) return finish_beside(x, false, mode);
  const Wide r = w.e < -1 ? sinh(w) / cosh(w) : one - scaled(one, 1) / (exp(scaled(w, 1)) + one);
  return with_sign(finish(r, mode), x < 0);
}
[[gnu::noinline]] inline double sigmoid(double x, Mode mode) {
  if (is_nan(x)) return x;
  if (is_infinite(x)) return x < 0 ? 0 : 1;
  if (x == 0) return 0.5;
  const Wide w = wide(magnitude(clamped(x, 0x1p14)));
  if (w.e < -40) return finish(beside(scaled(one, -1) + scaled(wide(x), -2), x < 0), mode);  // 1/2 + x/4 - x³/48 + …
  const Wide low = one / (one + exp(w));
  return finish(x < 0 ? low : one - low, mode);
}

// ── logarithms ──
/// log x times a factor; x not a power of the base.
inline double logarithm(double x, const Wide& factor, Mode mode) { return finish(log(wide(x)) * factor, mode); }
/// True with a result where x has no finite logarithm.
inline bool special_log(double x, double& result) {
  result = x == 0 ? -infinity : x < 0 ? nan() : x;
  return !(x > 0) || x == infinity;
}
[[gnu::noinline]] inline double log(double x, Mode mode) {
  double r;
  if (special_log(x, r)) return r;
  return x == 1 ? 0 : logarithm(x, one, mode);
}
[[gnu::noinline]] inline double log2(double x, Mode mode) {
  double r;
  if (special_log(x, r)) return r;
  const Dyadic d = dyadic(x);
  return d.m == 1 ? d.e : logarithm(x, log2_of_e, mode);
}
[[gnu::noinline]] inline double log10(double x, Mode mode) {
  double r;
  if (special_log(x, r)) return r;
  int k;
  return is_power_of_ten(x, k) ? k : logarithm(x, log10_of_e, mode);
}
[[gnu::noinline]] inline double log1p(double x, Mode mode) {
  if (is_nan(x) || x == 0 || x == infinity) return x;
  if (x <= -1) return x == -1 ? -infinity : nan();
  const Wide w = wide(x);
  return tiny(w) ? finish_beside(x, x < 0, mode) : finish(log1p(w), mode);
}
/// log1p(|x| + x²/(1 + √(1 + x²))).
[[gnu::noinline]] inline double asinh(double x, Mode mode) {
  if (is_nan(x) || x == 0 || is_infinite(x)) return x;
  const Wide w = wide(magnitude(x)), square = w * w;
  if (tiny(w)) return finish_beside(x, false, mode);
  return with_sign(finish(log1p(w + square / (one + root(one + square))), mode), x < 0);
}
/// log1p(t + √(t·(t + 2))), t = x - 1.
[[gnu::noinline]] inline double acosh(double x, Mode mode) {
  if (is_nan(x) || x == infinity) return x;
  if (x <= 1) return x == 1 ? 0 : nan();
  const Wide t = wide(x) - one;
  return finish(log1p(t + root(t * (t + scaled(one, 1)))), mode);
}
/// log1p(2x/(1 - x))/2.
[[gnu::noinline]] inline double atanh(double x, Mode mode) {
  if (is_nan(x) || x == 0) return x;
  const double a = magnitude(x);
  if (a >= 1) return a == 1 ? with_sign(infinity, x < 0) : nan();
  const Wide w = wide(a);
  if (tiny(w)) return finish_beside(x, true, mode);
  return with_sign(finish(scaled(log1p(scaled(w, 1) / (one - w)), -1), mode), x < 0);
}

// ── circular functions ──
/// sin of x turned by some quarters: sine and cosine are one function.
[[gnu::noinline]] inline double turned_sine(double x, int quarters, Mode mode) {
  const Turn t = reduced(wide(magnitude(x)));
  quarters += t.quarters;
  const Wide r = quarters & 1 ? cosine_series(t.rest) : sine_series(t.rest, true);
  return finish(quarters & 2 ? -r : r, mode);
}
inline double sin(double x, Mode mode) {
  if (is_nan(x) || x == 0) return x;
  return is_infinite(x) ? nan() : with_sign(turned_sine(x, 0, mode), x < 0);
}
inline double cos(double x, Mode mode) {
  if (is_nan(x)) return x;
  if (is_infinite(x)) return nan();
  return x == 0 ? 1 : turned_sine(x, 1, mode);
}
[[gnu::noinline]] inline double tan(double x, Mode mode) {
  if (is_nan(x) || x == 0) return x;
  if (is_infinite(x)) return nan();
  const Wide w = wide(magnitude(x));
  if (tiny(w)) return finish_beside(x, true, mode);
  const Turn t = reduced(w);
  const Wide s = sine_series(t.rest, true), c = cosine_series(t.rest);
  return with_sign(finish(t.quarters & 1 ? -c / s : s / c, mode), x < 0);
}

/// The angle of the point (x, y), neither both zero nor both infinite, no NaN.
[[gnu::noinline]] inline double point_angle(const Wide& y, const Wide& x, Mode mode) {
  const Wide a = angle(abs(y), abs(x));
  const double r = finish(x.negative ? pi - a : a, mode);
  return with_sign(r, y.negative);
}
[[gnu::noinline]] inline double atan(double x, Mode mode) {
  if (is_nan(x) || x == 0) return x;
  if (is_infinite(x)) return with_sign(finish(scaled(pi, -1), mode), x < 0);
  return point_angle(wide(x), one, mode);
}
/// √(1 - x²).
inline Wide other_leg(const Wide& x) { return root((one - x) * (one + x)); }
[[gnu::noinline]] inline double asin(double x, Mode mode) {
  if (is_nan(x) || x == 0) return x;
  if (magnitude(x) > 1) return nan();
  const Wide w = wide(x);
  return tiny(w) ? finish_beside(x, true, mode) : point_angle(w, other_leg(w), mode);
}
[[gnu::noinline]] inline double acos(double x, Mode mode) {
  if (is_nan(x)) return x;
  if (magnitude(x) > 1) return nan();
  const Wide w = wide(x);
  return x == 1 ? 0 : point_angle(other_leg(w), w, mode);
}
[[gnu::noinline]] inline double atan2(double y, double x, Mode mode) {
  if (is_nan(x) || is_nan(y)) return nan();
  const bool wide_y = is_infinite(y), wide_x = is_infinite(x);
  if (wide_x || wide_y) {  // infinities act as a unit against nothing
    y = with_sign(wide_y, sign_bit(y)), x = with_sign(wide_x, sign_bit(x));
  }
  if (y == 0 && !sign_bit(x)) return y;
  Wide wx = wide(x), wy = wide(y);
  wx.negative = sign_bit(x), wy.negative = sign_bit(y);
  if (y == 0) wx = -one;
  return point_angle(wy, wx, mode);
}

// ── roots, powers, the error function ──
[[gnu::noinline]] inline double rsqrt(double x, Mode mode) {
  if (is_nan(x)) return x;
  if (x == 0) return with_sign(infinity, sign_bit(x));
  if (x < 0) return nan();
  if (x == infinity) return 0;
  const Dyadic d = dyadic(x);
  return d.m == 1 && d.e % 2 == 0 ? finish(Dyadic{1, -d.e / 2, false}, mode) : finish(reciprocal_root(wide(x)), mode);
}
/// e^(log|x|/3), unless the double next to it is the root itself.
[[gnu::noinline]] inline double cbrt(double x, Mode mode) {
  if (is_nan(x) || x == 0 || is_infinite(x)) return x;
  const double a = magnitude(x);
  const Wide r = exp(log(wide(a)) * third);
  const Dyadic near = dyadic(rounded(r, Mode::nearest, true));
  const bool exact = near.m < 1 << 18 && near.m * near.m * near.m == dyadic(a).m;
  return with_sign(exact ? finish(near, mode) : finish(r, mode), x < 0);
}
/// IEEE 754-2019, 9.2.1.
inline bool special_pow(double x, double y, double& result) {
  const double a = magnitude(x);
  if (y == 0 || x == 1) return result = 1, true;
  if (is_nan(x) || is_nan(y)) return result = nan(), true;
  if (is_infinite(y)) return result = a == 1 ? 1 : (a > 1) == (y > 0) ? infinity : 0, true;
  if (x == 0 || is_infinite(x)) return result = with_sign((x == 0) == (y > 0) ? 0.0 : infinity, sign_bit(x) && is_odd(y)), true;
  if (x < 0 && !is_integer(y)) return result = nan(), true;
  if (x == -1) return result = is_odd(y) ? -1 : 1, true;
  return false;
}
[[gnu::noinline]] inline double pow(double x, double y, Mode mode) {
  double r;
  if (special_pow(x, y, r)) return r;
  const bool negative = x < 0 && is_odd(y);
  x = magnitude(x);
  Dyadic exact;
  if (exact_power(x, y, exact)) return with_sign(finish(exact, mode), negative);
  Wide t = log(wide(x)) * wide(y) * log2_of_e;
  if (t.e > 14) t = Wide{one.m, 14, t.negative};
  return with_sign(finish(exp2(t), mode), negative);
}
inline double hypot(double x, double y, Mode mode) {
  if (is_infinite(x) || is_infinite(y)) return infinity;
  if (is_nan(x) || is_nan(y)) return nan();
  const Wide a = wide(x), b = wide(y);
  if (x == 0 || y == 0) return magnitude(x == 0 ? y : x);
  return finish(root(a * a + b * b), mode);
}
[[gnu::noinline]] inline double erf(double x, Mode mode) {
  if (is_nan(x) || x == 0) return x;
  const double a = magnitude(clamped(x, 64));
  const Wide w = wide(a), r = a < 3 ? erf_series(w, a) : one - erfc_fraction(w, a);
  return is_infinite(x) ? with_sign(1, x < 0) : with_sign(finish(r, mode), x < 0);
}
[[gnu::noinline]] inline double erfc(double x, Mode mode) {
  if (is_nan(x)) return x;
  if (is_infinite(x)) return x < 0 ? 2 : 0;
  if (x == 0) return 1;
  const double a = magnitude(clamped(x, 64));
  const Wide w = wide(a);
  if (a >= 3) {
    const Wide tail = erfc_fraction(w, a);
    return finish(x < 0 ? scaled(one, 1) - tail : tail, mode);
  }
  const Wide r = erf_series(w, a);
  return finish(x < 0 ? one + r : one - r, mode);
}
/// x modulo y, eleven bits of the quotient at a time.
inline double fmod(double x, double y) {
  if (is_nan(x) || is_nan(y) || is_infinite(x) || y == 0) return nan();
  const double a = magnitude(x), b = magnitude(y);
  if (a < b) return x;
  const Dyadic dx = dyadic(x), dy = dyadic(y);
  u64 rest = dx.m, modulus = dy.m;
  int e = dx.e;
  if (e < dy.e) modulus <<= dy.e - e;  // a >= b: below 2^53 still
  while (e > dy.e) {
    const int step = e - dy.e < 11 ? e - dy.e : 11;
    rest = rest % modulus << step, e -= step;
  }
  return with_sign(rounded(wide(Dyadic{rest % modulus, e, false}), Mode::nearest, false), sign_bit(x));
}

}  // namespace plumb::backends::exact
