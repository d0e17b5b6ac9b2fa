// Slopes of elementwise functions as operations of a graph, from the formulas that the functions' records state.
#pragma once
#include <optional>

#include "ir/scalar/functions.h"
#include "lowering/autodiff/words.h"

namespace plumb::lowering::autodiff {

/// A value of a formula: a tensor, or a number that fills one and is no operation until something needs it.
struct Slope {
  ValueId id = -1;
  ValueId like = -1;              ///< a tensor of its type
  std::optional<double> number;
};

/// The number that fills the tensor, where the graph shows one.
std::optional<double> number_of(const ir::Function& f, ValueId v);
/// One slope an operand of the scalar function, at the operands; bad input, at the builder's place, where it has none.
std::vector<Slope> slopes(Builder& b, FnId fn, std::span<const ValueId> operands);
/// The cotangent times a slope, -1 where that is 0. `guarded`: a cotangent of 0 gives 0 whatever the slope.
ValueId scaled(Builder& b, ValueId cotangent, const Slope& slope, bool guarded);

}  // namespace plumb::lowering::autodiff
