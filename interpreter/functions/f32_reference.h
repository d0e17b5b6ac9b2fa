// Correctly rounded values of an elementary function at many f32 arguments in a row, without computing each by MPFR.
//
// The arguments of a piece, consecutive bit patterns of one sign, get their answers by the first of these that applies:
//   undefined   all lie outside the function's domain, a half-line or the outside of an interval: NaN.
//   constant    the function is monotone on the piece (a fact of mathematics, stated in function_facts) and MPFR rounds it to the same
//               number at both ends. Rounding is monotone, so everything between has that number too. Tails that tend to 0, 1, π/2 or
//               overflow, and flat places, go this way, without lemmas of their own.
//   polynomial  f(x0 + w·u) = Σ_{k<8} c_k·u^k + R, |u| <= 1, with intervals around the Taylor coefficients c_k at x0 and, over the
//               whole piece, around R's (taylor.h). The error of the coefficients, of evaluating in double and of R are added up to one bound
//               E <= 2^-46 of |f|; where p - E and p + E round to the same f32, that is the answer, as rounding is monotone.
//   reduced     sin, cos, tan of |x| >= 64: x = m·2^e is reduced by a 128-bit fraction of a turn, in integers (circle.h); relative error
//               of the result below 2^-47, then as above.
//   exact       what is left, MPFR.
// A piece to which none applies is halved. Odd and even functions (stated in function_facts) are computed at |x|.
#pragma once
#include <cstdint>
#include <span>

#include "ir/scalar/functions.h"

namespace plumb::interp {

/// How many answers were had in which way.
struct ReferenceCounts {
  std::int64_t undefined = 0, constant = 0, polynomial = 0, reduced = 0, exact = 0;
  ReferenceCounts& operator+=(const ReferenceCounts& o);
};

/// sqrt and elementary functions of one argument.
bool has_f32_reference(FnId fn);

/// f at the f32 arguments with the bit patterns first, first + 1, …, rounded once to f32, one for each member of `rounded`; and in
/// `value` the exact value within 2^-45 of it, or NaN where no more is known than the rounded one: inside a constant piece, whose ends
/// have their values. `rounded` and `value` are as long as each other; first + their length is at most 2^32.
ReferenceCounts f32_reference(FnId fn, std::uint32_t first, std::span<float> rounded, std::span<double> value);

}  // namespace plumb::interp
