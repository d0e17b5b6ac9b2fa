// Intervals of doubles, rounded outward: the exact result of each operation on any members lies in the result.
#pragma once
#include <algorithm>
#include <cmath>

namespace plumb::interp {

/// [lo, hi]; NaN at an end says that nothing is known.
struct Interval {
  double lo = 0, hi = 0;
  Interval() = default;
  Interval(double v) : lo(v), hi(v) {}  // NOLINT: a number is an interval
  Interval(double l, double h) : lo(l), hi(h) {}
  double magnitude() const { return std::max(std::fabs(lo), std::fabs(hi)); }
};

/// A double operation errs by half a unit in the last place or, below 2^-1022, by 2^-1075 at most: 2^-52 of the result
/// and the least subnormal number are more than that, subtracting them rounds once more by less than the rest.
inline double down(double v) { return v - (std::fabs(v) * 0x1p-52 + 0x1p-1074); }
inline double up(double v) { return v + (std::fabs(v) * 0x1p-52 + 0x1p-1074); }
inline Interval outward(double lo, double hi) { return {down(lo), up(hi)}; }

inline Interval operator-(Interval x) { return {-x.hi, -x.lo}; }
inline Interval operator+(Interval x, Interval y) { return outward(x.lo + y.lo, x.hi + y.hi); }
inline Interval operator-(Interval x, Interval y) { return outward(x.lo - y.hi, x.hi - y.lo); }
inline Interval operator*(Interval x, Interval y) {
  const double a = x.lo * y.lo, b = x.lo * y.hi, c = x.hi * y.lo, d = x.hi * y.hi;
  if (std::isnan(a + b + c + d)) return {std::nan(""), std::nan("")};
  return outward(std::min(std::min(a, b), std::min(c, d)), std::max(std::max(a, b), std::max(c, d)));
}
/// NaN where the divisor may be 0.
inline Interval operator/(Interval x, Interval y) {
  if (!(y.lo > 0 || y.hi < 0)) return {std::nan(""), std::nan("")};
  const double a = x.lo / y.lo, b = x.lo / y.hi, c = x.hi / y.lo, d = x.hi / y.hi;
  if (std::isnan(a + b + c + d)) return {std::nan(""), std::nan("")};
  return outward(std::min(std::min(a, b), std::min(c, d)), std::max(std::max(a, b), std::max(c, d)));
}
inline Interval sqrt(Interval x) { return x.lo >= 0 ? outward(std::sqrt(x.lo), std::sqrt(x.hi)) : Interval{std::nan(""), std::nan("")}; }

}  // namespace plumb::interp
