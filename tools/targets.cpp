#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/cli.h"
#include "verify/simt_target.h"

namespace plumb::tools {

namespace {

/// N of cuda:N; 0 of cuda alone.
int device_number(const std::string& name) {
  const auto colon = name.find(':');
  if (colon == std::string::npos) return 0;
  int n = -1;
  const auto* end = name.data() + name.size();
  if (const auto r = std::from_chars(name.data() + colon + 1, end, n); r.ec != std::errc() || r.ptr != end || n < 0) fail_input("'" + name + "': a device is cuda:N, N from 0 on");
  return n;
}

}  // namespace

std::shared_ptr<backends::Backend> make_target(const std::string& name, int threads) {
  if (name == "reference") return nullptr;
  if (name == "cpu") return backends::make_cpu_backend({threads, 0});
  const auto family = name.substr(0, name.find(':'));
  if (name == "simt") return verify::make_simt_backend();
  if (family == "cuda") return backends::make_cuda_backend(device_number(name));
  if (family == "rocm" || family == "level_zero") fail_unsupported("target " + name + " is not in this version of plumb; plumb targets lists those that are");
  fail_input("there is no target '" + name + "'; targets are reference, cpu, simt, cuda[:N], rocm[:gfxNNN], level_zero");
}

int targets_command(const Args& args) {
  po::options_description options("options");
  options.add_options()("json", "one JSON array");
  po::variables_map given;
  if (!parse_options(command("targets"), args, options, {}, given)) return 0;
  nlohmann::json all = nlohmann::json::array();
  for (const char* name : {"reference", "cpu", "simt", "cuda", "rocm", "level_zero"}) {
    nlohmann::json t{{"name", name}, {"available", true}};
    if (std::string(name) == "reference") t["description"] = "the interpreter: every operation correctly rounded";
    else try {
        t["description"] = make_target(name, 0)->description();
      } catch (const Error& e) {
        t["available"] = false;
        t["description"] = e.what();
      }
    all.push_back(t);
  }
  if (given.count("json")) {
    std::cout << all.dump() << "\n";
    return 0;
  }
  for (const auto& t : all) {
    const auto name = t["name"].get<std::string>();
    std::cout << name << std::string(12 - name.size(), ' ') << (t["available"].get<bool>() ? "yes  " : "no   ") << t["description"].get<std::string>() << "\n";
  }
  return 0;
}

}  // namespace plumb::tools
