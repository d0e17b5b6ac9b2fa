// One kernel on integers that sums keep exact, and in the exact number systems.
#include "verify/exact.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/launch.h"
#include "verify/oracle.h"
#include "verify/retype.h"

namespace plumb::verify {
namespace {

using ir::Literal;

/// "%x0[3]": an element among the floats of all inputs.
std::string show_element(std::int64_t at, std::span<const Literal> inputs, const ir::Function& spec) {
  for (std::size_t k = 0; k < inputs.size() && k < spec.params.size(); ++k) {
    if (!is_float(spec.type(spec.params[k]).dtype)) continue;
    if (at < inputs[k].elements()) return "%" + spec.value(spec.params[k]).name + show_index(at, inputs[k].extents());
    at -= inputs[k].elements();
  }
  return "an element";
}
std::string times(std::uint64_t n) { return n == 0 ? "never" : n == 1 ? "once" : fmt::format("{} times", static_cast<std::int64_t>(n)); }

struct Exchange {
  const kir::Kernel& kernel;
  const kir::Kernel& retyped;
  System system;
  int ordinal;
  std::span<const Literal> real;     ///< for the reproducer
  const CheckOptions& options;
  Report& report;

  void run() const {
    const auto& type = kernel.spec->type(kernel.spec->results[0]);
    const ir::Type out{exchanged(type.dtype), type.shape};
    const auto c = word_case(kernel, real, system, options.seed + 1, options.exact_steps);
    const Launcher launcher(retyped, *options.backend);
    const auto got = launcher.run(c.inputs, out);
    const auto wrong = differences(c, got);
    const auto seen = static_cast<std::int64_t>(c.places.size());
    report.elements += seen;
    report.decided += seen;
    report.exact_elements += seen;
    if (wrong.empty()) return;
    Failure f;
    f.check = name(system);
    f.count = static_cast<std::int64_t>(wrong.size());
    const auto place = c.places[wrong[0]];
    f.index = show_index(place, got.extents());
    f.got = fmt::format("{:#x}", interp::load(got.dtype(), got.raw(), place).u);
    f.allowed = fmt::format("{:#x}", c.expected[wrong[0]].u);
    if (system == System::provenance && is_float(type.dtype)) {
      const auto again = [&](std::span<const Literal> inputs) { return launcher.run(inputs, out); };
      const auto nothing = again(words_in(real, system, 0, 0, 0, {}));
      const auto search = miscount(kernel, nothing, real, place, again);
      if (search.verdict != Search::wrong)
        return report.notes.push_back(fmt::format("kernel {}: terms meet a minimum or maximum more than once, which changes nothing{}", kernel.name, search.verdict == Search::harmless ? "" : "; whether others are missing was not decided"));
      if (search.found) {
        const auto element = show_element(search.found->element, real, *kernel.spec);
        f.got = fmt::format("reached by {} {}", element, times(search.found->got));
        f.allowed = fmt::format("to be reached by it {}", times(search.found->expected));
      }
    }
    add_failure(std::move(f), kernel, ordinal, real, options, report);
  }
};

void judge_case(const FloatCase& c, const Launcher& launcher, const kir::Kernel& k, int ordinal, std::span<const Literal> real, const CheckOptions& o, Report& report) {
  const auto got = launcher.run(c.inputs, k.spec->type(k.spec->results[0]));
  Tally tally(got.dtype(), got.extents());
  for (std::int64_t i = 0; i < got.elements(); ++i) tally.see(i, c.expected[static_cast<std::size_t>(i)], interp::load(got.dtype(), got.raw(), i));
  Failure f;
  f.check = c.name;
  report.exact_elements += got.elements();
  if (!tally.finish(report, k.name, f)) add_failure(std::move(f), k, ordinal, real, o, report);
}

void check_integers(const kir::Kernel& k, int ordinal, std::span<const Literal> inputs, const CheckOptions& o, Report& report) {
  const ContractTerms terms{o.contract, o.allow};
  const Launcher launcher(k, *o.backend);
  judge_case(small_integers(k, inputs, o.seed + 3, terms), launcher, k, ordinal, inputs, o, report);
  if (const auto c = cancelling_integers(k, inputs, o.seed + 5, terms)) judge_case(*c, launcher, k, ordinal, inputs, o, report);
}

}  // namespace

void check_exact(const kir::Kernel& k, int ordinal, std::span<const Literal> inputs, const CheckOptions& o, Report& report) {
  if (!o.backend) {
    report.notes.push_back("kernel " + k.name + ": the exact number systems need the target's backend, and none was given");
    return;
  }
  if (std::none_of(k.scalars.begin(), k.scalars.end(), [](DType t) { return is_float(t); })) return;  // integers are exact already
  auto guarded = [&](const char* what, auto f) {
    try {
      f();
    } catch (const kir::ViolationError& e) {
      add_violation(e.violation(), what, k, ordinal, inputs, o, report);
    } catch (const Error& e) {  // other data may reach an operation's own error, or a case without a bound
      report.notes.push_back(fmt::format("kernel {} was not run on {}: {}", k.name, what, e.what()));
    }
  };
  ++report.exact_kernels;
  guarded("integers", [&] { check_integers(k, ordinal, inputs, o, report); });
  for (auto system : all_systems) {
    const auto retyped = retype(k, system);
    if (!retyped.kernel) {
      report.notes.push_back(fmt::format("kernel {} was not run on {}: {}", k.name, name(system), retyped.why_not));
      continue;
    }
    guarded(name(system), [&] { Exchange{k, *retyped.kernel, system, ordinal, inputs, o, report}.run(); });
  }
}

}  // namespace plumb::verify
