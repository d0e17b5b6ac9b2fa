// What stands before and after the reverse pass: which values take part, composites taken apart, and tidying up.
#include <algorithm>

#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "lowering/autodiff/module.h"
#include "lowering/autodiff/rules.h"
#include "lowering/passes.h"

namespace plumb::lowering::autodiff {

using ir::Function;
using ir::Node;

std::vector<bool> active_values(const Function& f, const std::vector<bool>& wrt) {
  std::vector<bool> active(f.values.size(), false);
  for (std::size_t k = 0; k < wrt.size(); ++k) active[static_cast<std::size_t>(f.params[k])] = wrt[k];
  for (const auto& n : f.nodes) {
    const bool any = std::any_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return active[static_cast<std::size_t>(v)]; });
    for (auto v : n.results) active[static_cast<std::size_t>(v)] = any && is_float(f.type(v).dtype);
  }
  return active;
}

namespace {

bool served(const Node& n) {
  const auto* rule = find_rule(ir::name(n));
  return rule && (!rule->serves || rule->serves(n.attrs));
}

/// Copies f; an operation for which `instead` gives values is replaced by them. Parameters from `first` up to `end` become zeros.
template <class Instead> Function rewritten(const Function& f, Instead instead, std::size_t first = 0, std::size_t end = 0) {
  Function out;
  out.name = f.name;
  ir::Builder b(out);
  std::vector<ValueId> now(f.values.size(), -1);
  for (std::size_t k = 0; k < f.params.size(); ++k) {
    const auto& value = f.value(f.params[k]);
    now[static_cast<std::size_t>(f.params[k])] = first <= k && k < end ? Words{b}.zeros(value.type) : b.param(value.type, value.name);
  }
  for (const auto& n : f.nodes) {
    std::vector<ValueId> operands;
    for (auto v : n.operands) operands.push_back(now[static_cast<std::size_t>(v)]);
    b.at(n.where);
    auto results = instead(b, n, operands);
    if (results.empty()) {
      std::vector<ir::Type> types;
      for (auto v : n.results) types.push_back(f.type(v));
      results = b.add_typed(n.op, operands, n.attrs, types);
    }
    for (std::size_t k = 0; k < n.results.size(); ++k) now[static_cast<std::size_t>(n.results[k])] = results[k];
  }
  std::vector<ValueId> results;
  for (auto v : f.results) results.push_back(now[static_cast<std::size_t>(v)]);
  b.results(results);
  return out;
}

/// A conversion back of what was widened: the value before. (Narrowing first would have rounded it.)
std::vector<ValueId> there_and_back(ir::Builder& b, const Node& n, const std::vector<ValueId>& in) {
  if (ir::name(n) != "convert") return {};
  const auto& f = b.function();
  const auto at = f.value(in[0]).node;
  if (at < 0 || ir::name(f.nodes[static_cast<std::size_t>(at)]) != "convert") return {};
  const auto before = f.nodes[static_cast<std::size_t>(at)].operands[0];
  const auto narrow = f.type(before).dtype, wide = f.type(in[0]).dtype;
  const bool widened = is_narrow_float(narrow) && (wide == DType::f32 || wide == DType::f64);
  return widened && narrow == n.attrs.get<DType>("dtype") ? std::vector{before} : std::vector<ValueId>{};
}

}  // namespace

Function expanded(const Function& f, const std::vector<bool>& wrt) {
  Function now = f;
  for (bool again = true; again;) {
    again = false;
    const auto active = active_values(now, wrt);
    now = rewritten(now, [&](ir::Builder& b, const Node& n, const std::vector<ValueId>& in) -> std::vector<ValueId> {
      const bool takes_part = std::any_of(n.results.begin(), n.results.end(), [&](ValueId v) { return active[static_cast<std::size_t>(v)]; });
      if (!takes_part || !ir::is_composite(n.op) || served(n)) return {};
      again = true;
      return ir::decompose(n.op, b, in, n.attrs);
    });
  }
  return now;
}

Function zeroed(const Function& f, std::size_t first, std::size_t count) {
  return rewritten(f, [](ir::Builder&, const Node&, const std::vector<ValueId>&) { return std::vector<ValueId>{}; }, first, first + count);
}

Function tidied(Function f) {
  f = share_common(simplify(remove_dead(f)));
  return remove_dead(simplify(rewritten(f, &there_and_back)));
}

std::vector<bool> floats(const Function& f, const std::vector<ValueId>& values) {
  std::vector<bool> r;
  for (auto v : values) r.push_back(is_float(f.type(v).dtype));
  return r;
}

std::string fresh_name(const ir::Module& module, const std::string& wish) {
  std::string name = wish;
  for (int k = 2; module.find(name); ++k) name = wish + "_" + std::to_string(k);
  return name;
}

}  // namespace plumb::lowering::autodiff
