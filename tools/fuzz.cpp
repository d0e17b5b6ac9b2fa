// plumb fuzz: random programs, each kernel of each checked.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <iostream>

#include "backends/runtime/executor.h"
#include "fuzz/generator.h"
#include "ir/files/files.h"
#include "ir/files/npz.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "tools/cli.h"
#include "verify/check.h"

namespace plumb::tools {
namespace {

constexpr double most_seconds = 1e9;  // 30 years

struct Tally { std::int64_t programs = 0, kernels = 0, elements = 0, decided = 0, undecidable = 0, findings = 0; };

void save(const fuzz::Case& c, const std::string& dir, std::uint64_t seed, const std::string& target, Contract contract, const std::string& why) {
  namespace fs = std::filesystem;
  const auto at = fs::path(dir) / ("seed" + std::to_string(seed));
  fs::create_directories(at);
  ir::write_file((at / "program.plumb").string(), ir::print(c.module));
  ir::NamedLiterals named;
  for (std::size_t k = 0; k < c.inputs.size(); ++k) named.emplace_back(c.module.entry().value(c.module.entry().params[k]).name, c.inputs[k]);
  ir::save_npz((at / "inputs.npz").string(), named);
  std::cout << fmt::format("FINDING seed {}: {}\n  plumb run {}/program.plumb --inputs {}/inputs.npz --check kernel --target {} --contract {}\n", seed, why, at.string(), at.string(), target, name(contract));
}

std::string run_one(const fuzz::Case& c, const std::shared_ptr<backends::Backend>& target, Contract contract, Tally& t) {
  lowering::Options o;
  o.target = target->facts();
  o.contract = contract;
  verify::CheckOptions check;
  check.contract = contract;
  check.write_repro = false;
  verify::KernelChecker checker(check);
  try {
    backends::Session(lowering::lower(c.module, o), target).run(c.inputs, {&checker, true});
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::unsupported) {
      ++t.undecidable;
      return {};
    }
    return e.what();
  }
  const auto& r = checker.report();
  t.kernels += r.kernels, t.elements += r.elements, t.decided += r.decided;
  if (r.passed()) return {};
  const auto& f = r.failures[0];
  return fmt::format("{} {}: got {}, allowed {} ({})", f.kernel, f.index, f.got, f.allowed, f.operations);
}

std::vector<std::shared_ptr<backends::Backend>> targets_from(const std::string& list) {
  std::vector<std::shared_ptr<backends::Backend>> targets;
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    auto target = make_target(list.substr(at, end - at), 1);
    if (!target) fail_input("the reference is what targets are checked against; name a target");
    targets.push_back(std::move(target));
    at = end + 1;
  }
  return targets;
}

}  // namespace

int fuzz_command(const Args& args) {
  po::options_description options("options");
  options.add_options()("targets", po::value<std::string>()->default_value("cpu"), "targets, comma separated")("programs", po::value<std::int64_t>(), "how many programs")(
      "seconds", po::value<double>(), "or for how long")("seed", po::value<std::string>()->default_value("1"), "the first program's seed; the next has the next")(
      "contract", po::value<std::string>()->default_value("relaxed"), "strict or relaxed")("out", po::value<std::string>()->default_value("plumb-repro"), "folder for findings");
  po::variables_map given;
  if (!parse_options(command("fuzz"), args, options, {}, given)) return 0;
  if (given.count("programs") == given.count("seconds")) fail_input("give --programs N or --seconds N");
  if (given.count("programs") && given["programs"].as<std::int64_t>() < 1) fail_input("--programs takes 1 or more");
  if (given.count("seconds") && !(given["seconds"].as<double>() > 0 && given["seconds"].as<double>() <= most_seconds)) fail_input("--seconds takes more than 0, at most 1e9");
  const auto contract = contract_from(given);
  const auto targets = targets_from(given["targets"].as<std::string>());
  const auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Tally t;
  std::uint64_t seed = seed_from("--seed", given["seed"].as<std::string>());
  while (given.count("programs") ? t.programs < given["programs"].as<std::int64_t>() : elapsed() < given["seconds"].as<double>()) {
    const auto choose = fuzz::seeded(seed);
    const auto c = fuzz::generate(choose, 1 + static_cast<int>(choose(8)));
    for (const auto& target : targets)
      if (const auto why = run_one(c, target, contract, t); !why.empty()) {
        ++t.findings;
        save(c, given["out"].as<std::string>(), seed, target->name(), contract, why);
      }
    ++t.programs;
    ++seed;
  }
  const double share = t.elements ? 100.0 * static_cast<double>(t.decided) / static_cast<double>(t.elements) : 0;
  std::cout << fmt::format("{} programs, {} kernels, {} elements, {:.1f}% decided, {} programs undecidable, {} findings, {:.1f} programs/s\n", t.programs, t.kernels, t.elements, share, t.undecidable, t.findings, static_cast<double>(t.programs) / elapsed());
  return t.findings ? 1 : 0;
}

}  // namespace plumb::tools
