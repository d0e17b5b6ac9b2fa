// Captures of functions under construction, and the tidying of finished ones.
#include <algorithm>
#include <set>

#include "ir/import/importer.h"
#include "ir/tensor/op_table.h"

namespace plumb::ir::onnx_import {

ValueId FunctionBuild::capture(ValueId outer_value) {
  if (auto it = inner_of.find(outer_value); it != inner_of.end()) return it->second;
  ValueId inner;
  if (const auto* l = outer->known.find(outer_value)) {
    inner = b.constant(*l);
  } else {
    inner = b.param(outer->b.type(outer_value));
    captures.push_back(outer_value);
  }
  inner_of.emplace(outer_value, inner);
  return inner;
}

void FunctionBuild::adopt(const std::vector<ValueId>& all_captures) {
  for (auto v : all_captures) capture(v);
  const auto own = function.params.size() - captures.size();
  std::vector<ValueId> params;
  const auto is_capture = [&](ValueId p) { return std::any_of(captures.begin(), captures.end(), [&](ValueId c) { return inner_of.at(c) == p; }); };
  for (auto p : function.params)
    if (!is_capture(p)) params.push_back(p);
  require(params.size() == own, "captures are parameters");
  for (auto v : all_captures) params.push_back(inner_of.at(v));
  function.params = std::move(params);
}

namespace {

/// Builds the tidied copy: live nodes only, in order.
class Tidier {
 public:
  explicit Tidier(FunctionBuild& build) : build_(build), from_(build.function), renumbered_(from_.values.size(), -1), live_(from_.values.size(), false) {}

  Function run(std::span<const ValueId> results) {
    mark(results);
    to_.name = from_.name;
    for (auto p : from_.params) to_.params.push_back(add_value(from_.value(p), from_.value(p).name, p));
    for (const auto& n : from_.nodes)
      if (is_live(n)) add_node(n);
    for (auto r : results) to_.results.push_back(renumbered_[static_cast<std::size_t>(r)]);
    return std::move(to_);
  }

 private:
  bool is_live(const Node& n) const {
    return std::any_of(n.results.begin(), n.results.end(), [&](ValueId v) { return live_[static_cast<std::size_t>(v)]; });
  }
  /// Known integers and bools (what is left of shape arithmetic) become constants; data keeps its operations.
  const Literal* as_constant(const Node& n) {
    const auto c = row(n.op).op_class;
    if (n.results.size() != 1 || c == OpClass::source || name(n) == "broadcast" || is_float(from_.type(n.results[0]).dtype)) return nullptr;
    return build_.known.find(n.results[0]);
  }
  void mark(std::span<const ValueId> results) {
    for (auto r : results) live_[static_cast<std::size_t>(r)] = true;
    for (auto n = from_.nodes.rbegin(); n != from_.nodes.rend(); ++n)
      if (is_live(*n) && !as_constant(*n))
        for (auto v : n->operands) live_[static_cast<std::size_t>(v)] = true;
  }
  ValueId add_value(const Value& v, std::string name, ValueId old) {
    const auto id = static_cast<ValueId>(to_.values.size());
    while (!names_.insert(name).second) name += "_";
    to_.values.push_back({v.type, std::move(name), -1});
    renumbered_[static_cast<std::size_t>(old)] = id;
    return id;
  }
  void add_node(const Node& n) {
    Node copy;
    copy.where = n.where;
    if (const auto* l = as_constant(n)) {
      copy.op = op("constant");
      copy.attrs.set("value", *l);
    } else {
      copy.op = n.op;
      copy.attrs = n.attrs;
      for (auto v : n.operands) copy.operands.push_back(renumbered_[static_cast<std::size_t>(v)]);
    }
    for (auto v : n.results) {
      const auto id = add_value(from_.value(v), std::to_string(to_.values.size()), v);
      to_.values[static_cast<std::size_t>(id)].node = static_cast<std::int32_t>(to_.nodes.size());
      copy.results.push_back(id);
    }
    to_.nodes.push_back(std::move(copy));
  }

  FunctionBuild& build_;
  const Function& from_;
  Function to_;
  std::vector<ValueId> renumbered_;
  std::vector<bool> live_;
  std::set<std::string> names_;
};

}  // namespace

Function tidy(FunctionBuild& build, std::span<const ValueId> results) { return Tidier(build).run(results); }

void drop_unreachable(std::vector<Function>& functions) {
  std::set<std::string> named{functions.front().name};
  // A function is finished before the one that names it, so callees stand anywhere: repeat until nothing is added.
  for (std::size_t before = 0; before != named.size();) {
    before = named.size();
    for (const auto& f : functions)
      if (named.contains(f.name))
        for (const auto& n : f.nodes)
          for (const auto& [key, value] : n.attrs.entries())
            if (const auto* callee = std::get_if<std::string>(&value)) named.insert(*callee);
  }
  std::erase_if(functions, [&](const Function& f) { return !named.contains(f.name); });
}

}  // namespace plumb::ir::onnx_import
