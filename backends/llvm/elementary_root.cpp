// The root of a sum of squares.
#include <cmath>

#include "backends/llvm/internal/math.h"
#include "backends/llvm/internal/elementary.h"

namespace plumb::backends::codegen {

/// Squares of f32 numbers are doubles, between 2^-298 and 2^256, and their sum is high + low exactly. With r the root of high, the rest
/// high - r² is a double, too, so its sum with low has the sign of x² + y² - r²; the exact root lies less than a unit in the last place
/// from r, on that side.
Expr hypot_f64(Expr x, Expr y) {
  const Sum squares = two_sum(x * x, y * y);
  const Expr r = sqrt(squares.high), rest = fma(-r, r, squares.high) + squares.low;
  const Expr infinite = eq(abs(x), HUGE_VAL) | eq(abs(y), HUGE_VAL);
  return select(infinite, HUGE_VAL, to_odd_f64({r, rest}));
}

}  // namespace plumb::backends::codegen
