// Checking of compiled answers against the reference, kernel by kernel, on the inputs that each kernel really got.
//
// A kernel's specification is evaluated in the Enclosure domain with the heights, accumulators and roundings that its
// schedule declares, capped by the contract; that the kernel is as declared is a check of its own (accumulation.h). Each
// element of its output is then
//   legal         it lies in its enclosure;
//   wrong         it does not: kernel, index, got and allowed are the witness;
//   inconclusive  it does, but the enclosure is too wide to say much: wider than 2^-4 of its magnitude (and than 64
//                 subnormal steps), unbounded, or holding both a number and NaN; for integers and bools, more than one
//                 value. Never counted as right.
// Library operations are judged by their residuals, under every contract and in every mode (verify/residual.h).
// Integers and bools are exact. Under strict the one right answer is the reference's, bit for bit (NaN is NaN).
//
// Modes: off. sample: a random sample of each launch's elements, evaluated on demand: cheap enough to stay on. kernel:
// every element of every launch. full: that; each kernel once more on integers whose sums are exact, where enclosures are points; and in
// the exact number systems of number_systems.h, with its floats exchanged for words, on the target itself.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/runtime/executor.h"
#include "ir/scalar/contract.h"

namespace plumb::verify {

enum class Check : std::uint8_t { off, sample, kernel, full };

struct Failure {
  std::string kernel, schedule;
  std::string operations;   ///< the tensor operations that the kernel implements, with the user's places
  std::string check;        ///< "race" and the like (ir/kernel/violation.h), "enclosure", "reference", "accumulation", "small integers", "cancelling integers", "integers modulo 2^64", "integers modulo a prime", "provenance", "program"
  int launch = 0;
  std::int64_t count = 0;   ///< wrong elements in this launch; 0 for a violation
  int launches = 1;         ///< launches of this kernel in which this check failed
  std::string index, got, allowed;   ///< of a violation: the place, what happened, and nothing
  std::string reproduce;    ///< one command
};

struct Report {
  std::int64_t kernels = 0;        ///< launches checked
  std::int64_t elements = 0, decided = 0, inconclusive = 0;
  std::int64_t undecided = 0;      ///< of the inconclusive: integers and bools that hang on an undecided comparison
  std::int64_t exact_kernels = 0, exact_elements = 0;  ///< full: kernels run in the exact systems; elements compared there
  double worst = 0;                ///< 0: centre of its enclosure, 1: edge; of elements whose enclosure holds 4 numbers or more
  std::string worst_at;
  std::vector<Failure> failures;
  std::vector<std::string> notes;  ///< what was not checked, and why
  bool passed() const { return failures.empty(); }
  double decided_percent() const { return elements ? 100.0 * static_cast<double>(decided) / static_cast<double>(elements) : 0; }
  void add(const Report& other);
};

struct CheckOptions {
  Check mode = Check::kernel;
  Contract contract = Contract::relaxed;
  Allowances allow = {};           ///< with fast: what is granted on top of relaxed
  std::string target = "cpu";      ///< named in the reproducing command
  std::shared_ptr<backends::Backend> backend;  ///< full: where exchanged kernels run; without it they do not, and a note says so
  std::string repro_dir = "plumb-repro";
  bool write_repro = true;
  std::uint64_t seed = 0;          ///< of samples and of the exact systems' inputs
  std::int64_t sample_elements = 32;            ///< sample: of each launch; the first and the last are always among them
  std::int64_t exact_steps = std::int64_t{1} << 28;  ///< full: scalar steps of the reference a kernel and system; beyond, elements are sampled
  std::function<void(const kir::Kernel&, int launch)> progress;
};

/// Attach to a Session's run; the report grows with each launch. For kernel and full, run the session with poison.
class KernelChecker : public backends::Observer {
 public:
  explicit KernelChecker(CheckOptions options) : options_(std::move(options)) {}
  void after_launch(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, std::span<const ir::Literal> outputs) override;
  void after_call(const lowering::LibraryCall& call, int ordinal, std::span<const ir::Literal> inputs, std::span<const ir::Literal> outputs) override;
  void on_violation(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const kir::Violation& violation) override;
  const Report& report() const { return report_; }

 private:
  CheckOptions options_;
  Report report_;
  std::set<const kir::Kernel*> seen_;   ///< kernels whose structure was checked: once each
};

/// Judges every element of one output against the specification; true when nothing was wrong.
bool judge(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const ir::Literal& output, const CheckOptions& options, Report& report);
/// The same for `options.sample_elements` elements.
bool judge_sample(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const ir::Literal& output, const CheckOptions& options, Report& report);
/// One kernel on small integers and in the exact systems, on `options.backend`.
void check_exact(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& options, Report& report);
/// The program's results against its enclosure from end to end (full). Bounds compound: deep programs decide little here.
void check_program(const ir::Module& module, std::span<const ir::Literal> inputs, std::span<const ir::Literal> results, Report& report);

}  // namespace plumb::verify
