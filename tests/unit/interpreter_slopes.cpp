// The slopes of the scalar functions against derivatives from another source: central differences of MPFR's functions, at 2,000
// bits with steps of 2^-300, which leaves far more than a double's digits. Then what the records say of kinks.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <set>

#include "interpreter/domains/number.h"
#include "ir/scalar/slopes.h"

namespace plumb::interp {
namespace {

using namespace scalar;

constexpr mpfr_prec_t bits = 2000;

class Big {
 public:
  Big(double v = 0) { mpfr_init2(v_, bits), mpfr_set_d(v_, v, MPFR_RNDN); }
  Big(const Big& o) { mpfr_init2(v_, bits), mpfr_set(v_, o.v_, MPFR_RNDN); }
  Big& operator=(const Big& o) { mpfr_set(v_, o.v_, MPFR_RNDN); return *this; }
  ~Big() { mpfr_clear(v_); }
  mpfr_ptr p() { return v_; }
  mpfr_srcptr p() const { return v_; }
  double rounded() const { return mpfr_get_d(v_, MPFR_RNDN); }
  bool is_number() const { return mpfr_number_p(v_); }

 private:
  mpfr_t v_;
};

Big of(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), const Big& x) { Big r; f(r.p(), x.p(), MPFR_RNDN); return r; }
Big of(int (*f)(mpfr_ptr, mpfr_srcptr), const Big& x) { Big r; f(r.p(), x.p()); return r; }
Big of(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t), const Big& x, const Big& y) { Big r; f(r.p(), x.p(), y.p(), MPFR_RNDN); return r; }
Big operator+(const Big& x, const Big& y) { return of(mpfr_add, x, y); }
Big operator-(const Big& x, const Big& y) { return of(mpfr_sub, x, y); }
Big operator*(const Big& x, const Big& y) { return of(mpfr_mul, x, y); }
Big operator/(const Big& x, const Big& y) { return of(mpfr_div, x, y); }

// What each function is, said in MPFR's words.
Big value(Add, const Big& x, const Big& y) { return x + y; }
Big value(Sub, const Big& x, const Big& y) { return x - y; }
Big value(Mul, const Big& x, const Big& y) { return x * y; }
Big value(Div, const Big& x, const Big& y) { return x / y; }
Big value(FloorDiv, const Big& x, const Big& y) { return of(mpfr_floor, x / y); }
Big value(Remainder, const Big& x, const Big& y) { return x - y * of(mpfr_floor, x / y); }
Big value(Fmod, const Big& x, const Big& y) { return of(mpfr_fmod, x, y); }
Big value(Pow, const Big& x, const Big& y) { return of(mpfr_pow, x, y); }
Big value(Atan2, const Big& y, const Big& x) { return of(mpfr_atan2, y, x); }
Big value(Hypot, const Big& x, const Big& y) { return of(mpfr_hypot, x, y); }
Big value(Minimum, const Big& x, const Big& y) { return of(mpfr_min, x, y); }
Big value(Maximum, const Big& x, const Big& y) { return of(mpfr_max, x, y); }
Big value(Fma, const Big& x, const Big& y, const Big& z) { return x * y + z; }
Big value(Neg, const Big& x) { return of(mpfr_neg, x); }
Big value(Abs, const Big& x) { return of(mpfr_abs, x); }
Big value(Sign, const Big& x) { return mpfr_sgn(x.p()); }
Big value(Floor, const Big& x) { return of(mpfr_floor, x); }
Big value(Ceil, const Big& x) { return of(mpfr_ceil, x); }
Big value(Trunc, const Big& x) { return of(mpfr_trunc, x); }
Big value(RoundEven, const Big& x) { return of(mpfr_roundeven, x); }
Big value(Sqrt, const Big& x) { return of(mpfr_sqrt, x); }
Big value(Rsqrt, const Big& x) { return of(mpfr_rec_sqrt, x); }
Big value(Cbrt, const Big& x) { return of(mpfr_cbrt, x); }
Big value(Exp, const Big& x) { return of(mpfr_exp, x); }
Big value(Exp2, const Big& x) { return of(mpfr_exp2, x); }
Big value(Expm1, const Big& x) { return of(mpfr_expm1, x); }
Big value(Log, const Big& x) { return of(mpfr_log, x); }
Big value(Log2, const Big& x) { return of(mpfr_log2, x); }
Big value(Log10, const Big& x) { return of(mpfr_log10, x); }
Big value(Log1p, const Big& x) { return of(mpfr_log1p, x); }
Big value(Sin, const Big& x) { return of(mpfr_sin, x); }
Big value(Cos, const Big& x) { return of(mpfr_cos, x); }
Big value(Tan, const Big& x) { return of(mpfr_tan, x); }
Big value(Asin, const Big& x) { return of(mpfr_asin, x); }
Big value(Acos, const Big& x) { return of(mpfr_acos, x); }
Big value(Atan, const Big& x) { return of(mpfr_atan, x); }
Big value(Sinh, const Big& x) { return of(mpfr_sinh, x); }
Big value(Cosh, const Big& x) { return of(mpfr_cosh, x); }
Big value(Tanh, const Big& x) { return of(mpfr_tanh, x); }
Big value(Asinh, const Big& x) { return of(mpfr_asinh, x); }
Big value(Acosh, const Big& x) { return of(mpfr_acosh, x); }
Big value(Atanh, const Big& x) { return of(mpfr_atanh, x); }
Big value(Erf, const Big& x) { return of(mpfr_erf, x); }
Big value(Erfc, const Big& x) { return of(mpfr_erfc, x); }
Big value(Sigmoid, const Big& x) { return 1.0 / (1.0 + of(mpfr_exp, of(mpfr_neg, x))); }

/// The slopes' formulas in MPFR's numbers.
struct Exact {
  using Value = Big;
  using Condition = bool;
  Big constant_like(const Big&, double v) { return v; }
  Big select(bool c, const Big& yes, const Big& no) { return c ? yes : no; }
  bool apply(And, bool a, bool b) { return a && b; }
  bool apply(Eq, const Big& x, const Big& y) { return mpfr_equal_p(x.p(), y.p()); }
  bool apply(Lt, const Big& x, const Big& y) { return mpfr_less_p(x.p(), y.p()); }
  bool apply(Ge, const Big& x, const Big& y) { return mpfr_greaterequal_p(x.p(), y.p()); }
  template <class Fn> Big apply(Fn f, const std::same_as<Big> auto&... x) { return value(f, x...); }
};

/// The slopes' formulas as the reference computes them in a dtype.
struct Reference {
  DType t;
  struct Value { double v; };
  using Condition = bool;
  Value constant_like(Value, double v) { return {round_to(t, v)}; }
  Value select(bool c, Value yes, Value no) { return c ? yes : no; }
  bool apply(And, bool a, bool b) { return a && b; }
  template <class Fn> auto apply(Fn, const std::same_as<Value> auto&... x) {
    const Number a[] = {{.f = x.v}...};
    const Number r = interp::apply(fn_id<Fn>, t, a);
    if constexpr (Fn::row.gives == Gives::boolean) return r.u != 0;
    else return Value{r.f};
  }
};

template <class Fn> constexpr std::size_t arity = Fn::row.arity;
template <class Fn> using Point = std::array<double, arity<Fn>>;

template <class Fn, class D, class V> auto slopes(D& d, const Point<Fn>& at) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return scalar::partials<Fn>(d, V{at[I]}...); }(std::make_index_sequence<arity<Fn>>{});
}
template <class Fn> auto f32_slopes(const Point<Fn>& at) {
  Reference d{DType::f32};
  std::array<double, arity<Fn>> r;
  const auto s = slopes<Fn, Reference, Reference::Value>(d, at);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = s[i].v;
  return r;
}

/// A derivative by differences, and what rounding at `bits` may have added to it.
struct Measured { Big slope; double noise; bool known; };
template <class Fn> Measured measured(const Point<Fn>& at, std::size_t argument) {
  std::array<Big, arity<Fn>> below, above;
  for (std::size_t i = 0; i < at.size(); ++i) below[i] = above[i] = at[i];
  const Big step = std::scalbn(std::fabs(at[argument]), -300);
  below[argument] = below[argument] - step;
  above[argument] = above[argument] + step;
  const auto f = [&](const auto& x) { return std::apply([](const auto&... v) { return value(Fn{}, v...); }, x); };
  const Big lo = f(below), hi = f(above), slope = (hi - lo) / (step + step);
  const double noise = std::scalbn(of(mpfr_abs, hi).rounded() / std::fabs(at[argument]), 310 - static_cast<int>(bits));
  return {slope, noise, slope.is_number() && std::isfinite(noise)};
}

/// Where the function jumps, so that no derivative exists.
template <class Fn> bool jumps(const Point<Fn>& at) {
  constexpr bool quotient = std::same_as<Fn, FloorDiv> || std::same_as<Fn, Remainder> || std::same_as<Fn, Fmod>;
  constexpr bool integral = std::same_as<Fn, Floor> || std::same_as<Fn, Ceil> || std::same_as<Fn, Trunc> || std::same_as<Fn, RoundEven>;
  if constexpr (quotient) return std::fmod(at[0], at[1]) == 0;
  else if constexpr (integral) return std::fmod(at[0], 0.5) == 0;
  else if constexpr (std::same_as<Fn, Minimum> || std::same_as<Fn, Maximum>) return at[0] == at[1];
  else return false;
}

constexpr double magnitudes[] = {1e-30, 1.25e-7, 0.015625, 0.3, 0.75, 1.2, 2, 2.75, 3, 7.1, 40.3, 10000.37, 1e30};

template <class Fn, class F> void each_point(F f, Point<Fn> at = {}, std::size_t set = 0) {
  if (set == at.size()) return f(at);
  for (double m : magnitudes)
    for (double x : {m, -m}) at[set] = x, each_point<Fn>(f, at, set + 1);
}

template <class Fn> void expect_slopes_of_differences() {
  Exact d;
  std::size_t compared = 0;
  each_point<Fn>([&](const Point<Fn>& at) {
    if (jumps<Fn>(at)) return;
    const auto s = slopes<Fn, Exact, Big>(d, at);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto m = measured<Fn>(at, i);
      if (!m.known) continue;
      ++compared;
      // Numbers like 2/sqrt(pi) stand in the formulas as doubles: a relative error of 2^-53.
      const double want = m.slope.rounded(), off = of(mpfr_abs, s[i] - m.slope).rounded();
      EXPECT_LE(off, std::fabs(want) * 0x1p-52 + m.noise) << Fn::row.name << " at " << at[0] << ", " << at.back() << ": slope " << i << " is " << want << ", the formula gives " << s[i].rounded();
    }
  });
  constexpr bool on_a_part = std::same_as<Fn, Asin> || std::same_as<Fn, Acos> || std::same_as<Fn, Atanh> || std::same_as<Fn, Acosh>;
  constexpr std::size_t points = on_a_part ? 8 : std::size(magnitudes) * (arity<Fn> == 1 ? 1 : 20);  // of logarithms a half
  EXPECT_GE(compared, points) << Fn::row.name;
}

TEST(Slopes, AreTheDerivatives) {
  AllFns::each([]<class Fn>() {
    if constexpr (Differentiable<Fn>) expect_slopes_of_differences<Fn>();
  });
}

/// What f32 gives where a formula could overflow, underflow or cancel on its way: a few roundings away from the derivative.
template <class Fn> void expect_in_f32(std::initializer_list<Point<Fn>> points) {
  for (const auto& at : points) {
    const auto got = f32_slopes<Fn>(at);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto m = measured<Fn>(at, i);
      ASSERT_TRUE(m.known) << Fn::row.name;
      const double want = m.slope.rounded();
      EXPECT_LE(std::fabs(got[i] - want), std::fabs(want) * 0x1p-21 + 0x1p-149) << Fn::row.name << " at " << at[0] << ", " << at.back() << ": slope " << i << " is " << want << ", f32 gives " << got[i];
    }
  }
}

TEST(Slopes, KeepTheirDigitsInF32) {
  const double big = 1e30f, small = 1e-30f, below_one = 1 - 0x1p-24;
  expect_in_f32<Div>({{small, big}, {big, 0x1p80}, {-0x1p40, 0x1p-20}});
  expect_in_f32<Atan>({{big}, {-big}, {small}});
  expect_in_f32<Tanh>({{12}, {-30}, {100}, {small}});
  expect_in_f32<Asinh>({{big}, {-big}, {small}});
  expect_in_f32<Acosh>({{big}, {1 + 0x1p-23}});
  expect_in_f32<Atanh>({{below_one}, {-below_one}, {small}});
  expect_in_f32<Asin>({{below_one}, {-below_one}});
  expect_in_f32<Acos>({{below_one}, {-below_one}});
  expect_in_f32<Atan2>({{small, small}, {big, big}, {-big, small}, {3, -4}});
  expect_in_f32<Hypot>({{small, -small}, {big, big}, {-big, small}, {3, -4}});
  expect_in_f32<Cbrt>({{small}, {-big}});
  expect_in_f32<Rsqrt>({{0x1p-60}, {big}});
  expect_in_f32<Sigmoid>({{80}, {-80}, {0.5}});
  expect_in_f32<Log1p>({{-below_one}, {small}});
  expect_in_f32<Tan>({{1.57079637050628662109375}});
  expect_in_f32<Fmod>({{0x1p34, 3}, {-0x1p34, 3}});
}

struct Kinks {
  std::set<std::string_view> shown;
  template <class Fn> void expect(const Point<Fn>& at, const Point<Fn>& want) {
    shown.insert(Fn::row.name);
    const auto got = f32_slopes<Fn>(at);
    for (std::size_t i = 0; i < at.size(); ++i)
      EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) << Fn::row.name << " at " << at[0] << ", " << at.back() << ": slope " << i << " is " << got[i] << ", the record says " << want[i];
  }
};

TEST(Slopes, AtKinksAreWhatTheRecordsSay) {
  const double inf = HUGE_VAL, nan = std::nan("");
  Kinks k;
  k.expect<FloorDiv>({6, 3}, {0, 0});
  k.expect<Remainder>({6, 3}, {1, -2});
  k.expect<Remainder>({-6, 3}, {1, 2});
  k.expect<Fmod>({6, 3}, {1, -2});
  k.expect<Fmod>({-6, 3}, {1, 2});
  k.expect<Fmod>({6, -3}, {1, 2});
  k.expect<Pow>({0, 0}, {0, 0});
  k.expect<Pow>({1, 0}, {0, 0});
  k.expect<Pow>({0, 1}, {1, 0});
  k.expect<Pow>({0, 2}, {0, 0});
  k.expect<Pow>({0, 0.5}, {inf, 0});
  k.expect<Pow>({-2, 3}, {12, nan});
  k.expect<Pow>({-2, 0}, {0, nan});
  k.expect<Atan2>({0, 0}, {0, 0});
  k.expect<Atan2>({-0.0, -0.0}, {0, 0});
  k.expect<Hypot>({0, -0.0}, {0, 0});
  for (double x : {2.5, -1.0, inf}) k.expect<Minimum>({x, x}, {0.5, 0.5}), k.expect<Maximum>({x, x}, {0.5, 0.5});
  k.expect<Minimum>({-0.0, 0}, {0.5, 0.5});
  k.expect<Maximum>({-0.0, 0}, {0.5, 0.5});
  k.expect<Minimum>({nan, 1}, {0, 0});
  k.expect<Maximum>({1, nan}, {0, 0});
  for (double zero : {0.0, -0.0}) {
    k.expect<Abs>({zero}, {0});
    k.expect<Sign>({zero}, {0});
    k.expect<Sqrt>({zero}, {std::copysign(inf, zero)});
    k.expect<Rsqrt>({zero}, {-inf});
    k.expect<Cbrt>({zero}, {inf});
  }
  for (double x : {0.0, 2.0, -3.0}) k.expect<Floor>({x}, {0}), k.expect<Ceil>({x}, {0}), k.expect<Trunc>({x}, {0});
  k.expect<RoundEven>({2.5}, {0});
  for (double one : {1.0, -1.0}) k.expect<Asin>({one}, {inf}), k.expect<Acos>({one}, {-inf}), k.expect<Atanh>({one}, {inf});
  k.expect<Acosh>({1}, {inf});
  AllFns::each([&]<class Fn>() {
    const bool has_kink = requires { Fn::kink; };
    EXPECT_EQ(has_kink, k.shown.contains(Fn::row.name)) << Fn::row.name << ": a kink that nothing shows, or one that its record does not have";
  });
}

}  // namespace
}  // namespace plumb::interp
