#include "ir/tensor/complex_functions.h"

#include <cmath>
#include <limits>

#include "ir/tensor/formula.h"

namespace plumb::ir {
namespace {

struct Complex {
  Term re, im;
};

Complex mul(Complex x, Complex y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

Term converted(Term x, DType to) { return {x.b, x.b->convert(x.id, to)}; }
Complex converted(Complex x, DType to) { return {converted(x.re, to), converted(x.im, to)}; }
Complex scaled(Complex x, Term factor) { return {x.re * factor, x.im * factor}; }
DType dtype(Term x) { return x.b->type(x.id).dtype; }

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
  const bool narrow = dtype(x.re) == DType::f32;
  const Complex q = narrow ? converted(smith(converted(x, DType::f64), converted(y, DType::f64)), DType::f32) : robust_quotient(x, y);
  const Term zero = (y.re == 0.0) & (y.im == 0.0), plus_zero = abs(y.re);
  return {select(zero, x.re / plus_zero, q.re), select(zero, x.im / plus_zero, q.im)};
}

/// In f64 the squares of f32 are exact and in range; f64 itself is scaled by the greater part.
Term magnitude(Term x, Term y) {
  const Term infinite = is_inf(x) | is_inf(y);
  if (dtype(x) == DType::f32) {
    const Term u = converted(x, DType::f64), v = converted(y, DType::f64);
    return select(infinite, HUGE_VAL, converted(sqrt(u * u + v * v), DType::f32));
  }
  const Term greater = maximum(abs(x), abs(y)), ratio = minimum(abs(x), abs(y)) / greater;
  return select(infinite, HUGE_VAL, select(greater == 0.0, 0.0, greater * sqrt(ratio * ratio + 1.0)));
}

}  // namespace

ValueId magnitude(Builder& b, ValueId x, ValueId y) { return magnitude(Term{&b, x}, Term{&b, y}).id; }

Parts complex_function(Builder& b, FnId f, std::span<const Parts> in) {
  using namespace scalar;
  auto at = [&](std::size_t k) { return Complex{{&b, in[k].re}, {&b, in[k].im}}; };
  auto parts = [](Complex z) { return Parts{z.re.id, z.im.id}; };
  const Complex x = at(0);
  switch (f) {
    case fn_id<Add>: return parts({x.re + at(1).re, x.im + at(1).im});
    case fn_id<Sub>: return parts({x.re - at(1).re, x.im - at(1).im});
    case fn_id<Mul>: return parts(mul(x, at(1)));
    case fn_id<Div>: return parts(div(x, at(1)));
    case fn_id<Neg>: return parts({-x.re, -x.im});
    case fn_id<Abs>: return {magnitude(x.re, x.im).id};
    case fn_id<Eq>: return {((x.re == at(1).re) & (x.im == at(1).im)).id};
    case fn_id<Ne>: return {((x.re != at(1).re) | (x.im != at(1).im)).id};
    default: fail_internal("no complex meaning of " + std::string(plumb::row(f).name));
  }
}

}  // namespace plumb::ir
