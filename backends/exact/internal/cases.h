// Where a function of dyadic numbers has a dyadic value, and which: elsewhere its value is irrational (Lindemann's and
// Gelfond & Schneider's theorems), or for roots and quotients known to be far from any double.
#pragma once
#include "backends/exact/internal/wide.h"

namespace plumb::backends::exact {

/// ±m · 2^e, m odd, m < 2^53.
struct Dyadic {
  u64 m;
  int e;
  bool negative;
};

/// x finite, not 0.
inline Dyadic dyadic(double x) {
  const Wide w = wide(x);
  const u64 m = static_cast<u64>(w.m >> 75);
  const int zeros = __builtin_ctzll(m);
  return {m >> zeros, w.e - 52 + zeros, w.negative};
}
inline Wide wide(const Dyadic& d) { return normalized(static_cast<u128>(d.m), 127 + d.e, d.negative); }

inline bool is_nan(double x) { return x != x; }
inline bool is_infinite(double x) { return (bits_of(x) << 1) == u64{0x7ff} << 53; }
inline bool sign_bit(double x) { return bits_of(x) >> 63; }
inline double magnitude(double x) { return double_of(bits_of(x) & ~(u64{1} << 63)); }
inline double with_sign(double x, bool negative) { return double_of(bits_of(x) ^ static_cast<u64>(negative) << 63); }
constexpr double infinity = __builtin_inf();
inline double nan() { return double_of(u64{0x7ff8} << 48); }

inline bool is_integer(double x) { return magnitude(x) >= 0x1p52 || x == static_cast<double>(static_cast<long long>(x)); }
inline bool is_odd(double x) { return x != 0 && is_integer(x) && dyadic(x).e == 0; }

/// m = s² for an integer s?
inline bool is_square(u64 m, u64& s) {
  s = static_cast<u64>(__builtin_sqrt(static_cast<double>(m)));
  return s * s == m;
}

/// x^y where that is dyadic and its odd factor below 2^53; x > 0 finite and not 1, y finite and not 0. Binary fractions in y are
/// square roots, which must come out even; then m^y needs an integer, and a negative one m = 1.
inline bool exact_power(double x, double y, Dyadic& result) {
  Dyadic b = dyadic(x);
  const Dyadic n = dyadic(y);
  for (int k = n.e; k < 0; ++k) {
    u64 s;
    if ((b.e & 1) || !is_square(b.m, s)) return false;
    b.m = s, b.e /= 2;
  }
  constexpr u64 many = 1 << 16;  // beyond any double's range, were it a power of 2
  const bool huge = n.e > 16 || n.m > many;
  const u64 power = huge ? many : n.e > 0 ? n.m << n.e : n.m;
  const int times = static_cast<int>(power < many ? power : many);
  if (b.m != 1 && (n.negative || times > 53)) return false;
  u64 m = 1;
  for (int i = 0; b.m != 1 && i < times; ++i) {
    const u128 next = static_cast<u128>(m) * b.m;
    if (next >> 53) return false;
    m = static_cast<u64>(next);
  }
  result = {m, n.negative ? -times * b.e : times * b.e, false};
  return true;
}

/// x = 10^k for an integer k >= 0?
inline bool is_power_of_ten(double x, int& k) {
  const Dyadic d = dyadic(x);
  u64 five = 1;
  for (k = 0; k < d.e && k < 23; ++k) five *= 5;
  return k == d.e && five == d.m;
}

}  // namespace plumb::backends::exact
