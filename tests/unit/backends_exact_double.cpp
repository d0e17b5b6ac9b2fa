// Functions of doubles without a library: nearer than anything but the last of hard cases, they are MPFR's.
#include <algorithm>
#include <utility>

#include "backends_exact_support.h"

namespace plumb::backends {
namespace {

constexpr double inf = HUGE_VAL;

TEST(ExactDouble, RoundsAsMpfrDoes) {
  for (const auto& f : exact_ones) {
    Patterns random;
    for (int i = 0; i < 30000; ++i) {
      const double x = random.f64(), got = f.math(x), right = by_mpfr(f.fn, DType::f64, x);
      ASSERT_TRUE(same(got, right)) << std::hexfloat << f.name << "(" << x << ") = " << got << ", is " << right;
    }
  }
}

/// Doubles whose value lies within 2^-110 to 2^-150 of the middle of two (Lefèvre & Muller, Worst cases for correct rounding
/// of the elementary functions in double precision, 2001; sigmoid beside 1/2 + x/4).
TEST(ExactDouble, RoundsKnownWorstCases) {
  const std::pair<FnId, double> worst[] = {
      {fn_id<scalar::Exp>, 0x1.9e9cbbfd6080bp-31},  {fn_id<scalar::Exp2>, 0x1.e4596526bf94dp-10}, {fn_id<scalar::Log>, 0x1.62a88613629b6p+678}, {fn_id<scalar::Sin>, 0x1.e0000000001c2p-20},
      {fn_id<scalar::Sin>, 0x1.598bae9e632f6p-7},   {fn_id<scalar::Cos>, 0x1.8000000000009p-23},  {fn_id<scalar::Cos>, 0x1.06b505550e6b2p-9},   {fn_id<scalar::Tan>, 0x1.50486b2f87014p-5},
      {fn_id<scalar::Tan>, 0x1.dffffffffff1fp-22},  {fn_id<scalar::Acos>, 0x1.53ea6c7255e88p-4},  {fn_id<scalar::Atan>, 0x1.6298b5896ed3cp+1},  {fn_id<scalar::Sinh>, 0x1.dfffffffffe3ep-20},
      {fn_id<scalar::Sigmoid>, 0x1.4p-50},          {fn_id<scalar::Sigmoid>, -0x1.2p-49}};
  for (const auto& [fn, x] : worst) EXPECT_EQ(std::ranges::find(exact_ones, fn, &ExactOne::fn)->math(x), by_mpfr(fn, DType::f64, x)) << row(fn).name << " " << x;
}

/// Exponents of pow such that results spread over the range of doubles, subnormal numbers and both ends included.
TEST(ExactDouble, RoundsPairsAsMpfrDoes) {
  const ExactTwo hypot{"hypot", fn_id<scalar::Hypot>, nullptr, plumb_math_hypot};
  for (const auto& f : {exact_twos[0], exact_twos[1], hypot}) {
    Patterns random;
    for (int i = 0; i < 60000; ++i) {
      double x = random.f64(), y = random.f64();
      if (f.fn == fn_id<scalar::Pow> && i % 4) x = std::fabs(x), y = 760 / std::log(x) * (static_cast<double>(random() >> 12) * 0x1p-51 - 1);
      if (f.fn == fn_id<scalar::Hypot> && i % 2) y = x * std::ldexp(static_cast<double>(random() >> 11), -53 - i % 40);
      const double got = f.math(x, y), right = by_mpfr(f.fn, DType::f64, x, y);
      ASSERT_TRUE(same(got, right)) << std::hexfloat << f.name << "(" << x << ", " << y << ") = " << got << ", is " << right;
    }
  }
}

/// Near multiples of π/2: the nearest that a double comes (Muller et al., Handbook, 10.3), and the ends of the range.
TEST(ExactDouble, ReducesTheWholeRange) {
  for (double x : {0x1.6ac5b262ca1ffp+849, 0x1.921fb54442d18p+0, 0x1.921fb54442d18p+1, 0x1.2d97c7f3321d2p+2, 0x1.fffffffffffffp+1023, 0x1p+1023, 0x1.8p-1, 1e22, 0x1p+120})
    for (double sign : {1.0, -1.0})
      for (const auto& f : exact_ones) {
        const bool circular = f.fn == fn_id<scalar::Sin> || f.fn == fn_id<scalar::Cos> || f.fn == fn_id<scalar::Tan>;
        EXPECT_TRUE(!circular || f.math(sign * x) == by_mpfr(f.fn, DType::f64, sign * x)) << f.name << " " << x;
      }
}

/// The C library's fmod is exact, too.
TEST(ExactDouble, RemaindersAreExact) {
  Patterns random;
  for (int i = 0; i < 50000; ++i) {
    const double x = random.f64(), y = random.f64();
    ASSERT_TRUE(same(plumb_math_fmod(x, y), std::fmod(x, y))) << std::hexfloat << x << " " << y;
  }
  const double edges[] = {0, -0.0, 1, -1, 5e-324, -5e-324, 0x1p-1022, 1.5, 3, 0x1.fffffffffffffp+1023, inf, -inf, std::nan("")};
  for (double x : edges)
    for (double y : edges) EXPECT_TRUE(same(plumb_math_fmod(x, y), std::fmod(x, y))) << x << " " << y;
}

TEST(ExactDouble, ResultsLeaveTheRange) {
  EXPECT_EQ(plumb_math_exp(710), inf);
  EXPECT_EQ(plumb_math_exp(-746), 0);
  EXPECT_EQ(plumb_math_exp(-745), 5e-324);
  EXPECT_EQ(plumb_math_exp2(1024), inf);
  EXPECT_EQ(plumb_math_exp2(-1074), 5e-324);
  EXPECT_EQ(plumb_math_exp2(-1075), 0) << "a tie";
  EXPECT_EQ(plumb_math_exp2(-0x1.0cbffffffffffp+10), 5e-324) << "above the tie";
  EXPECT_EQ(plumb_math_sinh(-711), -inf);
  EXPECT_EQ(plumb_math_pow(-2, 1025), -inf);
  EXPECT_EQ(plumb_math_pow(3, -1e300), 0);
  EXPECT_EQ(plumb_math_erfc(28), 0);
  EXPECT_EQ(plumb_math_hypot(0x1.8p+1023, 0x1.8p+1023), inf);
  EXPECT_EQ(plumb_math_hypot(3e-320, 4e-320), 5e-320);
  EXPECT_EQ(plumb_math_hypot(inf, std::nan("")), inf);
}

}  // namespace
}  // namespace plumb::backends
