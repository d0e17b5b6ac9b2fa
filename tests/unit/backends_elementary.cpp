// Elementary functions against the C library's long double ones, whose error is far below what is measured here.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "backends_support.h"

namespace plumb::backends {
namespace {

using Wide = long double;

struct Case {
  FnId fn;
  Wide (*exact)(Wide);
};

Wide sigmoid(Wide x) { return 1 / (1 + std::exp(-x)); }
Wide rsqrt(Wide x) { return 1 / std::sqrt(x); }

const Case cases[] = {
    {fn_id<scalar::Exp>, expl},     {fn_id<scalar::Exp2>, exp2l},   {fn_id<scalar::Expm1>, expm1l}, {fn_id<scalar::Log>, logl},     {fn_id<scalar::Log2>, log2l},   {fn_id<scalar::Log10>, log10l},
    {fn_id<scalar::Log1p>, log1pl}, {fn_id<scalar::Sin>, sinl},     {fn_id<scalar::Cos>, cosl},     {fn_id<scalar::Tan>, tanl},     {fn_id<scalar::Asin>, asinl},   {fn_id<scalar::Acos>, acosl},
    {fn_id<scalar::Atan>, atanl},   {fn_id<scalar::Sinh>, sinhl},   {fn_id<scalar::Cosh>, coshl},   {fn_id<scalar::Tanh>, tanhl},   {fn_id<scalar::Asinh>, asinhl}, {fn_id<scalar::Acosh>, acoshl},
    {fn_id<scalar::Atanh>, atanhl}, {fn_id<scalar::Erf>, erfl},     {fn_id<scalar::Erfc>, erfcl},   {fn_id<scalar::Sigmoid>, sigmoid}, {fn_id<scalar::Rsqrt>, rsqrt}, {fn_id<scalar::Cbrt>, cbrtl},
    {fn_id<scalar::Sqrt>, sqrtl}};

/// Distance in units of the last place that T has at the exact value.
template <class T> double ulps(T got, Wide exact) {
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : HUGE_VAL;
  const T nearest = static_cast<T>(exact);
  if (got == nearest) {
    if (got == 0 && exact != 0) return 0;
    return std::signbit(got) == std::signbit(nearest) ? (std::isinf(got) ? 0 : static_cast<double>(std::abs((static_cast<Wide>(got) - exact) / (std::nextafter(std::abs(nearest), HUGE_VALF) - std::abs(nearest))))) : HUGE_VAL;
  }
  if (std::isinf(got) || std::isinf(nearest)) {
    // One step past the largest number is an error of a unit or so.
    const Wide largest = std::numeric_limits<T>::max();
    return std::abs(std::isinf(got) ? exact : static_cast<Wide>(got)) > largest * (1 - 4 * static_cast<Wide>(std::numeric_limits<T>::epsilon())) ? 1.5 : HUGE_VAL;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int place = std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits;
  return static_cast<double>(std::abs((static_cast<Wide>(got) - exact) / std::ldexp(static_cast<Wide>(1), place)));
}

std::vector<float> inputs_f32() {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 12007) {
    const auto b = static_cast<std::uint32_t>(bits);
    float f;
    std::memcpy(&f, &b, 4);
    x.push_back(f);
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> near(-12, 12), exponent(-105, 90), unit(-1.25f, 1.25f);
  for (int i = 0; i < 50000; ++i) x.push_back(near(random)), x.push_back(exponent(random)), x.push_back(unit(random)), x.push_back(1 + 0.01f * unit(random));
  for (float edge : {0.0f, -0.0f, 1.0f, -1.0f, HUGE_VALF, -HUGE_VALF, 1e-45f, -1e-45f, 1.17549435e-38f, 3.4028235e38f, -3.4028235e38f, 88.72284f, -103.97208f, 0.5f, 2.0f, 16777216.0f, 1e30f})
    for (int step = -3; step <= 3; ++step) {
      float f = edge;
      for (int s = 0; s < std::abs(step); ++s) f = std::nextafter(f, step > 0 ? HUGE_VALF : -HUGE_VALF);
      x.push_back(f);
    }
  x.push_back(std::nanf(""));
  return x;
}

template <class T> double worst_of(const Case& c, DType t, const std::vector<T>& x, int width, T& at) {
  auto in = Memory::of(x);
  Memory out(x.size() * sizeof(T));
  run(map_kernel({t}, t, static_cast<std::int64_t>(x.size()), width, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.apply(c.fn, a); }), {&in, &out});
  const auto y = out.as<T>();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = ulps<T>(y[i], c.exact(static_cast<Wide>(x[i])));
    if (error > worst) worst = error, at = x[i];
  }
  return worst;
}

TEST(Elementary, F32WithinItsBound) {
  const auto x = inputs_f32();
  for (const auto& c : cases) {
    float at = 0;
    const double worst = worst_of<float>(c, DType::f32, x, 16, at);
    std::printf("  %-8s f32 %.3f ULP at %a\n", std::string(row(c.fn).name).c_str(), worst, static_cast<double>(at));
    EXPECT_LE(worst, row(c.fn).ulp) << row(c.fn).name << " at " << at;
  }
}

TEST(Elementary, F64WithinItsBound) {
  std::vector<double> x;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> near(-12, 12), exponent(-745, 710), unit(-1.25, 1.25);
  for (int i = 0; i < 4000; ++i) {
    const auto bits = random();
    double d;
    std::memcpy(&d, &bits, 8);
    x.insert(x.end(), {d, near(random), exponent(random), unit(random), 1 + 0.01 * unit(random)});
  }
  for (double edge : {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 709.782712893384, -745.1332191019411, 0.5, 2.0, 1e300})
    x.insert(x.end(), {edge, std::nextafter(edge, HUGE_VAL), std::nextafter(edge, -HUGE_VAL)});
  x.push_back(std::nan(""));
  for (const auto& c : cases) {
    double at = 0;
    const double worst = worst_of<double>(c, DType::f64, x, 8, at);
    std::printf("  %-8s f64 %.3f ULP at %a\n", std::string(row(c.fn).name).c_str(), worst, at);
    EXPECT_LE(worst, row(c.fn).ulp + 0.001) << row(c.fn).name << " at " << at;
  }
}

template <class T> void two_operands(DType t, FnId fn, Wide (*exact)(Wide, Wide)) {
  std::vector<T> x, y;
  const T edges[] = {0, static_cast<T>(-0.0), 1, -1, 2, -2, 3, -3, T(0.5), T(-0.5), T(2.5), T(-1e30), T(1e30), HUGE_VALF, -HUGE_VALF, std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max()};
  for (T a : edges)
    for (T b : edges) x.push_back(a), y.push_back(b);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> positive(0, 30), any(-20, 20);
  for (int i = 0; i < 100000; ++i) x.push_back(static_cast<T>(i % 4 ? positive(random) : std::round(any(random)))), y.push_back(static_cast<T>(i % 4 ? any(random) : std::round(any(random))));
  auto mx = Memory::of(x), my = Memory::of(y);
  Memory out(x.size() * sizeof(T));
  run(map_kernel({t, t}, t, static_cast<std::int64_t>(x.size()), 16, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.apply(fn, a); }), {&mx, &my, &out});
  const auto got = out.as<T>();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = ulps<T>(got[i], exact(static_cast<Wide>(x[i]), static_cast<Wide>(y[i])));
    EXPECT_LE(error, row(fn).ulp) << row(fn).name << "(" << x[i] << ", " << y[i] << ") = " << got[i];
    worst = std::max(worst, error);
  }
  std::printf("  %-8s %s %.3f ULP\n", std::string(row(fn).name).c_str(), std::string(name(t)).c_str(), worst);
}

TEST(Elementary, OfTwoOperands) {
  two_operands<float>(DType::f32, fn_id<scalar::Pow>, powl);
  two_operands<float>(DType::f32, fn_id<scalar::Atan2>, atan2l);
  two_operands<double>(DType::f64, fn_id<scalar::Pow>, powl);
  two_operands<double>(DType::f64, fn_id<scalar::Atan2>, atan2l);
  two_operands<float>(DType::f32, fn_id<scalar::Hypot>, hypotl);
  two_operands<double>(DType::f64, fn_id<scalar::Hypot>, hypotl);
}

}  // namespace
}  // namespace plumb::backends
