// Circular functions of large f32 arguments: reduction by integers, and what is left in double.
#pragma once
#include <cstdint>

#include "ir/scalar/functions.h"

namespace plumb::interp {

__extension__ typedef __int128 Wide;            // fractions of a turn
__extension__ typedef unsigned __int128 Turns;

/// sin, cos or tan at ±m·2^e for the f32 pattern |x| >= 1 of one binade.
class Circle {
 public:
  /// exponent: e above, that is the binade [2^(e+23), 2^(e+24)), -23 <= e <= 104.
  Circle(FnId fn, int exponent);
  /// The value at m·2^e, 2^23 <= m < 2^24, with relative error below 2^-47; NaN where the argument lies within 2^-47 of a multiple of π/2.
  double operator()(std::uint32_t m) const;

 private:
  FnId fn_;
  Turns turns_;   ///< ⌊2^128 · frac(2^e / 2π)⌋
};

}  // namespace plumb::interp
