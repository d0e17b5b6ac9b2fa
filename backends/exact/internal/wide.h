// Real numbers of 128 significant bits in integer arithmetic, with exponents that never overflow: what all functions here
// are computed in. Products, sums, quotients and roots err by less than 2^-122 of their value.
//
// No rounding of doubles decides anything, so compilers for any machine give the same bits.
#pragma once

namespace plumb::backends::exact {

using u64 = unsigned long long;
__extension__ typedef unsigned __int128 u128;

/// ±m · 2^(e-127), m's highest bit set; zero has m = 0 and an exponent below all others.
struct Wide {
  u128 m = 0;
  int e = -(1 << 24);
  bool negative = false;
};

// Loops stay loops: code size counts here more than speed.
#if defined(__clang__)
#define PLUMB_EXACT_LOOP _Pragma("clang loop unroll(disable)")
#else
#define PLUMB_EXACT_LOOP
#endif

/// 128 bits as they stand in tables.
struct Bits {
  u64 high, low;
  constexpr u128 value() const { return static_cast<u128>(high) << 64 | low; }
};

constexpr Wide one{static_cast<u128>(1) << 127, 0, false};

constexpr Wide operator-(const Wide& x) { return {x.m, x.e, !x.negative}; }
constexpr Wide abs(const Wide& x) { return {x.m, x.e, false}; }
constexpr Wide scaled(const Wide& x, int power) { return {x.m, x.e + power, x.negative}; }
constexpr bool smaller(const Wide& x, const Wide& y) { return x.e != y.e ? x.e < y.e : x.m < y.m; }  // magnitudes

inline u64 bits_of(double x) { return __builtin_bit_cast(u64, x); }
inline double double_of(u64 bits) { return __builtin_bit_cast(double, bits); }

/// The upper half of a product: of fractions of 128 bits, their product, truncated.
inline u128 high_product(u128 a, u128 b) {
  const u64 ah = static_cast<u64>(a >> 64), al = static_cast<u64>(a), bh = static_cast<u64>(b >> 64), bl = static_cast<u64>(b);
  const u128 low = static_cast<u128>(al) * bl, cross = static_cast<u128>(ah) * bl, other = static_cast<u128>(al) * bh;
  const u128 middle = (low >> 64) + static_cast<u64>(cross) + static_cast<u64>(other);
  return static_cast<u128>(ah) * bh + (cross >> 64) + (other >> 64) + (middle >> 64);
}

/// m · 2^(e-127), for any m.
inline Wide normalized(u128 m, int e, bool negative) {
  if (m == 0) return {};
  const u64 high = static_cast<u64>(m >> 64);
  const int zeros = high ? __builtin_clzll(high) : 64 + __builtin_clzll(static_cast<u64>(m));
  return {m << zeros, e - zeros, negative};
}

/// A finite double.
[[gnu::noinline]] inline Wide wide(double x) {
  const u64 bits = bits_of(x), fraction = bits & ((u64{1} << 52) - 1);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  const u64 significand = exponent ? fraction | u64{1} << 52 : fraction;
  return normalized(static_cast<u128>(significand) << 75, (exponent ? exponent : 1) - 1023, bits >> 63);
}

/// The significand in [1, 2), truncated.
inline double leading(const Wide& x) { return double_of(u64{1023} << 52 | (static_cast<u64>(x.m >> 75) & ((u64{1} << 52) - 1))); }

[[gnu::noinline]] inline Wide operator*(const Wide& x, const Wide& y) {
  return normalized(high_product(x.m, y.m), x.e + y.e + 1, x.negative != y.negative);
}

/// What alignment shifts out stays as a last bit, so that a sum is never mistaken for its greater term.
[[gnu::noinline]] inline Wide operator+(const Wide& x, const Wide& y) {
  const bool swap = smaller(x, y);
  const Wide &a = swap ? y : x, &b = swap ? x : y;
  if (b.m == 0) return a;
  const int shift = a.e - b.e;
  u128 m = 1;
  if (shift < 128) {
    m = b.m >> shift;
    m |= (m << shift) != b.m;
  }
  if (a.negative != b.negative) return normalized(a.m - m, a.e, a.negative);
  const u128 sum = a.m + m;
  if (sum >= a.m) return {sum, a.e, a.negative};
  return {sum >> 1 | (sum & 1) | static_cast<u128>(1) << 127, a.e + 1, a.negative};
}
inline Wide operator-(const Wide& x, const Wide& y) { return x + (-y); }

/// x / y by Newton's iteration for 1/y from a double's 52 bits: 104, then all.
[[gnu::noinline]] inline Wide operator/(const Wide& x, const Wide& y) {
  const Wide b{y.m, 0, false};
  Wide r = wide(1.0 / leading(y));
  PLUMB_EXACT_LOOP for (int i = 0; i < 2; ++i) r = r + r * (one - b * r);
  r.e -= y.e;
  r.negative = y.negative;
  return x * r;
}

/// 1/√x, x > 0, likewise.
[[gnu::noinline]] inline Wide reciprocal_root(const Wide& x) {
  const int odd = x.e & 1;
  const Wide b{x.m, odd, false};
  Wide r = wide(1.0 / __builtin_sqrt(odd ? 2 * leading(x) : leading(x)));
  PLUMB_EXACT_LOOP for (int i = 0; i < 2; ++i) r = r + scaled(r * (one - b * (r * r)), -1);
  return scaled(r, -((x.e - odd) / 2));
}
/// The number beside x, away from zero or towards it.
inline Wide beside(const Wide& x, bool outward) {
  if (outward) return {x.m | 1, x.e, x.negative};
  return normalized(x.m - 1, x.e, x.negative);
}

inline Wide root(const Wide& x) { return x.m ? x * reciprocal_root(x) : x; }

/// How a result becomes a double: to nearest even, or to odd (truncated, the last bit set where anything was lost), after
/// which one more rounding to a narrower format is the only one.
enum class Mode : bool { nearest, odd };

/// `inexact`: x stands for a number near it that is no double and no middle of two.
[[gnu::noinline]] inline double rounded(const Wide& x, Mode mode, bool inexact) {
  const u64 sign = static_cast<u64>(x.negative) << 63;
  if (x.m == 0) return double_of(sign);
  if (x.e > 1023) return double_of(sign | (mode == Mode::odd ? 0x7fefffffffffffff : 0x7ff0000000000000));
  const bool subnormal = x.e < -1022;
  const int dropped = subnormal ? 75 - 1022 - x.e : 75;
  const u64 kept = dropped < 128 ? static_cast<u64>(x.m >> dropped) : 0;
  const u128 rest = dropped < 128 ? x.m << (128 - dropped) : dropped == 128 ? x.m : 1;  // in units of 2^-128 of a last place
  const bool sticky = inexact || rest != 0;
  u64 result = kept;
  if (mode == Mode::odd) result |= sticky;
  else result += rest >> 127 && (inexact || rest << 1 != 0 || (kept & 1));
  if (!subnormal) result += static_cast<u64>(x.e + 1022) << 52;
  return double_of(sign | result);
}

}  // namespace plumb::backends::exact
