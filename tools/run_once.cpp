// One program on one set of inputs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "backends/runtime/executor.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/files/npy.h"
#include "ir/tensor/result_sizes.h"
#include "lowering/pipeline.h"
#include "tools/run.h"

namespace plumb::tools {
namespace {

namespace fs = std::filesystem;
using ir::Literal;
using verify::Check;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point since) { return std::chrono::duration<double, std::milli>(Clock::now() - since).count(); }

std::shared_ptr<const lowering::Program> compile(const ir::Module& m, const Settings& s, const backends::Backend& backend) {
  lowering::Options o;
  o.contract = s.contract;
  o.target = backend.facts();
  o.disabled = s.disabled;
  return lowering::lower(m, o);
}

verify::CheckOptions check_options(const Settings& s, const std::shared_ptr<backends::Backend>& backend) {
  verify::CheckOptions o;
  o.mode = s.check;
  o.contract = s.contract;
  o.allow = s.allow;
  o.target = s.target;
  o.backend = backend;
  if (!s.output.empty()) o.repro_dir = (fs::path(s.output) / "plumb-repro").string();
  if (s.progress) o.progress = [](const kir::Kernel& k, int launch) { std::cerr << "\rchecking " << k.name << ", launch " << launch << "\033[K" << std::flush; };
  return o;
}

/// Empty when the run ended with a violation, which the report then holds.
std::optional<std::vector<Literal>> run_compiled(const ir::Module& m, const std::vector<Literal>& inputs, const Settings& s, const std::shared_ptr<backends::Backend>& backend, Outcome& outcome) {
  const auto begin = Clock::now();
  backends::Session session(compile(m, s, *backend), backend);
  outcome.load_ms.push_back(milliseconds(begin));
  const auto options = check_options(s, backend);
  verify::KernelChecker checker(options);
  backends::RunOptions run;
  // Without a check too: a target that watches its kernels reports through the observer.
  run.observer = &checker;
  run.poison = s.check == Check::kernel || s.check == Check::full;
  std::vector<Literal> results;
  try {
    results = session.run(inputs, run);
  } catch (const kir::ViolationError&) {
    outcome.report.add(checker.report());
    return std::nullopt;
  }
  if (s.progress) std::cerr << "\r\033[K";
  auto report = checker.report();
  if (s.check == Check::off) report.kernels = static_cast<std::int64_t>(session.kernel_count());
  if (s.check == Check::full) verify::check_program(m, inputs, results, report);
  outcome.report.add(report);
  std::vector<double> times;
  for (int k = 1; k < s.repeat; ++k) {
    const auto start = Clock::now();
    results = session.run(inputs);
    times.push_back(milliseconds(start));
  }
  std::sort(times.begin(), times.end());
  if (!times.empty()) outcome.run_ms.push_back(times[times.size() / 2]);
  return results;
}

/// The program's answer with every f32 widened to f64, compiled for the CPU.
std::vector<Literal> wide_answer(const ir::Module& m, const std::vector<Literal>& inputs, int threads) {
  std::vector<Literal> wide;
  for (const auto& l : inputs) wide.push_back(verify::widen(l));
  const auto cpu = backends::make_cpu_backend({threads, 0});
  return backends::Session(compile(verify::widen(m), {}, *cpu), cpu).run(wide);
}

void compare(const ir::Module& m, const std::vector<Literal>& inputs, const std::vector<Literal>& answer, std::vector<Literal> recorded, const std::string& set, const Settings& s, Outcome& outcome) {
  const auto ours = ir::exact_results(m.entry(), answer);
  if (recorded.size() != ours.size()) fail_input(fmt::format("{} expected outputs were given, the program gives {}", recorded.size(), ours.size()));
  for (std::size_t k = 0; k < ours.size() && !set.empty(); ++k) read_as_bf16(recorded[k], ours[k].dtype(), "output " + result_name(m.entry(), k), outcome.report.notes);
  const auto wide = ir::exact_results(m.entry(), wide_answer(m, inputs, s.threads), answer);
  std::vector<interp::EnclosedTensor> enclosed;
  if (s.check == Check::full && m.entry().result_sizes.empty()) try {
      enclosed = interp::evaluate_enclosure(m, inputs);
    } catch (const Error&) {  // no enclosure of the whole: the measured scale decides alone
    }
  for (std::size_t k = 0; k < ours.size(); ++k)
    outcome.recorded.push_back({set, result_name(m.entry(), k), verify::compare_recorded(ours[k], wide[k], recorded[k], enclosed.empty() ? nullptr : &enclosed[k])});
}

/// Each file appears whole or not at all; one of the same name is replaced.
void write_outputs(const ir::Module& m, const std::vector<Literal>& results, const fs::path& dir) {
  std::error_code failed;
  fs::create_directories(dir, failed);
  if (failed) fail_input("--output " + dir.string() + " cannot be made: " + failed.message());
  for (std::size_t k = 0; k < results.size(); ++k) {
    std::string name = result_name(m.entry(), k);
    for (auto& c : name)
      if (c == '/' || c == '\0') c = '_';
    const auto path = (dir / (name + ".npy")).string();
    ir::save_npy(path + ".tmp", results[k]);
    fs::rename(path + ".tmp", path);
  }
}

}  // namespace

void run_once(const Source& source, const std::vector<Literal>& inputs, const std::vector<Literal>* expected, const std::string& set, bool print, const Settings& s,
              const std::shared_ptr<backends::Backend>& backend, Outcome& outcome) {
  const auto m = source.bind(inputs);
  const auto answer = backend ? run_compiled(m, inputs, s, backend, outcome) : interp::evaluate(m, inputs);
  outcome.report.notes.insert(outcome.report.notes.end(), source.notes().begin(), source.notes().end());
  if (!backend && s.check != Check::off) outcome.report.notes.push_back("the reference is what compiled answers are checked against: nothing was compiled, nothing checked");
  if (!answer) return;
  const auto results = ir::exact_results(m.entry(), *answer);
  if (expected) compare(m, inputs, *answer, *expected, set, s, outcome);
  if (!s.output.empty()) write_outputs(m, results, fs::path(s.output) / set);
  outcome.outputs.clear();
  for (std::size_t k = 0; k < results.size(); ++k) {
    outcome.outputs.emplace_back(result_name(m.entry(), k), results[k].type().str());
    if (print && !s.json) std::cout << outcome.outputs.back().first << ": " << outcome.outputs.back().second << " =\n" << show(results[k]) << "\n";
  }
}

}  // namespace plumb::tools
