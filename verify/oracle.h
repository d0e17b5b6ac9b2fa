// The oracle's insides: expected values of a specification, and verdicts on what was got.
#pragma once
#include <string>

#include "interpreter/tensor/evaluate.h"
#include "verify/check.h"

namespace plumb::verify {

/// Elements that a check looks at, one after another, with what is allowed at each.
class Tally {
 public:
  Tally(DType dtype, Extents extents) : dtype_(dtype), extents_(std::move(extents)) {}
  void see(std::int64_t place, const interp::Enclosed& expected, interp::Number got);
  /// Counts and worst position into the report; the failure, when something was wrong.
  bool finish(Report& report, const std::string& name, Failure& failure) const;

 private:
  DType dtype_;
  Extents extents_;
  std::int64_t elements_ = 0, decided_ = 0, inconclusive_ = 0, undecided_ = 0, wrong_ = 0;
  double worst_ = 0;
  std::int64_t worst_place_ = -1;
  std::string index_, got_, allowed_;
};

/// A number as people read it, shortest form of its dtype.
std::string show(DType t, interp::Number v);
std::string show(DType t, const interp::Enclosed& allowed);
std::string show_index(std::int64_t place, const Extents& extents);

/// What a failure is of: a kernel, or a library operation.
struct Subject {
  std::string name, schedule;
  const ir::Function& spec;
};
void add_failure(Failure failure, const Subject& subject, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& options, Report& report);
/// Fills in what the kernel is, writes the reproducer, and adds the failure: once a kernel and check, then it counts.
void add_failure(Failure failure, const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& options, Report& report);

/// The same for what a target saw the kernel do; `system`: the number system that it ran in, or empty.
void add_violation(const kir::Violation& violation, const std::string& system, const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& options, Report& report);

/// What a kernel's result may be, everywhere: its enclosure, or under strict the one right answer.
std::vector<interp::Enclosed> expected_everywhere(const kir::Kernel& kernel, std::span<const ir::Literal> inputs, const ContractTerms& terms);

/// `count` places of `elements`: all when that few, else random ones with the first and the last among them.
std::vector<std::int64_t> sample_places(std::int64_t elements, std::int64_t count, std::uint64_t seed);
std::uint64_t random_word(std::uint64_t seed, std::uint64_t number);

}  // namespace plumb::verify
