// Judging library operations: by what the factors multiply to, not by their digits.
//
// u is the unit roundoff of the operands' dtype, gamma(k) = k u / (1 - k u). Residuals are computed in long double, and what
// that rounds is added to the bound.
//   cholesky          |A - L L*| <= gamma(n+2) |L||L*|, element by element (Higham, Accuracy and Stability of Numerical
//                     Algorithms, 2nd edition, Theorem 10.3). NaN is right where the matrix is not certainly positive definite:
//                     it is when A - d diag(A) has a factor in long double, for the d of Theorem 10.7.
//   triangular_solve  |b - T x| <= gamma(n+2) |T||x|, element by element (Theorem 8.5).
//   lu                |P A - L U| <= gamma(min(m,n)+2) |L||U|, element by element (Theorem 9.3); |L| <= 1 by the choice of pivots.
//   qr                each column of A - Q R has at most 30 max(m,n) u of A's column's size (columns: Theorem 19.4; the
//                     constant: LAPACK's own tests), each element of Q*Q - I at most 30 m u.
//   eigh              each column of A V - V diag(w) has at most 60 n 2u of A's size, each element of V*V - I at most 60 n 2u.
//   svd               each element of A - U S V* has at most 35 max(m,n) 2u of A's size, so have U*U - I and V*V - I.
// One more than Higham's k: LAPACK multiplies by rounded reciprocals of pivots. Complex arithmetic: gamma(k+8), each product
// having at most sqrt(2) gamma(2), each quotient sqrt(2) gamma(4) (Higham, Lemma 3.5). 30, 35 and 60 are the thresholds in
// LAPACK's TESTING folder; Higham leaves the constant open. Beside residuals: triangles that hold zeros, diagonals, orders,
// permutations, the conventions of signs, and NaN exactly where the records say.
// Where numbers come near the ends of the dtype's range these bounds say nothing, and the element is inconclusive.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "ir/tensor/graph.h"

namespace plumb::verify {

struct Residual {
  std::int64_t elements = 0, inconclusive = 0, wrong = 0;
  double worst = 0;                   ///< the greatest residual, as a part of its bound
  std::string index, got, allowed;    ///< of the first that is wrong
};
/// A library operation's node, with what it got and gave.
Residual judge_library(const ir::Node& node, std::span<const ir::Literal> inputs, std::span<const ir::Literal> outputs);

}  // namespace plumb::verify
