#include "interpreter/functions/piece.h"

#include <cmath>

#include "interpreter/domains/number.h"

namespace plumb::interp {

/// Let s_k = Σ_{j>=k} |c_j|, which bounds the exact tail Σ_{j>=k} c_j·u^(j-k). Horner's rule computes r_k = fl(c_k + fl(u·r_{k+1})), where u is
/// exact, and errs by e_k <= e_{k+1} + ε·s_{k+1} + ε·s_k with a slight excess (ε = 2^-53), for the magnitudes of computed values are within
/// (1 + 2^-40) of the bounds: e_0 <= ε·(s_0 + 2·Σ_{k>=1} s_k)·(1 + 2^-30). A fused multiply-add errs by less.
bool make_piece(FnId fn, double x0, double x1, Piece& p) {
  const double low = std::min(x0, x1), high = std::max(x0, x1);
  p.centre = round_to(DType::f32, low / 2 + high / 2);
  const double reach = std::max(p.centre - low, high - p.centre), nearest = std::min(std::fabs(low), std::fabs(high)), furthest = std::max(std::fabs(low), std::fabs(high));
  // Within 28 binades differences of f32 numbers of one sign are doubles.
  if (!(reach > 0) || furthest > 0x1p28 * std::max(nearest, 0x1p-126)) return false;
  const double width = std::ldexp(1.0, std::ilogb(reach) + 1);
  p.inverse_width = 1 / width;
  const Jet here = taylor(fn, p.centre, width), all = taylor(fn, {low, high}, width);
  double error = all[taylor_terms].magnitude(), tail = 0, tails = 0;
  for (int k = taylor_terms - 1; k >= 0; --k) {
    const auto i = static_cast<std::size_t>(k);
    const double middle = here[i].lo / 2 + here[i].hi / 2;
    p.c[i] = middle;
    error += up(here[i].hi - here[i].lo);   // twice the half width: its own roundings are in it
    tail += std::fabs(middle);
    if (k > 0) tails += tail;
  }
  error += 0x1p-53 * (tail + 2 * tails);
  error += 0x1p-52 * tail;                  // sum ± error rounds
  error = error * (1 + 0x1p-30) + 0x1p-1000;
  const double least = std::fabs(p.c[0]) - (tail - std::fabs(p.c[0])) - error;   // of |f|
  p.error = error;
  return error <= 0x1p-46 * least;
}

void mirror(Piece& p, bool odd) {
  p.centre = -p.centre;
  p.inverse_width = -p.inverse_width;
  if (odd)
    for (auto& c : p.c) c = -c;
}

}  // namespace plumb::interp
