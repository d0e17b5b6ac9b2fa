// e^x = 2^n · e^r with n = round(x / ln 2), |r| <= ln 2 / 2, and what follows from it.
//
// Adding 1.5·2^(p-1) rounds to an integer and leaves that integer in the low bits, without a conversion that NaN could
// make undefined. 2^n is applied in two factors, so that subnormal results round once and overflow gives infinity.
#include "backends/llvm/internal/elementary.h"

namespace plumb::backends::codegen {
namespace {

constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;   // high has 21 spare bits
constexpr double log2_e = 0x1.71547652b82fep+0;

Expr clamp(Expr x, double low, double high) {
  const Expr raised = select(x < low, low, x);
  return select(raised > high, high, raised);
}

/// p · 2^n for the integer n in the low bits of `shifted`.
Expr scale_f32(Expr p, Expr shifted) {
  const Expr n = shifted.as_i32().shl(10).ashr(10), half = n.ashr(1), rest = n - half, bias = n.k(127);
  return p * (half + bias).shl(23).as_f32() * (rest + bias).shl(23).as_f32();
}
Expr scale_f64(Expr p, Expr shifted) {
  const Expr n = shifted.as_i64().shl(13).ashr(13), half = n.ashr(1), rest = n - half, bias = n.k(1023);
  return p * (half + bias).shl(52).as_f64() * (rest + bias).shl(52).as_f64();
}

constexpr double round_f32 = 0x1.8p23, round_f64 = 0x1.8p52;

/// e^r - 1 = r + r²·q(r), |r| <= ln 2 / 2.
Expr expm1_reduced_f64(Expr r) {
  return fma(r * r, polynomial(r, {0x1.af9502399a527p-26, 0x1.28b0b26d2a10cp-22, 0x1.71ddd6e0b676dp-19, 0x1.a0199615c26d2p-16, 0x1.a01a01be7e56bp-13, 0x1.6c16c185db8d1p-10, 0x1.111111110ccbcp-7,
                                   0x1.555555554ff1bp-5, 0x1.5555555555563p-3, 0x1.000000000000cp-1}), r);
}

}  // namespace

Expr exp_f32(Expr x) {
  const Expr t = clamp(x, -104.5, 89.0), shifted = fma(t, log2_e, round_f32), n = shifted - round_f32;
  const Expr r = fma(n, -0x1.7f7d1cp-20, fma(n, -0x1.62e400p-1, t));
  const Expr q = polynomial(r, {0x1.6db3c0p-10, 0x1.123b50p-7, 0x1.55545ep-5, 0x1.55548ep-3, 0x1p-1});
  return scale_f32(1.0 + fma(r * r, q, r), shifted);
}

/// With e = e^-|x|: 1/(1 + e) or e/(1 + e), the quotient corrected for its own rounding and the sum's.
Expr sigmoid_f32(Expr x) {
  const Expr e = exp_f32(-abs(x)), d = 1.0 + e, d_low = e - (d - 1.0);
  const Expr inverse = 1.0 / d, top = select(x >= 0.0, 1.0, e), q = top * inverse;
  const Expr residue = fma(-q, d_low, fma(-q, d, top));
  return select(is_nan(x), x, fma(residue, inverse, q));
}

/// x + x³·q(x²) for small x, else ±(1 - 2/(e^2|x| + 1)).
Expr tanh_f32(Expr x) {
  const Expr a = abs(x), z = x * x;
  const Expr q = polynomial(z, {0x1.122a9cp-9, -0x1.0a2304p-7, 0x1.632e18p-6, -0x1.b9e62cp-5, 0x1.11103cp-3, -0x1.555554p-2});
  const Expr small = fma(x * z, q, x), large = 1.0 - 2.0 / (exp_f32(a + a) + 1.0);
  return copysign(select(a < 0.625, small, large), x);
}

Expr exp_f64(Expr x) {
  const Expr t = clamp(x, -746.0, 710.0), shifted = fma(t, log2_e, round_f64), n = shifted - round_f64;
  const Expr r = fma(n, -ln2_low, fma(n, -ln2_high, t));
  return scale_f64(1.0 + expm1_reduced_f64(r), shifted);
}

Expr exp2_f64(Expr x) {
  const Expr t = clamp(x, -1080.0, 1025.0), shifted = t + round_f64, r = (t - (shifted - round_f64)) * (ln2_high + ln2_low);
  return scale_f64(1.0 + expm1_reduced_f64(r), shifted);
}

// Near zero the differences cancel: a few terms of the series.

Expr expm1_f64(Expr x) { return copysign(select(abs(x) < 0.34, expm1_reduced_f64(x), exp_f64(x) - 1.0), x); }

Expr sigmoid_f64(Expr x) { return 1.0 / (1.0 + exp_f64(-x)); }

Expr tanh_f64(Expr x) {
  const Expr t = expm1_f64(2.0 * abs(x)), r = select(t > 0x1p60, 1.0, t / (t + 2.0));
  return copysign(select(is_nan(x), x, r), x);
}

Expr sinh_f64(Expr x) {
  const Expr e = exp_f64(x), z = x * x, series = x + x * z * fma(z, 1.0 / 120, 1.0 / 6);
  return copysign(select(abs(x) < 0x1p-6, series, 0.5 * (e - 1.0 / e)), x);
}

Expr cosh_f64(Expr x) {
  const Expr e = exp_f64(x);
  return 0.5 * (e + 1.0 / e);
}

}  // namespace plumb::backends::codegen
