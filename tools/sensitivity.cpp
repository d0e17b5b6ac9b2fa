// plumb sensitivity: what the oracle rejects, of kernels that are right and of kernels that are not.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "fuzz/sensitivity.h"
#include "ir/files/files.h"
#include "tools/cli.h"

namespace plumb::tools {
namespace {

using fuzz::FaultCount;
using fuzz::FaultKind;
using nlohmann::json;

constexpr std::int64_t least_k = 64, most_k = std::int64_t{1} << 20;
constexpr double most_seconds = 1e9, goal = 99;

double percent(std::int64_t part, std::int64_t of) { return of ? 100.0 * static_cast<double>(part) / static_cast<double>(of) : 100; }

void add(FaultCount& to, const FaultCount& c) {
  to.judged += c.judged;
  to.rejected += c.rejected;
  for (std::size_t w = 0; w < c.by.size(); ++w) to.by[w] += c.by[w];
}

json to_json(const FaultCount& c) {
  json by = json::object();
  for (std::size_t w = 0; w < c.by.size(); ++w)
    if (c.by[w]) by[std::string(fuzz::way_names[w])] = c.by[w];
  return {{"judged", c.judged}, {"rejected", c.rejected}, {"by", by}};
}

class Table {
 public:
  void take(const fuzz::SubjectResult& r) {
    programs_ += r.right.programs, elements_ += r.right.elements, decided_ += r.right.decided, alarms_ += r.right.rejected;
    for (const auto& [key, c] : r.faults) add(by_size_[{key.first, r.k}], c), add(by_op_[{key.first, r.op}], c);
    for (const auto& [kind, why] : r.not_applicable) absent_[{std::string(fuzz::name(kind)), why}].push_back(fmt::format("{} {}", r.op, r.k));
  }
  bool good() const {
    return alarms_ == 0 && std::all_of(by_size_.begin(), by_size_.end(), [](const auto& e) { return percent(e.second.rejected, e.second.judged) >= goal; });
  }
  json summary() const {
    json faults = json::array();
    for (const auto& [key, c] : by_size_) {
      faults.push_back(to_json(c));
      faults.back()["fault"] = fuzz::name(key.first);
      faults.back()["k"] = key.second;
    }
    return {{"programs", programs_}, {"elements", elements_}, {"decided", decided_}, {"rejected", alarms_}, {"faults", faults}};
  }
  void print() const {
    std::cout << fmt::format("\nright kernels: {} checks of one kernel on one set of inputs, {} elements, {:.1f}% decided: {} rejected\n", programs_, elements_, percent(decided_, elements_), alarms_);
    std::cout << "\nfaulty kernels (each judged once with each of four kinds of data) rejected, in percent, by each way that the oracle has and by it as a whole\n";
    header("K");
    for (const auto& [key, c] : by_size_) line(fuzz::name(key.first), std::to_string(key.second), c);
    std::cout << "\nthe same by operation\n";
    header("op");
    for (const auto& [key, c] : by_op_) line(fuzz::name(key.first), key.second, c);
    for (const auto& [what, where] : absent_) std::cout << fmt::format("\n{} does not apply where {}: {}", what.first, what.second, fmt::join(unique(where), ", "));
    if (!absent_.empty()) std::cout << "\n";
  }

 private:
  static void header(const char* second) {
    std::cout << fmt::format("{:19}{:>12}{:>8}", "fault", second, "judged");
    for (auto w : fuzz::way_names) std::cout << fmt::format("{:>{}}", w, w.size() + 2);
    std::cout << "    whole\n";
  }
  static void line(std::string_view fault, const std::string& second, const FaultCount& c) {
    std::cout << fmt::format("{:19}{:>12}{:>8}", fault, second, c.judged);
    for (std::size_t w = 0; w < c.by.size(); ++w) std::cout << fmt::format("{:>{}.1f}", percent(c.by[w], c.judged), fuzz::way_names[w].size() + 2);
    std::cout << fmt::format("{:>9.2f}\n", percent(c.rejected, c.judged));
  }
  static std::vector<std::string> unique(std::vector<std::string> v) {
    v.erase(std::unique(v.begin(), v.end()), v.end());
    return v;
  }

  std::int64_t programs_ = 0, elements_ = 0, decided_ = 0, alarms_ = 0;
  std::map<std::pair<FaultKind, std::int64_t>, FaultCount> by_size_;
  std::map<std::pair<FaultKind, std::string>, FaultCount> by_op_;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> absent_;
};

/// Data matter to the enclosure alone: its counts are split by them, the others are not.
json to_json(const fuzz::SubjectResult& r) {
  std::map<FaultKind, FaultCount> whole;
  json faults = json::object();
  for (const auto& [key, c] : r.faults) add(whole[key.first], c);
  for (const auto& [kind, c] : whole) {
    auto& f = faults[std::string(fuzz::name(kind))] = to_json(c);
    for (const auto& [key, part] : r.faults)
      if (key.first == kind) f["enclosure_on"][std::string(fuzz::data_names[static_cast<std::size_t>(key.second)])] = part.by[0];
  }
  json j{{"op", r.op}, {"dtype", name(r.dtype)}, {"k", r.k}, {"right", {{"programs", r.right.programs}, {"elements", r.right.elements}, {"decided", r.right.decided}, {"rejected", r.right.rejected}}}, {"faults", faults}};
  for (const auto& [kind, why] : r.not_applicable) j["not_applicable"][std::string(fuzz::name(kind))] = why;
  if (!r.missed.empty()) j["missed"] = r.missed;
  return j;
}

/// One line an operation, dtype and K.
void write(const std::string& path, const fuzz::SensitivityOptions& o, const Table& table, const std::vector<json>& results) {
  std::string text = "{\"target\": " + json(o.target->name()).dump() + ", \"seed\": " + std::to_string(o.seed) + ", \"a_program_is\": \"one check of one kernel on one set of inputs\", \"judged\": \"faulty kernels, each once with each of four kinds of data\",\n\"summary\": " + table.summary().dump() + ",\n\"results\": [\n";
  for (std::size_t k = 0; k < results.size(); ++k) text += results[k].dump() + (k + 1 < results.size() ? ",\n" : "\n");
  ir::write_file(path, text + "]}\n");
}

template <class T> std::vector<T> chosen(const po::variables_map& given, const char* flag, const std::vector<T>& all, const std::function<T(const std::string&)>& read) {
  if (!given.count(flag)) return all;
  std::vector<T> r;
  for (const auto& w : given[flag].as<std::vector<std::string>>()) r.push_back(read(w));
  return r;
}
std::string op_from(const std::string& w) {
  if (std::find(fuzz::subject_ops.begin(), fuzz::subject_ops.end(), w) != fuzz::subject_ops.end()) return w;
  fail_input(fmt::format("--op takes {}, not '{}'", fmt::join(fuzz::subject_ops, ", "), w));
}
DType float_from(const std::string& w) {
  const auto t = dtype_from_name(w);
  if (!t || !is_float(*t)) fail_input("--dtype takes a float dtype, not '" + w + "'");
  return *t;
}
std::int64_t size_from(const std::string& w) {
  const auto k = seed_from("--k", w);
  if (k < least_k || k > most_k || k % 4 != 0) fail_input(fmt::format("--k takes a multiple of 4 from {} to {}, not '{}'", least_k, most_k, w));
  return static_cast<std::int64_t>(k);
}

fuzz::SensitivityOptions options_from(const po::variables_map& given) {
  fuzz::SensitivityOptions o;
  o.ops = chosen<std::string>(given, "op", {fuzz::subject_ops.begin(), fuzz::subject_ops.end()}, op_from);
  o.dtypes = chosen<DType>(given, "dtype", {DType::f8e4m3fn, DType::f8e5m2, DType::bf16, DType::f16, DType::f32, DType::f64}, float_from);
  std::vector<std::int64_t> sizes;
  for (auto k = least_k; k <= most_k; k *= 4) sizes.push_back(k);
  o.sizes = chosen<std::int64_t>(given, "k", sizes, size_from);
  o.trials = given["trials"].as<std::int64_t>();
  o.faults = given["faults"].as<int>();
  o.seed = seed_from("--seed", given["seed"].as<std::string>());
  if (o.trials < 1) fail_input("--trials takes 1 or more");
  if (o.faults < 1) fail_input("--faults takes 1 or more");
  if (given.count("seconds")) {
    if (!given["trials"].defaulted() || !given["faults"].defaulted()) fail_input("--seconds stands instead of --trials and --faults");
    o.seconds = given["seconds"].as<double>();
    if (!(o.seconds > 0 && o.seconds <= most_seconds)) fail_input("--seconds takes more than 0, at most 1e9");
  }
  const auto target = given["target"].as<std::string>();
  o.target = make_target(target, 1);
  if (!o.target) fail_input("the reference is what kernels are judged by; name a target");
  return o;
}

}  // namespace

int sensitivity_command(const Args& args) {
  po::options_description options("options");
  auto flag = options.add_options();
  using Words = std::vector<std::string>;
  flag("op", po::value<Words>()->composing(), "only this operation: sum, mean, prod, max, dot, gemm, convolution, softmax, layer_norm or attention (may be given again)");
  flag("dtype", po::value<Words>()->composing(), "only this float dtype (may be given again)");
  flag("k", po::value<Words>()->composing(), "only this many terms, 64 to 1048576 (may be given again); else 64, 256, … 1048576");
  flag("trials", po::value<std::int64_t>()->default_value(16), "runs of right programs of each operation, dtype and K where K is 64; fewer in proportion beyond");
  flag("faults", po::value<int>()->default_value(2), "faulty kernels of each kind, operation, dtype and K");
  flag("seconds", po::value<double>(), "or for about how long in all");
  flag("seed", po::value<std::string>()->default_value("1"), "of data and of the places of faults");
  flag("target", po::value<std::string>()->default_value("cpu"), "cpu or simt");
  flag("out", po::value<std::string>(), "results as JSON");
  po::variables_map given;
  if (!parse_options(command("sensitivity"), args, options, {}, given)) return 0;
  const auto o = options_from(given);
  Table table;
  std::vector<json> results;
  fuzz::measure_sensitivity(o, [&](const fuzz::SubjectResult& r) {
    table.take(r);
    for (const auto& a : r.right.alarms) std::cout << fmt::format("FALSE ALARM {} {} {}: {}\n", r.op, name(r.dtype), r.k, a);
    for (const auto& m : r.missed) std::cout << fmt::format("missed {} {} {}: {}\n", r.op, name(r.dtype), r.k, m);
    std::cout << std::flush;
    results.push_back(to_json(r));
    if (given.count("out")) write(given["out"].as<std::string>(), o, table, results);
  });
  table.print();
  return table.good() ? 0 : 1;
}

}  // namespace plumb::tools
