#include "ir/tensor/graph.h"

namespace plumb::ir {

const Function* Module::find(std::string_view name) const {
  for (const auto& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

const Function& Module::entry() const {
  if (const auto* main = find("main")) return *main;
  if (functions.empty()) fail_input("the module has no function");
  return functions.front();
}

std::vector<int> use_counts(const Function& f) {
  std::vector<int> uses(f.values.size(), 0);
  for (const auto& n : f.nodes)
    for (auto v : n.operands) ++uses[static_cast<std::size_t>(v)];
  for (auto v : f.results) ++uses[static_cast<std::size_t>(v)];
  return uses;
}

}  // namespace plumb::ir
