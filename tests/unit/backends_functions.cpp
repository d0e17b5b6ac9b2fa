// Exact values of scalar functions where the obvious code is wrong.
#include <cmath>

#include "backends_support.h"

namespace plumb::backends {
namespace {

template <class T> std::vector<T> binary(FnId fn, DType t, const std::vector<T>& x, const std::vector<T>& y) {
  auto mx = Memory::of(x), my = Memory::of(y);
  Memory out(x.size() * sizeof(T));
  run(map_kernel({t, t}, t, static_cast<std::int64_t>(x.size()), 8, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.apply(fn, a); }), {&mx, &my, &out});
  return out.as<T>();
}

TEST(Functions, IntegerDivisionHasAResultEverywhere) {
  const std::vector<std::int32_t> x{7, -7, 7, -7, 5, INT32_MIN, INT32_MIN, 0}, y{2, 2, -2, -2, 0, -1, 0, 0};
  EXPECT_EQ(binary(fn_id<scalar::Div>, DType::i32, x, y), (std::vector<std::int32_t>{3, -3, -3, 3, 0, INT32_MIN, 0, 0}));
  EXPECT_EQ(binary(fn_id<scalar::FloorDiv>, DType::i32, x, y), (std::vector<std::int32_t>{3, -4, -4, 3, 0, INT32_MIN, 0, 0}));
  EXPECT_EQ(binary(fn_id<scalar::Remainder>, DType::i32, x, y), (std::vector<std::int32_t>{1, 1, -1, -1, 5, 0, INT32_MIN, 0}));
  EXPECT_EQ(binary(fn_id<scalar::Fmod>, DType::i32, x, y), (std::vector<std::int32_t>{1, -1, 1, -1, 5, 0, INT32_MIN, 0}));
}

TEST(Functions, ShiftsPastTheWidth) {
  const std::vector<std::int8_t> x{-128, -1, 64, 1, -5}, y{7, 8, -1, 100, 1};
  EXPECT_EQ(binary(fn_id<scalar::ShiftLeft>, DType::i8, x, y), (std::vector<std::int8_t>{0, 0, 0, 0, -10}));
  EXPECT_EQ(binary(fn_id<scalar::ShiftRight>, DType::i8, x, y), (std::vector<std::int8_t>{-1, -1, 0, 0, -3}));
  EXPECT_EQ(binary(fn_id<scalar::ShiftRightLogical>, DType::i8, x, y), (std::vector<std::int8_t>{1, 0, 0, 0, 125}));
}

TEST(Functions, FloorDivisionOfLargeQuotientsRoundsOnce) {
  const std::vector<double> x{0x1p53, 1.5, -1, 5e-324, 0x1.8p53 + 2}, y{-1.5, -0.25, HUGE_VAL, -1e308, 1.5};
  const auto q = binary(fn_id<scalar::FloorDiv>, DType::f64, x, y);
  EXPECT_EQ(q, (std::vector<double>{-6004799503160662.0, -6, -1, -1, 9007199254740993.0 + 0.0}));
}

TEST(Functions, ZeroesOfMinimumAndMaximum) {
  const std::vector<float> x{0.0f, -0.0f, std::nanf(""), 1.0f}, y{-0.0f, 0.0f, 1.0f, std::nanf("")};
  const auto low = binary(fn_id<scalar::Minimum>, DType::f32, x, y), high = binary(fn_id<scalar::Maximum>, DType::f32, x, y);
  EXPECT_TRUE(std::signbit(low[0]) && std::signbit(low[1]) && !std::signbit(high[0]) && !std::signbit(high[1]));
  EXPECT_TRUE(std::isnan(low[2]) && std::isnan(low[3]) && std::isnan(high[2]) && std::isnan(high[3]));
}

/// In bf16 the product lies halfway between two numbers; only the tiny addend says which way to round.
TEST(Functions, NarrowFmaRoundsOnce) {
  auto bits = [](double v) { return static_cast<std::uint16_t>(encode_float(DType::bf16, v)); };
  auto x = Memory::of(std::vector<std::uint16_t>{bits(0x1.02p0), bits(0x1.02p0)}), y = Memory::of(std::vector<std::uint16_t>{bits(0x1.8p0), bits(0x1.8p0)});
  auto z = Memory::of(std::vector<std::uint16_t>{bits(0x1p-90), bits(-0x1p-90)});
  Memory out(4);
  run(map_kernel({DType::bf16, DType::bf16, DType::bf16}, DType::bf16, 2, 8, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.apply(fn_id<scalar::Fma>, a); }), {&x, &y, &z, &out});
  EXPECT_EQ(out.as<std::uint16_t>(), (std::vector<std::uint16_t>{bits(0x1.84p0), bits(0x1.82p0)}));
}

/// Doubles just beside a halfway case of f16 must not go through f32's rounding first.
TEST(Functions, DoubleToHalfRoundsOnce) {
  auto in = Memory::of(std::vector<double>{1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 1 + 0x1p-11 - 0x1p-40});
  Memory out(6);
  run(map_kernel({DType::f64}, DType::f16, 3, 4, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.convert(a[0], DType::f16); }), {&in, &out});
  EXPECT_EQ(out.as<std::uint16_t>(), (std::vector<std::uint16_t>{0x3c01, 0x3c00, 0x3c00}));
}

}  // namespace
}  // namespace plumb::backends
