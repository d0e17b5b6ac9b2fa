// Random programs, valid by construction, from a stream of choices: RapidCheck, a seed, or a fuzzer's bytes drive it alike.
#pragma once
#include <functional>

#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::fuzz {

/// A number in [0, bound).
using Choose = std::function<std::uint64_t(std::uint64_t bound)>;

struct Case {
  ir::Module module;
  std::vector<ir::Literal> inputs;
};

/// A program of up to `operations` operations over small tensors: ranks 0 to 4, sizes 0 and 1 among them, all dtypes.
/// Inputs mix small integers, dyadic numbers, general ones and special values (NaN, infinities, zeros, subnormals).
Case generate(const Choose& choose, int operations);
/// Choices from a seed, the same on every machine.
Choose seeded(std::uint64_t seed);

}  // namespace plumb::fuzz
