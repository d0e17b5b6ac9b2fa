// Inverse trigonometric and hyperbolic functions of complex numbers, by Kahan's formulas (Branch cuts for complex elementary
// functions, 1987), which keep signed zeros along the cuts; and by their limits for very small and very large numbers.
#include <cmath>
#include <numbers>

#include "ir/tensor/complex_formula.h"

namespace plumb::ir {
namespace {

constexpr double half_pi = std::numbers::pi / 2;

/// Sizes of the parts, and whether the limits hold: asin z = z to half an ulp, or 1 beside z² is nothing.
struct Regions {
  Term x, y, small, large, nan;
};
Regions regions(Complex z) {
  const bool narrow = is_f32(z.re);
  const Term x = abs(z.re), y = abs(z.im);
  const double low = narrow ? 0x1p-14 : 0x1p-28, high = narrow ? 0x1p28 : 0x1p60;
  return {x, y, (x < low) & (y < low), (x > high) | (y > high), is_nan(z.re) | is_nan(z.im)};
}
/// sqrt(1 - z) and sqrt(1 + z).
struct Roots {
  Complex minus, plus;
};
Roots roots(Complex z) { return {complex_sqrt({z.re.like(1) - z.re, -z.im}), complex_sqrt({z.re + 1.0, z.im})}; }
Term log_of_double(const Regions& r) { return log_magnitude({r.x, r.y}) + std::numbers::ln2; }
Term nan_like(Term x) { return x.like(std::nan("")); }

}  // namespace

Complex complex_asin(Complex z) {
  const Regions r = regions(z);
  const auto [p, q] = roots(z);
  const Term re = select(r.small | (z.re == 0.0), z.re, select(r.large, call("atan2", z.re, r.y), call("atan2", z.re, p.re * q.re - p.im * q.im)));
  const Term inside = (z.im == 0.0) & (z.re.like(1) >= r.x);
  const Term im = select(r.small | inside, z.im, select(r.large, copy_sign(log_of_double(r), z.im), call("asinh", p.re * q.im - p.im * q.re)));
  // Beside a NaN: a zero or infinite part keeps what is known.
  const Term known = select(z.re == 0.0, z.re, nan_like(z.re)), infinite = select(is_inf(z.im), z.im, select(is_inf(z.re), HUGE_VAL, nan_like(z.im)));
  return {select(r.nan, known, re), select(r.nan, infinite, im)};
}

Complex complex_acos(Complex z) {
  const Regions r = regions(z);
  const auto [p, q] = roots(z);
  const Term quarter = z.re.like(half_pi);
  const Term re = select(r.small, quarter - z.re, select(r.large, call("atan2", r.y, z.re), call("atan2", p.re, q.re) * 2.0));
  const Term inside = (z.im == 0.0) & (z.re.like(1) >= r.x);
  const Term im = select(r.small | inside, -z.im, select(r.large, copy_sign(log_of_double(r), -z.im), call("asinh", q.re * p.im - q.im * p.re)));
  const Term known = select(z.re == 0.0, quarter, nan_like(z.re));
  const Term infinite = select(is_inf(z.im), -z.im, select(is_inf(z.re), select(sign_bit(z.im), HUGE_VAL, z.im.like(-HUGE_VAL)), nan_like(z.im)));
  return {select(r.nan, known, re), select(r.nan & !inside, infinite, im)};
}

/// i acos z or its negative, whichever lies in the right half plane.
Complex complex_acosh(Complex z) {
  const Complex a = complex_acos(z);
  return {abs(a.im), select(is_nan(a.re), a.re, copy_sign(a.re, z.im))};
}

/// log1p(4|x| / ((1 - |x|)² + y²)) / 4 and half the angle of ((1 - x)(1 + x) - y², 2y).
Complex complex_atanh(Complex z) {
  const Regions r = regions(z);
  const Term one = z.re.like(1), apart = one - r.x;
  const Term greater = maximum(r.x, r.y), ratio = minimum(r.x, r.y) / greater;
  const Term infinite = is_inf(z.re) | is_inf(z.im), zero = copy_sign(z.re.like(0), z.re);
  const Term far = select(infinite, zero, (z.re / greater) / greater / (ratio * ratio + 1.0));  // x / |z|²
  const Term pole = (r.x == 1.0) & (r.y < (is_f32(z.re) ? 0x1p-60 : 0x1p-500)) & (r.y > 0.0);  // where y² would vanish
  const Term beside_pole = (z.re.like(std::numbers::ln2) - call("log", r.y)) * 0.5;
  const Term near = copy_sign(select(pole, beside_pole, call("log1p", (r.x * 4.0) / (apart * apart + r.y * r.y)) * 0.25), z.re);
  const Term re = select(z.re == 0.0, z.re, select(r.large, far, near));
  const Term quarter = copy_sign(z.re.like(half_pi), z.im), inside = (z.im == 0.0) & (one >= r.x);
  const Term im = select(inside, z.im, select(r.large, quarter, call("atan2", z.im * 2.0, apart * (r.x + 1.0) - z.im * z.im) * 0.5));
  const Term known = select(infinite | (z.re == 0.0), zero, nan_like(z.re)), angle = select(is_inf(z.im), quarter, nan_like(z.im));
  return {select(r.nan, known, re), select(r.nan, angle, im)};
}

}  // namespace plumb::ir
