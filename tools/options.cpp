// Values of flags that several subcommands take, each checked whole: a flag half read is bad usage.
#include <algorithm>
#include <charconv>
#include <sstream>

#include "lowering/pipeline.h"
#include "tools/cli.h"

namespace plumb::tools {

namespace {
using Words = std::vector<std::string>;

/// The number when the word is its digits and nothing else.
template <class T> std::optional<T> whole_number(const std::string& word) {
  T value{};
  const auto* end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}
}  // namespace

std::uint64_t seed_from(const std::string& flag, const std::string& word) {
  if (const auto seed = whole_number<std::uint64_t>(word)) return *seed;
  fail_input(flag + " takes a number from 0 to 2^64-1, not '" + word + "'");
}

std::map<std::string, std::int64_t> dims_from(const po::variables_map& given) {
  std::map<std::string, std::int64_t> dims;
  if (!given.count("dim")) return dims;
  for (const auto& d : given["dim"].as<Words>()) {
    const auto equals = d.find('=');
    const auto size = equals == std::string::npos ? std::nullopt : whole_number<std::int64_t>(d.substr(equals + 1));
    if (equals == 0 || !size || *size < 0) fail_input("--dim takes NAME=SIZE, not '" + d + "'");
    if (!dims.emplace(d.substr(0, equals), *size).second) fail_input("--dim sizes '" + d.substr(0, equals) + "' twice");
  }
  return dims;
}

Contract contract_from(const po::variables_map& given) {
  const auto word = given["contract"].as<std::string>();
  if (const auto contract = contract_from_name(word)) return *contract;
  fail_input("--contract takes strict, relaxed or fast, not '" + word + "'");
}

Allowances allowances_from(const po::variables_map& given, Contract contract) {
  Allowances a;
  if (!given.count("allow")) return a;
  for (const auto& words : given["allow"].as<Words>()) {
    std::istringstream in(words);
    for (std::string word; std::getline(in, word, ',');)
      if (!grant(a, word)) fail_input("--allow takes tf32, ftz and approximate, not '" + word + "'");
  }
  if (contract != Contract::fast) fail_input("--allow grants what " + std::string(name(contract)) + " does not: give --contract fast with it");
  return a;
}

std::set<std::string> disabled_from(const po::variables_map& given) {
  std::set<std::string> names;
  if (!given.count("disable")) return names;
  const auto passes = lowering::passes();
  for (const auto& name : given["disable"].as<Words>()) {
    if (std::none_of(passes.begin(), passes.end(), [&](const auto& p) { return p.name == name && p.optional; }))
      fail_input("there is no optional pass '" + name + "'; plumb explain --stage list names them");
    names.insert(name);
  }
  return names;
}

}  // namespace plumb::tools
