#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/cli.h"
#include "verify/simt_target.h"

namespace plumb::tools {

std::shared_ptr<backends::Backend> make_target(const std::string& name, int threads) {
  if (name == "reference") return nullptr;
  if (name == "cpu") return backends::make_cpu_backend({threads, 0});
  const auto family = name.substr(0, name.find(':'));
  if (name == "simt") return verify::make_simt_backend();
  if (family == "cuda" || family == "rocm" || family == "level_zero") fail_unsupported("target " + name + " is not in this version of plumb; plumb targets lists those that are");
  fail_input("there is no target '" + name + "'; targets are reference, cpu, simt, cuda, rocm[:gfxNNN], level_zero");
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
