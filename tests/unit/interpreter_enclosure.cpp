// What enclosures must hold, from the contract: values kept in a wider format, and conversions that saturate.
#include <gtest/gtest.h>

#include <cmath>

#include "interpreter/domains/enclosure.h"

namespace plumb::interp {
namespace {

bool holds(const Enclosed& e, DType t, double v) { return contains(e, t, {.f = v}); }

TEST(Enclosure, NarrowResultsMayBeKeptInF32) {
  const Enclosed division[] = {Enclosed::real(1, 1), Enclosed::real(24, 24)}, root[] = {Enclosed::real(1.375, 1.375)};
  const auto quotient = enclose(fn_id<scalar::Div>, DType::f8e5m2, division);
  EXPECT_TRUE(holds(quotient, DType::f64, static_cast<double>(1.0F / 24.0F)));
  EXPECT_TRUE(holds(quotient, DType::f64, 0.0390625));    // the nearest f8e5m2
  EXPECT_FALSE(holds(quotient, DType::f64, 0.0416669));
  EXPECT_TRUE(holds(enclose(fn_id<scalar::Sqrt>, DType::f8e4m3fn, root), DType::f64, static_cast<double>(std::sqrt(1.375F))));
}

TEST(Enclosure, ConversionToAFormatWithoutInfinities) {
  const auto to_f8 = [](double lo, double hi) { return enclose_convert(Enclosed::real(lo, hi), DType::f32, DType::f8e4m3fn); };
  const auto half = to_f8(-HUGE_VAL, 3);
  for (double v : {-448.0, -1.0, 3.0, std::nan("")}) EXPECT_TRUE(holds(half, DType::f8e4m3fn, v)) << v;
  EXPECT_FALSE(holds(half, DType::f8e4m3fn, 3.25));
  const auto all = to_f8(-HUGE_VAL, HUGE_VAL);
  for (double v : {-448.0, 0.0, 448.0, std::nan("")}) EXPECT_TRUE(holds(all, DType::f8e4m3fn, v)) << v;
  const auto infinite = to_f8(HUGE_VAL, HUGE_VAL);
  EXPECT_TRUE(holds(infinite, DType::f8e4m3fn, std::nan("")));
  EXPECT_FALSE(holds(infinite, DType::f8e4m3fn, 448));
  const auto large = to_f8(500, 1e30);
  EXPECT_TRUE(holds(large, DType::f8e4m3fn, 448));
  EXPECT_FALSE(holds(large, DType::f8e4m3fn, std::nan("")));
}

TEST(Enclosure, AnInfinityThatTheFormatLacksMayBeKeptInF32) {
  for (FnId fn : {fn_id<scalar::Div>, fn_id<scalar::FloorDiv>}) {
    for (double x : {1.0, -1.0}) {
      const Enclosed by_zero[] = {Enclosed::real(x, x), Enclosed::real(0.0, 0.0)};
      const auto quotient = enclose(fn, DType::f8e4m3fn, by_zero);
      EXPECT_TRUE(holds(quotient, DType::f64, std::nan(""))) << x;
      EXPECT_TRUE(holds(quotient, DType::f64, x * HUGE_VAL)) << x;
      EXPECT_FALSE(holds(quotient, DType::f64, 448 * x)) << x;
      EXPECT_FALSE(holds(quotient, DType::f64, -x * HUGE_VAL)) << x;
    }
    const Enclosed zeros[] = {Enclosed::real(0.0, 0.0), Enclosed::real(0.0, 0.0)};
    EXPECT_FALSE(holds(enclose(fn, DType::f8e4m3fn, zeros), DType::f64, HUGE_VAL));
  }
}

TEST(Enclosure, ASumOfZerosOfEitherSign) {
  const auto sum = [](std::initializer_list<Enclosed> terms) {
    SumFacts s;
    for (const auto& e : terms) s.add(e);
    return finish_sum(s, DType::f32, 4, 0);
  };
  const auto minus = Enclosed::real(-0.0, -0.0), plus = Enclosed::real(0.0, 0.0), either = Enclosed::real(-0.0, 0.0);
  EXPECT_TRUE(holds(sum({minus, minus}), DType::f32, -0.0));
  EXPECT_TRUE(holds(sum({minus, either}), DType::f32, -0.0));
  EXPECT_TRUE(holds(sum({minus, either}), DType::f32, 0.0));
  EXPECT_FALSE(holds(sum({minus, plus, either}), DType::f32, -0.0));
}

}  // namespace
}  // namespace plumb::interp
