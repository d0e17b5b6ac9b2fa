// Scalar functions: the vocabulary that tensor operations and kernel bodies share.
//
// Each is a struct with a row (name, arity, domain of dtypes, result rule, worst error in ULP that a relaxed lowering may have,
// doc), its edges, and, where it has a derivative, `partials`: one slope an argument, a formula over any value domain
// (ir/scalar/slopes.h), and `kink`, what is said where none exists; else `no_derivative`, why. A function's number (FnId) is its
// place in AllFns.
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
#include "ir/scalar/functions/arithmetic.h"
#include "ir/scalar/functions/bits.h"
#include "ir/scalar/functions/comparison.h"
#include "ir/scalar/functions/elementary.h"
#include "ir/scalar/functions/rounding.h"

namespace plumb {

using FnId = std::uint8_t;

/// The one list. Functions are numbered by their place in it.
template <class... Fns> struct FnList {
  static_assert(((Fns::edges.size() > 0) && ...));
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
