// A polynomial in place of a function on a stretch of f32 numbers, with a bound on all that separates the two.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "interpreter/functions/taylor.h"

namespace plumb::interp {

struct Piece {
  double centre = 0, inverse_width = 0;      ///< u = (x - centre)·inverse_width, exactly, |u| <= 1
  std::array<double, taylor_terms> c{};      ///< Σ c[k]·u^k
  double error = 0;                          ///< |computed sum - f(x)|, and what adding it rounds
};

/// For all f32 x from x0 to x1 (one sign, either order, in f's domain). False where the bound would be more than 2^-46 of |f|.
bool make_piece(FnId fn, double x0, double x1, Piece& piece);
/// f(-x) from f(x) of an odd or even function.
void mirror(Piece& piece, bool odd);
/// Values at the patterns first, first + 1, …, which are the piece's arguments: `value` within the piece's bound and what it rounds
/// to, or NaN where the bound leaves two possibilities. Gives the number of those.
std::int64_t evaluate(const Piece& piece, std::uint32_t first, std::span<float> rounded, std::span<double> value);

}  // namespace plumb::interp
