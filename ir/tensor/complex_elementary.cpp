// Exponentials, logarithms, roots and hyperbolic functions of complex numbers. Parts are accurate to a few units in their last
// place, but for the real part of a logarithm where |z| is near 1 (c128) and powers (whose exponent multiplies the error).
#include <cmath>

#include "ir/tensor/complex_formula.h"

namespace plumb::ir {
namespace {

/// A zero with the sign of x·y.
Term zero_of_product(Term x, Term y) { return select(call("xor", sign_bit(x), sign_bit(y)), x.like(-0.0), x.like(0.0)); }
/// Beyond this e^x overflows; below it, sinh and cosh do not.
double exp_limit(Term x) { return is_f32(x) ? 88 : 709; }

/// sinh, cosh (or both e^x) of x, each times `factor`: where e^|x| overflows, e^(|x|/2) stands in each of the two.
struct Hyperbolic {
  Term sinh, cosh, factor;
};
Hyperbolic hyperbolic(Term x) {
  const Term size = abs(x), large = size > exp_limit(x), half = call("exp", size * 0.5);
  return {select(large, copy_sign(half * 0.5, x), call("sinh", x)), select(large, half * 0.5, call("cosh", x)), select(large, half, 1.0)};
}

/// |z|² near 1 less 1, the greater part's square less 1 as a product; in f64 for f32, where nothing is lost.
Term square_less_one(Term greater, Term lesser) {
  if (!is_f32(greater)) return (greater - 1.0) * (greater + 1.0) + lesser * lesser;
  const Term g = converted(greater, DType::f64), l = converted(lesser, DType::f64);
  return converted((g - 1.0) * (g + 1.0) + l * l, DType::f32);
}

}  // namespace

Complex complex_exp(Complex z) {
  const Term large = z.re > exp_limit(z.re), e = call("exp", select(large, z.re * 0.5, z.re)), factor = select(large, e, 1.0);
  const Term real = z.im == 0.0, open = !is_finite(z.im), nothing = (z.re == -HUGE_VAL) & open, beyond = (z.re == HUGE_VAL) & open;
  const Term re = select(real, e * factor, select(nothing, 0.0, select(beyond, HUGE_VAL, (e * call("cos", z.im)) * factor)));
  return {re, select(real, z.im, select(nothing, 0.0, (e * call("sin", z.im)) * factor))};
}

Term log_magnitude(Complex z) {
  const Term greater = maximum(abs(z.re), abs(z.im)), lesser = minimum(abs(z.re), abs(z.im));
  const bool narrow = is_f32(greater);
  const double high = narrow ? 0x1p126 : 0x1p1022, low = narrow ? 0x1p-100 : 0x1p-960, up = narrow ? 0x1p48 : 0x1p108;
  const Term large = greater > high, small = greater < low;
  const Term scale = select(large, 0.25, select(small, up, greater.like(1)));
  const Term taken = select(large, std::log(0.25), select(small, std::log(up), greater.like(0)));
  const Term plain = call("log", magnitude({z.re * scale, z.im * scale})) - taken;
  const Term near = (greater > 0.5) & (greater < 2.0);
  return select(near, call("log1p", square_less_one(greater, lesser)) * 0.5, plain);
}

Complex complex_log(Complex z) { return {log_magnitude(z), call("atan2", z.im, z.re)}; }

/// The root in the right half plane: its parts are sqrt((|z| + |x|)/2) and |y|/2 divided by that, in the order that x's sign gives.
Complex complex_sqrt(Complex z) {
  const bool narrow = is_f32(z.re);
  const Complex w = narrow ? converted(z, DType::f64) : z;
  const Term greater = maximum(abs(w.re), abs(w.im)), large = greater > 0x1p1020, small = greater < 0x1p-960;
  const Term one = greater.like(1), scale = narrow ? one : select(large, 0x1p-4, select(small, 0x1p108, one)), back = narrow ? one : select(large, 4.0, select(small, 0x1p-54, one));
  const Complex u{w.re * scale, w.im * scale};
  const Term t = sqrt((abs(u.re) + magnitude(u)) * 0.5), other = abs(u.im) / (t * 2.0), left = sign_bit(u.re);
  Complex r = converted({select(left, other, t) * back, select(left, t, other) * back}, dtype(z.re));
  r.im = select(is_nan(z.im), select(z.re == -HUGE_VAL, HUGE_VAL, abs(z.im)), copy_sign(r.im, z.im));
  const Term zero = (z.re == 0.0) & (z.im == 0.0), infinite = is_inf(z.im);
  return {select(zero, 0.0, select(infinite, HUGE_VAL, r.re)), select(zero | infinite, z.im, r.im)};
}

/// e^(w log z). z^0 = 1, whatever z; 0^w = 0 for Re w > 0, else NaN.
Complex complex_pow(Complex z, Complex w) {
  const Complex r = complex_exp(w * complex_log(z));
  const Term zero = (z.re == 0.0) & (z.im == 0.0), one = (w.re == 0.0) & (w.im == 0.0), vanishes = w.re > 0.0;
  const Term at_zero = select(vanishes, 0.0, z.re.like(std::nan("")));
  return {select(one, 1.0, select(zero, at_zero, r.re)), select(one, 0.0, select(zero, at_zero, r.im))};
}

Complex complex_sinh(Complex z) {
  const auto [s, c, factor] = hyperbolic(z.re);
  const Term open = !is_finite(z.im), kept = ((z.re == 0.0) | is_inf(z.re)) & open;
  const Term re = select(kept, z.re, select(z.im == 0.0, s * factor, (s * call("cos", z.im)) * factor));
  return {re, select(z.im == 0.0, z.im, (c * call("sin", z.im)) * factor)};
}

Complex complex_cosh(Complex z) {
  const auto [s, c, factor] = hyperbolic(z.re);
  const Term open = !is_finite(z.im), axis = (z.im == 0.0) | ((z.re == 0.0) & open);
  const Term re = select(is_inf(z.re) & open, HUGE_VAL, select(z.im == 0.0, c * factor, (c * call("cos", z.im)) * factor));
  return {re, select(axis, zero_of_product(z.re, z.im), (s * call("sin", z.im)) * factor)};
}

/// (sinh x cosh x + i sin y cos y) / (sinh² x + cos² y), a quotient without cancellation; ±1 + 4i sin y cos y e^(-2|x|) for large |x|.
Complex complex_tanh(Complex z) {
  const Term large = abs(z.re) > (is_f32(z.re) ? 10.0 : 22.0), x = select(large, 0.0, z.re), open = !is_finite(z.im);
  const Term s = call("sinh", x), c = call("cosh", x), sine = call("sin", z.im), cosine = call("cos", z.im), e = call("exp", -abs(z.re));
  const Term divisor = s * s + cosine * cosine, limit = copy_sign(z.re.like(1), z.re);
  const Term far = select(open & !is_inf(z.re), z.re.like(std::nan("")), limit);
  const Term re = select((z.re == 0.0) | is_nan(z.re), z.re, select(large, far, (s * c) / divisor));
  const Term far_im = select(is_inf(z.re) & open, copy_sign(z.re.like(0), z.im), (sine * cosine) * 4.0 * e * e);
  return {re, select(z.im == 0.0, z.im, select(large, far_im, (sine * cosine) / divisor))};
}

}  // namespace plumb::ir
