// plumb prove --functions: elementary functions on the cpu target against the reference.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "ir/files/files.h"
#include "tools/cli.h"
#include "verify/functions.h"

namespace plumb::tools {
namespace {

nlohmann::json to_json(const verify::FunctionResult& r) {
  nlohmann::json j{{"function", std::string(plumb::row(r.fn).name)}, {"dtype", std::string(name(r.dtype))}, {"inputs", r.inputs}, {"all", r.all}, {"strict_misrounded", r.misrounded},
                   {"relaxed_worst_ulp", r.worst_ulp}, {"relaxed_worst_at", fmt::format("{}", r.worst_at[0])}, {"relaxed_bound_ulp", plumb::row(r.fn).ulp}, {"relaxed_outside", r.beyond}, {"seconds", r.seconds}};
  if (plumb::row(r.fn).arity > 1) j["relaxed_worst_at"] = fmt::format("{}, {}", r.worst_at[0], r.worst_at[1]);
  return j;
}

void print(const verify::FunctionResult& r) {
  std::cout << fmt::format("{:8} {:8} {:>11} {:10} strict: {} misrounded{}; relaxed: at most {:.4f} ulp (bound {}) at {}{}  {:.1f} s\n", plumb::row(r.fn).name, name(r.dtype), r.inputs, r.all ? "(all)" : "(a part)", r.misrounded,
                           r.misrounded ? fmt::format(", first at {}", r.misrounded_at[0]) : "", r.worst_ulp, plumb::row(r.fn).ulp, r.worst_at[0], r.beyond ? fmt::format(", {} outside the enclosure", r.beyond) : "", r.seconds)
            << std::flush;
}

std::vector<FnId> functions_from(const po::variables_map& given) {
  if (!given.count("function")) return verify::elementary_functions();
  std::vector<FnId> r;
  for (const auto& wanted : given["function"].as<std::vector<std::string>>()) {
    const auto fn = fn_from_name(wanted);
    const auto all = verify::elementary_functions();
    if (!fn || std::find(all.begin(), all.end(), *fn) == all.end()) fail_input("--function takes an elementary function's name (exp, sin, …), not '" + wanted + "'");
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

}  // namespace

int prove_command(const Args& args) {
  po::options_description options("options");
  auto add = options.add_options();
  add("functions", "every elementary function against the reference: correctly rounded under strict, inside its bound under relaxed");
  add("function", po::value<std::vector<std::string>>()->composing(), "only this one (may be given again)");
  add("dtype", po::value<std::vector<std::string>>()->composing(), "only this dtype (may be given again)");
  add("inputs", po::value<std::int64_t>()->default_value(std::int64_t{1} << 20), "at most so many arguments each, spread over the bit patterns; 0: all 2^32 of f32 (minutes a function)");
  add("seed", po::value<std::uint64_t>()->default_value(1), "of pairs, and of f64");
  add("threads", po::value<int>()->default_value(0), "0: all cores");
  add("out", po::value<std::string>(), "results as JSON");
  po::variables_map given;
  if (!parse_options(command("prove"), args, options, {}, given)) return 0;
  if (!given.count("functions")) fail_unsupported("this version proves --functions; rules and kernels come later");
  const auto inputs = given["inputs"].as<std::int64_t>();
  const int threads = given["threads"].as<int>();
  if (inputs < 0) fail_input("--inputs takes 0 or more");
  if (threads < 0 || threads > 1024) fail_input("--threads takes 0 to 1024");
  const verify::FunctionOptions base{backends::make_cpu_backend({1, 0}), inputs, threads ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())), given["seed"].as<std::uint64_t>()};
  nlohmann::json all = nlohmann::json::array();
  std::int64_t count = 0, wrong = 0;
  for (FnId fn : functions_from(given))
    for (DType t : dtypes_from(given)) {
      auto o = base;
      const bool enumerable = plumb::row(fn).arity == 1 && byte_size(t) <= 4;
      if (enumerable && byte_size(t) <= 2) o.inputs = 0;
      if (!enumerable && inputs == 0) o.inputs = std::int64_t{1} << 20;
      const auto r = verify::check_function(fn, t, o);
      print(r);
      all.push_back(to_json(r));
      if (given.count("out")) ir::write_file(given["out"].as<std::string>(), all.dump(1) + "\n");
      count += r.inputs;
      wrong += !r.right();
    }
  std::cout << fmt::format("{} of {} function and dtype pairs right; {} arguments\n", all.size() - static_cast<std::size_t>(wrong), all.size(), count);
  return wrong ? 1 : 0;
}

}  // namespace plumb::tools
