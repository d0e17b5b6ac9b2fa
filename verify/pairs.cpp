#include "verify/pairs.h"

#include <bit>
#include <cmath>
#include <limits>

#include "interpreter/domains/number.h"
#include "ir/scalar/storage.h"
#include "verify/oracle.h"

namespace plumb::verify {
namespace {

using namespace scalar;
using Pair = std::array<double, 2>;

/// Random numbers of a dtype for one pair.
class Draw {
 public:
  Draw(DType t, std::uint64_t seed, std::uint64_t number) : t_(t), facts_(plumb::row(t)), state_(random_word(seed, number)) {}

  std::uint64_t word() {  // splitmix64
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  int below(int n) { return static_cast<int>(word() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  double sign() { return word() & 1 ? -1 : 1; }

  double round(double v) const { return interp::round_to(t_, v); }
  double pattern() { return decode_float(t_, word() & (~std::uint64_t{0} >> (64 - 8 * byte_size(t_)))); }
  /// [1, 2); a quarter of them has few bits.
  double significand() {
    std::uint64_t bits = word() >> 12;
    if (below(4) == 0) bits &= ~std::uint64_t{0} << below(52);
    const double v = round(1 + static_cast<double>(bits) * 0x1p-52);
    return v < 2 ? v : 1.5;
  }
  double positive(int low, int high) { return round(std::ldexp(significand(), between(low, high))); }
  double positive() { return positive(least_exponent(), facts_.emax); }
  double real() { return sign() * positive(); }
  /// v or a number up to `steps` away.
  double near(double v, int steps = 3) {
    const double r = round(v);
    if (!std::isfinite(r) || r == 0) return r;
    const auto bits = static_cast<std::int64_t>(encode_float(t_, std::fabs(r))) + between(-steps, steps);
    return std::copysign(decode_float(t_, static_cast<std::uint64_t>(std::max<std::int64_t>(bits, 0))), r);
  }
  /// An odd number of p + 1 bits, scaled: halfway between two of the dtype's numbers.
  double halfway(int exponent) {
    const std::uint64_t bits = (std::uint64_t{1} << precision()) | (word() & ((std::uint64_t{1} << precision()) - 1)) | 1;
    return std::ldexp(static_cast<double>(bits), exponent - precision());
  }

  int precision() const { return facts_.precision; }
  int emin() const { return facts_.emin; }
  int emax() const { return facts_.emax; }
  int least_exponent() const { return facts_.emin - facts_.precision + 1; }
  double largest() const { return std::ldexp(2 - std::ldexp(1.0, 1 - facts_.precision), facts_.emax); }

 private:
  DType t_;
  const DTypeRow& facts_;
  std::uint64_t state_;
};

/// y for which x^y has a binary logarithm anywhere from below the subnormal numbers to beyond the largest.
double exponent_for(Draw& d, double x) {
  const double l = std::log2(std::fabs(x));
  return l == 0 ? d.real() : d.round(d.uniform(d.least_exponent() - 2, d.emax() + 2) / l);
}
double near_one(Draw& d) { return d.round(1 + d.sign() * std::ldexp(d.significand(), -d.between(2, d.precision()))); }
/// m odd with m^k halfway: m^k has precision + 1 bits.
Pair tie_of_power(Draw& d) {
  const int k = d.between(2, 3), bits = (d.precision() + k) / k;
  const double m = static_cast<double>((std::uint64_t{1} << (bits - 1)) | (d.word() & ((std::uint64_t{1} << (bits - 1)) - 1)) | 1);
  return {d.round(m * d.sign()), static_cast<double>(k)};
}
Pair power(Draw& d) {
  switch (d.below(16)) {
    case 0: return {d.pattern(), d.pattern()};
    case 1:
    case 2: {  // near 1, with huge exponents
      const double x = near_one(d);
      return {x, exponent_for(d, x)};
    }
    case 3: {  // around overflow, underflow and the subnormal numbers' ends
      const double x = d.below(2) ? near_one(d) : d.positive(), l = std::log2(x);
      const int edges[] = {d.emax() + 1, d.emin(), d.least_exponent(), d.least_exponent() - 1};
      return {x, l == 0 ? d.real() : d.near(edges[d.below(4)] / l, 8)};
    }
    case 4: {  // negative bases
      const double x = -(d.below(2) ? d.positive(-40, 40) : near_one(d));
      return {x, std::nearbyint(exponent_for(d, x))};
    }
    case 5: {  // few bits: roots, small powers; many results are exact
      const double y[] = {0.5, -0.5, 0.25, -0.25, 1.5, -1.5, 0.75, 1, -1, 2, -2, 3, -3, 4, 5, -7};
      const double x = d.below(2) ? d.round(std::ldexp(d.between(1, 4095), d.between(-20, 20))) : d.positive();
      return {d.below(4) ? x : -x, y[d.below(16)]};
    }
    case 6: return d.below(8) ? Pair{d.positive(), d.round(std::ldexp(d.sign() * d.significand(), -d.between(1, d.precision() + 4)))} : tie_of_power(d);   // x^y near 1
    case 7:
    case 8: return {d.positive(-2, 1), d.round(d.uniform(-64, 64))};
    default: {
      const double x = d.positive();
      return {x, exponent_for(d, x)};
    }
  }
}

/// Two numbers whose exponents differ by at most `spread`.
Pair close(Draw& d, int spread) {
  const int e = d.between(d.least_exponent(), d.emax());
  const double x = d.positive(e, e), y = d.positive(std::max(d.least_exponent(), e - spread), std::min(d.emax(), e + spread));
  return {d.sign() * x, d.sign() * y};
}

Pair angle(Draw& d) {
  switch (d.below(16)) {
    case 0: return {d.pattern(), d.pattern()};
    case 1: {
      const double x = d.real();
      return {d.sign() * d.near(x, 8), x};   // about ±π/4, ±3π/4
    }
    case 2:
    case 3: {  // subnormal results; or about ±π where x is negative
      const double x = d.real(), y = std::fabs(x) * std::ldexp(d.significand(), d.between(d.least_exponent() - 2, d.emin() + 2));
      return {d.sign() * d.near(y), x};
    }
    case 4: return {d.sign() * d.between(0, 64), static_cast<double>(d.between(-64, 64))};
    case 5: return {d.real(), d.real()};
    default: return close(d, d.precision());
  }
}

Pair quotient(Draw& d) {
  switch (d.below(16)) {
    case 0: return {d.pattern(), d.pattern()};
    case 1:
    case 2: {  // beside and on the middle between two numbers
      const double y = d.positive(-30, 30);
      return {d.sign() * d.near(d.halfway(d.between(-30, 30)) * y, 1), d.sign() * y};
    }
    case 3:
    case 4: {  // subnormal quotients, and underflow
      const double y = d.positive(0, d.emax());
      return {d.sign() * d.near(std::ldexp(d.significand(), d.between(d.least_exponent() - 2, d.emin() + 1)) * y, 1), d.sign() * y};
    }
    case 5: {  // overflow
      const double y = d.positive(d.emin(), 0);
      return {d.sign() * d.near(d.largest() * y, 4), d.sign() * y};
    }
    default: {
      const double y = d.positive();
      return {d.sign() * d.near(std::ldexp(d.significand(), d.between(d.emin(), d.emax() - 1)) * y, 2), d.sign() * y};
    }
  }
}

/// fmod, remainder, floor_div: small, large and huge quotients, and arguments beside multiples.
Pair division(Draw& d) {
  switch (d.below(16)) {
    case 0: return {d.pattern(), d.pattern()};
    case 1:
    case 2:
    case 3: {
      const double y = d.positive(-30, 30);
      return {d.sign() * d.near(y * std::floor(std::ldexp(d.significand(), d.between(0, 2 * d.precision())) + 0.5), 2), d.sign() * y};   // multiples
    }
    case 4: {  // quotients beside the middle between two numbers
      const double y = d.positive(-30, 30);
      return {d.sign() * d.near(y * d.halfway(d.precision() + d.between(0, 8)), 1), d.sign() * y};
    }
    case 5: return {d.real(), d.real()};
    case 6: {
      const double y = d.positive(d.least_exponent(), d.emin() + 4);
      return {d.sign() * d.positive(d.least_exponent(), d.emin() + 40), d.sign() * y};   // subnormal
    }
    case 7: return {d.sign() * d.positive(-60, -1), d.sign() * d.positive(0, 8)};        // |x| < |y|: r + y rounds
    default: return close(d, d.precision() + 8);
  }
}

Pair sides(Draw& d) {
  switch (d.below(16)) {
    case 0: return {d.pattern(), d.pattern()};
    case 1: {  // whole triangles
      const double m = d.between(2, 2047), n = d.between(1, 2047), scale = std::ldexp(1.0, d.between(-40, 40));
      return {d.sign() * d.round((m * m - n * n) * scale), d.sign() * d.round(2 * m * n * scale)};
    }
    case 2:
    case 3: {  // beside the middle between two numbers
      const double h = d.halfway(d.between(-40, 40)), x = d.round(h * d.unit());
      return {x, d.near(std::sqrt((h - x) * (h + x)), 1)};
    }
    case 4: {  // overflow
      const double x = d.round(d.largest() * d.unit());
      return {d.sign() * x, d.near(std::sqrt((d.largest() / 2 - x / 2) * (d.largest() / 2 + x / 2)) * 2, 4)};
    }
    case 5: return {d.sign() * d.positive(d.least_exponent(), d.emin() + 2), d.sign() * d.positive(d.least_exponent(), d.emin() + 2)};
    case 6: {  // the shorter side just shows: half of it squared over the longer is about half a unit
      const double x = d.positive(-40, 40);
      return {x, d.round(x * std::ldexp(d.significand(), -(d.precision() - 1) / 2 + d.between(-1, 1)))};
    }
    default: return close(d, d.precision() / 2 + 2);
  }
}

}  // namespace

Pairs::Pairs(FnId fn, DType t, std::uint64_t seed) : fn_(fn), t_(t), seed_(seed) {
  const auto& r = plumb::row(t);
  const double eps = std::ldexp(1.0, 1 - r.precision), normal = std::ldexp(1.0, r.emin), tiny = normal * eps, largest = std::ldexp(2 - eps, r.emax), whole = std::ldexp(1.0, r.precision);
  for (double v : {0.0, tiny, 2 * tiny, 3 * tiny, normal - tiny, normal, normal * (1 + eps), eps / 2, eps, 0.1, 1 / 3.0, 0.5, 0.75, 1 - eps / 2, 1.0, 1 + eps, 1.5, 2.0, 2.5, 3.0, 3.141592653589793, 4.0, 5.0, 7.0, 100.0, whole - 1, whole, whole + 2, std::sqrt(normal),
                   std::sqrt(largest), largest / 2, largest * (1 - eps), largest, std::numeric_limits<double>::infinity()})
    for (double s : {v, -v}) edges_.push_back(interp::round_to(t, s));
  edges_.push_back(std::nan(""));
}

std::array<double, 2> Pairs::operator()(std::int64_t i) const {
  const auto n = static_cast<std::int64_t>(edges_.size());
  if (i < special()) return {edges_[static_cast<std::size_t>(i / n)], edges_[static_cast<std::size_t>(i % n)]};
  Draw d(t_, seed_, static_cast<std::uint64_t>(i));
  switch (fn_) {
    case fn_id<Pow>: return power(d);
    case fn_id<Atan2>: return angle(d);
    case fn_id<Hypot>: return sides(d);
    case fn_id<Div>: return quotient(d);
    case fn_id<FloorDiv>:
    case fn_id<Remainder>:
    case fn_id<Fmod>: return division(d);
    default: return {d.pattern(), d.pattern()};
  }
}

}  // namespace plumb::verify
