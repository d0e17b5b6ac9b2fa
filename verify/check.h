// Checking of compiled answers against the reference, kernel by kernel, on the inputs that each kernel really got.
//
// A kernel's specification is evaluated in the Enclosure domain with the heights that its schedule declares, capped by
// the contract; each element of its output is then legal, wrong (with a witness), or inconclusive: its enclosure is
// wider than a sixteenth of its magnitude, or holds both a number and NaN. Inconclusive elements never count as right.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/runtime/executor.h"
#include "ir/scalar/contract.h"

namespace plumb::verify {

/// off; every eighth launch, chosen by hash; every element of every kernel; that, and the exact number systems.
enum class Check : std::uint8_t { off, sample, kernel, full };

struct Failure {
  std::string kernel, schedule;
  std::string operations;   ///< the tensor operations that the kernel implements, with the user's places
  int launch = 0;
  std::int64_t count = 0;   ///< wrong elements in this launch
  std::string index, got, allowed;
  std::string reproduce;    ///< one command
};

struct Report {
  std::int64_t kernels = 0;        ///< launches checked
  std::int64_t elements = 0, decided = 0, inconclusive = 0;
  double worst = 0;                ///< how far from its enclosure's centre the worst element is: 1 is the edge
  std::string worst_at;
  std::vector<Failure> failures;
  bool passed() const { return failures.empty(); }
  double decided_percent() const { return elements ? 100.0 * static_cast<double>(decided) / static_cast<double>(elements) : 0; }
};

struct CheckOptions {
  Check mode = Check::kernel;
  Contract contract = Contract::relaxed;
  std::string target = "cpu";      ///< named in the reproducing command
  std::string repro_dir = "plumb-repro";
  bool write_repro = true;
  std::function<void(const kir::Kernel&, int launch)> progress;
};

/// Attach to a Session's run; the report grows with each launch.
class KernelChecker : public backends::Observer {
 public:
  explicit KernelChecker(CheckOptions options) : options_(std::move(options)) {}
  void after_launch(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, std::span<const ir::Literal> outputs) override;
  const Report& report() const { return report_; }

 private:
  bool chosen(int ordinal) const;
  CheckOptions options_;
  Report report_;
};

/// Judges one output against the specification: adds to the report; true when nothing was wrong.
bool judge(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const ir::Literal& output, const CheckOptions& options, Report& report);

/// A recorded answer of another compiler. Integers and bools must be equal, NaN and infinities in the same places.
/// Floats: the program is also run with every f32 widened to f64; d is the largest distance between our answer and the
/// wide one, measured over the tensor. A recorded value is legal when it lies within 16 d, plus 4 units in the last
/// place of the tensor's largest magnitude, of the wide answer: both are roundings of one real answer, and d says how
/// far roundings carry on this program and these inputs.
struct Comparison {
  std::int64_t elements = 0, wrong = 0;
  double scale = 0, worst = 0;     ///< d plus the units; the largest distance of a recorded value from the wide answer
  std::string first_wrong;
};
Comparison compare_recorded(const ir::Literal& ours, const ir::Literal& wide, const ir::Literal& recorded);
/// The program with every f32 widened to f64 (types, constants, conversions).
ir::Module widen(const ir::Module& module);
ir::Literal widen(const ir::Literal& literal);

}  // namespace plumb::verify
