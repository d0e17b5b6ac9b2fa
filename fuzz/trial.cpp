#include "fuzz/trial.h"

#include "ir/kernel/violation.h"
#include "verify/accumulation.h"
#include "verify/oracle.h"
#include "verify/retype.h"

namespace plumb::fuzz {
namespace {

constexpr std::int64_t steps = std::int64_t{1} << 24;   ///< of the reference, a number system

Ways one(Way w) { return Ways().set(static_cast<std::size_t>(w)); }
Way way_of(verify::System s) { return s == verify::System::ring ? Way::ring : s == verify::System::prime ? Way::prime : Way::provenance; }

}  // namespace

Trial::Trial(const kir::Kernel& right, std::span<const ir::Literal> inputs, std::shared_ptr<backends::Backend> target, std::uint64_t seed)
    : right_(right), target_(std::move(target)), result_(right.spec->type(right.spec->results[0])), real_(inputs.begin(), inputs.end()) {
  integers_.push_back(verify::small_integers(right, real_, seed + 3, {}));
  if (auto c = verify::cancelling_integers(right, real_, seed + 5, {})) integers_.push_back(std::move(*c));
  for (auto s : verify::all_systems) words_.push_back(verify::word_case(right, real_, s, seed + 1, steps));
}

std::size_t Trial::add_data(std::vector<ir::Literal> inputs) {
  auto expected = verify::expected_everywhere(right_, inputs, {});
  data_.push_back({std::move(inputs), std::move(expected)});
  return data_.size() - 1;
}

bool Trial::legal(const ir::Literal& got, const std::vector<interp::Enclosed>& expected) const {
  for (std::int64_t i = 0; i < got.elements(); ++i)
    if (!interp::contains(interp::stored(expected[static_cast<std::size_t>(i)], got.dtype()), got.dtype(), interp::load(got.dtype(), got.raw(), i))) return false;
  return true;
}

Trial::Suspect::Suspect(const Trial& trial, const kir::Kernel& kernel) : trial_(trial), launcher_(std::make_unique<verify::Launcher>(kernel, *trial.target_)) {
  exact_ = integers() | words(kernel) | declared(kernel);
}

Ways Trial::Suspect::on_data(std::size_t data) const {
  const auto& d = trial_.data_[data];
  try {
    return trial_.legal(launcher_->run(d.inputs, trial_.result_), d.expected) ? Ways() : one(Way::enclosure);
  } catch (const kir::ViolationError&) {
    return one(Way::target);
  }
}

Ways Trial::Suspect::integers() const {
  Ways by;
  for (const auto& c : trial_.integers_) {
    try {
      if (!trial_.legal(launcher_->run(c.inputs, trial_.result_), c.expected)) by |= one(&c == trial_.integers_.data() ? Way::small_integers : Way::cancelling_integers);
    } catch (const kir::ViolationError&) {
      by |= one(Way::target);
    }
  }
  return by;
}

Ways Trial::Suspect::words(const kir::Kernel& kernel) const {
  Ways by;
  const ir::Type out{verify::exchanged(trial_.result_.dtype), trial_.result_.shape};
  for (const auto& c : trial_.words_) {
    const auto exchanged = verify::retype(kernel, c.system);
    if (!exchanged.kernel) continue;
    const verify::Launcher launcher(*exchanged.kernel, *trial_.target_);
    const auto run = [&](std::span<const ir::Literal> inputs) { return launcher.run(inputs, out); };
    try {
      const auto wrong = verify::differences(c, run(c.inputs));
      if (wrong.empty()) continue;
      const bool search = c.system == verify::System::provenance && verify::may_repeat_terms(*trial_.right_.spec);
      if (!search || verify::miscount(trial_.right_, run(verify::words_in(trial_.real_, c.system, 0, 0, 0, {})), trial_.real_, c.places[wrong[0]], run).verdict == verify::Search::wrong) by |= one(way_of(c.system));
    } catch (const kir::ViolationError&) {
      by |= one(Way::target);
    }
  }
  return by;
}

Ways Trial::Suspect::declared(const kir::Kernel& kernel) const {
  verify::CheckOptions o;
  o.mode = verify::Check::full;
  o.backend = trial_.target_;
  o.write_repro = false;
  verify::Report report;
  try {
    verify::check_accumulation(kernel, 0, trial_.real_, o, report);
  } catch (const kir::ViolationError&) {
    return one(Way::target);
  }
  return report.passed() ? Ways() : one(Way::declaration);
}

}  // namespace plumb::fuzz
