// plumb run: a program or a folder in ONNX's backend-test layout, on a target, checked.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "tools/run.h"

namespace plumb::tools {
namespace {

namespace fs = std::filesystem;
using ir::Literal;
using verify::Check;
using Words = std::vector<std::string>;

Check check_from(const std::string& s) {
  if (s == "off") return Check::off;
  if (s == "sample") return Check::sample;
  if (s == "kernel") return Check::kernel;
  if (s == "full") return Check::full;
  fail_input("--check takes off, sample, kernel or full, not '" + s + "'");
}

po::options_description run_options() {
  po::options_description o("options");
  auto add = o.add_options();
  add("inputs", po::value<Words>()->multitoken(), "tensors (.npy, .npz, .pb), in order or name=file");
  add("random", po::value<std::string>(), "random inputs from this seed, the same on every machine");
  add("dim", po::value<Words>()->composing(), "NAME=SIZE of a named dimension, for --random");
  add("expect", po::value<Words>()->multitoken(), "expected outputs, in order or name=file");
  add("target", po::value<std::string>()->default_value("cpu"), "reference, cpu, simt, cuda, rocm[:gfxNNN], level_zero");
  add("check", po::value<std::string>()->default_value("off"),
      "off; sample: some elements of each kernel; kernel: every element of every kernel; full: that, and the exact number systems and the whole program's enclosure");
  add("contract", po::value<std::string>()->default_value("relaxed"), "strict, relaxed or fast");
  add("allow", po::value<Words>()->composing(), "with fast: tf32, ftz, approximate (names, comma between them): what checking then admits beyond relaxed");
  add("output", po::value<std::string>(), "folder for the outputs, NAME.npy each (one of that name is replaced), and for reproducers; without it these go to plumb-repro");
  add("threads", po::value<int>()->default_value(0), "0: all cores");
  add("repeat", po::value<int>()->default_value(1), "run so often; the median time of all but the first is reported");
  add("disable", po::value<Words>()->composing(), "leave out an optional pass");
  add("json", "one JSON object");
  add("verbose", "every note");
  add("program", po::value<std::string>(), "FILE or folder");
  return o;
}

Settings settings_from(const po::variables_map& given) {
  Settings s;
  s.target = given["target"].as<std::string>();
  s.check = check_from(given["check"].as<std::string>());
  s.contract = contract_from(given);
  s.allow = allowances_from(given, s.contract);
  s.json = given.count("json") > 0;
  s.verbose = given.count("verbose") > 0;
  s.threads = given["threads"].as<int>();
  if (s.threads < 0 || s.threads > 1024) fail_input("--threads takes 0 to 1024");
  s.repeat = given["repeat"].as<int>();
  if (s.repeat < 1) fail_input("--repeat takes 1 or more");
  s.progress = isatty(2) && s.check != Check::off;
  if (given.count("output")) {
    s.output = given["output"].as<std::string>();
    if (s.output.empty()) fail_input("--output takes the name of a folder");
  }
  s.disabled = disabled_from(given);
  if (given.count("inputs") && given.count("random")) fail_input("--inputs and --random exclude each other");
  if (given.count("dim") && !given.count("random")) fail_input("--dim sizes random inputs: give --random SEED too");
  return s;
}

/// input_0.pb, input_1.pb, … as long as there are.
Words numbered(const fs::path& dir, const std::string& stem) {
  Words files;
  for (int k = 0; fs::exists(dir / (stem + std::to_string(k) + ".pb")); ++k) files.push_back((dir / (stem + std::to_string(k) + ".pb")).string());
  return files;
}

/// The folders test_data_set_K, by number: of numbers without leading zeros the shorter is the less.
std::vector<fs::path> data_sets(const fs::path& dir) {
  std::map<std::tuple<std::size_t, std::string, std::string>, fs::path> sets;
  const std::string stem = "test_data_set_";
  for (const auto& e : fs::directory_iterator(dir)) {
    const auto name = e.path().filename().string();
    if (!e.is_directory() || !name.starts_with(stem) || name.size() == stem.size() || name.find_first_not_of("0123456789", stem.size()) != std::string::npos) continue;
    const auto digits = name.substr(std::min(name.find_first_not_of('0', stem.size()), name.size() - 1));
    sets[{digits.size(), digits, name}] = e.path();
  }
  std::vector<fs::path> r;
  for (const auto& [number, path] : sets) r.push_back(path);
  return r;
}

void run_folder(const Source& source, const fs::path& dir, const Settings& s, const std::shared_ptr<backends::Backend>& backend, Outcome& outcome) {
  const auto sets = data_sets(dir);
  if (sets.empty()) fail_input(dir.string() + " has no test_data_set_0; give --inputs or --random SEED, or name the model file");
  for (const auto& set : sets) {
    auto inputs = load_values(numbered(set, "input_"), source.parameters());
    for (std::size_t k = 0; k < inputs.size(); ++k) read_as_bf16(inputs[k], source.parameters()[k].dtype, "input " + source.parameters()[k].name, outcome.report.notes);
    std::vector<Literal> expected;
    for (const auto& f : numbered(set, "output_")) expected.push_back(ir::load_tensor_pb(f));
    if (expected.empty()) fail_input(set.string() + " has no output_0.pb to compare with; to run the model alone, name its file and give --inputs");
    run_once(source, inputs, &expected, set.filename().string(), false, s, backend, outcome);
  }
}

std::vector<Literal> inputs_from(const Source& source, const po::variables_map& given) {
  if (given.count("random")) return random_inputs(source, seed_from("--random", given["random"].as<std::string>()), dims_from(given));
  if (given.count("inputs")) return load_values(given["inputs"].as<Words>(), source.parameters());
  if (source.parameters().empty()) return {};
  fail_input("the program takes inputs: " + source.signature() + "; give --inputs or --random SEED");
}

std::vector<Literal> expected_from(const Source& source, const std::vector<Literal>& inputs, const Words& files) {
  const auto m = source.bind(inputs);
  const auto& f = m.entry();
  std::vector<Parameter> results;
  for (std::size_t k = 0; k < f.results.size(); ++k) results.push_back({result_name(f, k), f.type(f.results[k]).dtype});
  auto values = load_values(files, results);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k].dtype() != results[k].dtype) fail_input("--expect: " + results[k].name + " is " + std::string(name(results[k].dtype)) + ", the file holds " + values[k].type().str());
  return values;
}

}  // namespace

int run_command(const Args& args) {
  po::positional_options_description positional;
  positional.add("program", 1);
  po::variables_map given;
  if (!parse_options(command("run"), args, run_options(), positional, given)) return 0;
  if (!given.count("program")) fail_input("which program? usage: plumb run " + command("run").synopsis);
  const Settings s = settings_from(given);
  const fs::path path = given["program"].as<std::string>();
  const Source source(path.string());
  const auto backend = make_target(s.target, s.threads);
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  if (fs::is_directory(path) && !given.count("inputs") && !given.count("random")) {
    if (given.count("expect")) fail_input("a folder brings its own expected outputs; give --inputs with --expect");
    run_folder(source, path, s, backend, outcome);
  } else {
    const auto inputs = inputs_from(source, given);
    std::vector<Literal> expected;
    if (given.count("expect")) expected = expected_from(source, inputs, given["expect"].as<Words>());
    run_once(source, inputs, given.count("expect") ? &expected : nullptr, "", true, s, backend, outcome);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report(outcome, s);
}

}  // namespace plumb::tools
