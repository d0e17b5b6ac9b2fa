#include "lowering/autodiff/rules.h"

#include <map>

namespace plumb::lowering::autodiff {

const Rule* find_rule(std::string_view op) {
  static const auto rules = [] {
    std::map<std::string_view, const Rule*> all;
    for (auto list : {view_rules(), reduce_rules(), scan_rules(), index_rules(), window_rules(), contract_rules(), composite_rules(), matrix_rules()})
      for (const auto& rule : list) all.emplace(rule.op, &rule);
    return all;
  }();
  const auto it = rules.find(op);
  return it == rules.end() ? nullptr : it->second;
}

}  // namespace plumb::lowering::autodiff
