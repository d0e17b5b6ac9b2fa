// What every scalar function's record says first, and the words that slopes are written in.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "ir/scalar/edge.h"

namespace plumb {

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
  std::string_view args = "";  ///< the arguments' names, where they are not x, y, z
  constexpr std::string_view arguments() const { return !args.empty() ? args : arity == 1 ? "x" : arity == 2 ? "x, y" : "x, y, z"; }
};

namespace scalar {

/// Records without slopes say why: `no_derivative`.
template <class Fn> concept Differentiable = !requires { Fn::no_derivative; };
inline constexpr std::string_view no_slope_of_bool = "the result is true or false", no_slope_of_bits = "the arguments are integers or bool";

/// A value of a domain D (ir/scalar/slopes.h says which words D has), with the operators and functions that formulas use.
template <class D> struct Term { D* d; typename D::Value v; };
template <class D> struct Condition { D* d; typename D::Condition v; };
/// The number in x's dtype, rounded once.
template <class D> Term<D> like(const Term<D>& x, double number) { return {x.d, x.d->constant_like(x.v, number)}; }

}  // namespace scalar
}  // namespace plumb
