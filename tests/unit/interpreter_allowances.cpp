// What each allowance of the fast contract admits beyond relaxed, and what it does not; bounds worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "interpreter/domains/allowances.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/tensor/text.h"

namespace plumb::interp {
namespace {

constexpr Allowances tf32{.tf32 = true}, ftz{.ftz = true}, approximate{.approximate = true};

ir::Literal vector(std::vector<float> v) {
  const auto n = static_cast<std::int64_t>(v.size());
  return ir::Literal::of<float>(DType::f32, Extents{n}, v);
}

/// Whether a dot of two vectors, with these numbers, may give `result`.
bool dot_may_give(const Allowances& allow, std::vector<float> x, std::vector<float> y, float result) {
  const auto n = std::to_string(x.size());
  const auto m = ir::parse("func @main(%x: f32[" + n + "], %y: f32[" + n + "]) -> (f32[]) {\n  %0 = dot_general(%x, %y) {lhs_contract=[0], rhs_contract=[0]} : f32[]\n  return %0\n}");
  const auto e = evaluate_enclosure(m, std::vector{vector(std::move(x)), vector(std::move(y))}, {{}, allow});
  return contains(e[0].elements[0], DType::f32, {.f = result});
}
bool may_give(const Allowances& allow, FnId fn, DType t, std::vector<double> args, double result) {
  std::vector<Enclosed> a;
  for (double v : args) a.push_back(Enclosed::real(v, v));
  return contains(enclose_allowed(allow, fn, t, a), t, {.f = result});
}

TEST(Allowances, Tf32RoundsOrCutsFactors) {
  const float x = 1 + 0x1p-12F;   // of 13 significant bits: cut, 1; exact, itself
  EXPECT_TRUE(dot_may_give(tf32, {x}, {1}, 1));
  EXPECT_FALSE(dot_may_give({}, {x}, {1}, 1));
  EXPECT_FALSE(dot_may_give(ftz, {x}, {1}, 1));
  EXPECT_FALSE(dot_may_give(tf32, {x}, {1}, 1 - 0x1p-9F));
  EXPECT_FALSE(dot_may_give(tf32, {x}, {1}, 1 + 0x1p-8F));
  EXPECT_FALSE(dot_may_give(tf32, {1.5F}, {1}, 1.5F + 0x1p-20F));   // of few bits: no room
}

TEST(Allowances, Tf32SumsMayBeCut) {
  const float tiny = 0x1p-24F + 0x1p-30F;   // 1 + tiny rounds to 1 + 2^-23, cut it is 1
  EXPECT_TRUE(dot_may_give(tf32, {1, 1}, {1, tiny}, 1));
  EXPECT_TRUE(dot_may_give(tf32, {1, 1}, {1, tiny}, 1 + 0x1p-23F));
}

TEST(Allowances, FlushingReadsSubnormalsAsZeros) {
  EXPECT_TRUE(may_give(ftz, fn_id<scalar::Mul>, DType::f32, {0x1p-130, 4}, 0));
  EXPECT_FALSE(may_give({}, fn_id<scalar::Mul>, DType::f32, {0x1p-130, 4}, 0));
  EXPECT_TRUE(may_give(ftz, fn_id<scalar::Mul>, DType::f32, {0x1p-100, -0x1p-30}, -0.0));   // the result alone
  EXPECT_FALSE(may_give(ftz, fn_id<scalar::Mul>, DType::f32, {0x1p-100, 0x1p-20}, 0));      // normal
  EXPECT_TRUE(may_give(ftz, fn_id<scalar::Mul>, DType::f32, {0x1p-130, 4}, 0x1p-128));      // the kept answer stays right
  EXPECT_TRUE(may_give(ftz, fn_id<scalar::Log>, DType::f32, {0x1p-130}, -HUGE_VAL));
  EXPECT_FALSE(may_give(ftz, fn_id<scalar::Mul>, DType::f64, {0x1p-130, 4}, 0));
  EXPECT_TRUE(dot_may_give(ftz, {0x1p-130F, 1}, {1, 0x1p-127F}, 0));
  EXPECT_FALSE(dot_may_give({}, {0x1p-130F, 1}, {1, 0x1p-127F}, 0));
}

TEST(Allowances, ApproximateFunctionsErrByTheirShare) {
  const double e = 2.718281828459045;
  EXPECT_TRUE(may_give(approximate, fn_id<scalar::Exp>, DType::f32, {1}, e * (1 + 0x1p-11)));
  EXPECT_FALSE(may_give(approximate, fn_id<scalar::Exp>, DType::f32, {1}, e * (1 + 0x1p-9)));
  EXPECT_FALSE(may_give({}, fn_id<scalar::Exp>, DType::f32, {1}, e * (1 + 0x1p-11)));
  EXPECT_TRUE(may_give(approximate, fn_id<scalar::Sin>, DType::f32, {0}, 0x1p-21));
  EXPECT_FALSE(may_give(approximate, fn_id<scalar::Sqrt>, DType::f32, {4}, 2 + 0x1p-20));   // correctly rounded by every contract
  EXPECT_FALSE(may_give(approximate, fn_id<scalar::Exp>, DType::f64, {1}, e * (1 + 0x1p-11)));
}

}  // namespace
}  // namespace plumb::interp
