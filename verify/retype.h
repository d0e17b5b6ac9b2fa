// A lowered kernel with its floats exchanged for words of an exact number system (number_systems.h).
//
// Loops, indices, guards, allocations, barriers and the order of combining stay exactly as they are; float buffers and
// scalars become u64, float functions become a ring's operations, hashes, or unions; modulo the prime a combining step is
// spelled out as a load, the function, its remainder and a store. The result is an ordinary kernel of integer arithmetic:
// any target that can compile the original can compile it, and runs the same structure.
#pragma once
#include <optional>
#include <string>

#include "ir/kernel/kernel.h"
#include "verify/number_systems.h"

namespace plumb::verify {

struct Retyped {
  std::optional<kir::Kernel> kernel;
  std::string why_not;   ///< when there is none
};
Retyped retype(const kir::Kernel& kernel, System system);

}  // namespace plumb::verify
