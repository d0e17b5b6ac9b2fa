#include "ir/tensor/complex_functions.h"

#include <cmath>
#include <limits>

#include "ir/tensor/complex_formula.h"

namespace plumb::ir {
namespace {

Complex scaled(Complex x, Term factor) { return {x.re * factor, x.im * factor}; }

/// Smith's algorithm (Communications of the ACM 5, 1962): the divisor's lesser part divided by its greater one keeps
/// squares out. Where that ratio underflows, its products take the other factor first.
Complex smith(Complex x, Complex y) {
  const Term wide = abs(y.re) >= abs(y.im);
  const Term greater = select(wide, y.re, y.im), lesser = select(wide, y.im, y.re);
  const Term ratio = lesser / greater, divisor = greater + lesser * ratio;
  const Term underflow = (ratio == 0.0) & (lesser != 0.0);
  auto times_ratio = [&](Term v) { return select(underflow, lesser * (v / greater), v * ratio); };
  const Term re = times_ratio(x.re), im = times_ratio(x.im);
  return {select(wide, x.re + im, re + x.im) / divisor, select(wide, x.im - re, im - x.re) / divisor};
}

/// Operands near the ends of f64's range are scaled by powers of two (Baudin and Smith, A robust complex division in
/// Scilab, 2012), and the quotient back.
Complex robust_quotient(Complex x, Complex y) {
  const double high = std::numeric_limits<double>::max() / 4, low = std::numeric_limits<double>::min() * 0x1p54;
  auto factor = [&](Complex z) {
    const Term size = maximum(abs(z.re), abs(z.im));
    return select(size >= high, 0.5, select(size.like(low) >= size, 0x1p107, size.like(1)));
  };
  const Term up = factor(x), down = factor(y);
  return scaled(smith(scaled(x, up), scaled(y, down)), down / up);
}

/// c64 is divided in f64, where nothing leaves the range. A divisor of zeros divides each part by +0.
Complex div(Complex x, Complex y) {
  const bool narrow = is_f32(x.re);
  const Complex q = narrow ? converted(smith(converted(x, DType::f64), converted(y, DType::f64)), DType::f32) : robust_quotient(x, y);
  const Term zero = (y.re == 0.0) & (y.im == 0.0), plus_zero = abs(y.re);
  return {select(zero, x.re / plus_zero, q.re), select(zero, x.im / plus_zero, q.im)};
}

}  // namespace

/// In f64 the squares of f32 are exact and in range; f64 itself is scaled by the greater part.
Term magnitude(Complex z) {
  const Term infinite = is_inf(z.re) | is_inf(z.im);
  if (is_f32(z.re)) {
    const Complex w = converted(z, DType::f64);
    return select(infinite, HUGE_VAL, converted(sqrt(w.re * w.re + w.im * w.im), DType::f32));
  }
  const Term greater = maximum(abs(z.re), abs(z.im)), ratio = minimum(abs(z.re), abs(z.im)) / greater;
  return select(infinite, HUGE_VAL, select(greater == 0.0, 0.0, greater * sqrt(ratio * ratio + 1.0)));
}

Parts complex_function(Builder& b, FnId f, std::span<const Parts> in) {
  using namespace scalar;
  auto at = [&](std::size_t k) { return Complex{{&b, in[k].re}, {&b, in[k].im}}; };
  auto parts = [](Complex z) { return Parts{z.re.id, z.im.id}; };
  const Complex x = at(0);
  switch (f) {
    case fn_id<Add>: return parts({x.re + at(1).re, x.im + at(1).im});
    case fn_id<Sub>: return parts({x.re - at(1).re, x.im - at(1).im});
    case fn_id<Mul>: return parts(x * at(1));
    case fn_id<Div>: return parts(div(x, at(1)));
    case fn_id<Neg>: return parts(-x);
    case fn_id<Abs>: return {magnitude(x).id};
    case fn_id<Eq>: return {((x.re == at(1).re) & (x.im == at(1).im)).id};
    case fn_id<Ne>: return {((x.re != at(1).re) | (x.im != at(1).im)).id};
    case fn_id<Exp>: return parts(complex_exp(x));
    case fn_id<Log>: return parts(complex_log(x));
    case fn_id<Sqrt>: return parts(complex_sqrt(x));
    case fn_id<Pow>: return parts(complex_pow(x, at(1)));
    case fn_id<Sinh>: return parts(complex_sinh(x));
    case fn_id<Cosh>: return parts(complex_cosh(x));
    case fn_id<Tanh>: return parts(complex_tanh(x));
    case fn_id<Sin>: return parts(over_i(complex_sinh(times_i(x))));   // sin z = -i sinh iz, and so on
    case fn_id<Cos>: return parts(complex_cosh(times_i(x)));
    case fn_id<Tan>: return parts(over_i(complex_tanh(times_i(x))));
    case fn_id<Asin>: return parts(complex_asin(x));
    case fn_id<Acos>: return parts(complex_acos(x));
    case fn_id<Acosh>: return parts(complex_acosh(x));
    case fn_id<Atanh>: return parts(complex_atanh(x));
    case fn_id<Asinh>: return parts(over_i(complex_asin(times_i(x))));
    case fn_id<Atan>: return parts(over_i(complex_atanh(times_i(x))));
    default: fail_internal("no complex meaning of " + std::string(plumb::row(f).name));
  }
}

}  // namespace plumb::ir
