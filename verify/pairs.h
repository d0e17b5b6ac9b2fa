// Pairs of arguments for functions of two: hard ones first, then random ones that are mostly hard.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "ir/scalar/functions.h"

namespace plumb::verify {

/// A numbered sequence of pairs, the same in every run. It starts with all pairs of special numbers (zeros, subnormal numbers and their
/// limits, neighbours of 1 and of powers of two, the largest, infinities, NaN). Then each pair is drawn by one of the function's kinds,
/// chosen at random, so that results are mostly finite and inexact: see the function's own in the source. One in sixteen is a pair of
/// random bit patterns.
class Pairs {
 public:
  Pairs(FnId fn, DType t, std::uint64_t seed);
  /// How many come first.
  std::int64_t special() const { return static_cast<std::int64_t>(edges_.size() * edges_.size()); }
  /// Numbers of the dtype, as doubles.
  std::array<double, 2> operator()(std::int64_t i) const;

 private:
  FnId fn_;
  DType t_;
  std::uint64_t seed_;
  std::vector<double> edges_;
};

}  // namespace plumb::verify
