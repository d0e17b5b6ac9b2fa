// plumb bench: times programs on a target. Inputs are placed once; a batch of calls is enqueued, then waited for.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "backends/runtime/executor.h"
#include "lowering/pipeline.h"
#include "tools/bench_case.h"
#include "tools/cli.h"

namespace plumb::tools {
namespace {

using Clock = std::chrono::steady_clock;
using ir::Literal;
using Words = std::vector<std::string>;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Settings {
  std::string target;
  Contract contract = Contract::relaxed;
  int threads = 0;
  double seconds = 0.5;
  std::map<std::string, std::int64_t> dims;
};

/// Milliseconds a call: of batches that take a thirtieth of `seconds` each, after a third of it to settle.
struct Times { double median = 0, least = 0, p90 = 0; std::int64_t calls = 0; };
template <class Batch> Times measure(Batch batch, double seconds) {
  double guess = batch(1);
  for (double warm = 0; warm < seconds / 3;) {
    const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(0.01 / std::max(guess, 1e-7)), 1, 200);
    const double spent = batch(count);
    warm += spent;
    guess = spent / static_cast<double>(count);
  }
  const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(seconds / 30 / guess)), 1, 20000);
  const auto batches = std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds / (static_cast<double>(count) * guess)), 5, 30);
  std::vector<double> each;
  for (std::int64_t k = 0; k < batches; ++k) each.push_back(batch(count) / static_cast<double>(count) * 1e3);
  std::sort(each.begin(), each.end());
  return {each[each.size() / 2], each[0], each[(each.size() - 1) * 9 / 10], count * batches};
}

/// Bytes a second that a large copy reads and writes.
double copy_rate(backends::Backend& backend, int threads) {
  constexpr std::int64_t bytes = std::int64_t{1} << 30, host_bytes = std::int64_t{1} << 28;
  if (auto* memory = backend.memory()) {
    const auto from = memory->allocate(bytes, "the copy that is the floor"), to = memory->allocate(bytes, "the copy that is the floor");
    memory->fill(from.get(), 1, bytes);
    char waited = 0;
    const auto t = measure([&](std::int64_t n) {
      const auto begin = Clock::now();
      for (std::int64_t k = 0; k < n; ++k) memory->copy(to.get(), from.get(), bytes);
      memory->download(&waited, to.get(), 1);
      return seconds_since(begin);
    }, 0.3);
    return 2.0 * static_cast<double>(bytes) / t.median * 1e3;
  }
  const auto workers = threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  Literal from(ir::Type{DType::u8, {host_bytes}}), to(ir::Type{DType::u8, {host_bytes}});
  std::memset(from.mutable_raw(), 1, static_cast<std::size_t>(host_bytes));
  std::memset(to.mutable_raw(), 1, static_cast<std::size_t>(host_bytes));
  const auto t = measure([&](std::int64_t n) {
    const auto begin = Clock::now();
    std::vector<std::thread> team;
    for (int w = 0; w < workers; ++w)
      team.emplace_back([&, w] {
        const auto low = host_bytes / workers * w, high = w + 1 == workers ? host_bytes : low + host_bytes / workers;
        for (std::int64_t k = 0; k < n; ++k) std::memcpy(to.mutable_data<char>() + low, from.data<char>() + low, static_cast<std::size_t>(high - low));
      });
    for (auto& member : team) member.join();
    return seconds_since(begin);
  }, 0.3);
  return 2.0 * static_cast<double>(host_bytes) / t.median * 1e3;
}

/// A program loaded, with so many input sets that a turn through them passes the last cache several times over.
class Loaded {
 public:
  Loaded(BenchCase c, const Settings& s, const std::shared_ptr<backends::Backend>& backend) : case_(std::move(c)), backend_(backend) {
    const auto values = bench_values(case_);
    const auto begin = Clock::now();
    lowering::Options o;
    o.contract = s.contract;
    o.target = backend_->facts();
    session_ = std::make_unique<backends::Session>(lowering::lower(case_.module, o), backend_);
    compile_s = seconds_since(begin);
    double bytes = 0;
    for (const auto& v : values) bytes += static_cast<double>(v.bytes());
    const double enough = backend_->memory() ? 0x1p29 : 0x3p28;
    const auto count = static_cast<std::size_t>(std::clamp(std::ceil(enough / std::max(bytes, 1.0)), 2.0, 64.0));
    for (std::size_t k = 0; k < count; ++k) sets_.push_back(session_->place(backend_->memory() || k == 0 ? values : copies(values)));
    const auto before = backend_->memory() ? backend_->memory()->statistics().in_use : 0;
    run_batch(1);
    if (backend_->memory()) peak_bytes = static_cast<double>(backend_->memory()->statistics().peak - before);
  }

  /// Seconds of so many calls.
  double run_batch(std::int64_t count) {
    const auto begin = Clock::now();
    std::vector<Literal> results;
    for (std::int64_t k = 0; k < count; ++k) results = session_->enqueue(sets_[next_++ % sets_.size()]);
    enqueue_s = seconds_since(begin) / static_cast<double>(count);
    session_->finish();
    return seconds_since(begin);
  }

  const BenchCase& bench() const { return case_; }
  std::size_t kernels() const { return session_->kernel_count(); }
  std::size_t sets() const { return sets_.size(); }

  double compile_s = 0, peak_bytes = 0;
  double enqueue_s = 0;   ///< the host's share of a call of the last batch

 private:
  static std::vector<Literal> copies(const std::vector<Literal>& values) {
    std::vector<Literal> r;
    for (const auto& v : values) {
      Literal c(v.type());
      if (v.bytes() > 0) std::memcpy(c.mutable_raw(), v.raw(), static_cast<std::size_t>(v.bytes()));
      r.push_back(c);
    }
    return r;
  }

  BenchCase case_;
  std::shared_ptr<backends::Backend> backend_;
  std::unique_ptr<backends::Session> session_;
  std::vector<std::vector<Literal>> sets_;
  std::size_t next_ = 0;
};

nlohmann::json facts_of(const Loaded& l) {
  return {{"case", l.bench().name}, {"what", l.bench().what}, {"bytes", l.bench().bytes}, {"flops", l.bench().flops}, {"kernels", l.kernels()}, {"input_sets", l.sets()}, {"compile_s", l.compile_s}, {"peak_mib", l.peak_bytes / 0x1p20}};
}

/// One line of seconds in, one object of times out: how a script takes turns with other programs.
void serve(Loaded& l, std::istream& in) {
  std::cout << facts_of(l).dump() << std::endl;
  for (std::string line; std::getline(in, line) && !line.empty();) {
    const auto t = measure([&](std::int64_t n) { return l.run_batch(n); }, std::clamp(std::atof(line.c_str()), 0.01, 60.0));
    std::cout << nlohmann::json{{"ms", t.median}, {"ms_min", t.least}, {"ms_p90", t.p90}, {"calls", t.calls}, {"enqueue_ms", 1e3 * l.enqueue_s}}.dump() << std::endl;
  }
}

nlohmann::json time_case(Loaded& l, const Settings& s, double rate) {
  auto j = facts_of(l);
  const auto t = measure([&](std::int64_t n) { return l.run_batch(n); }, s.seconds);
  const double floor_ms = l.bench().bytes / rate * 1e3;
  j.update({{"ms", t.median}, {"ms_min", t.least}, {"ms_p90", t.p90}, {"calls", t.calls}, {"enqueue_ms", 1e3 * l.enqueue_s}, {"memory_floor_ms", floor_ms}, {"over_floor", t.median / floor_ms}, {"gb_per_s", l.bench().bytes / t.median / 1e6}});
  if (l.bench().flops > 0) j["tflop_per_s"] = l.bench().flops / t.median / 1e9;
  return j;
}

void print_row(const nlohmann::json& j) {
  const auto number = [&](const char* name) { return j.value(name, 0.0); };
  std::cout << fmt::format("{:32} {:10.4f} {:10.4f} {:8.2f} {:9.1f} {:8} {:9.1f} {:7}\n", j["case"].get<std::string>(), number("ms"), number("ms_min"), number("over_floor"), number("gb_per_s"), j.contains("tflop_per_s") ? fmt::format("{:.2f}", number("tflop_per_s")) : "-", 1e3 * number("compile_s"), j["kernels"].get<int>()) << std::flush;
}

po::options_description bench_options() {
  po::options_description o("options");
  auto add = o.add_options();
  add("target", po::value<std::string>()->default_value("cpu"), "cpu, cuda");
  add("contract", po::value<std::string>()->default_value("relaxed"), "strict, relaxed or fast");
  add("dim", po::value<Words>()->composing(), "NAME=SIZE of a named dimension, in place of what the program states");
  add("seconds", po::value<double>()->default_value(0.5), "measured time a case");
  add("threads", po::value<int>()->default_value(0), "0: all cores");
  add("list", "name the benchmarks and stop");
  add("json", "one JSON object");
  add("serve", "one CASE: for each line on standard input, a number of seconds, measure so long and print the times");
  add("case", po::value<Words>(), "benchmarks by name, .plumb files; all benchmarks when none is named");
  return o;
}

Settings settings_from(const po::variables_map& given) {
  Settings s;
  s.target = given["target"].as<std::string>();
  s.contract = contract_from(given);
  s.threads = given["threads"].as<int>();
  s.seconds = given["seconds"].as<double>();
  s.dims = dims_from(given);
  if (s.threads < 0 || s.threads > 1024) fail_input("--threads takes 0 to 1024");
  if (!(s.seconds > 0 && s.seconds <= 600)) fail_input("--seconds takes a number above 0, at most 600");
  return s;
}

}  // namespace

int bench_command(const Args& args) {
  po::positional_options_description positional;
  positional.add("case", -1);
  po::variables_map given;
  if (!parse_options(command("bench"), args, bench_options(), positional, given)) return 0;
  const auto s = settings_from(given);
  if (given.count("list")) {
    for (const auto& [name, what] : bench_cases(s.target)) std::cout << fmt::format("{:32} {}\n", name, what);
    return 0;
  }
  Words words = given.count("case") ? given["case"].as<Words>() : Words{};
  if (given.count("serve") && words.size() != 1) fail_input("--serve takes one CASE");
  const auto backend = make_target(s.target, s.threads);
  if (!backend) fail_input("plumb bench times compiled programs; reference compiles nothing: give --target cpu or cuda");
  if (given.count("serve")) {
    Loaded l(bench_case(words[0], s.target, s.dims), s, backend);
    serve(l, std::cin);
    return 0;
  }
  if (words.empty())
    for (const auto& [name, what] : bench_cases(s.target)) words.push_back(name);
  std::vector<BenchCase> cases;   // all of them are read before the first is timed
  for (const auto& w : words) cases.push_back(bench_case(w, s.target, s.dims));
  const double rate = copy_rate(*backend, s.threads);
  nlohmann::json report{{"target", s.target}, {"device", backend->description()}, {"contract", std::string(name(s.contract))}, {"copy_gb_per_s", rate / 1e9}, {"cases", nlohmann::json::array()}};
  const bool json = given.count("json") > 0;
  if (!json) std::cout << fmt::format("{}; copies {:.1f} GB/s\n{:32} {:>10} {:>10} {:>8} {:>9} {:>8} {:>9} {:>7}\n", backend->description(), rate / 1e9, "case", "ms", "least", "x floor", "GB/s", "TFLOP/s", "load ms", "kernels");
  for (auto& c : cases) {
    Loaded l(std::move(c), s, backend);
    report["cases"].push_back(time_case(l, s, rate));
    if (!json) print_row(report["cases"].back());
  }
  if (json) std::cout << report.dump(1) << "\n";
  return 0;
}

}  // namespace plumb::tools
