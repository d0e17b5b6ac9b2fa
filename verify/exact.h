// What one kernel must give in each exact way of looking at it: inputs, and what the specification makes of them, computed
// once. check_exact (check.h) runs a kernel against its own; fuzz/sensitivity.h runs many faulty ones against one.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interpreter/tensor/evaluate.h"
#include "ir/kernel/kernel.h"
#include "verify/number_systems.h"

namespace plumb::verify {

/// Inputs of floats for which sums are exact, so that enclosures are points.
struct FloatCase {
  std::string name;                       ///< "small integers", "cancelling integers"
  std::vector<ir::Literal> inputs;
  std::vector<interp::Enclosed> expected; ///< of every element of the result
};
/// Small integers, -3 to 3. Errors of the evaluation itself are passed on.
FloatCase small_integers(const kir::Kernel& kernel, std::span<const ir::Literal> real, std::uint64_t seed, const ContractTerms& terms);
/// Terms that fill the accumulator's significand and cancel: pairs of opposite sign, far apart in any order, all multiples of
/// one quantum, so that no legal accumulator rounds and every narrower one does. For kernels that sum one of their inputs,
/// or products with one; else nothing.
std::optional<FloatCase> cancelling_integers(const kir::Kernel& kernel, std::span<const ir::Literal> real, std::uint64_t seed, const ContractTerms& terms);

/// A number system's inputs, and the result's elements that are looked at.
struct WordCase {
  System system;
  std::uint64_t seed;
  std::vector<ir::Literal> inputs;
  std::vector<std::int64_t> places;
  std::vector<interp::Number> expected;
  bool residues = false;           ///< an output may be any number of its class: a sum that was made in place is not reduced
};
/// Random words, or residues. `steps`: about how many the evaluation may take; beyond, elements are sampled.
WordCase word_case(const kir::Kernel& kernel, std::span<const ir::Literal> real, System system, std::uint64_t seed, std::int64_t steps);
/// Words for the floats of all inputs together, numbered on: random for the numbers in [first, last) that are not left out, else 0.
std::vector<ir::Literal> words_in(std::span<const ir::Literal> real, System system, std::uint64_t seed, std::int64_t first, std::int64_t last, std::span<const std::int64_t> left_out);
std::int64_t float_elements(std::span<const ir::Literal> inputs);
/// Which of the case's places differ.
std::vector<std::size_t> differences(const WordCase& c, const ir::Literal& got);

/// An input element that reached an output element another number of times than it should.
struct Miscount {
  std::int64_t element;            ///< among the floats of all inputs
  std::uint64_t got, expected;
};
/// Finds one by halving, after a difference in provenance at a place. A reduction by minimum or maximum may meet a term twice
/// and be right: with such ones in the kernel, only elements that should reach and did not, or the reverse, count.
struct Search {
  std::optional<Miscount> found;
  /// harmless: all that differs are terms met more than once, by an extremum. undecided: so are the first 64 found.
  enum Verdict : std::uint8_t { wrong, harmless, undecided } verdict = wrong;
};
bool may_repeat_terms(const ir::Function& spec);   ///< whether it has such a reduction
Search miscount(const kir::Kernel& kernel, const ir::Literal& got_of_nothing, std::span<const ir::Literal> real, std::int64_t place, const std::function<ir::Literal(std::span<const ir::Literal>)>& run);

}  // namespace plumb::verify
