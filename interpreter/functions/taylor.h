// Taylor coefficients of elementary functions, enclosed: what bounds a polynomial's distance from the function.
#pragma once
#include <array>

#include "interpreter/functions/interval.h"
#include "ir/scalar/functions.h"

namespace plumb::interp {

inline constexpr int taylor_terms = 8;

/// Member k encloses f^(k)(ξ)·w^k / k! for every ξ in x. Not finite where f or a derivative may not exist on x.
using Jet = std::array<Interval, taylor_terms + 1>;

/// Whether enclosing Taylor coefficients are known for fn: sqrt and all elementary functions of one argument.
bool has_taylor(FnId fn);

/// The coefficients of f on x, which lies on one side of zero, in the variable u with argument = ξ + w·u. Each follows from
/// the function's differential equation: the recurrences stand beside each family in the source.
/// sin, cos, tan: for |x| below 2^10, where an interval longer than 1 is not finite.
Jet taylor(FnId fn, Interval x, double w);

}  // namespace plumb::interp
