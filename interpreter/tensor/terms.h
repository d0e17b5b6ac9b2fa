// Which operand elements a reduction, window or contraction combines into one element of its result.
#pragma once
#include <functional>
#include <vector>

#include "ir/tensor/graph.h"

namespace plumb::interp {

/// Row-major places of the terms of one result element, in the specification's order. Contractions have two factors a
/// term: `a` in the first operand, `b` in the second; a place of -1 is a zero of the padding. Others leave `b` empty.
struct TermPlaces {
  std::vector<std::int64_t> a, b;
};

/// The rule of one node, its index arithmetic prepared once.
class Terms {
 public:
  Terms(const ir::Function& function, const ir::Node& node);
  void of(std::int64_t out, TermPlaces& places) const { rule_(out, places); }
  /// Terms of each element (windows: positions, those outside the input included).
  std::int64_t count() const { return count_; }

 private:
  std::function<void(std::int64_t, TermPlaces&)> rule_;
  std::int64_t count_ = 1;
};

}  // namespace plumb::interp
