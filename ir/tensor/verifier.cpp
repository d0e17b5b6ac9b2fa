// Invariants of a module, each checked here:
//  names      functions have names of their own; values have names of their own within a function
//  order      an operand is a parameter or the result of an earlier node; results are defined
//  types      each node's operand count, attributes and types are those that its record infers
//  control    functions named by if and while exist, take the operands' types and give the results'; none calls itself
#include <set>

#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

namespace plumb::ir {
namespace {

std::vector<Type> types_of(const Function& f, std::span<const ValueId> values) {
  std::vector<Type> r;
  for (auto v : values) r.push_back(f.type(v));
  return r;
}

const Function& callee(const Module& m, const Node& n, std::string_view attr) {
  const auto& name = n.attrs.get<std::string>(attr);
  if (const auto* f = m.find(name)) return *f;
  fail_input("there is no function @" + name, n.where);
}

void expect_signature(const Function& f, const std::vector<Type>& params, const std::vector<Type>& results, const Node& n) {
  if (types_of(f, f.params) != params) fail_input("@" + f.name + " does not take the operands of the " + std::string(name(n)) + " that names it", n.where);
  if (types_of(f, f.results) != results) fail_input("@" + f.name + " does not give the results of the " + std::string(name(n)) + " that names it", n.where);
}

void verify_control(const Module& m, const Function& f, const Node& n) {
  const auto operands = types_of(f, n.operands), results = types_of(f, n.results);
  if (name(n) == "if") {
    if (operands.empty() || operands[0] != Type{DType::boolean, {}}) fail_input("if: C1: the condition must be bool[]", n.where);
    const std::vector<Type> rest(operands.begin() + 1, operands.end());
    expect_signature(callee(m, n, "then"), rest, results, n);
    expect_signature(callee(m, n, "else"), rest, results, n);
  } else {
    expect_signature(callee(m, n, "cond"), operands, {Type{DType::boolean, {}}}, n);
    expect_signature(callee(m, n, "body"), operands, results, n);
  }
}

void verify_node(const Module& m, const Function& f, const Node& n) {
  AttrMap attrs = n.attrs;
  if (auto wrong = complete_attrs(n.op, attrs)) fail_input(std::string(name(n)) + " " + *wrong, n.where);
  if (row(n.op).op_class == OpClass::control) return verify_control(m, f, n);
  auto inferred = infer(n.op, types_of(f, n.operands), attrs);
  if (auto* why = std::get_if<std::string>(&inferred)) fail_input(std::string(name(n)) + ": " + *why, n.where);
  if (std::get<std::vector<Type>>(inferred) != types_of(f, n.results)) fail_input(std::string(name(n)) + ": the stated type is not the inferred one", n.where);
}

void verify_function(const Module& m, const Function& f) {
  std::vector<bool> defined(f.values.size(), false);
  std::set<std::string> names;
  auto define = [&](ValueId v) {
    require(v >= 0 && static_cast<std::size_t>(v) < f.values.size() && !defined[static_cast<std::size_t>(v)], "a value is defined once");
    defined[static_cast<std::size_t>(v)] = true;
    if (!names.insert(f.value(v).name).second) fail_input("%" + f.value(v).name + " names two values of @" + f.name);
  };
  auto use = [&](ValueId v, const SourceLocation& where) {
    if (v < 0 || static_cast<std::size_t>(v) >= f.values.size() || !defined[static_cast<std::size_t>(v)]) fail_input("a value is used before its definition", where);
  };
  for (auto v : f.params) define(v);
  for (const auto& n : f.nodes) {
    for (auto v : n.operands) use(v, n.where);
    verify_node(m, f, n);
    for (auto v : n.results) define(v);
  }
  for (auto v : f.results) use(v, {});
}

void refuse_recursion(const Module& m, const Function& f, std::set<std::string>& open, std::set<std::string>& done) {
  if (done.count(f.name)) return;
  if (!open.insert(f.name).second) fail_input("@" + f.name + " calls itself through if or while");
  for (const auto& n : f.nodes)
    if (row(n.op).op_class == OpClass::control)
      for (const auto& spec : attr_specs(n.op)) refuse_recursion(m, callee(m, n, spec.name), open, done);
  open.erase(f.name);
  done.insert(f.name);
}

}  // namespace

void verify(const Module& m) {
  std::set<std::string> names, open, done;
  if (m.functions.empty()) fail_input("the module has no function");
  for (const auto& f : m.functions) {
    if (!names.insert(f.name).second) fail_input("function @" + f.name + " is defined twice");
    verify_function(m, f);
  }
  for (const auto& f : m.functions) refuse_recursion(m, f, open, done);
}

}  // namespace plumb::ir
