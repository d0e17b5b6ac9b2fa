// floor_div of floats against exact rational arithmetic: the floor of the exact quotient, rounded once to the dtype.
#include <gmp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "interpreter/domains/number.h"
#include "ir/scalar/storage.h"

namespace plumb::interp {
namespace {

double floor_div(DType t, double x, double y) {
  const Number a[] = {{.f = x}, {.f = y}};
  return apply(fn_id<scalar::FloorDiv>, t, a).f;
}

/// Nearest number of `t`, ties to even, by integer arithmetic alone; infinite from the format's overflow threshold on.
double nearest(DType t, const mpz_t n) {
  mpz_t kept, rest, half;
  mpz_inits(kept, rest, half, nullptr);
  const auto bits = static_cast<int>(mpz_sizeinbase(n, 2)), drop = std::max(0, bits - row(t).precision);
  mpz_tdiv_q_2exp(kept, n, static_cast<mp_bitcnt_t>(drop));
  mpz_tdiv_r_2exp(rest, n, static_cast<mp_bitcnt_t>(drop));
  if (drop > 0) {
    mpz_ui_pow_ui(half, 2, static_cast<unsigned long>(drop - 1));
    const int beside = mpz_cmpabs(rest, half);
    if (beside > 0 || (beside == 0 && mpz_odd_p(kept))) mpz_sgn(n) < 0 ? mpz_sub_ui(kept, kept, 1) : mpz_add_ui(kept, kept, 1);
  }
  const double m = mpz_get_d(kept);
  mpz_clears(kept, rest, half, nullptr);
  const bool overflows = m != 0 && std::ilogb(m) + drop > row(t).emax;
  return overflows ? std::copysign(HUGE_VAL, m) : std::ldexp(m, drop);
}

/// x and y finite, y not 0.
double from_rationals(DType t, double x, double y) {
  mpq_t a, b;
  mpz_t n;
  mpq_inits(a, b, nullptr);
  mpz_init(n);
  mpq_set_d(a, x);
  mpq_set_d(b, y);
  mpq_div(a, a, b);
  mpz_fdiv_q(n, mpq_numref(a), mpq_denref(a));
  const double r = mpz_sgn(n) == 0 ? std::copysign(0.0, std::signbit(x) == std::signbit(y) ? 1.0 : -1.0) : nearest(t, n);
  mpq_clears(a, b, nullptr);
  mpz_clear(n);
  return r;
}

void expect(DType t, double x, double y, double want) {
  const double got = floor_div(t, x, y);
  EXPECT_TRUE(same(t, {.f = got}, {.f = want})) << name(t) << ": " << std::hexfloat << x << " // " << y << " gave " << got << ", not " << want;
}

TEST(FloorDiv, ByHand) {
  expect(DType::f64, 0x1p53, -1.5, -6004799503160662.0);      // -6004799503160661.33…
  expect(DType::f64, -0x1p53, 1.5, -6004799503160662.0);
  expect(DType::f64, 0x1p53, 1.5, 6004799503160661.0);
  expect(DType::f64, 0x1.8p53 + 2, 1.5, 9007199254740992.0);  // 9007199254740993.33…: the floor is a tie, to even
  expect(DType::f64, 0x1p1023, 0x1p-1074, HUGE_VAL);
  expect(DType::f64, 0x1p1023, -0x1p-1074, -HUGE_VAL);
  expect(DType::f32, 0x1p24 + 2, -1, -0x1p24 - 2);
  expect(DType::f32, 0x1p100, -3, -0x1.555556p98);            // -0x1.5555555…p98
  expect(DType::f16, 65504, -0x1p-24, -HUGE_VAL);
  expect(DType::f16, 2047, 0.75, 2728);                       // 2729 lies between 2728 and 2730
  expect(DType::bf16, 7, -2, -4);
}

TEST(FloorDiv, ZerosInfinitiesNaN) {
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const double inf = HUGE_VAL, nan = std::nan("");
    struct { double x, y, want; } cases[] = {
        {0, 3, 0},     {-0.0, 3, -0.0}, {0, -3, -0.0}, {-0.0, -3, 0},  {1, 3, 0},       {-1, 3, -1},    {1, -3, -1},  {-1, -3, 0},
        {1, inf, 0},   {-1, inf, -1},   {1, -inf, -1}, {-1, -inf, 0},  {0, inf, 0},     {-0.0, inf, -0.0}, {0, -inf, -0.0}, {-0.0, -inf, 0},
        {inf, 2, inf}, {inf, -2, -inf}, {-inf, 2, -inf}, {inf, inf, nan}, {inf, -inf, nan}, {1, 0, inf}, {1, -0.0, -inf}, {-1, 0, -inf},
        {0, 0, nan},   {inf, 0, inf},   {nan, 1, nan}, {1, nan, nan},  {nan, 0, nan},
    };
    for (const auto& c : cases) expect(t, c.x, c.y, c.want);
  }
}

TEST(FloorDiv, RandomQuotientsOfEveryMagnitude) {
  std::mt19937_64 random(5);
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const auto mask = ~std::uint64_t{0} >> (64 - byte_size(t) * 8);
    for (int k = 0; k < 20000; ++k) {
      const double x = decode_float(t, random() & mask);
      double y = decode_float(t, random() & mask);
      if (k % 2) y = round_to(t, std::scalbn(x, -static_cast<int>(random() % 56)) * (k % 4 == 1 ? 0.75 : -1.0 / 3));  // quotients near every power of two below 2^56
      if (k % 5 == 0 && std::isfinite(x)) y = round_to(t, std::copysign(1.0 + static_cast<double>(random() % 16), y));
      if (!std::isfinite(x) || !std::isfinite(y) || y == 0) continue;
      expect(t, x, y, from_rationals(t, x, y));
    }
  }
}

}  // namespace
}  // namespace plumb::interp
