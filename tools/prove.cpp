// plumb prove --functions: elementary functions on a target against the reference.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <thread>

#include "tools/cli.h"
#include "tools/prove_results.h"

namespace plumb::tools {
namespace {

constexpr const char* how =
    "The compiled function runs on every argument. What it should give is had, for a stretch of f32 arguments, by one of:\n"
    "  constant    the function is monotone there and MPFR rounds it to the same number at both ends\n"
    "  polynomial  a Taylor polynomial with a proved bound on its error, where value - bound and value + bound round to the same number\n"
    "  reduced     sin, cos, tan of |x| >= 64: 128-bit integer reduction, a proved bound, the same test\n"
    "  MPFR        what is left; and NaN outside the function's domain\n"
    "at |x| for odd and even functions. Functions of two arguments: special pairs first, then random hard ones, each by a double within\n"
    "2^-46 and the same test, or MPFR. 8- and 16-bit arguments are all looked at always.\n";

std::string at(const verify::FunctionResult& r, const double (&x)[2]) { return plumb::row(r.fn).arity > 1 ? fmt::format("{}, {}", x[0], x[1]) : fmt::format("{}", x[0]); }

void print(const verify::FunctionResult& r) {
  std::cout << fmt::format("{:9} {:8} {:>11} {:10} strict: {} misrounded{}; relaxed: at most {:.4f} ulp{} (bound {}) at {}{}  {:.1f} s\n", plumb::row(r.fn).name, name(r.dtype), r.inputs,
                           r.all && r.inputs == r.total ? "(all)" : "(a part)", r.misrounded, r.misrounded ? ", first at " + at(r, r.misrounded_at) : "", r.worst_ulp,
                           r.dtype == DType::f64 ? " from the rounded answer" : "", plumb::row(r.fn).ulp, at(r, r.worst_at),
                           r.beyond ? fmt::format(", {} outside the enclosure, first at {}", r.beyond, at(r, r.beyond_at)) : "", r.seconds);
  const auto& by = r.by;
  if (by.constant + by.polynomial + by.reduced + by.exact + by.undefined)
    std::cout << fmt::format("          reference: {} constant, {} polynomial, {} reduced, {} undefined, {} by MPFR\n", by.constant, by.polynomial, by.reduced, by.undefined, by.exact);
  std::cout << std::flush;
}

std::vector<FnId> functions_from(const po::variables_map& given) {
  const auto all = verify::checked_functions();
  if (!given.count("function")) return all;
  std::vector<FnId> r;
  for (const auto& wanted : given["function"].as<std::vector<std::string>>()) {
    const auto fn = fn_from_name(wanted);
    if (!fn || std::find(all.begin(), all.end(), *fn) == all.end()) fail_input("--function takes an elementary function's name (exp, sin, pow, …) or sqrt, div, floor_div, remainder, fmod, not '" + wanted + "'");
    r.push_back(*fn);
  }
  return r;
}

std::vector<DType> dtypes_from(const po::variables_map& given) {
  if (!given.count("dtype")) return {DType::f8e4m3fn, DType::f8e5m2, DType::bf16, DType::f16, DType::f32};
  std::vector<DType> r;
  for (const auto& wanted : given["dtype"].as<std::vector<std::string>>()) {
    const auto t = dtype_from_name(wanted);
    if (!t || !is_float(*t)) fail_input("--dtype takes a float dtype, not '" + wanted + "'");
    r.push_back(*t);
  }
  return r;
}

/// I/N, 0 <= I < N.
std::pair<std::int64_t, std::int64_t> shard_from(const std::string& word) {
  std::int64_t i = 0, n = 0;
  const char* end = word.data() + word.size();
  const auto first = std::from_chars(word.data(), end, i);
  if (first.ec == std::errc{} && first.ptr != end && *first.ptr == '/') {
    const auto second = std::from_chars(first.ptr + 1, end, n);
    if (second.ec == std::errc{} && second.ptr == end && n >= 1 && n <= 65536 && i >= 0 && i < n) return {i, n};
  }
  fail_input("--shard takes I/N with I from 0 to N - 1, not '" + word + "'");
}

int merge(const po::variables_map& given) {
  if (!given.count("out")) fail_input("--merge needs --out FILE");
  ProofResults results;
  for (const auto& path : given["merge"].as<std::vector<std::string>>()) results.read(path, true);
  results.write(given["out"].as<std::string>());
  std::cout << fmt::format("{} rows, {} exhaustive, {} wrong\n", results.rows(), results.exhaustive(), results.wrong());
  return results.wrong() ? 1 : 0;
}

po::options_description described() {
  po::options_description options("options");
  auto add = options.add_options();
  add("functions", (std::string("functions against the reference: correctly rounded under strict, inside their bounds under relaxed. ") + how).c_str());
  add("function", po::value<std::vector<std::string>>()->composing(), "only this one (may be given again)");
  add("dtype", po::value<std::vector<std::string>>()->composing(), "only this dtype (may be given again)");
  add("inputs", po::value<std::int64_t>()->default_value(std::int64_t{1} << 20), "at most so many arguments each, spread over the bit patterns; 0: all 2^32 of f32 (about a minute of one core a function; sin, cos and tan 5 to 10), 2^20 pairs");
  add("shard", po::value<std::string>()->default_value("0/1"), "I/N: only the I-th of N equal parts of the arguments, from 0");
  add("seed", po::value<std::uint64_t>()->default_value(1), "of pairs, and of f64");
  add("threads", po::value<int>()->default_value(0), "0: all cores");
  add("target", po::value<std::string>()->default_value("cpu"), "the target whose functions are proved");
  add("vector-bits", po::value<int>()->default_value(0), "width of the code's vectors: 128, 256, 512; 0: the machine's; of cpu alone");
  add("out", po::value<std::string>(), "add the results to this JSON file");
  add("merge", po::value<std::vector<std::string>>()->multitoken(), "run nothing: join such files into --out");
  add("rules", "rewrite rules (not in this version)");
  add("program", po::value<std::string>(), "a program's kernels (not in this version)");
  return options;
}

}  // namespace

int prove_command(const Args& args) {
  const auto options = described();
  po::positional_options_description positional;
  positional.add("program", 1);
  po::variables_map given;
  if (!parse_options(command("prove"), args, options, positional, given)) return 0;
  if (given.count("rules") || given.count("program")) fail_unsupported("this version proves --functions alone; rules and kernels come later");
  if (!given.count("functions")) fail_input("what is to be proved? usage: plumb prove " + command("prove").synopsis);
  if (given.count("merge")) return merge(given);
  const auto inputs = given["inputs"].as<std::int64_t>();
  const int threads = given["threads"].as<int>(), vector_bits = given["vector-bits"].as<int>();
  if (inputs < 0) fail_input("--inputs takes 0 or more");
  if (threads < 0 || threads > 1024) fail_input("--threads takes 0 to 1024");
  if (vector_bits < 0 || vector_bits % 8) fail_input("--vector-bits takes 128, 256 or 512");
  const auto [shard, shards] = shard_from(given["shard"].as<std::string>());
  const auto word = given["target"].as<std::string>();
  const auto target = word == "cpu" ? backends::make_cpu_backend({1, vector_bits / 8}) : make_target(word, 1);
  if (!target) fail_input("the reference is what functions are proved against; --target takes one that compiles");
  const verify::FunctionOptions base{target, inputs, threads ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())), given["seed"].as<std::uint64_t>(), shard, shards};
  const auto description = target->description();
  const ProofContext context{description.substr(0, description.find(',')), target->facts().vector_bytes * 8, base.seed};
  ProofResults results;
  if (given.count("out")) results.read(given["out"].as<std::string>(), false);
  std::int64_t count = 0, pairs = 0, wrong = 0;
  for (FnId fn : functions_from(given))
    for (DType t : dtypes_from(given)) {
      auto o = base;
      const bool enumerable = plumb::row(fn).arity == 1 && byte_size(t) <= 4;
      if (enumerable && byte_size(t) <= 2) o.inputs = 0;
      if (!enumerable && inputs == 0) o.inputs = std::int64_t{1} << 20;
      const auto r = verify::check_function(fn, t, o);
      print(r);
      results.add(r, context);
      if (given.count("out")) results.write(given["out"].as<std::string>());
      count += r.inputs;
      ++pairs;
      wrong += !r.right();
    }
  std::cout << fmt::format("{} of {} function and dtype pairs right; {} arguments\n", pairs - wrong, pairs, count);
  return wrong ? 1 : 0;
}

}  // namespace plumb::tools
