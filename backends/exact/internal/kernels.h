// The series behind all functions, after argument reduction that loses nothing: 2^x, log, the arc tangent, sine and cosine.
//
// Sums are Horner's scheme on fractions of 128 bits: each step errs by less than 2^-126, and its factor, below 1, shrinks
// what came before. Muller et al., Handbook of Floating-Point Arithmetic (2018), chapter 10.
#pragma once
#include "backends/exact/internal/constants.h"

namespace plumb::backends::exact {

/// |x| < 1 in units of 2^-128.
inline u128 fraction(const Wide& x) {
  const int shift = -1 - x.e;
  return shift < 128 ? x.m >> shift : 0;
}

/// c[0] + z·(c[step] + z·(c[2·step] + …)), or with alternating signs, z in units of 2^-128. Each step is moved by a unit the
/// way that its term goes, so that 1 ± z stays beside 1 however small z is.
[[gnu::noinline]] inline u128 series(u128 z, const Bits* c, int terms, int step, bool alternating) {
  u128 sum = c[terms * step].value();
  PLUMB_EXACT_LOOP for (int i = terms - 1; i >= 0; --i) {
    const u128 term = high_product(z, sum) + 1;
    sum = c[i * step].value() + (alternating ? -term : term);
  }
  return sum;
}

/// s - s³/3 + s⁵/5 - … (atan), or all added (atanh), |s| < 0.1716: s²ⁿ/(2n + 1) < 2^-126 for n = 25.
[[gnu::noinline]] inline Wide odd_series(const Wide& s, bool alternating) {
  if (s.m == 0) return s;
  const int fast = 1 - s.e, terms = fast > 64 ? 1 : 64 / (fast - 2) + 1;
  return s * normalized(series(fraction(s * s), odd_reciprocals, terms < 26 ? terms : 26, 1, alternating), 0, false);
}

/// sin, or sinh, of |x| < 0.79.
inline Wide sine_series(const Wide& x, bool alternating) { return x * normalized(series(fraction(x * x), inverse_factorials + 1, 16, 2, alternating), 0, false); }
inline Wide cosine_series(const Wide& x) { return normalized(series(fraction(x * x), inverse_factorials, 16, 2, true), 0, false); }

/// 2^x for |x| < 2^30: 2^(k + j/16) · e^u, u < 0.0434, u^18/18! < 2^-134.
[[gnu::noinline]] inline Wide exp2(const Wide& x) {
  if (x.e < -120) return beside(one, !x.negative);
  int k = 0;
  u128 f = 0;
  if (x.e < 0) f = fraction(x);
  else k = static_cast<int>(x.m >> (127 - x.e)), f = x.m << 1 << x.e;
  if (x.negative) k = -k - (f != 0), f = -f;
  const u128 u = high_product(f << 4 >> 4, ln2.m);
  return Wide{roots_of_two[static_cast<int>(f >> 124)].value(), k, false} * normalized(series(u, inverse_factorials, 18, 1, false), 0, false);
}
inline Wide exp(const Wide& x) { return exp2(x * log2_of_e); }

/// log x for x > 0: x = m · 2^e with m in [1/√2, √2), so that the sum does not cancel. log m = 2·atanh((m - 1)/(m + 1)).
[[gnu::noinline]] inline Wide log(const Wide& x) {
  const int above = x.m > roots_of_two[8].value();
  const Wide m{x.m, -above, false}, power = wide(x.e + above);
  return power * ln2 + scaled(odd_series((m - one) / (m + one), false), 1);
}

/// log(1 + x) for x > -1.
inline Wide log1p(const Wide& x) {
  if (x.e >= -2) return log(one + x);
  return scaled(odd_series(x / (scaled(one, 1) + x), false), 1);
}

/// The double within 2^-114 of x, if there is one: quotients of two f32 are doubles, or further than 2^-78 from all.
inline Wide snapped(const Wide& x) {
  constexpr u128 last = static_cast<u128>(1) << 75;
  const u128 m = x.m + (1 << 12);
  if ((m & (last - 1)) >> 13) return x;
  return m < x.m ? scaled(one, x.e + 1) : Wide{m & ~(last - 1), x.e, x.negative};
}

/// The angle of (x, y) for x, y >= 0, not both 0: the vector is turned back by the angle of (4, j), which leaves a tangent
/// below 1/8 in magnitude.
[[gnu::noinline]] inline Wide angle(const Wide& y, const Wide& x) {
  const bool steep = smaller(x, y);
  const Wide &low = steep ? x : y, &high = steep ? y : x;
  int j = 0;
  if (low.e >= high.e - 4) j = static_cast<int>(4 * leading(low) / leading(high) / static_cast<double>(1 << (high.e - low.e)) + 0.5);
  Wide s = low / high, a;
  if (s.e < -60) s = snapped(s);  // s³ is below its last bit, but decides where s is the middle of two subnormal numbers
  if (j) {
    const Wide turn = wide(j);
    s = (scaled(low, 2) - turn * high) / (scaled(high, 2) + turn * low);
    a = arctangents[j - 1];
  }
  a = a + odd_series(s, true);
  return steep ? scaled(pi, -1) - a : a;
}

/// x > 0 as n quarter turns (n modulo 4) and a rest of at most an eighth, in radians. Payne & Hanek, Radian reduction for
/// trigonometric functions (1983): of the bits of 2/π only 256 matter, from the first whose product with x is below 4
/// turns; a double comes no nearer to a multiple of π/2 than 2^-62 of a quarter turn, so 190 good bits are left.
struct Turn {
  int quarters;
  Wide rest;
};
[[gnu::noinline]] inline Turn reduced(const Wide& x) {
  if (x.e < -1) return {0, x};
  const int start = x.e - 52 - 1 - 1 + 64;  // x = M·2^(e-52); bit 0 of 2/π's table weighs 2^63
  const u64 significand = static_cast<u64>(x.m >> 75);
  u64 p[4];  // the product modulo 2^256, highest word first; its unit is 2^-254 quarter turns
  u64 carry = 0;
  PLUMB_EXACT_LOOP for (int i = 3; i >= 0; --i) {
    const int word = start / 64 + i, bit = start % 64;
    const u64 window = bit ? two_over_pi[word] << bit | two_over_pi[word + 1] >> (64 - bit) : two_over_pi[word];
    const u128 product = static_cast<u128>(significand) * window + carry;
    p[i] = static_cast<u64>(product), carry = static_cast<u64>(product >> 64);
  }
  int quarters = static_cast<int>(p[0] >> 62);
  const bool past = p[0] >> 61 & 1;  // the rest is nearer to the next quarter
  u128 high = (static_cast<u128>(p[0]) << 64 | p[1]) << 2 | p[2] >> 62, low = (static_cast<u128>(p[2]) << 64 | p[3]) << 2;
  if (past) high = ~high + (low == 0), low = -low, ++quarters;
  Wide rest = normalized(high, -1, past);
  if (const int shift = -1 - rest.e; shift > 0 && shift < 128) rest.m |= low >> (128 - shift);
  return {quarters, rest * scaled(pi, -1)};
}

/// erf x for 0 <= x < 3: 2x·e^(-x²)/√π · (1 + 2x²/3·(1 + 2x²/5·(1 + …))), all terms positive, the sum kept as a fraction a/b.
[[gnu::noinline]] inline Wide erf_series(const Wide& x, double near) {
  const Wide square = x * x, z = scaled(square, 1);
  Wide a = one, b = one;
  PLUMB_EXACT_LOOP for (int k = 20 + static_cast<int>(18 * near); k > 0; --k) {
    b = wide(2 * k + 1) * b;
    a = b + z * a;
  }
  return scaled(reciprocal_root_pi, 1) * x * exp(-square) * a / b;
}

/// erfc x for x >= 3, by Laplace's continued fraction e^(-x²)/√π / (x + (1/2)/(x + (2/2)/(x + (3/2)/…))), kept as a/b. It
/// errs by less than 2^-116 of its value.
[[gnu::noinline]] inline Wide erfc_fraction(const Wide& x, double near) {
  Wide a = x, b = one;
  PLUMB_EXACT_LOOP for (int k = 20 + static_cast<int>(1000 / (near * near)); k > 0; --k) {
    const Wide next = x * a + scaled(wide(k), -1) * b;
    b = a, a = next;
  }
  return reciprocal_root_pi * exp(-(x * x)) * b / a;
}

}  // namespace plumb::backends::exact
