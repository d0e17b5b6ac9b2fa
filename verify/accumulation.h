// What a kernel declares of its reductions, held against the kernel and against the contract. The oracle's enclosures rest
// on these declarations (interpreter/domains/accumulation.h): one that says less than is true would make them too narrow,
// one that says more, too wide.
//
//  by the contract   a height no greater than the canonical order's; an accumulator no narrower than the contract's;
//                    truncation only where the contract allows it.
//  by arithmetic     n terms cannot be combined along chains shorter than log2 n.
//  by the text       steps of the reduction combine into buffers no narrower than the declared accumulator; a serial loop
//                    that combines into one element makes a chain of all its iterations, which the height must cover; a
//                    unit that truncates is declared to.
//  by running        the kernel with heights for values (retype.h), on the target: the height at each output is at most the
//                    declared one, and no partial sum passed a narrower format and was combined again.
// A combining step is a Combine or a TileMma that names the reduction; a reduction of more than one term has such steps.
#pragma once
#include <string>
#include <vector>

#include "verify/check.h"

namespace plumb::verify {

struct Misdeclared {
  int reduction = 0;
  std::string is, declared;   ///< "a chain of 24 combining steps", "a height of at most 23"
};

/// All but running.
std::vector<Misdeclared> misdeclared(const kir::Kernel& kernel, const kir::TargetFacts* target = nullptr);
/// The chain that a reduction's steps make, as the target runs them, and whether a partial sum lost precision on the way.
struct Heights {
  std::int64_t height = 0;
  bool narrowed = false;
};
/// Inputs give the integers (indices); floats do not matter. Unsupported when the kernel cannot be exchanged, with the reason.
Heights heights_of(const kir::Kernel& kernel, int reduction, std::span<const ir::Literal> inputs, backends::Backend& target);

/// Into the report, as check "accumulation"; by running when the mode is full.
void check_accumulation(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& options, Report& report);

}  // namespace plumb::verify
