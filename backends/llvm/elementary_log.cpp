// log x = e·ln 2 + log m with x = m·2^e and m in [√½, √2), and what follows from it.
#include <cmath>
#include <limits>

#include "backends/llvm/internal/elementary.h"

namespace plumb::backends::codegen {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Zero, infinity, negative numbers and NaN, where the formula's `finite` means nothing.
Expr log_edges(Expr x, Expr finite) {
  Expr r = select(eq(x, HUGE_VAL), x, finite);
  r = select(eq(x, 0), -HUGE_VAL, r);
  r = select(x < 0.0, nan, r);
  return select(is_nan(x), x, r);
}

/// log|x| for finite x other than 0.
Expr log_finite_f64(Expr x) {
  const Expr tiny = x < 0x1p-1022, scaled = select(tiny, x * 0x1p54, x);
  const Expr bits = scaled.as_i64() - scaled.as_i64().k(0x3fe6a09e667f3bcd);   // √½ becomes 0
  const Expr e_bits = bits.ashr(52);
  const Expr m = (scaled.as_i64() - e_bits.shl(52)).as_f64();
  // The exponent as a double: it is small, so it can ride in the low bits of 1.5·2^52.
  const Expr e0 = (e_bits + e_bits.k(0x4338000000000000)).as_f64() - 0x1.8p52, e = select(tiny, e0 - 54.0, e0);
  const Expr f = m - 1.0, s = f / (f + 2.0), z = s * s;
  const Expr q = z * polynomial(z, {0x1.2f0584060112fp-3, 0x1.39a1b73b1d150p-3, 0x1.74663f0ed0e51p-3, 0x1.c71c520885009p-3, 0x1.24924941f2695p-2, 0x1.999999997fd9ap-2, 0x1.5555555555592p-1});
  // 2·atanh(s) = f - (f²/2 - s·(f²/2 + q)): what is rounded is small beside f.
  const Expr half = 0.5 * f * f;
  const Expr rest = half - fma(s, half + q, e * 0x1.a39ef35793c76p-33);
  return fma(e, 0x1.62e42fee00000p-1, f - rest);
}

}  // namespace

Expr log_f32(Expr x) {
  const Expr tiny = x < 0x1p-126, scaled = select(tiny, x * 0x1p23, x);
  const Expr bits = scaled.as_i32() - scaled.as_i32().k(0x3f3504f3), e_bits = bits.ashr(23);
  const Expr m = (scaled.as_i32() - e_bits.shl(23)).as_f32();
  const Expr e0 = (e_bits + e_bits.k(0x4b400000)).as_f32() - 0x1.8p23, e = select(tiny, e0 - 23.0, e0);
  const Expr f = m - 1.0, z = f * f;
  const Expr q = polynomial(f, {0x1.1474eap-4, -0x1.de5862p-4, 0x1.e6f210p-4, -0x1.fc1cc6p-4, 0x1.2336e6p-3, -0x1.555c76p-3, 0x1.99a4bep-3, -0x1.000006p-2, 0x1.555548p-2});
  // e·ln 2 in two parts, the high one exact; f is exact, too.
  const Expr rest = fma(f * z, q, fma(z, -0.5, e * -0x1.bd0106p-13));
  return log_edges(x, fma(e, 0x1.63p-1, f + rest));
}

Expr log_f64(Expr x) { return log_edges(x, log_finite_f64(x)); }

// Near zero the differences cancel: a few terms of the series.

/// What rounding 1 + x left out comes back divided by the sum; where that is nothing to divide (-1, infinity) it is left.
Expr log1p_f64(Expr x) {
  const Expr u = 1.0 + x, lost = x - (u - 1.0), correction = select(abs(x) < 0x1p53, lost / u, 0.0);
  const Expr r = log_f64(u), whole = select(eq(u, 0), r, r + correction);
  return select(eq(x, 0), x, whole);
}

Expr asinh_f64(Expr x) {
  const Expr a = abs(x), z = a * a;
  return copysign(select(a < HUGE_VAL, log1p_f64(a + z / (1.0 + sqrt(1.0 + z))), a), x);
}

Expr acosh_f64(Expr x) {
  const Expr t = x - 1.0, r = log1p_f64(t + sqrt(fma(t, t, 2.0 * t)));
  return select(x < 1.0, nan, select(eq(x, HUGE_VAL), x, r));
}

Expr atanh_f64(Expr x) {
  const Expr a = abs(x), r = 0.5 * log1p_f64(2.0 * a / (1.0 - a));
  return copysign(select(a > 1.0, nan, r), x);
}

/// A first approximation, and one step of Newton's method.
Expr cbrt_f64(Expr x) {
  const Expr a = abs(x), r = exp_f64(log_f64(a) * (1.0 / 3)), square = r * r;
  const Expr better = r - fma(square, r, -a) / (3.0 * square);
  return copysign(select((a > 0.0) & (a < HUGE_VAL), better, r), x);
}

Expr pow_f64(Expr x, Expr y) {
  const Expr a = abs(x), magnitude = exp_f64(y * log_f64(a));
  const Expr whole = eq(y.intrinsic(llvm::Intrinsic::trunc), y), halved = 0.5 * y, odd = whole & ne(halved.intrinsic(llvm::Intrinsic::trunc), halved);
  const Expr infinite = eq(abs(y), HUGE_VAL);
  const Expr negative = below_zero(x.as_i64()) & !is_nan(x);
  Expr r = select(negative & odd, -magnitude, magnitude);
  r = select((x < 0.0) & ne(a, HUGE_VAL) & !whole & !infinite, nan, r);
  r = select(eq(a, 1.0) & infinite, 1.0, r);
  r = select(is_nan(x) | is_nan(y), nan, r);
  return select(eq(y, 0) | eq(x, 1.0), 1.0, r);
}

}  // namespace plumb::backends::codegen
