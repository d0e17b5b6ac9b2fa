// What `plumb run` says: lines for people with RESULT last, or one JSON object with the same facts.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/run.h"

namespace plumb::tools {

std::int64_t Outcome::elements() const {
  std::int64_t n = report.elements;
  for (const auto& r : recorded) n += r.comparison.elements;
  return n;
}
std::int64_t Outcome::decided() const {
  std::int64_t n = report.decided;
  for (const auto& r : recorded) n += r.comparison.elements;
  return n;
}
bool Outcome::passed() const {
  bool right = report.passed();
  for (const auto& r : recorded) right = right && r.comparison.wrong == 0;
  return right;
}

std::string Recorded::str() const {
  const auto& c = comparison;
  const auto who = (set.empty() ? "" : set + " ") + name + ": ";
  if (c.wrong) return who + fmt::format("WRONG, {} of {} elements differ from the recorded answer; {}", c.wrong, c.elements, c.first_wrong);
  std::string how;
  auto add = [&](std::int64_t n, const char* what) {
    if (n) how += fmt::format("{}{} {}", how.empty() ? "" : ", ", n, what);
  };
  add(c.by_equality, "by equality");
  add(c.by_enclosure, "by the program's enclosure");
  add(c.by_scale, "by the measured scale");
  return who + fmt::format("{} elements agree with the recorded answer ({}", c.elements, how.empty() ? "nothing to compare" : how) + (c.by_scale ? fmt::format("; furthest {:.3g}, allowed {:.3g})", c.worst, c.scale) : ")");
}

namespace {

/// Never rounded up to what it is not.
double percent(const Outcome& o) { return o.elements() ? std::floor(1000.0 * static_cast<double>(o.decided()) / static_cast<double>(o.elements())) / 10 : 0; }
const char* verdict(const Outcome& o) { return o.passed() ? "pass" : "fail"; }

nlohmann::json to_json(const Outcome& o, const Settings& s) {
  nlohmann::json j{{"result", verdict(o)}, {"kernels", o.report.kernels}, {"elements", o.elements()}, {"decided", percent(o)}, {"inconclusive", o.report.inconclusive},
                   {"undecided_comparisons", o.report.undecided}, {"exact_kernels", o.report.exact_kernels}, {"exact_elements", o.report.exact_elements},
                   {"worst", o.report.worst}, {"worst_at", o.report.worst_at}, {"target", s.target}, {"contract", std::string(name(s.contract))},
                   {"seconds", o.seconds}, {"load_ms", o.load_ms}, {"run_ms", o.run_ms}, {"notes", o.report.notes}};
  j["outputs"] = j["recorded"] = j["failures"] = nlohmann::json::array();
  for (const auto& [name, type] : o.outputs) j["outputs"].push_back({{"name", name}, {"type", type}});
  for (const auto& r : o.recorded) {
    const auto& c = r.comparison;
    j["recorded"].push_back({{"set", r.set}, {"output", r.name}, {"elements", c.elements}, {"wrong", c.wrong}, {"by_equality", c.by_equality}, {"by_enclosure", c.by_enclosure},
                             {"by_scale", c.by_scale}, {"furthest", c.worst}, {"allowed", c.scale}, {"first_wrong", c.first_wrong}});
  }
  for (const auto& f : o.report.failures)
    j["failures"].push_back({{"kernel", f.kernel}, {"schedule", f.schedule}, {"check", f.check}, {"launch", f.launch}, {"launches", f.launches}, {"count", f.count}, {"index", f.index},
                             {"got", f.got}, {"allowed", f.allowed}, {"operations", f.operations}, {"reproduce", f.reproduce}});
  return j;
}

void print_failure(const verify::Failure& f) {
  std::cout << fmt::format("WRONG kernel {}{}, launch {}, by {}", f.kernel, f.schedule.empty() ? "" : " (" + f.schedule + ")", f.launch, f.check);
  if (f.count) std::cout << fmt::format(": {} elements", f.count);
  if (f.launches > 1) std::cout << fmt::format(", and in {} more launches", f.launches - 1);
  const auto found = f.allowed.empty() ? f.got : fmt::format("got {}, allowed {}", f.got, f.allowed);
  std::cout << fmt::format("\n  at {}: {}\n  implements: {}\n", f.index.empty() ? "every index" : f.index, found, f.operations);
  if (!f.reproduce.empty()) std::cout << "  reproduce: " << f.reproduce << "\n";
}

void print_notes(const std::vector<std::string>& notes, bool all) {
  const std::size_t shown = all ? notes.size() : std::min<std::size_t>(notes.size(), 3);
  for (std::size_t k = 0; k < shown; ++k) std::cout << "note: " << notes[k] << "\n";
  if (shown < notes.size()) std::cout << fmt::format("note: {} more; --verbose prints them\n", notes.size() - shown);
}

}  // namespace

int report(const Outcome& o, const Settings& s) {
  const int code = o.passed() ? 0 : 1;
  if (s.json) {
    std::cout << to_json(o, s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return code;
  }
  for (const auto& r : o.recorded) std::cout << r.str() << "\n";
  for (const auto& f : o.report.failures) print_failure(f);
  print_notes(o.report.notes, s.verbose);
  const auto& r = o.report;
  if (s.check != verify::Check::off && s.target != "reference") {
    std::cout << fmt::format("checked {} kernel launches in {:.2f} s; {} elements, {} inconclusive", r.kernels, o.seconds, r.elements, r.inconclusive);
    if (r.undecided) std::cout << fmt::format(" ({} hang on an undecided comparison)", r.undecided);
    if (r.exact_kernels) std::cout << fmt::format("; {} kernels also in exact number systems, {} elements", r.exact_kernels, r.exact_elements);
    if (!r.worst_at.empty()) std::cout << fmt::format("; the worst sits {:.3f} of the way to its enclosure's edge ({})", r.worst, r.worst_at);
    std::cout << "\n";
  }
  for (std::size_t k = 0; k < o.run_ms.size(); ++k) std::cout << fmt::format("compiled in {:.1f} ms; median run {:.3f} ms\n", o.load_ms[k], o.run_ms[k]);
  std::cout << fmt::format("RESULT {} kernels={} elements={} decided={:.1f}%\n", verdict(o), r.kernels, o.elements(), percent(o));
  return code;
}

}  // namespace plumb::tools
