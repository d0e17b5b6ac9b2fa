// The fast reference of elementary functions equals MPFR's own rounding to 24 bits, argument by argument.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "interpreter/functions/circle.h"
#include "interpreter/functions/f32_reference.h"
#include "interpreter/functions/piece.h"

namespace plumb::interp {
namespace {

using namespace scalar;
using MpfrFunction = std::function<int(mpfr_t, const mpfr_t)>;

/// 1/(1 + e^-x) in 300 bits, then 24: the first rounding cannot matter unless the value lies within 2^-270 of a tie. It is irrational but at 0.
int sigmoid(mpfr_t r, const mpfr_t x) {
  mpfr_t e;
  mpfr_init2(e, 300);
  mpfr_neg(e, x, MPFR_RNDN);
  mpfr_exp(e, e, MPFR_RNDN);
  mpfr_add_ui(e, e, 1, MPFR_RNDN);
  mpfr_ui_div(e, 1, e, MPFR_RNDN);
  const int direction = mpfr_set(r, e, MPFR_RNDN);
  mpfr_clear(e);
  return direction;
}
int rsqrt(mpfr_t r, const mpfr_t x) { return mpfr_zero_p(x) ? mpfr_ui_div(r, 1, x, MPFR_RNDN) : mpfr_rec_sqrt(r, x, MPFR_RNDN); }

template <int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)> int plain(mpfr_t r, const mpfr_t x) { return f(r, x, MPFR_RNDN); }

const std::map<FnId, MpfrFunction> functions{
    {fn_id<Sqrt>, plain<mpfr_sqrt>},     {fn_id<Rsqrt>, rsqrt},               {fn_id<Cbrt>, plain<mpfr_cbrt>},   {fn_id<Exp>, plain<mpfr_exp>},     {fn_id<Exp2>, plain<mpfr_exp2>},   {fn_id<Expm1>, plain<mpfr_expm1>}, {fn_id<Log>, plain<mpfr_log>},
    {fn_id<Log2>, plain<mpfr_log2>},     {fn_id<Log10>, plain<mpfr_log10>}, {fn_id<Log1p>, plain<mpfr_log1p>}, {fn_id<Sin>, plain<mpfr_sin>},     {fn_id<Cos>, plain<mpfr_cos>},     {fn_id<Tan>, plain<mpfr_tan>},
    {fn_id<Asin>, plain<mpfr_asin>},     {fn_id<Acos>, plain<mpfr_acos>},   {fn_id<Atan>, plain<mpfr_atan>},   {fn_id<Sinh>, plain<mpfr_sinh>},   {fn_id<Cosh>, plain<mpfr_cosh>},   {fn_id<Tanh>, plain<mpfr_tanh>},
    {fn_id<Asinh>, plain<mpfr_asinh>},   {fn_id<Acosh>, plain<mpfr_acosh>}, {fn_id<Atanh>, plain<mpfr_atanh>}, {fn_id<Erf>, plain<mpfr_erf>},     {fn_id<Erfc>, plain<mpfr_erfc>},   {fn_id<Sigmoid>, sigmoid}};

/// One rounding to f32's 24 bits and its range.
float by_mpfr(const MpfrFunction& f, float x) {
  mpfr_t a, r;
  mpfr_init2(a, 24), mpfr_init2(r, 24);
  mpfr_set_flt(a, x, MPFR_RNDN);
  int direction = f(r, a);
  const auto emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_set_emin(-148), mpfr_set_emax(128);
  direction = mpfr_check_range(r, direction, MPFR_RNDN);
  mpfr_subnormalize(r, direction, MPFR_RNDN);
  const float result = mpfr_get_flt(r, MPFR_RNDN);
  mpfr_set_emin(emin), mpfr_set_emax(emax);
  mpfr_clear(a), mpfr_clear(r);
  return result;
}

void expect_equal(FnId fn, std::uint32_t first, std::size_t n) {
  std::vector<float> rounded(n);
  std::vector<double> value(n);
  const auto counts = f32_reference(fn, first, rounded, value);
  EXPECT_EQ(counts.undefined + counts.constant + counts.polynomial + counts.reduced + counts.exact, static_cast<std::int64_t>(n));
  for (std::size_t i = 0; i < n; ++i) {
    const float x = std::bit_cast<float>(first + static_cast<std::uint32_t>(i)), want = std::isnan(x) ? x : by_mpfr(functions.at(fn), x);
    if (std::isnan(want) && std::isnan(rounded[i])) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(rounded[i]), std::bit_cast<std::uint32_t>(want)) << row(fn).name << "(" << x << "), stretch from " << first << ": " << rounded[i] << ", MPFR says " << want;
    if (std::isnan(value[i]) || std::isinf(value[i])) continue;
    ASSERT_EQ(static_cast<float>(value[i]) == want || std::fabs(value[i] - static_cast<double>(want)) <= 0.51 * std::fabs(static_cast<double>(std::nextafter(want, HUGE_VALF)) - static_cast<double>(want)), true)
        << row(fn).name << "(" << x << ") is given as " << value[i];
  }
}

class F32Reference : public testing::TestWithParam<FnId> {};

/// Stretches of every length, everywhere: short ones so that most places are met, some as long as the command's.
TEST_P(F32Reference, EqualsMpfrAtRandom) {
  std::mt19937_64 random(GetParam());
  for (int i = 0; i < 300; ++i) expect_equal(GetParam(), static_cast<std::uint32_t>(random() % 0xfffffe00), 1 + random() % 24);
  for (int i = 0; i < 6; ++i) {  // where the function is not yet its limit
    const auto exponent = static_cast<std::uint32_t>(120 + random() % 14), sign = static_cast<std::uint32_t>(random() & 1);
    const auto first = sign << 31 | exponent << 23 | static_cast<std::uint32_t>(random() & 0x7f0000);
    std::vector<float> rounded(1 << 16);
    std::vector<double> value(1 << 16);
    f32_reference(GetParam(), first, rounded, value);
    for (int k = 0; k < 60; ++k) {
      const auto at = random() & 0xffff;
      const float x = std::bit_cast<float>(first + static_cast<std::uint32_t>(at)), want = by_mpfr(functions.at(GetParam()), x);
      if (std::isnan(want) && std::isnan(rounded[at])) continue;
      EXPECT_EQ(std::bit_cast<std::uint32_t>(rounded[at]), std::bit_cast<std::uint32_t>(want)) << row(GetParam()).name << "(" << x << ")";
    }
  }
}

/// Zeros, subnormal numbers, ends of domains, infinities, places where answers stop being constant, and multiples of π/2.
TEST_P(F32Reference, EqualsMpfrAtBoundaries) {
  for (float edge : {0.0f, 1e-40f, 0x1p-126f, 0x1p-25f, 0x1p-24f, 0x1p-12f, 0x1p-13f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 0x1.921fb6p0f, 0x1.921fb6p1f, 3.8f, 4.0f, 5.9f, 8.3f, 9.0f, 9.2f, 10.05f, 14.5f, 17.3f, 63.99f, 64.0f, 87.3f,
                     88.72284f, 89.41598f, 103.97208f, 126.0f, 128.0f, 149.0f, 150.0f, 0x1p24f, 0x1.6ac5b2p+117f, 3.4028235e38f, HUGE_VALF})
    for (std::uint32_t sign : {0u, 0x80000000u}) {
      const auto bits = std::bit_cast<std::uint32_t>(edge) | sign, low = bits & ~sign;
      expect_equal(GetParam(), low < 12 ? bits : bits - 12, 24);
    }
}

INSTANTIATE_TEST_SUITE_P(All, F32Reference, testing::ValuesIn([] {
                           std::vector<FnId> all;
                           for (const auto& [fn, f] : functions) all.push_back(fn);
                           return all;
                         }()),
                         [](const auto& i) { return std::string(row(i.param).name); });

TEST(F32Reference, KnowsEveryFunctionOfOneArgument) {
  for (std::size_t f = 0; f < AllFns::rows.size(); ++f) EXPECT_EQ(has_f32_reference(static_cast<FnId>(f)), functions.contains(static_cast<FnId>(f))) << AllFns::rows[f].name;
}

/// The bound is a bound: p differs from MPFR's value by less, all over a piece, and is not idle.
TEST(F32Reference, PiecesKeepTheirBound) {
  std::mt19937_64 random(5);
  int made = 0;
  for (int i = 0; i < 200; ++i)
    for (const auto& [fn, f] : functions) {
      const auto first = static_cast<std::uint32_t>((110 + random() % 26) << 23 | (random() & 0x7fff00));
      const auto n = std::size_t{8} << random() % 9;
      Piece p;
      if (!make_piece(fn, std::bit_cast<float>(first), std::bit_cast<float>(first + static_cast<std::uint32_t>(n - 1)), p)) continue;
      ++made;
      std::vector<float> rounded(n);
      std::vector<double> value(n);
      evaluate(p, first, rounded, value);
      for (const auto at : {std::size_t{0}, n / 3, n - 1}) {
        mpfr_t x, y;
        mpfr_init2(x, 53), mpfr_init2(y, 200);
        mpfr_set_flt(x, std::bit_cast<float>(first + static_cast<std::uint32_t>(at)), MPFR_RNDN);
        f(y, x);
        mpfr_sub_d(y, y, value[at], MPFR_RNDN);
        EXPECT_LE(std::fabs(mpfr_get_d(y, MPFR_RNDN)), p.error) << row(fn).name << " at pattern " << first + at;
        EXPECT_LE(p.error, 0x1p-45 * std::fabs(value[at]));
        mpfr_clear(x), mpfr_clear(y);
      }
    }
  EXPECT_GT(made, 1000);
}

/// Large arguments: relative error below 2^-47, the nearest f32 to a multiple of π/2 among them.
TEST(F32Reference, CircleKeepsItsBound) {
  std::mt19937_64 random(6);
  const std::pair<FnId, MpfrFunction> circular[] = {{fn_id<Sin>, plain<mpfr_sin>}, {fn_id<Cos>, plain<mpfr_cos>}, {fn_id<Tan>, plain<mpfr_tan>}};
  for (const auto& [fn, f] : circular)
    for (int i = 0; i < 2000; ++i) {
      const float x = i ? std::bit_cast<float>(static_cast<std::uint32_t>((133 + random() % 121) << 23 | (random() & 0x7fffff))) : 0x1.6ac5b2p+117f;
      int exponent = 0;
      const auto m = static_cast<std::uint32_t>(std::ldexp(std::frexp(x, &exponent), 24));
      const double got = Circle(fn, exponent - 24)(m);
      mpfr_t a, y;
      mpfr_init2(a, 53), mpfr_init2(y, 200);
      mpfr_set_flt(a, x, MPFR_RNDN);
      f(y, a);
      const double size = std::fabs(mpfr_get_d(y, MPFR_RNDN));
      mpfr_sub_d(y, y, got, MPFR_RNDN);
      EXPECT_LE(std::fabs(mpfr_get_d(y, MPFR_RNDN)), 0x1p-48 * size) << row(fn).name << "(" << x << ")";
      mpfr_clear(a), mpfr_clear(y);
    }
}

}  // namespace
}  // namespace plumb::interp
