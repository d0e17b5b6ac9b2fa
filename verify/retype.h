// A lowered kernel with its floats exchanged for words of an exact number system (number_systems.h).
//
// Loops, indices, guards, allocations, barriers and the order of combining stay exactly as they are; float buffers and
// scalars become u64, float functions become a ring's operations, hashes, or sums; modulo the prime a combining step is
// spelled out as a load, the function, its remainder and a store. The result is an ordinary kernel of integer arithmetic:
// any target that can compile the original can compile it, and runs the same structure.
//
// The same walk gives a kernel that counts: a word is the height of its value, the longest chain of the reduction's combining
// steps (Combine, TileMma) that any term of it passed. Inputs and constants have 0, functions give their arguments'
// greatest. Bits 62 and 63 tell of precision: see height_narrowed, height_lost.
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
/// The kernel that counts the heights of one of its reductions.
Retyped retype_to_heights(const kir::Kernel& kernel, int reduction);
/// A partial sum that was converted to a format narrower than the declared accumulator; and one that was, and then combined.
inline constexpr std::uint64_t height_narrowed = std::uint64_t{1} << 62, height_lost = std::uint64_t{1} << 63;

}  // namespace plumb::verify
