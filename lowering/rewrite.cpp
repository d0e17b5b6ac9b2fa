// Function-to-function passes: decompose, simplify, share, remove.
#include <map>

#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"
#include "lowering/passes.h"

namespace plumb::lowering {
namespace {

using ir::Function;
using ir::Node;
using ir::ValueId;

/// Copies a function node by node; a pass says for each node what stands for its results.
class Rewriter {
 public:
  explicit Rewriter(const Function& f) : old_(f), b_(out_), map_(f.values.size(), -1) {
    out_.name = f.name;
    out_.result_names = f.result_names;
    out_.result_sizes = f.result_sizes;
    for (auto v : f.params) map_[static_cast<std::size_t>(v)] = b_.param(f.type(v), f.value(v).name);
  }
  ValueId now(ValueId v) const { return map_[static_cast<std::size_t>(v)]; }
  std::vector<ValueId> operands(const Node& n) const {
    std::vector<ValueId> r;
    for (auto v : n.operands) r.push_back(now(v));
    return r;
  }
  void replace(const Node& n, std::span<const ValueId> by) {
    for (std::size_t i = 0; i < n.results.size(); ++i) map_[static_cast<std::size_t>(n.results[i])] = by[i];
  }
  void copy(const Node& n) {
    std::vector<ir::Type> types;
    for (auto v : n.results) types.push_back(old_.type(v));
    b_.at(n.where);
    replace(n, b_.add_typed(n.op, operands(n), n.attrs, types));
  }
  ir::Builder& builder() { return b_; }
  Function finish() {
    std::vector<ValueId> results;
    for (auto v : old_.results) results.push_back(now(v));
    b_.results(results);
    number_values();
    return std::move(out_);
  }

 private:
  /// Names by position: v0, v1, … cannot meet a parameter's.
  void number_values() {
    std::map<std::string, int> taken;
    for (auto v : out_.params) taken[out_.value(v).name] = 1;
    int next = 0;
    for (const auto& n : out_.nodes)
      for (auto v : n.results) {
        std::string name;
        do name = std::to_string(next++);
        while (taken.count(name));
        out_.values[static_cast<std::size_t>(v)].name = name;
      }
  }
  const Function& old_;
  Function out_;
  ir::Builder b_;
  std::vector<ValueId> map_;
};

bool has_composites(const Function& f) {
  for (const auto& n : f.nodes)
    if (ir::is_composite(n.op)) return true;
  return false;
}

bool identity_perm(const ir::Ints& p) {
  for (std::size_t k = 0; k < p.size(); ++k)
    if (p[k] != static_cast<std::int64_t>(k)) return false;
  return true;
}

}  // namespace

Function decompose(const Function& f) {
  Function now = f;
  while (has_composites(now)) {
    Rewriter r(now);
    for (const auto& n : now.nodes) {
      if (!ir::is_composite(n.op)) {
        r.copy(n);
        continue;
      }
      r.builder().at(n.where);
      r.replace(n, ir::decompose(n.op, r.builder(), r.operands(n), n.attrs));
    }
    now = r.finish();
  }
  return now;
}

Function simplify(const Function& f) {
  Rewriter r(f);
  for (const auto& n : f.nodes) {
    const auto op = ir::name(n);
    const bool same_type = n.operands.size() == 1 && n.results.size() == 1 && f.type(n.operands[0]) == f.type(n.results[0]);
    bool nothing = false;  // the operand itself
    if (op == "reshape" || op == "convert" || op == "broadcast") nothing = same_type;
    else if (op == "transpose") nothing = identity_perm(n.attrs.ints("perm"));
    else if (op == "slice" || op == "concat") nothing = same_type;
    else if (op == "reverse") nothing = n.attrs.ints("axes").empty();
    if (nothing) {
      const ValueId by[] = {r.now(n.operands[0])};
      r.replace(n, by);
      continue;
    }
    if (op == "reshape") {  // of a reshape: straight from the first
      const auto& now = r.builder().function();
      const auto from = r.now(n.operands[0]);
      const auto def = now.value(from).node;
      if (def >= 0 && ir::name(now.nodes[static_cast<std::size_t>(def)]) == "reshape") {
        const auto source = now.nodes[static_cast<std::size_t>(def)].operands[0];
        r.builder().at(n.where);
        const ValueId by[] = {r.builder().reshape(source, f.type(n.results[0]).shape)};
        r.replace(n, by);
        continue;
      }
    }
    r.copy(n);
  }
  return r.finish();
}

Function share_common(const Function& f) {
  Rewriter r(f);
  std::map<std::string, std::vector<ValueId>> seen;
  for (const auto& n : f.nodes) {
    std::string key = std::string(ir::name(n));
    for (auto v : r.operands(n)) key += "," + std::to_string(v);
    bool large = false;
    for (const auto& [name, value] : n.attrs.entries())
      if (auto* l = std::get_if<ir::Literal>(&value)) large = large || l->bytes() > 256;
    if (large || ir::row(n.op).op_class == ir::OpClass::control) {
      r.copy(n);
      continue;
    }
    key += ir::print_attributes(f, n) + f.type(n.results[0]).str();
    if (auto it = seen.find(key); it != seen.end()) {
      r.replace(n, it->second);
      continue;
    }
    r.copy(n);
    std::vector<ValueId> made;
    for (auto v : n.results) made.push_back(r.now(v));
    seen.emplace(std::move(key), std::move(made));
  }
  return r.finish();
}

Function remove_dead(const Function& f) {
  std::vector<bool> live(f.values.size(), false);
  for (auto v : f.results) live[static_cast<std::size_t>(v)] = true;
  for (std::size_t k = f.nodes.size(); k-- > 0;) {
    const auto& n = f.nodes[k];
    bool any = false;
    for (auto v : n.results) any = any || live[static_cast<std::size_t>(v)];
    if (any)
      for (auto v : n.operands) live[static_cast<std::size_t>(v)] = true;
  }
  Rewriter r(f);
  for (const auto& n : f.nodes)
    if (std::any_of(n.results.begin(), n.results.end(), [&](ValueId v) { return live[static_cast<std::size_t>(v)]; })) r.copy(n);
  return r.finish();
}

}  // namespace plumb::lowering
