// Scalar functions: the vocabulary that tensor operations and kernel bodies share.
//
// Each is a struct with a row (name, arity, domain of dtypes, result rule, worst error in ULP that a
// relaxed lowering may have, doc) and, where it has a derivative, `partials`: one slope an argument,
// written over any value domain. A function's number (FnId) is its place in AllFns.
//
// Meaning, once for all: floats round once to the dtype, to nearest even; NaN in, NaN out unless the
// row says otherwise; subnormals are kept. Integers wrap modulo 2^bits. Nothing is undefined.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/scalar/dtype.h"

namespace plumb {

using FnId = std::uint8_t;

/// Which dtypes a function takes.
enum class Takes : std::uint8_t { numeric, floating, integer, bits /* bool and integers */, any, boolean };
/// What it gives: the operands' dtype, or bool.
enum class Gives : std::uint8_t { same, boolean };

struct FnRow {
  std::string_view name;
  int arity;
  Takes takes;
  Gives gives;
  double ulp;  ///< relaxed bound on |error| in units in the last place; 0.5 = correctly rounded everywhere
  std::string_view doc;
};

namespace scalar {

template <class Fn> concept HasPartials = requires { Fn::differentiable; };

// ── arithmetic ──
struct Add { static constexpr FnRow row{"add", 2, Takes::numeric, Gives::same, 0.5, "x + y."};
  static constexpr bool differentiable = true;
  static auto partials(auto& d, const auto& x, const auto&) { return std::array{d.constant_like(x, 1), d.constant_like(x, 1)}; } };
struct Sub { static constexpr FnRow row{"sub", 2, Takes::numeric, Gives::same, 0.5, "x - y."};
  static constexpr bool differentiable = true;
  static auto partials(auto& d, const auto& x, const auto&) { return std::array{d.constant_like(x, 1), d.constant_like(x, -1)}; } };
struct Mul { static constexpr FnRow row{"mul", 2, Takes::numeric, Gives::same, 0.5, "x * y."};
  static constexpr bool differentiable = true;
  static auto partials(auto&, const auto& x, const auto& y) { return std::array{y, x}; } };
struct Div { static constexpr FnRow row{"div", 2, Takes::numeric, Gives::same, 0.5,
  "x / y. Integers: truncated toward zero; x / 0 = 0; MIN / -1 = MIN (wraps)."}; };
struct FloorDiv { static constexpr FnRow row{"floor_div", 2, Takes::numeric, Gives::same, 0.5,
  "floor(x / y), of the exact quotient, rounded once. Integers: x floor_div 0 = 0; MIN floor_div -1 = MIN. Floats: y = 0 as x / y."}; };
struct Remainder { static constexpr FnRow row{"remainder", 2, Takes::numeric, Gives::same, 0.5,
  "Sign of the divisor (Python's %): the exact x - y*floor(x/y), rounded once. A zero result has y's sign. Integers: x remainder 0 = x. "
  "Floats: y = 0 or x infinite gives NaN; finite x and y = ±inf gives x when their signs agree or x = 0, else y."}; };
struct Fmod { static constexpr FnRow row{"fmod", 2, Takes::numeric, Gives::same, 0.5,
  "Sign of the dividend (C's %): the exact x - y*trunc(x/y). A zero result has x's sign. Integers: x fmod 0 = x; MIN fmod -1 = 0. Floats: as C's fmod."}; };
struct Pow { static constexpr FnRow row{"pow", 2, Takes::numeric, Gives::same, 2,
  "x^y with IEEE-754's special cases (pow(x, ±0) = 1, pow(1, y) = 1 even for NaN). Integers: wraps; negative exponents give 1/x truncated (0 unless x = ±1; 0 for x = 0)."}; };
struct Atan2 { static constexpr FnRow row{"atan2", 2, Takes::floating, Gives::same, 2, "Angle of the point (y-operand second): atan2(y, x), IEEE-754 special cases."}; };
struct Hypot { static constexpr FnRow row{"hypot", 2, Takes::floating, Gives::same, 1,
  "sqrt(x^2 + y^2), rounded once, without overflow or underflow in between. An infinite argument gives inf, even beside NaN."}; };
struct Minimum { static constexpr FnRow row{"minimum", 2, Takes::any, Gives::same, 0.5, "Lesser; NaN if either is NaN; -0 is below +0 (IEEE-754 minimum)."}; };
struct Maximum { static constexpr FnRow row{"maximum", 2, Takes::any, Gives::same, 0.5, "Greater; NaN if either is NaN; +0 is above -0 (IEEE-754 maximum)."}; };
struct Fma { static constexpr FnRow row{"fma", 3, Takes::numeric, Gives::same, 0.5, "x * y + z, rounded once. Integers: wraps."}; };
// ── unary arithmetic ──
struct Neg { static constexpr FnRow row{"neg", 1, Takes::numeric, Gives::same, 0.5, "-x: flips a float's sign bit, NaN's value stays NaN. Unsigned: wraps."};
  static constexpr bool differentiable = true;
  static auto partials(auto& d, const auto& x) { return std::array{d.constant_like(x, -1)}; } };
struct Abs { static constexpr FnRow row{"abs", 1, Takes::numeric, Gives::same, 0.5, "|x|. Integers: |MIN| = MIN (wraps)."}; };
struct Sign { static constexpr FnRow row{"sign", 1, Takes::numeric, Gives::same, 0.5, "-1, 0 or 1; keeps ±0; NaN stays NaN."}; };
struct Floor { static constexpr FnRow row{"floor", 1, Takes::numeric, Gives::same, 0.5, "Greatest integer not above x; keeps ±0. Integers: x."}; };
struct Ceil { static constexpr FnRow row{"ceil", 1, Takes::numeric, Gives::same, 0.5, "Least integer not below x; ceil(-0.5) = -0. Integers: x."}; };
struct Trunc { static constexpr FnRow row{"trunc", 1, Takes::numeric, Gives::same, 0.5, "Integer part, sign kept. Integers: x."}; };
struct RoundEven { static constexpr FnRow row{"round_even", 1, Takes::numeric, Gives::same, 0.5, "Nearest integer, ties to even, sign kept. Integers: x."}; };
// ── elementary functions ──
struct Sqrt { static constexpr FnRow row{"sqrt", 1, Takes::floating, Gives::same, 0.5, "Square root; sqrt(-0) = -0; NaN below zero."}; };
struct Rsqrt { static constexpr FnRow row{"rsqrt", 1, Takes::floating, Gives::same, 2, "1/sqrt(x), rounded once; rsqrt(±0) = ±inf; NaN below zero; rsqrt(inf) = 0."}; };
struct Cbrt { static constexpr FnRow row{"cbrt", 1, Takes::floating, Gives::same, 2, "Cube root, odd."}; };
struct Exp { static constexpr FnRow row{"exp", 1, Takes::floating, Gives::same, 2, "e^x; exp(-inf) = +0."};
  static constexpr bool differentiable = true;
  static auto partials(auto& d, const auto& x) { return std::array{d.apply(Exp{}, x)}; } };
struct Exp2 { static constexpr FnRow row{"exp2", 1, Takes::floating, Gives::same, 2, "2^x."}; };
struct Expm1 { static constexpr FnRow row{"expm1", 1, Takes::floating, Gives::same, 2, "e^x - 1, rounded once; keeps ±0."}; };
struct Log { static constexpr FnRow row{"log", 1, Takes::floating, Gives::same, 2, "Natural logarithm; log(±0) = -inf; NaN below zero."}; };
struct Log2 { static constexpr FnRow row{"log2", 1, Takes::floating, Gives::same, 2, "Logarithm to base 2; log2(±0) = -inf; NaN below zero."}; };
struct Log10 { static constexpr FnRow row{"log10", 1, Takes::floating, Gives::same, 2, "Logarithm to base 10; as log."}; };
struct Log1p { static constexpr FnRow row{"log1p", 1, Takes::floating, Gives::same, 2, "log(1 + x), rounded once; keeps ±0; log1p(-1) = -inf."}; };
struct Sin { static constexpr FnRow row{"sin", 1, Takes::floating, Gives::same, 2, "Sine, full-range reduction; sin(±inf) = NaN; keeps ±0."}; };
struct Cos { static constexpr FnRow row{"cos", 1, Takes::floating, Gives::same, 2, "Cosine, full-range reduction; cos(±inf) = NaN."}; };
struct Tan { static constexpr FnRow row{"tan", 1, Takes::floating, Gives::same, 2, "Tangent; tan(±inf) = NaN; keeps ±0."}; };
struct Asin { static constexpr FnRow row{"asin", 1, Takes::floating, Gives::same, 2, "Arc sine; NaN outside [-1, 1]; keeps ±0."}; };
struct Acos { static constexpr FnRow row{"acos", 1, Takes::floating, Gives::same, 2, "Arc cosine; NaN outside [-1, 1]."}; };
struct Atan { static constexpr FnRow row{"atan", 1, Takes::floating, Gives::same, 2, "Arc tangent; atan(±inf) = ±pi/2; keeps ±0."}; };
struct Sinh { static constexpr FnRow row{"sinh", 1, Takes::floating, Gives::same, 2, "Hyperbolic sine; finite wherever the result is; keeps ±0."}; };
struct Cosh { static constexpr FnRow row{"cosh", 1, Takes::floating, Gives::same, 2, "Hyperbolic cosine."}; };
struct Tanh { static constexpr FnRow row{"tanh", 1, Takes::floating, Gives::same, 2, "Hyperbolic tangent; keeps ±0."}; };
struct Asinh { static constexpr FnRow row{"asinh", 1, Takes::floating, Gives::same, 2, "Inverse hyperbolic sine; finite for finite x; keeps ±0."}; };
struct Acosh { static constexpr FnRow row{"acosh", 1, Takes::floating, Gives::same, 2, "Inverse hyperbolic cosine; NaN below 1."}; };
struct Atanh { static constexpr FnRow row{"atanh", 1, Takes::floating, Gives::same, 2, "Inverse hyperbolic tangent; ±inf at ±1; NaN beyond."}; };
struct Erf { static constexpr FnRow row{"erf", 1, Takes::floating, Gives::same, 2, "Error function; odd; ±1 at ±inf."}; };
struct Erfc { static constexpr FnRow row{"erfc", 1, Takes::floating, Gives::same, 2, "1 - erf(x), rounded once; 2 at -inf, 0 at inf."}; };
struct Sigmoid { static constexpr FnRow row{"sigmoid", 1, Takes::floating, Gives::same, 2, "1 / (1 + e^-x), rounded once; 0 at -inf, 1 at inf."}; };
// ── predicates on floats ──
struct IsNan { static constexpr FnRow row{"is_nan", 1, Takes::floating, Gives::boolean, 0.5, "True for NaN."}; };
struct IsInf { static constexpr FnRow row{"is_inf", 1, Takes::floating, Gives::boolean, 0.5, "True for ±inf."}; };
struct IsFinite { static constexpr FnRow row{"is_finite", 1, Takes::floating, Gives::boolean, 0.5, "True for neither NaN nor ±inf."}; };
struct SignBit { static constexpr FnRow row{"sign_bit", 1, Takes::numeric, Gives::boolean, 0.5, "True when the sign bit is set (-0 included; a NaN's sign is unspecified and reads as false)."}; };
// ── comparisons (bool orders false < true) ──
struct Eq { static constexpr FnRow row{"eq", 2, Takes::any, Gives::boolean, 0.5, "x = y; false with NaN; -0 = +0."}; };
struct Ne { static constexpr FnRow row{"ne", 2, Takes::any, Gives::boolean, 0.5, "Not eq; true with NaN."}; };
struct Lt { static constexpr FnRow row{"lt", 2, Takes::any, Gives::boolean, 0.5, "x < y; false with NaN."}; };
struct Le { static constexpr FnRow row{"le", 2, Takes::any, Gives::boolean, 0.5, "x <= y; false with NaN."}; };
struct Gt { static constexpr FnRow row{"gt", 2, Takes::any, Gives::boolean, 0.5, "x > y; false with NaN."}; };
struct Ge { static constexpr FnRow row{"ge", 2, Takes::any, Gives::boolean, 0.5, "x >= y; false with NaN."}; };
// ── bits ──
struct And { static constexpr FnRow row{"and", 2, Takes::bits, Gives::same, 0.5, "Bitwise and; logical on bool."}; };
struct Or { static constexpr FnRow row{"or", 2, Takes::bits, Gives::same, 0.5, "Bitwise or; logical on bool."}; };
struct Xor { static constexpr FnRow row{"xor", 2, Takes::bits, Gives::same, 0.5, "Bitwise exclusive or; logical on bool."}; };
struct Not { static constexpr FnRow row{"not", 1, Takes::bits, Gives::same, 0.5, "Bitwise complement; logical on bool."}; };
struct ShiftLeft { static constexpr FnRow row{"shift_left", 2, Takes::integer, Gives::same, 0.5, "x << y; y < 0 or y >= width gives 0."}; };
struct ShiftRight { static constexpr FnRow row{"shift_right", 2, Takes::integer, Gives::same, 0.5,
  "x >> y, arithmetic for signed, logical for unsigned; y < 0 or y >= width gives all sign bits (0, or -1 for negative x)."}; };
struct ShiftRightLogical { static constexpr FnRow row{"shift_right_logical", 2, Takes::integer, Gives::same, 0.5, "x >> y with zeros shifted in; y < 0 or y >= width gives 0."}; };
struct Popcount { static constexpr FnRow row{"popcount", 1, Takes::integer, Gives::same, 0.5, "Number of set bits."}; };
struct CountLeadingZeros { static constexpr FnRow row{"clz", 1, Takes::integer, Gives::same, 0.5, "Leading zero bits; the width for 0."}; };

}  // namespace scalar

/// The one list. Functions are numbered by their place in it.
template <class... Fns> struct FnList {
  static constexpr std::array rows{Fns::row...};
  template <class Fn> static consteval FnId index() {
    constexpr std::array same{std::same_as<Fn, Fns>...};
    return static_cast<FnId>(std::ranges::find(same, true) - same.begin());
  }
  /// Calls f.template operator()<Fn>() for each function, in order.
  template <class F> static constexpr void each(F f) { (f.template operator()<Fns>(), ...); }
};
using AllFns = FnList<
    scalar::Add, scalar::Sub, scalar::Mul, scalar::Div, scalar::FloorDiv, scalar::Remainder, scalar::Fmod, scalar::Pow, scalar::Atan2,
    scalar::Hypot, scalar::Minimum, scalar::Maximum, scalar::Fma, scalar::Neg, scalar::Abs, scalar::Sign, scalar::Floor, scalar::Ceil, scalar::Trunc,
    scalar::RoundEven, scalar::Sqrt, scalar::Rsqrt, scalar::Cbrt, scalar::Exp, scalar::Exp2, scalar::Expm1, scalar::Log, scalar::Log2,
    scalar::Log10, scalar::Log1p, scalar::Sin, scalar::Cos, scalar::Tan, scalar::Asin, scalar::Acos, scalar::Atan, scalar::Sinh,
    scalar::Cosh, scalar::Tanh, scalar::Asinh, scalar::Acosh, scalar::Atanh, scalar::Erf, scalar::Erfc, scalar::Sigmoid, scalar::IsNan,
    scalar::IsInf, scalar::IsFinite, scalar::SignBit, scalar::Eq, scalar::Ne, scalar::Lt, scalar::Le, scalar::Gt, scalar::Ge, scalar::And,
    scalar::Or, scalar::Xor, scalar::Not, scalar::ShiftLeft, scalar::ShiftRight, scalar::ShiftRightLogical, scalar::Popcount,
    scalar::CountLeadingZeros>;

template <class Fn> inline constexpr FnId fn_id = AllFns::index<Fn>();
constexpr const FnRow& row(FnId f) { return AllFns::rows[f]; }
constexpr std::optional<FnId> fn_from_name(std::string_view s) {
  for (std::size_t i = 0; i < AllFns::rows.size(); ++i)
    if (AllFns::rows[i].name == s) return static_cast<FnId>(i);
  return std::nullopt;
}
constexpr bool takes(FnId f, DType t) {
  if (is_complex(t)) return false;  // what an operation means for complex operands is said in its parts
  switch (row(f).takes) {
    case Takes::numeric: return !is_bool(t);
    case Takes::floating: return is_float(t);
    case Takes::integer: return is_integer(t);
    case Takes::bits: return is_integer(t) || is_bool(t);
    case Takes::boolean: return is_bool(t);
    case Takes::any: return true;
  }
  return false;
}
constexpr DType result_dtype(FnId f, DType operand) { return row(f).gives == Gives::boolean ? DType::boolean : operand; }

consteval bool functions_well_formed() {
  for (const auto& r : AllFns::rows)
    if (r.doc.empty() || std::ranges::count(AllFns::rows, r.name, &FnRow::name) != 1) return false;
  return true;
}
static_assert(functions_well_formed());

}  // namespace plumb
