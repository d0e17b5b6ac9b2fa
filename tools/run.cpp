// plumb run: a program or a folder in ONNX's backend-test layout, on a target, checked.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/runtime/executor.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/files/npy.h"
#include "ir/scalar/storage.h"
#include "lowering/pipeline.h"
#include "tools/cli.h"
#include "verify/check.h"
#include "verify/recorded.h"

namespace plumb::tools {
namespace {

namespace fs = std::filesystem;
using ir::Literal;
using verify::Check;

struct Settings {
  std::string target = "cpu", output;
  Contract contract = Contract::relaxed;
  Check check = Check::off;
  bool json = false, progress = false;
  int threads = 0, repeat = 1;
  std::set<std::string> disabled;
};

struct Total {
  std::int64_t kernels = 0, elements = 0, decided = 0, inconclusive = 0, wrong_recorded = 0;
  double worst = 0;
  std::string worst_at;
  std::vector<verify::Failure> failures;
  std::vector<std::string> recorded;   ///< a line an expected output
  std::vector<double> load_ms, run_ms; ///< compiling and loading; the median of the repeated runs
  bool passed() const { return failures.empty() && wrong_recorded == 0; }
};

using Clock = std::chrono::steady_clock;
double milliseconds(Clock::time_point since) { return std::chrono::duration<double, std::milli>(Clock::now() - since).count(); }

Check check_from(const std::string& s) {
  if (s == "off") return Check::off;
  if (s == "sample") return Check::sample;
  if (s == "kernel") return Check::kernel;
  if (s == "full") return Check::full;
  fail_input("--check takes off, sample, kernel or full, not '" + s + "'");
}

void show(const ir::Module& m, std::size_t k, const Literal& l) {
  const auto& names = m.entry().result_names;
  std::cout << (k < names.size() && !names[k].empty() ? names[k] : "result" + std::to_string(k)) << ": " << l.type().str() << " =";
  const std::int64_t shown = std::min<std::int64_t>(l.elements(), 16);
  for (std::int64_t i = 0; i < shown; ++i) {
    if (is_float(l.dtype())) std::cout << fmt::format(" {:.9g}", load_element(l.dtype(), l.raw(), i));
    else if (l.dtype() == DType::u64) std::cout << ' ' << static_cast<std::uint64_t>(l.int_at(i));
    else std::cout << ' ' << l.int_at(i);
  }
  std::cout << (l.elements() > shown ? " …\n" : "\n");
}

std::shared_ptr<const lowering::Program> compile(const ir::Module& m, const Settings& s, const backends::Backend& backend) {
  lowering::Options o;
  o.contract = s.contract;
  o.target = backend.facts();
  o.disabled = s.disabled;
  return lowering::lower(m, o);
}

std::vector<Literal> run_checked(const ir::Module& m, const std::vector<Literal>& inputs, const Settings& s, const std::shared_ptr<backends::Backend>& backend, Total& total) {
  const auto begin = Clock::now();
  backends::Session session(compile(m, s, *backend), backend);
  total.load_ms.push_back(milliseconds(begin));
  verify::CheckOptions options;
  options.mode = s.check;
  options.contract = s.contract;
  options.target = s.target;
  if (!s.output.empty()) options.repro_dir = s.output;
  if (s.progress) options.progress = [](const kir::Kernel& k, int launch) { std::cerr << "\rchecking " << k.name << ", launch " << launch << "   " << std::flush; };
  verify::KernelChecker checker(options);
  backends::RunOptions run;
  if (s.check != Check::off) run.observer = &checker, run.poison = true;
  auto results = session.run(inputs, run);
  std::vector<double> times;
  for (int k = 1; k < s.repeat; ++k) {
    const auto start = Clock::now();
    results = session.run(inputs);
    times.push_back(milliseconds(start));
  }
  std::sort(times.begin(), times.end());
  if (!times.empty()) total.run_ms.push_back(times[times.size() / 2]);
  if (s.progress) std::cerr << "\r\033[K";
  const auto& r = checker.report();
  total.kernels += s.check == Check::off ? static_cast<std::int64_t>(session.kernel_count()) : r.kernels;
  total.elements += r.elements;
  total.decided += r.decided;
  total.inconclusive += r.inconclusive;
  if (r.worst > total.worst) total.worst = r.worst, total.worst_at = r.worst_at;
  total.failures.insert(total.failures.end(), r.failures.begin(), r.failures.end());
  return results;
}

void compare(const ir::Module& m, const std::vector<Literal>& inputs, const std::vector<Literal>& ours, const std::vector<Literal>& recorded, const Settings& s, Total& total) {
  if (recorded.size() != ours.size()) fail_input(fmt::format("{} expected outputs were given, the program gives {}", recorded.size(), ours.size()));
  const auto wide_module = verify::widen(m);
  std::vector<Literal> wide_inputs;
  for (const auto& l : inputs) wide_inputs.push_back(verify::widen(l));
  auto cpu = backends::make_cpu_backend({s.threads, 0});
  Settings plain;
  const auto wide = backends::Session(compile(wide_module, plain, *cpu), cpu).run(wide_inputs);
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const auto c = verify::compare_recorded(ours[k], wide[k], recorded[k]);
    total.elements += c.elements;
    total.decided += c.elements;
    total.wrong_recorded += c.wrong;
    total.recorded.push_back(c.wrong ? fmt::format("output {}: {} of {} elements differ; {}", k, c.wrong, c.elements, c.first_wrong)
                                     : fmt::format("output {}: {} elements agree with the recorded answer (furthest {:.3g}, allowed {:.3g})", k, c.elements, c.worst, c.scale));
  }
}

void write_outputs(const ir::Module& m, const std::vector<Literal>& results, const std::string& dir) {
  fs::create_directories(dir);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto& names = m.entry().result_names;
    std::string name = k < names.size() && !names[k].empty() ? names[k] : "result" + std::to_string(k);
    for (auto& c : name)
      if (c == '/' || c == '\0') c = '_';
    const auto path = (fs::path(dir) / (name + ".npy")).string();
    ir::save_npy(path + ".tmp", results[k]);
    fs::rename(path + ".tmp", path);
  }
}

std::vector<Literal> one(const Source& source, const std::vector<Literal>& inputs, const std::vector<Literal>* recorded, const Settings& s, const std::shared_ptr<backends::Backend>& backend, Total& total, bool print) {
  const auto m = source.bind(inputs);
  auto results = backend ? run_checked(m, inputs, s, backend, total) : interp::evaluate(m, inputs);
  if (recorded) compare(m, inputs, results, *recorded, s, total);
  if (!s.output.empty()) write_outputs(m, results, s.output);
  if (print && !s.json)
    for (std::size_t k = 0; k < results.size(); ++k) show(m, k, results[k]);
  return results;
}

std::vector<std::string> numbered(const fs::path& dir, const std::string& stem) {
  std::vector<std::string> files;
  for (int k = 0; fs::exists(dir / (stem + std::to_string(k) + ".pb")); ++k) files.push_back((dir / (stem + std::to_string(k) + ".pb")).string());
  return files;
}

void run_folder(const Source& source, const fs::path& dir, const Settings& s, const std::shared_ptr<backends::Backend>& backend, Total& total) {
  const auto names = source.parameter_names();
  int sets = 0;
  for (; fs::exists(dir / ("test_data_set_" + std::to_string(sets))); ++sets) {
    const auto set = dir / ("test_data_set_" + std::to_string(sets));
    const auto inputs = load_values(numbered(set, "input_"), names);
    std::vector<Literal> recorded;
    for (const auto& f : numbered(set, "output_")) recorded.push_back(ir::load_tensor_pb(f));
    one(source, inputs, &recorded, s, backend, total, false);
    if (!s.json)
      for (std::size_t k = total.recorded.size() - recorded.size(); k < total.recorded.size(); ++k) std::cout << set.filename().string() << " " << total.recorded[k] << "\n";
  }
  if (sets == 0) fail_input(dir.string() + " has no test_data_set_0");
}

void print_failures(const Total& t) {
  for (const auto& f : t.failures) {
    std::cout << fmt::format("WRONG kernel {} ({}), launch {}: {} elements\n  at {}: got {}, allowed {}\n", f.kernel, f.schedule, f.launch, f.count, f.index, f.got, f.allowed);
    std::cout << "  implements: " << f.operations << "\n";
    if (!f.reproduce.empty()) std::cout << "  reproduce: " << f.reproduce << "\n";
  }
}

int report(const Total& t, const Settings& s, double seconds) {
  const double decided = t.elements ? 100.0 * static_cast<double>(t.decided) / static_cast<double>(t.elements) : 0;
  const char* verdict = t.passed() ? "pass" : "fail";
  if (s.json) {
    nlohmann::json j{{"result", verdict}, {"kernels", t.kernels}, {"elements", t.elements}, {"decided", decided}, {"inconclusive", t.inconclusive}, {"worst", t.worst},
                     {"worst_at", t.worst_at}, {"target", s.target}, {"contract", std::string(name(s.contract))}, {"seconds", seconds}, {"recorded", t.recorded}, {"load_ms", t.load_ms}, {"run_ms", t.run_ms}};
    j["failures"] = nlohmann::json::array();
    for (const auto& f : t.failures)
      j["failures"].push_back({{"kernel", f.kernel}, {"schedule", f.schedule}, {"launch", f.launch}, {"count", f.count}, {"index", f.index}, {"got", f.got}, {"allowed", f.allowed}, {"operations", f.operations}, {"reproduce", f.reproduce}});
    std::cout << j.dump() << "\n";
    return t.passed() ? 0 : 1;
  }
  print_failures(t);
  if (s.check != Check::off && s.target != "reference")
    std::cout << fmt::format("checked {} kernel launches in {:.2f} s; {} elements, {} inconclusive; the worst sits {:.3f} of the way to its enclosure's edge{}\n", t.kernels, seconds, t.elements, t.inconclusive, t.worst, t.worst_at.empty() ? "" : " (" + t.worst_at + ")");
  for (std::size_t k = 0; k < t.run_ms.size(); ++k) std::cout << fmt::format("compiled in {:.1f} ms; median run {:.3f} ms\n", t.load_ms[k], t.run_ms[k]);
  std::cout << fmt::format("RESULT {} kernels={} elements={} decided={:.1f}%\n", verdict, t.kernels, t.elements, std::floor(decided * 10) / 10);
  return t.passed() ? 0 : 1;
}

std::map<std::string, std::int64_t> dims_from(const std::vector<std::string>& given) {
  std::map<std::string, std::int64_t> dims;
  for (const auto& d : given) {
    const auto equals = d.find('=');
    try {
      std::size_t end = 0;
      const auto n = std::stoll(d.substr(equals + 1), &end);
      if (equals == std::string::npos || n < 0 || equals + 1 + end != d.size()) throw std::invalid_argument(d);
      dims[d.substr(0, equals)] = n;
    } catch (const std::exception&) {
      fail_input("--dim takes NAME=SIZE, not '" + d + "'");
    }
  }
  return dims;
}

}  // namespace

int run_command(const Args& args) {
  po::options_description options("options");
  options.add_options()("inputs", po::value<std::vector<std::string>>()->multitoken(), "tensors (.npy, .npz, .pb), in order or name=file")(
      "random", po::value<std::uint64_t>(), "random inputs from this seed")("dim", po::value<std::vector<std::string>>()->composing(), "NAME=SIZE of a named dimension, for --random")(
      "expect", po::value<std::vector<std::string>>()->multitoken(), "expected outputs")("target", po::value<std::string>()->default_value("cpu"), "reference, cpu, simt, cuda, rocm[:gfxNNN], level_zero")(
      "check", po::value<std::string>()->default_value("off"), "off, sample, kernel or full")("contract", po::value<std::string>()->default_value("relaxed"), "strict, relaxed or fast")(
      "output", po::value<std::string>(), "folder for the outputs, as .npy, and for reproducers")("threads", po::value<int>()->default_value(0), "0: all cores")("repeat", po::value<int>()->default_value(1), "run so often; the median time of all but the first is reported")(
      "disable", po::value<std::vector<std::string>>()->composing(), "leave out an optional pass")("json", "one JSON object")("program", po::value<std::string>(), "FILE or folder");
  po::positional_options_description positional;
  positional.add("program", 1);
  po::variables_map given;
  if (!parse_options(command("run"), args, options, positional, given)) return 0;
  if (!given.count("program")) fail_input("which program? usage: plumb run " + command("run").synopsis);

  Settings s;
  s.target = given["target"].as<std::string>();
  s.check = check_from(given["check"].as<std::string>());
  const auto contract = contract_from_name(given["contract"].as<std::string>());
  if (!contract) fail_input("--contract takes strict, relaxed or fast, not '" + given["contract"].as<std::string>() + "'");
  s.contract = *contract;
  s.json = given.count("json") > 0;
  s.threads = given["threads"].as<int>();
  if (s.threads < 0 || s.threads > 1024) fail_input("--threads takes 0 to 1024");
  s.repeat = given["repeat"].as<int>();
  if (s.repeat < 1) fail_input("--repeat takes 1 or more");
  s.progress = isatty(2) && s.check != Check::off;
  if (given.count("output")) s.output = given["output"].as<std::string>();
  if (given.count("disable"))
    for (const auto& name : given["disable"].as<std::vector<std::string>>()) {
      bool known = false;
      for (const auto& p : lowering::passes()) known = known || (p.name == name && p.optional);
      if (!known) fail_input("there is no optional pass '" + name + "'; plumb explain --stage list names them");
      s.disabled.insert(name);
    }
  if (given.count("inputs") && given.count("random")) fail_input("--inputs and --random exclude each other");

  std::string path = given["program"].as<std::string>();
  const bool folder = fs::is_directory(path) && fs::exists(fs::path(path) / "model.onnx");
  const Source source(folder ? (fs::path(path) / "model.onnx").string() : path);
  const auto backend = make_target(s.target, s.threads);
  const auto start = std::chrono::steady_clock::now();
  Total total;
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  if (folder && !given.count("inputs") && !given.count("random")) {
    run_folder(source, path, s, backend, total);
    return report(total, s, seconds());
  }
  std::vector<Literal> inputs;
  if (given.count("random")) {
    const auto seed = given["random"].as<std::uint64_t>();
    const auto dims = dims_from(given.count("dim") ? given["dim"].as<std::vector<std::string>>() : std::vector<std::string>{});
    std::uint64_t k = 0;
    for (const auto& t : source.random_types(seed, dims)) inputs.push_back(random_literal(t, seed * 1000 + k++));
  } else if (given.count("inputs")) {
    inputs = load_values(given["inputs"].as<std::vector<std::string>>(), source.parameter_names());
  } else if (!source.parameter_names().empty()) {
    fail_input("the program takes inputs: " + source.signature() + "; give --inputs or --random SEED");
  }
  std::vector<Literal> recorded;
  if (given.count("expect")) {
    const auto files = given["expect"].as<std::vector<std::string>>();
    const auto& names = source.bind(inputs).entry();
    std::vector<std::string> results;
    for (std::size_t i = 0; i < names.results.size(); ++i) results.push_back(i < names.result_names.size() && !names.result_names[i].empty() ? names.result_names[i] : "result" + std::to_string(i));
    recorded = load_values(files, results);
  }
  one(source, inputs, given.count("expect") ? &recorded : nullptr, s, backend, total, true);
  if (!s.json)
    for (const auto& line : total.recorded) std::cout << line << "\n";
  return report(total, s, seconds());
}

}  // namespace plumb::tools
