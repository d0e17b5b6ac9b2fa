#include "interpreter/functions/circle.h"

#include <mpfr.h>

#include <cmath>

namespace plumb::interp {
namespace {

/// ⌊2^128 · frac(2^e / 2π)⌋, from 600 bits of 1/2π: at most 104 of them are integer, so an error below 2^-490.
Turns fraction_of_turn(int e) {
  mpfr_t turns, whole;
  mpfr_inits2(600, turns, whole, static_cast<mpfr_ptr>(nullptr));
  mpfr_const_pi(turns, MPFR_RNDN);
  mpfr_mul_2si(turns, turns, 1, MPFR_RNDN);
  mpfr_ui_div(turns, 1, turns, MPFR_RNDN);
  mpfr_mul_2si(turns, turns, e, MPFR_RNDN);
  Turns bits = 0;
  for (int part = 0; part < 4; ++part) {  // 32 bits at a time
    mpfr_floor(whole, turns);
    mpfr_sub(turns, turns, whole, MPFR_RNDN);  // exact
    mpfr_mul_2si(turns, turns, 32, MPFR_RNDN);
    mpfr_floor(whole, turns);
    bits = bits << 32 | mpfr_get_ui(whole, MPFR_RNDN);
  }
  mpfr_clears(turns, whole, static_cast<mpfr_ptr>(nullptr));
  return bits;
}

template <std::size_t n> double horner(double z, const double (&c)[n]) {
  double p = c[0];
  for (std::size_t k = 1; k < n; ++k) p = p * z + c[k];
  return p;
}

}  // namespace

Circle::Circle(FnId fn, int exponent) : fn_(fn), turns_(fraction_of_turn(exponent)) {}

/// The product's fraction is the argument in turns, off by less than m·2^-128 <= 2^-104: the high bits that overflow are whole turns. With
/// an eighth added, its top two bits number the quarter turn, and the rest, less the eighth, is θ in [-1/8, 1/8) turns.
///
/// Error. θ: 2^-104 turns are 2^-101.3 radians, 2^-54 of θ or less as |θ| >= 2^-47; each half's conversion, their sum, 2π and the product
/// add 2^-53 each: below 1.25·2^-51. What θ's relative error does to sin, cos and tan is at most θ·cot θ <= 1, θ·tan θ <= π/4 and
/// 2θ / sin 2θ <= π/2 times it. The series' first terms left out are below 2^-63 of sin (θ^18 / 19!) and 2^-58 of cos (θ^18 / 18!). Evaluating: z errs by
/// 2^-53, Horner's rule by less than 2^-51 of the sum that it multiplies by z, which is at most 0.11 of the whole for sin and 0.44 for cos;
/// the last operations by 2^-52. For sin and cos below 2^-49.4 in all, for tan below 2^-48.3.
double Circle::operator()(std::uint32_t m) const {
  constexpr double two_pi = 0x1.921fb54442d18p+2;
  const Turns eighth = static_cast<Turns>(1) << 125, shifted = turns_ * m + eighth;
  const auto quarter = static_cast<unsigned>(shifted >> 126);
  const Wide rest = static_cast<Wide>(shifted & ((eighth << 1) - 1)) - static_cast<Wide>(eighth);
  const double high = static_cast<double>(static_cast<std::int64_t>(rest >> 64)) * 0x1p64, low = static_cast<double>(static_cast<std::uint64_t>(rest));
  const double theta = (high + low) * 0x1p-128 * two_pi, z = theta * theta;
  if (!(std::fabs(theta) >= 0x1p-47)) return std::nan("");
  const double sine = theta + theta * z * horner(z, {1 / 355687428096000.0, -1 / 1307674368000.0, 1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0});
  const double cosine = 1 + z * horner(z, {1 / 20922789888000.0, -1 / 87178291200.0, 1 / 479001600.0, -1 / 3628800.0, 1 / 40320.0, -1 / 720.0, 1 / 24.0, -0.5});
  const bool odd = quarter & 1;
  if (fn_ == fn_id<scalar::Tan>) return odd ? -cosine / sine : sine / cosine;
  const bool wants_sine = (fn_ == fn_id<scalar::Sin>) != odd;
  // sin: s, c, -s, -c; cos: c, -s, -c, s.
  const bool negative = fn_ == fn_id<scalar::Sin> ? quarter >= 2 : quarter == 1 || quarter == 2;
  return (negative ? -1 : 1) * (wants_sine ? sine : cosine);
}

}  // namespace plumb::interp
