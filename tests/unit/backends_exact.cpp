// Functions rounded to odd: one more rounding, to any narrower float, is MPFR's single one.
#include <algorithm>
#include <array>
#include <limits>

#include "backends_exact_hard.h"
#include "backends_exact_support.h"

namespace plumb::backends {
namespace {

constexpr double inf = HUGE_VAL;
const double none = std::nan("");

/// Rounds `odd` to each narrower dtype and compares with what MPFR rounds at once. Finite values beyond the range of doubles
/// are the largest double, which f8e4m3fn takes for the largest number, and others for infinity.
template <class... X> void expect_rounds(const char* name, FnId fn, double odd, X... x) {
  for (DType t : narrowed) {
    const double value = by_mpfr(fn, t, x...), largest = std::copysign(std::numeric_limits<double>::max(), value);
    const auto got = encode_float(t, odd), right = encode_float(t, std::isinf(value) && std::isfinite(odd) ? largest : value);
    const double g = decode_float(t, got), r = decode_float(t, right);
    ASSERT_TRUE(same(g, r)) << std::hexfloat << name << " of " << ::testing::PrintToString(std::array{x...}) << " in " << plumb::name(t) << ": " << g << ", is " << r;
  }
}

TEST(Exact, RoundsOnceToEveryNarrowerFloat) {
  for (const auto& f : exact_ones) {
    Patterns random;
    for (int i = 0; i < 4000; ++i) {
      const double x = random.f32();
      ASSERT_NO_FATAL_FAILURE(expect_rounds(f.name, f.fn, f.exact(x), x));
    }
  }
}

/// Among all f32 arguments, those whose value lies nearest to the middle of two numbers.
TEST(Exact, RoundsTheHardestArguments) {
  for (const auto& h : hard_arguments) {
    const auto& f = *std::ranges::find(exact_ones, plumb::fn_from_name(h.name).value(), &ExactOne::fn);
    for (float x : h.at) ASSERT_NO_FATAL_FAILURE(expect_rounds(f.name, f.fn, f.exact(static_cast<double>(x)), static_cast<double>(x)));
  }
}

/// Random pairs, and powers whose exact value is a number or a middle of two, or just beside.
TEST(Exact, RoundsPairs) {
  for (const auto& f : exact_twos) {
    Patterns random;
    for (int i = 0; i < 20000; ++i) {
      double x = random.f32(), y = random.f32();
      if (i % 2) x = std::ldexp(static_cast<double>(random() % 4096), 2 * static_cast<int>(random() % 12) - 12), y = std::ldexp(static_cast<double>(random() % 33) - 16, -static_cast<int>(random() % 5));
      if (i % 4 == 3) x = static_cast<double>(std::nextafter(static_cast<float>(x), inf));
      ASSERT_NO_FATAL_FAILURE(expect_rounds(f.name, f.fn, f.exact(x, y), x, y));
    }
  }
}

/// Quotients that are the middle of two subnormal numbers: the angle is less by a part in 2^290.
TEST(Exact, AnglesBesideSubnormalMiddles) {
  for (int odd : {1, 3, 77, 239, 3945})
    for (double x : {2.0, 777 * 0x1p20, 2473 * 0x1p90}) {
      const double y = std::ldexp(odd, -150) * x;
      EXPECT_EQ(static_cast<float>(plumb_exact_atan2(y, x)), std::ldexp(static_cast<float>(odd / 2), -149)) << odd << " " << x;
      EXPECT_EQ(static_cast<float>(plumb_exact_atan2(-y, x)), -std::ldexp(static_cast<float>(odd / 2), -149)) << odd << " " << x;
    }
}

/// Where the value is no double the last bit is set, on the side where it lies.
TEST(Exact, InexactResultsAreOdd) {
  EXPECT_EQ(plumb_exact_sin(0x1p-100), 0x1.fffffffffffffp-101);
  EXPECT_EQ(plumb_exact_tan(-0x1p-100), -0x1.0000000000001p-100);
  EXPECT_EQ(plumb_exact_asin(0x1.6p-58), 0x1.6000000000001p-58);
  EXPECT_EQ(plumb_exact_log1p(0x1p-149), 0x1.fffffffffffffp-150);
  EXPECT_EQ(plumb_exact_log1p(-0x1p-149), -0x1.0000000000001p-149);
  EXPECT_EQ(plumb_exact_exp(-0x1p-149), 0x1.fffffffffffffp-1);
  EXPECT_EQ(plumb_exact_exp(0x1p-149), 0x1.0000000000001p+0);
  EXPECT_EQ(plumb_exact_cosh(0x1p-149), 0x1.0000000000001p+0);
  EXPECT_EQ(plumb_exact_tanh(50), 0x1.fffffffffffffp-1);
  EXPECT_EQ(plumb_exact_erf(-20), -0x1.fffffffffffffp-1);
  EXPECT_EQ(plumb_exact_erfc(-20), 0x1.fffffffffffffp+0);
  EXPECT_EQ(plumb_exact_sigmoid(100), 0x1.fffffffffffffp-1);
  EXPECT_EQ(plumb_exact_sigmoid(-0x1p-149), 0x1.fffffffffffffp-2);
  EXPECT_EQ(plumb_exact_expm1(-200), -0x1.fffffffffffffp-1);
  EXPECT_EQ(plumb_exact_pow(0.5, 0x1p-149), 0x1.fffffffffffffp-1);
  EXPECT_EQ(plumb_exact_exp(1e6), 0x1.fffffffffffffp+1023);
  EXPECT_EQ(plumb_exact_exp(-1e6), 5e-324);
}

TEST(Exact, DyadicValuesAreExact) {
  for (int k = -160; k < 140; ++k) {
    const double power = std::ldexp(1.0, k);
    EXPECT_EQ(plumb_exact_exp2(k), power);
    EXPECT_EQ(plumb_exact_log2(power), k);
    EXPECT_EQ(plumb_exact_pow(2, k), power);
    EXPECT_EQ(plumb_exact_pow(4, k * 0.5), power);
    EXPECT_EQ(plumb_exact_rsqrt(power * power), 1 / power);
    EXPECT_EQ(plumb_exact_cbrt(-8 * power * power * power), -2 * power);
    EXPECT_EQ(plumb_exact_cbrt(0x1.fp0 * 0x1.fp0 * 0x1.fp0 * power * power * power), 0x1.fp0 * power);
  }
  double ten = 1;
  for (int k = 0; k <= 10; ++k, ten *= 10) EXPECT_EQ(plumb_exact_log10(ten), k);
  EXPECT_EQ(plumb_exact_pow(0x1.000002p0, 2), 0x1.000002p0 * 0x1.000002p0);
  EXPECT_EQ(plumb_exact_pow(-3, 33), -5559060566555523.0);
  EXPECT_EQ(plumb_exact_pow(0x1.44p0, 2.5), 0x1.2p0 * 0x1.2p0 * 0x1.2p0 * 0x1.2p0 * 0x1.2p0);
  EXPECT_EQ(plumb_exact_pow(65536, 0.0625), 2);
  EXPECT_EQ(plumb_exact_pow(0x1p-75, 2), 0x1p-150);
  for (auto f : {plumb_exact_exp, plumb_exact_cos, plumb_exact_cosh, plumb_exact_erfc}) EXPECT_TRUE(same(f(0), 1) && same(f(-0.0), 1));
  EXPECT_EQ(plumb_exact_sigmoid(0), 0.5);
  EXPECT_TRUE(same(plumb_exact_log(1), 0) && same(plumb_exact_acos(1), 0) && same(plumb_exact_acosh(1), 0));
}

struct Special { const char* name; double x, value; };
const Special specials[] = {
    {"exp", -inf, 0}, {"exp", inf, inf}, {"exp2", -inf, 0}, {"exp2", inf, inf}, {"expm1", -inf, -1}, {"expm1", inf, inf}, {"expm1", -0.0, -0.0}, {"log", 0, -inf}, {"log", -0.0, -inf},
    {"log", -1, none}, {"log", inf, inf}, {"log", -inf, none}, {"log2", -0.0, -inf}, {"log2", -1, none}, {"log10", 0, -inf}, {"log10", inf, inf}, {"log1p", -1, -inf}, {"log1p", -2, none},
    {"log1p", -0.0, -0.0}, {"log1p", inf, inf}, {"sin", inf, none}, {"sin", -0.0, -0.0}, {"cos", -inf, none}, {"tan", inf, none}, {"tan", -0.0, -0.0}, {"asin", 1.5, none}, {"asin", -0.0, -0.0},
    {"acos", -1.5, none}, {"atan", -0.0, -0.0}, {"sinh", -inf, -inf}, {"sinh", -0.0, -0.0}, {"cosh", -inf, inf}, {"tanh", -inf, -1}, {"tanh", inf, 1}, {"tanh", -0.0, -0.0}, {"asinh", -inf, -inf},
    {"asinh", -0.0, -0.0}, {"acosh", inf, inf}, {"acosh", 0.5, none}, {"acosh", -inf, none}, {"atanh", 1, inf}, {"atanh", -1, -inf}, {"atanh", 2, none}, {"atanh", -0.0, -0.0}, {"erf", inf, 1},
    {"erf", -inf, -1}, {"erf", -0.0, -0.0}, {"erfc", inf, 0}, {"erfc", -inf, 2}, {"cbrt", -inf, -inf}, {"cbrt", -0.0, -0.0}, {"rsqrt", 0, inf}, {"rsqrt", -0.0, -inf}, {"rsqrt", -1, none},
    {"rsqrt", inf, 0}, {"sigmoid", -inf, 0}, {"sigmoid", inf, 1}};

/// As ir/scalar/functions.h says.
TEST(Exact, SpecialValues) {
  for (const auto& s : specials) {
    const auto& f = *std::ranges::find(exact_ones, plumb::fn_from_name(s.name).value(), &ExactOne::fn);
    EXPECT_TRUE(same(f.exact(s.x), s.value)) << s.name << "(" << s.x << ") = " << f.exact(s.x);
    EXPECT_TRUE(same(f.math(s.x), s.value)) << s.name << "(" << s.x << ") = " << f.math(s.x);
  }
  for (const auto& f : exact_ones) EXPECT_TRUE(std::isnan(f.exact(none)) && std::isnan(f.math(none))) << f.name;
}

/// The C library has IEEE 754's special cases of pow and atan2.
TEST(Exact, SpecialPairs) {
  const double edges[] = {0, -0.0, 1, -1, 2, -2, 3, 0.5, -0.5, 0x1p53, inf, -inf, none};
  for (double x : edges)
    for (double y : edges) {
      EXPECT_TRUE(same(plumb_math_atan2(x, y), std::atan2(x, y))) << "atan2(" << x << ", " << y << ") = " << plumb_math_atan2(x, y);
      EXPECT_TRUE(same(plumb_math_pow(x, y), std::pow(x, y))) << "pow(" << x << ", " << y << ") = " << plumb_math_pow(x, y);
      EXPECT_TRUE(same(static_cast<float>(plumb_exact_atan2(x, y)), static_cast<float>(std::atan2(x, y)))) << x << " " << y;
    }
}

}  // namespace
}  // namespace plumb::backends
