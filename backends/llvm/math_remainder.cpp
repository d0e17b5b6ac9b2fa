// Quotients and remainders toward minus infinity, of the exact quotient and rounded once, from the exact fmod.
#include <cmath>

#include "backends/llvm/internal/math.h"

namespace plumb::backends::codegen {
namespace {

Expr infinite(Expr x) { return eq(abs(x), HUGE_VAL); }
Expr opposite_signs(Expr x, Expr y) { return (x < 0.0) ^ (y < 0.0); }

}  // namespace

/// The exact remainder r lies on the dividend's side of zero; where the divisor is on the other side, r + y is wanted.
Expr floor_remainder(Expr, Expr y, Expr r) {
  const Expr moved = select(infinite(y), y, r + y);
  const Expr value = select(ne(r, 0) & opposite_signs(r, y), moved, r);
  return select(is_nan(r), r, select(eq(r, 0), copysign(r.c(0), y), value));
}

/// N = (x - m)/y is an integer, m the remainder that goes with the floor. From q = (x - m)/y rounded to an integer, N - q is a small
/// integer, found from the residue; q plus it is rounded once: to odd when the caller rounds again.
Expr floor_quotient(Expr x, Expr y, Expr r, bool to_odd) {
  const Expr plain = x / y;
  const Expr step = ne(r, 0) & opposite_signs(r, y);
  const Sum whole = two_sum(x, -r);  // exact multiple of y
  const Expr q = round_even(whole.high / y);
  const Expr residue = fma(-q, y, whole.high) + whole.low;
  const Expr correction = round_even(residue / y) - select(step, q.c(1), q.c(0));
  const Sum sum = two_sum(q, correction);
  const Expr n = to_odd ? to_odd_f64(sum) : sum.high;
  Expr value = select(eq(n, 0), copysign(n.c(0), plain), n);
  const Expr at_infinite = select(eq(x, 0), copysign(x.c(0), plain), select(opposite_signs(x, y), -1.0, x.c(0)));
  value = select(infinite(y), at_infinite, value);
  const Expr as_division = eq(y, 0) | infinite(x) | is_nan(x) | is_nan(y) | infinite(q);
  return select(as_division, plain, value);
}

}  // namespace plumb::backends::codegen
