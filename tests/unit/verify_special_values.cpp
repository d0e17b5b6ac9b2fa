// Every scalar function of floats at the special values: the reference gives what its record, IEEE 754 and C's Annex F
// say, the enclosure holds it, and the cpu gives it within the function's bound, inside the enclosure.
#include <fmt/format.h>

#include <cmath>

#include "backends_support.h"
#include "interpreter/domains/enclosure.h"

namespace plumb::backends {
namespace {

using namespace scalar;
constexpr double inf = HUGE_VAL, nan = NAN, pi = 3.141592653589793238462643;

/// A value of each dtype.
struct Both {
  double f32, f64;
  Both(double v) : f32(v), f64(v) {}  // NOLINT: most are one value
  Both(double a, double b) : f32(a), f64(b) {}
  double of(DType t) const { return interp::round_to(t, t == DType::f32 ? f32 : f64); }
  Both operator-() const { return {-f32, -f64}; }
};
const Both least{0x1p-149, 0x1p-1074}, most{0x1.fffffep127, 0x1.fffffffffffffp1023};

struct Unary { FnId fn; Both zero, minus_zero, one, minus_one, plus_inf, minus_inf, plus_least, minus_least, plus_most, minus_most; double at_nan = nan; };

/// Irrational values to 25 digits, computed apart from here in 3,000 bits.
std::vector<Unary> unary() {
  const Both sin_most{-0.5218765233336585405515054, 0.004961954789184061790502671}, tan_most{-0.611797949834248061162496, -0.004962015874444894900500884};
  const Both cos_most{0.8530210398303041580517915, -0.9999876894265599374648701}, cbrt_least{1.119034687042551081474793e-15, 0x1p-358}, cbrt_most{6981463519622.335880666541, 5.643803094122361973508371e+102};
  const Both log_most{88.72283905206835305365818, 709.7827128933839967322234}, asinh_most{89.41598623262829836307541, 710.4758600739439420416406};
  const double sin1 = 0.8414709848078965066525023, cos1 = 0.5403023058681397174009366, tan1 = 1.557407724654902230506975, sinh1 = 1.175201193643801456882382, cosh1 = 1.543080634815243778477906;
  const double tanh1 = 0.7615941559557648881194583, asinh1 = 0.8813735870195430252326093, erf1 = 0.8427007929497148693412206, half = pi / 2;
  return {
      {fn_id<Neg>, -0.0, 0, -1, 1, -inf, inf, -least, least, -most, most},
      {fn_id<Abs>, 0, 0, 1, 1, inf, inf, least, least, most, most},
      {fn_id<Sign>, 0, -0.0, 1, -1, 1, -1, 1, -1, 1, -1},
      {fn_id<Floor>, 0, -0.0, 1, -1, inf, -inf, 0, -1, most, -most},
      {fn_id<Ceil>, 0, -0.0, 1, -1, inf, -inf, 1, -0.0, most, -most},
      {fn_id<Trunc>, 0, -0.0, 1, -1, inf, -inf, 0, -0.0, most, -most},
      {fn_id<RoundEven>, 0, -0.0, 1, -1, inf, -inf, 0, -0.0, most, -most},
      {fn_id<Sqrt>, 0, -0.0, 1, nan, inf, nan, {3.743392130574643753512817e-23, 0x1p-537}, nan, {18446743523953729535.99976, 1.340780792994259635529117e+154}, nan},
      {fn_id<Rsqrt>, inf, -inf, 1, nan, 0, nan, {26713738906281537970891.92, 0x1p537}, nan, {5.421011023986242781538132e-20, 7.458340731200207157312046e-155}, nan},
      {fn_id<Cbrt>, 0, -0.0, 1, -1, inf, -inf, cbrt_least, -cbrt_least, cbrt_most, -cbrt_most},
      {fn_id<Exp>, 1, 1, 2.718281828459045235360287, 0.3678794411714423215955238, inf, 0, 1, 1, inf, 0},
      {fn_id<Exp2>, 1, 1, 2, 0.5, inf, 0, 1, 1, inf, 0},
      {fn_id<Expm1>, 0, -0.0, 1.718281828459045235360287, -0.6321205588285576784044762, inf, -1, least, -least, inf, -1},
      {fn_id<Log>, -inf, -inf, 0, nan, inf, nan, {-103.2789299034318511031676, -744.4400719213812623141073}, nan, log_most, nan},
      {fn_id<Log2>, -inf, -inf, 0, nan, inf, nan, {-149, -1074}, nan, {128, 1024}, nan},
      {fn_id<Log10>, -inf, -inf, 0, nan, inf, nan, {-44.8534693539331980868471, -323.3062153431158036595556}, nan, {38.53183941910362389414094, 308.2547155599167438506523}, nan},
      {fn_id<Log1p>, 0, -0.0, 0.6931471805599453094172321, -inf, inf, nan, least, -least, log_most, nan},
      {fn_id<Sin>, 0, -0.0, sin1, -sin1, nan, nan, least, -least, sin_most, -sin_most},
      {fn_id<Cos>, 1, 1, cos1, cos1, nan, nan, 1, 1, cos_most, cos_most},
      {fn_id<Tan>, 0, -0.0, tan1, -tan1, nan, nan, least, -least, tan_most, -tan_most},
      {fn_id<Asin>, 0, -0.0, half, -half, nan, nan, least, -least, nan, nan},
      {fn_id<Acos>, half, half, 0, pi, nan, nan, half, half, nan, nan},
      {fn_id<Atan>, 0, -0.0, pi / 4, -pi / 4, half, -half, least, -least, half, -half},
      {fn_id<Sinh>, 0, -0.0, sinh1, -sinh1, inf, -inf, least, -least, inf, -inf},
      {fn_id<Cosh>, 1, 1, cosh1, cosh1, inf, inf, 1, 1, inf, inf},
      {fn_id<Tanh>, 0, -0.0, tanh1, -tanh1, 1, -1, least, -least, 1, -1},
      {fn_id<Asinh>, 0, -0.0, asinh1, -asinh1, inf, -inf, least, -least, asinh_most, -asinh_most},
      {fn_id<Acosh>, nan, nan, 0, nan, inf, nan, nan, nan, asinh_most, nan},
      {fn_id<Atanh>, 0, -0.0, inf, -inf, nan, nan, least, -least, nan, nan},
      {fn_id<Erf>, 0, -0.0, erf1, -erf1, 1, -1, least, -least, 1, -1},  // 1.128 of the least subnormal rounds to it
      {fn_id<Erfc>, 1, 1, 0.1572992070502851306587794, 1.842700792949714869341221, 0, 2, 1, 1, 0, 2},
      {fn_id<Sigmoid>, 0.5, 0.5, 0.7310585786300048792511592, 0.2689414213699951207488408, 1, 0, 0.5, 0.5, 1, 0},
      {fn_id<IsNan>, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
      {fn_id<IsInf>, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0},
      {fn_id<IsFinite>, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0},
      {fn_id<SignBit>, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0},
  };
}

struct Binary { Both x, y, want; };

/// C's Annex F, F.10.4.4; then over- and underflow.
const std::vector<Binary> powers{
    {0, -1, inf}, {-0.0, -1, -inf}, {-0.0, -3, -inf}, {0, -2, inf}, {-0.0, -2, inf}, {-0.0, -0.5, inf}, {0, -inf, inf}, {-0.0, -inf, inf}, {-0.0, 1, -0.0}, {-0.0, 3, -0.0},
    {0, 3, 0}, {-0.0, 2, 0}, {-0.0, 0.5, 0}, {-0.0, inf, 0}, {0, inf, 0}, {-1, inf, 1}, {-1, -inf, 1}, {1, inf, 1}, {1, -inf, 1}, {1, nan, 1}, {1, most, 1}, {nan, 0, 1},
    {nan, -0.0, 1}, {inf, 0, 1}, {-inf, -0.0, 1}, {0, 0, 1}, {-0.0, 0, 1}, {-1, 0.5, nan}, {-8, 1.5, nan}, {-most, least, nan}, {0.5, -inf, inf}, {-0.5, -inf, inf},
    {least, -inf, inf}, {-least, -inf, inf}, {2, -inf, 0}, {-2, -inf, 0}, {-most, -inf, 0}, {0.5, inf, 0}, {-0.5, inf, 0}, {-least, inf, 0}, {2, inf, inf}, {-2, inf, inf},
    {-inf, -1, -0.0}, {-inf, -3, -0.0}, {-inf, -2, 0}, {-inf, -0.5, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, 0.5, inf}, {-inf, inf, inf}, {-inf, -inf, 0}, {inf, -1, 0},
    {inf, -least, 0}, {inf, least, inf}, {inf, inf, inf}, {inf, -inf, 0}, {nan, 1, nan}, {2, nan, nan}, {-1, nan, nan}, {0, nan, nan}, {nan, inf, nan}, {most, 2, inf},
    {-most, 2, inf}, {-most, 3, -inf}, {most, -2, 0}, {-most, -3, -0.0}, {least, -1, inf}, {-least, -1, -inf}, {least, 2, 0}, {-least, 3, -0.0}, {least, 1, least},
    {-least, 1, -least}, {most, 1, most}, {-most, 1, -most}, {-1, most, 1}, {-1, -most, 1}, {-2, most, inf}, {-2, -most, 0}, {2, {-149, -1074}, least}, {most, least, 1}, {-1, 3, -1},
};
/// C's Annex F, F.10.1.4: atan2(y, x), y first.
const std::vector<Binary> angles{
    {0, -0.0, pi}, {-0.0, -0.0, -pi}, {0, 0, 0}, {-0.0, 0, -0.0}, {0, -1, pi}, {-0.0, -1, -pi}, {0, -least, pi}, {-0.0, -inf, -pi}, {0, 1, 0}, {-0.0, 1, -0.0}, {-0.0, inf, -0.0},
    {-1, 0, -pi / 2}, {-1, -0.0, -pi / 2}, {1, 0, pi / 2}, {least, -0.0, pi / 2}, {1, -inf, pi}, {-1, -inf, -pi}, {most, -inf, pi}, {1, inf, 0}, {-1, inf, -0.0}, {-most, inf, -0.0},
    {inf, 1, pi / 2}, {-inf, 1, -pi / 2}, {inf, -0.0, pi / 2}, {-inf, -most, -pi / 2}, {inf, -inf, 3 * pi / 4}, {-inf, -inf, -3 * pi / 4}, {inf, inf, pi / 4}, {-inf, inf, -pi / 4},
    {nan, 1, nan}, {1, nan, nan}, {nan, inf, nan}, {0, nan, nan}, {1, 1, pi / 4}, {-1, -1, -3 * pi / 4}, {least, most, 0}, {-least, most, -0.0}, {most, least, pi / 2}, {least, -most, pi},
    {-least, -1, -pi}, {least, 1, least}, {-least, 1, -least}, {least, least, pi / 4}, {most, -most, 3 * pi / 4},
};
const std::vector<Binary> floor_quotients{
    {0, 3, 0}, {-0.0, 3, -0.0}, {0, -3, -0.0}, {-0.0, -3, 0}, {1, -3, -1}, {-1, 3, -1}, {1, inf, 0}, {-1, inf, -1}, {1, -inf, -1}, {-1, -inf, 0}, {-0.0, inf, -0.0}, {0, -inf, -0.0},
    {inf, 2, inf}, {inf, -2, -inf}, {inf, inf, nan}, {inf, 0, inf}, {1, 0, inf}, {1, -0.0, -inf}, {-1, 0, -inf}, {0, 0, nan}, {nan, 1, nan}, {1, nan, nan}, {least, most, 0},
    {-least, most, -1}, {most, least, inf}, {most, -least, -inf}, {most, -most, -1}, {least, least, 1}, {most, 1, most}, {-most, 1, -most}, {{0x1p24, 0x1p53}, -1.5, {-11184811, -6004799503160662.0}},
};
const std::vector<Binary> remainders{
    {0, 1, 0}, {0, -1, -0.0}, {-0.0, 1, 0}, {-0.0, -1, -0.0}, {1, inf, 1}, {-1, inf, inf}, {1, -inf, -inf}, {-1, -inf, -1}, {0, -inf, -0.0}, {-0.0, inf, 0}, {inf, 1, nan}, {-inf, inf, nan},
    {1, 0, nan}, {0, 0, nan}, {nan, 1, nan}, {1, nan, nan}, {nan, inf, nan}, {-least, 1, 1}, {least, -1, -1}, {-least, most, most}, {least, -most, -most}, {most, least, 0}, {-most, least, 0},
    {most, -least, -0.0}, {-1, -least, -0.0}, {most, inf, most}, {-7, 2, 1}, {7, -2, -1}, {-least, -most, -least},
};
/// C's Annex F, F.10.7.1.
const std::vector<Binary> fmods{
    {0, 1, 0}, {-0.0, 1, -0.0}, {-0.0, -inf, -0.0}, {1, inf, 1}, {-1, inf, -1}, {-most, inf, -most}, {inf, 1, nan}, {-inf, inf, nan}, {1, 0, nan}, {0, 0, nan}, {nan, 1, nan}, {1, nan, nan},
    {most, least, 0}, {-most, least, -0.0}, {most, -least, 0}, {-1, 1, -0.0}, {least, most, least}, {-least, most, -least}, {-7, 2, -1}, {7, -2, 1}, {inf, 0, nan}, {nan, 0, nan},
};
/// C's Annex F, F.10.4.3; then no overflow or underflow that the result does not have.
const std::vector<Binary> hypotenuses{
    {0, 0, 0}, {-0.0, 0, 0}, {-0.0, -0.0, 0}, {-1, 0, 1}, {0, -1, 1}, {-least, -0.0, least}, {inf, nan, inf}, {nan, -inf, inf}, {-inf, 0, inf}, {inf, -inf, inf}, {nan, 1, nan}, {0, nan, nan}, {nan, nan, nan},
    {3, -4, 5}, {most, 0, most}, {most, 1, most}, {-most, least, most}, {most, most, inf}, {least, least, least}, {{3 * 0x1p-149, 3 * 0x1p-1074}, {4 * 0x1p-149, 4 * 0x1p-1074}, {5 * 0x1p-149, 5 * 0x1p-1074}},
    {{0x1.8p127, 0x1.8p1023}, {0x1p126, 0x1p1022}, {0x1.94c584p127, 0x1.94c583ada5b53p1023}},
};
const std::vector<Binary> minima{
    {0, -0.0, -0.0}, {-0.0, 0, -0.0}, {0, 0, 0}, {-0.0, -0.0, -0.0}, {1, nan, nan}, {nan, 1, nan}, {nan, -inf, nan}, {inf, -inf, -inf}, {-inf, inf, -inf}, {inf, most, most}, {least, 0, 0},
    {-least, -0.0, -least}, {1, -1, -1}, {most, -most, -most},
};
const std::vector<Binary> maxima{
    {0, -0.0, 0}, {-0.0, 0, 0}, {0, 0, 0}, {-0.0, -0.0, -0.0}, {1, nan, nan}, {nan, 1, nan}, {nan, inf, nan}, {inf, -inf, inf}, {-inf, inf, inf}, {-inf, -most, -most}, {least, 0, least},
    {-least, -0.0, -0.0}, {1, -1, 1}, {most, -most, most},
};
struct Ternary { Both x, y, z, want; };
const std::vector<Ternary> fused{
    {inf, 0, 1, nan}, {-0.0, inf, 1, nan}, {inf, 0, nan, nan}, {inf, 1, -inf, nan}, {inf, -1, inf, nan}, {inf, 1, inf, inf}, {1, 1, -1, 0}, {-1, 1, 1, 0}, {0, -1, -0.0, -0.0}, {0, -1, 0, 0},
    {0, 1, -0.0, 0}, {most, 2, -most, most}, {most, most, -inf, -inf}, {most, 2, 0, inf}, {-most, 2, 0, -inf}, {least, least, 0, 0}, {least, -least, 0, -0.0}, {least, least, -0.0, 0},
    {least, 0.5, least, {0x1p-148, 0x1p-1073}}, {least, 0.5, 0, 0}, {least, -0.5, 0, -0.0}, {nan, 1, 1, nan}, {1, nan, 1, nan}, {1, 1, nan, nan}, {least, 1, -least, 0}, {most, 1, -most, 0},
};

/// IEEE 754's own operations, by the host's.
template <class T> double native(FnId fn, T x, T y) {
  switch (fn) {
    case fn_id<Add>: return static_cast<double>(x + y);
    case fn_id<Sub>: return static_cast<double>(x - y);
    case fn_id<Mul>: return static_cast<double>(x * y);
    case fn_id<Div>: return static_cast<double>(x / y);
    case fn_id<Eq>: return x == y;
    case fn_id<Ne>: return x != y;
    case fn_id<Lt>: return x < y;
    case fn_id<Le>: return x <= y;
    case fn_id<Gt>: return x > y;
    default: return x >= y;
  }
}

const std::vector<Both> specials{0, -0.0, 1, -1, inf, -inf, least, -least, most, -most, nan};

struct Case { std::vector<double> args; double want; };
using Table = std::map<FnId, std::vector<Case>>;

Table table(DType t) {
  Table r;
  for (const auto& u : unary()) {
    const Both want[] = {u.zero, u.minus_zero, u.one, u.minus_one, u.plus_inf, u.minus_inf, u.plus_least, u.minus_least, u.plus_most, u.minus_most, u.at_nan};
    for (std::size_t k = 0; k < specials.size(); ++k) r[u.fn].push_back({{specials[k].of(t)}, want[k].of(t)});
  }
  const std::pair<FnId, const std::vector<Binary>*> lists[] = {{fn_id<Pow>, &powers}, {fn_id<Atan2>, &angles}, {fn_id<Hypot>, &hypotenuses}, {fn_id<FloorDiv>, &floor_quotients}, {fn_id<Remainder>, &remainders},
                                                               {fn_id<Fmod>, &fmods}, {fn_id<Minimum>, &minima}, {fn_id<Maximum>, &maxima}};
  for (const auto& [fn, list] : lists)
    for (const auto& b : *list) r[fn].push_back({{b.x.of(t), b.y.of(t)}, b.want.of(t)});
  for (const auto& f : fused) r[fn_id<Fma>].push_back({{f.x.of(t), f.y.of(t), f.z.of(t)}, f.want.of(t)});
  for (auto fn : {fn_id<Add>, fn_id<Sub>, fn_id<Mul>, fn_id<Div>, fn_id<Eq>, fn_id<Ne>, fn_id<Lt>, fn_id<Le>, fn_id<Gt>, fn_id<Ge>})
    for (const auto& a : specials)
      for (const auto& b : specials) {
        const double x = a.of(t), y = b.of(t);
        r[fn].push_back({{x, y}, t == DType::f32 ? native(fn, static_cast<float>(x), static_cast<float>(y)) : native(fn, x, y)});
      }
  return r;
}

interp::Number result(FnId fn, double v) {
  return row(fn).gives == Gives::boolean ? interp::Number{.u = v != 0} : interp::Number{.f = v};
}
double shown(FnId fn, interp::Number v) { return row(fn).gives == Gives::boolean ? static_cast<double>(v.u) : v.f; }

/// Equal; or a number other than 0, within the function's bound.
bool within(FnId fn, DType t, interp::Number got, interp::Number want) {
  if (interp::same(result_dtype(fn, t), got, want)) return true;
  if (row(fn).ulp <= 0.5 || !std::isfinite(want.f) || want.f == 0 || std::signbit(got.f) != std::signbit(want.f)) return false;
  return std::fabs(got.f - want.f) <= row(fn).ulp * interp::ulp(t, want.f);
}

std::vector<interp::Number> on_cpu(FnId fn, DType t, const std::vector<Case>& cases, int width) {
  const auto arity = static_cast<std::size_t>(row(fn).arity);
  const DType out = result_dtype(fn, t);
  std::vector<Memory> memory;
  for (std::size_t k = 0; k <= arity; ++k) memory.emplace_back(cases.size() * static_cast<std::size_t>(byte_size(k < arity ? t : out)));
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (std::size_t k = 0; k < arity; ++k) interp::store(t, memory[k].data(), static_cast<std::int64_t>(i), {.f = cases[i].args[k]});
  std::vector<Memory*> pointers;
  for (auto& m : memory) pointers.push_back(&m);
  run(map_kernel(std::vector<DType>(arity, t), out, static_cast<std::int64_t>(cases.size()), width, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.apply(fn, a); }), pointers);
  std::vector<interp::Number> r;
  for (std::size_t i = 0; i < cases.size(); ++i) r.push_back(interp::load(out, memory.back().data(), static_cast<std::int64_t>(i)));
  return r;
}

/// Across the branch cut, up to the function's bound beyond pi.
TEST(Enclosures, AnAngleMayBeItsBoundBeyondPi) {
  const interp::Enclosed around[] = {interp::Enclosed::real(-1, 1), interp::Enclosed::real(-1, 1)};
  const auto legal = interp::enclose(fn_id<Atan2>, DType::f32, around);
  for (double sign : {1.0, -1.0}) {
    EXPECT_TRUE(interp::contains(legal, DType::f32, {.f = sign * 0x1.921fb6p1}));               // pi as a float, 0.37 ULP beyond it
    EXPECT_FALSE(interp::contains(legal, DType::f32, {.f = sign * (0x1.921fb6p1 + 0x1p-22)}));  // 1.37 ULP beyond
  }
}

class SpecialValues : public testing::TestWithParam<DType> {};

TEST_P(SpecialValues, AreTheRecords) {
  const DType t = GetParam();
  for (const auto& [fn, cases] : table(t)) {
    const auto vector = on_cpu(fn, t, cases, 8), scalar = on_cpu(fn, t, cases, 1);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      std::vector<interp::Number> numbers;
      std::vector<interp::Enclosed> points;
      std::string where(row(fn).name);
      for (auto x : cases[i].args) {
        numbers.push_back({.f = x});
        points.push_back(interp::Enclosed::point(t, {.f = x}));
        where += fmt::format(" {:.9g}", x);
      }
      const auto want = result(fn, cases[i].want), reference = interp::apply(fn, t, numbers);
      const auto enclosed = interp::stored(interp::enclose(fn, t, points), result_dtype(fn, t));
      EXPECT_TRUE(interp::same(result_dtype(fn, t), reference, want)) << where << ": the reference gave " << shown(fn, reference) << ", not " << shown(fn, want);
      EXPECT_TRUE(interp::contains(enclosed, result_dtype(fn, t), want)) << where << ": the enclosure lacks " << shown(fn, want);
      for (auto got : {vector[i], scalar[i]}) {
        EXPECT_TRUE(within(fn, t, got, want)) << where << ": the cpu gave " << shown(fn, got) << ", not " << shown(fn, want);
        EXPECT_TRUE(interp::contains(enclosed, result_dtype(fn, t), got)) << where << ": the enclosure lacks the cpu's " << shown(fn, got);
      }
    }
  }
}

TEST_P(SpecialValues, OfEveryFunctionOfFloats) {
  const auto all = table(GetParam());
  for (std::size_t fn = 0; fn < AllFns::rows.size(); ++fn) EXPECT_EQ(all.contains(static_cast<FnId>(fn)), takes(static_cast<FnId>(fn), GetParam())) << AllFns::rows[fn].name;
}

/// Between any two special values: what the reference gives for those inside lies in the enclosure of the interval.
TEST_P(SpecialValues, OfAnIntervalAreEnclosed) {
  const DType t = GetParam();
  std::vector<double> line{-inf};  // in order, -0 before +0
  for (const auto& v : {-most, Both(-1e10), Both(-2.5), Both(-1), Both(-0.3), -least, Both(-0.0), Both(0), least, Both(0.3), Both(1), Both(2.5), Both(1e10), most, Both(inf)}) line.push_back(v.of(t));
  std::mt19937_64 random(9);
  for (std::size_t fn = 0; fn < AllFns::rows.size(); ++fn) {
    const auto id = static_cast<FnId>(fn);
    if (!takes(id, t)) continue;
    for (int round = 0; round < 4000; ++round) {
      std::vector<interp::Enclosed> intervals;
      std::vector<interp::Number> inside;
      std::string where(row(id).name);
      for (int k = 0; k < row(id).arity; ++k) {
        auto a = random() % line.size(), b = random() % line.size(), at = random() % line.size();
        if (a > b) std::swap(a, b);
        const bool may_be_nan = random() % 8 == 0;
        at = a + at % (b - a + 1);
        intervals.push_back(interp::Enclosed::real(line[a], line[b], may_be_nan));
        inside.push_back({.f = may_be_nan && random() % 2 ? nan : line[at]});
        where += fmt::format(" [{:.9g}, {:.9g}]{} at {:.9g}", line[a], line[b], may_be_nan ? " or NaN" : "", inside.back().f);
      }
      const auto v = interp::apply(id, t, inside);
      EXPECT_TRUE(interp::contains(interp::stored(interp::enclose(id, t, intervals), result_dtype(id, t)), result_dtype(id, t), v)) << where << ": the enclosure lacks " << shown(id, v);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpecialValues, testing::Values(DType::f32, DType::f64), [](const auto& i) { return std::string(name(i.param)); });

}  // namespace
}  // namespace plumb::backends
