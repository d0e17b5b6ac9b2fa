// plumb ops: the operations, from their records.
#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "ir/tensor/op_table.h"
#include "tools/cli.h"

namespace plumb::tools {
namespace {

constexpr std::array class_names{"elementwise", "convert", "select", "source", "view", "gather", "scatter", "reduce", "arg_reduce", "window", "scan", "sort", "contract", "control", "composite", "complex", "library"};
static_assert(class_names.size() == static_cast<std::size_t>(ir::OpClass::library) + 1);
constexpr std::array kind_names{"boolean", "integer", "real", "text", "integers", "reals", "shape", "dtype", "literal"};

/// Up to the first full stop that ends a sentence.
std::string first_sentence(std::string_view doc) {
  for (std::size_t i = 0; i + 1 < doc.size(); ++i)
    if (doc[i] == '.' && doc[i + 1] == ' ') return std::string(doc.substr(0, i + 1));
  return std::string(doc);
}

nlohmann::json operands_of(const ir::OpRow& r) {
  nlohmann::json names = nlohmann::json::array();
  for (std::size_t at = 0; at < r.operands.size();) {
    const auto comma = std::min(r.operands.find(", ", at), r.operands.size());
    names.push_back(r.operands.substr(at, comma - at));
    at = comma + 2;
  }
  return names;
}

nlohmann::json described(ir::OpCode op) {
  const auto& r = ir::row(op);
  nlohmann::json attrs = nlohmann::json::array();
  for (const auto& a : ir::attr_specs(op)) {
    nlohmann::json one{{"name", a.name}, {"kind", kind_names.at(static_cast<std::size_t>(a.kind))}};
    if (!a.fallback.empty()) one["default"] = a.fallback;
    attrs.push_back(one);
  }
  return {{"name", r.name}, {"class", class_names.at(static_cast<std::size_t>(r.op_class))}, {"operands", operands_of(r)}, {"attributes", attrs}, {"doc", first_sentence(r.doc)}};
}

std::string line(const nlohmann::json& op) {
  std::string operands, attrs;
  for (const auto& o : op["operands"]) operands += (operands.empty() ? "" : ", ") + o.get<std::string>();
  for (const auto& a : op["attributes"]) attrs += (attrs.empty() ? "" : ", ") + a["name"].get<std::string>() + (a.contains("default") ? "=" + a["default"].get<std::string>() : "");
  return op["name"].get<std::string>() + "(" + operands + ")" + (attrs.empty() ? "" : " {" + attrs + "}") + "   " + op["class"].get<std::string>() + ": " + op["doc"].get<std::string>();
}

}  // namespace

int ops_command(const Args& args) {
  po::options_description options("options");
  options.add_options()("json", "one JSON array");
  po::variables_map given;
  if (!parse_options(command("ops"), args, options, {}, given)) return 0;
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t k = 0; k < ir::op_count(); ++k) all.push_back(described(static_cast<ir::OpCode>(k)));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a["name"] < b["name"]; });
  if (given.count("json")) {
    std::cout << all.dump() << "\n";
    return 0;
  }
  for (const auto& op : all) std::cout << line(op) << "\n";
  return 0;
}

}  // namespace plumb::tools
