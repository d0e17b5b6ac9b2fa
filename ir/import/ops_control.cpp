// If and Loop.
//
// An If whose condition is known is the branch itself. Else both branches become functions. A branch that does not fit
// the input types, or branches whose results differ in type, leave one way: the condition's inputs are fixed
// (value specialisation, see onnx.h).
// A Loop whose trip count is known is unrolled; another becomes a while over (iteration, condition, carried values…).
#include <limits>
#include <memory>

#include "ir/import/families.h"
#include "ir/tensor/op_table.h"

namespace plumb::ir::onnx_import {
namespace {

constexpr std::int64_t most_unrolled = 1024;

Scope inside(Scope& around, FunctionBuild& fn) { return Scope{fn, &around, around.opsets, around.caller, around.defaults, {}, {}}; }

/// A condition as bool[].
ValueId condition_of(const NodeImport& n, Builder& b, ValueId v) {
  const Type t = b.type(v);
  if (!is_bool(t.dtype) || t.elements() != 1) n.fail("the condition must be one bool, not " + t.str());
  return b.reshape(v, {});
}

std::vector<Type> types_of(const FunctionBuild& fn, std::span<const ValueId> values) {
  std::vector<Type> types;
  for (auto v : values) types.push_back(fn.b.type(v));
  return types;
}

struct Branch {
  std::unique_ptr<FunctionBuild> fn;
  std::vector<ValueId> results;
};
Branch build_branch(NodeImport& n, const char* attribute) {
  Branch branch{std::make_unique<FunctionBuild>(n.importer.fresh_name(std::string("if_") + (attribute[0] == 't' ? "then" : "else")), &n.scope.fn), {}};
  branch.fn->b.at(n.where);
  Scope scope = inside(n.scope, *branch.fn);
  branch.results = n.importer.graph(n.subgraph(attribute), scope);
  return branch;
}
/// The same error, saying also why the branch was looked at.
[[noreturn]] void rethrow_with(const Error& e, const std::string& more) {
  std::string message = e.what();
  if (e.where().known()) message.erase(0, e.where().str().size() + 2);
  throw Error(e.kind(), message + more, e.where());
}
/// Both branches; on an error in one, first the chance that fixing inputs spares it.
std::pair<Branch, Branch> build_branches(NodeImport& n, ValueId condition) {
  try {
    Branch yes = build_branch(n, "then_branch");
    return {std::move(yes), build_branch(n, "else_branch")};
  } catch (const Error& e) {
    n.importer.fix_inputs_of(n.scope.fn, condition);
    rethrow_with(e, " (in a branch whose condition is not known at import: " + n.importer.why_unknown(n.scope.fn, condition) + ")");
  }
}

/// The union of what two functions capture, in the first one's order and then the second's.
std::vector<ValueId> share_captures(FunctionBuild& x, FunctionBuild& y) {
  std::vector<ValueId> all = x.captures;
  for (auto v : y.captures)
    if (std::find(all.begin(), all.end(), v) == all.end()) all.push_back(v);
  x.adopt(all);
  y.adopt(all);
  return all;
}

void give(NodeImport& n, std::span<const ValueId> values) {
  if (values.size() != n.output_count()) n.fail("has " + std::to_string(n.output_count()) + " outputs; the subgraph gives " + std::to_string(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) n.out(i, values[i]);
}

void if_node(NodeImport& n) {
  const auto condition = condition_of(n, n.b, n.in(0));
  if (const auto* known = n.known(condition)) {
    Scope scope = inside(n.scope, n.scope.fn);
    return give(n, n.importer.graph(n.subgraph(known->int_at(0) != 0 ? "then_branch" : "else_branch"), scope));
  }
  auto [yes, no] = build_branches(n, condition);
  const auto types = types_of(*yes.fn, yes.results);
  if (types != types_of(*no.fn, no.results)) {
    n.importer.fix_inputs_of(n.scope.fn, condition);
    n.unsupported("the branches' results differ in type, and the condition is not known at import: " + n.importer.why_unknown(n.scope.fn, condition));
  }
  std::vector<ValueId> operands{condition};
  for (auto v : share_captures(*yes.fn, *no.fn)) operands.push_back(v);
  const auto results = n.b.add_typed(op("if"), operands, attrs({{"then", yes.fn->function.name}, {"else", no.fn->function.name}}), types);
  n.importer.keep(tidy(*yes.fn, yes.results));
  n.importer.keep(tidy(*no.fn, no.results));
  give(n, results);
}

struct LoopParts {
  const ::onnx::GraphProto& body;
  std::vector<std::string> inputs;  ///< iteration, condition, carried…
  std::size_t carried, scanned;
};

/// One run of the body in a function; gives the body's outputs: condition, carried…, scanned….
std::vector<ValueId> run_body(NodeImport& n, const LoopParts& p, FunctionBuild& fn, ValueId iteration, ValueId condition, std::span<const ValueId> carried) {
  Scope scope = inside(n.scope, fn);
  n.importer.bind(scope, p.inputs[0], iteration, n.where);
  n.importer.bind(scope, p.inputs[1], condition, n.where);
  for (std::size_t k = 0; k < carried.size(); ++k) n.importer.bind(scope, p.inputs[k + 2], carried[k], n.where);
  auto results = n.importer.graph(p.body, scope);
  if (results.size() != 1 + p.carried + p.scanned) n.fail("the body gives " + std::to_string(results.size()) + " values");
  results[0] = condition_of(n, fn.b, results[0]);
  return results;
}

ValueId iteration_number(Builder& b, std::int64_t i) {
  Literal l(Type{DType::i64, {}});
  *l.mutable_data<std::int64_t>() = i;
  return b.constant(l);
}

/// False when an iteration's condition is not known: the loop must then become a while.
bool unroll(NodeImport& n, const LoopParts& p, std::optional<std::int64_t> trips) {
  std::vector<ValueId> carried;
  for (std::size_t k = 0; k < p.carried; ++k) carried.push_back(n.in(k + 2));
  std::vector<std::vector<ValueId>> scanned(p.scanned);
  ValueId condition = n.has(1) ? condition_of(n, n.b, n.in(1)) : n.b.scalar(DType::boolean, 1);
  for (std::int64_t i = 0; !trips || i < *trips; ++i) {
    const auto* known = n.known(condition);
    if (!known && p.scanned != 0) n.need(condition, "the condition of a loop with scan outputs");
    if (!known) return false;
    if (known->int_at(0) == 0) break;
    if (i >= most_unrolled) return false;
    const auto r = run_body(n, p, n.scope.fn, iteration_number(n.b, i), condition, carried);
    condition = r[0];
    carried.assign(r.begin() + 1, r.begin() + 1 + static_cast<std::ptrdiff_t>(p.carried));
    for (std::size_t k = 0; k < p.scanned; ++k) scanned[k].push_back(r[1 + p.carried + k]);
  }
  for (std::size_t k = 0; k < p.scanned; ++k) {
    if (scanned[k].empty()) n.unsupported("a scan output of no iteration: its shape is not known");
    for (auto& v : scanned[k]) {
      Shape s{1};
      for (const auto& d : Shape(n.type(v).shape)) s.push_back(d);
      v = n.b.reshape(v, s);
    }
    carried.push_back(n.concat(scanned[k], 0));
  }
  give(n, carried);
  return true;
}

/// while (iteration < trips and condition): operands are iteration, trips, condition, carried…, captures….
void as_while(NodeImport& n, const LoopParts& p) {
  if (p.scanned != 0) n.unsupported("scan outputs of a loop whose trip count is not known");
  FunctionBuild body(n.importer.fresh_name("loop_body"), &n.scope.fn), cond(n.importer.fresh_name("loop_condition"), &n.scope.fn);
  std::vector<ValueId> operands{iteration_number(n.b, 0), n.has(0) ? n.b.reshape(n.in(0), {}) : iteration_number(n.b, std::numeric_limits<std::int64_t>::max()),
                                n.has(1) ? condition_of(n, n.b, n.in(1)) : n.b.scalar(DType::boolean, 1)};
  for (std::size_t k = 0; k < p.carried; ++k) operands.push_back(n.in(k + 2));
  const auto types = types_of(n.scope.fn, operands);
  std::vector<ValueId> inner, outer;
  for (std::size_t k = 0; k < types.size(); ++k) {
    inner.push_back(body.b.param(types[k]));
    outer.push_back(cond.b.param(types[k]));
  }
  for (auto* f : {&body, &cond}) f->b.at(n.where);
  auto results = run_body(n, p, body, inner[0], inner[2], std::span(inner).subspan(3));
  for (std::size_t k = 0; k < p.carried; ++k)
    if (body.b.type(results[k + 1]) != types[k + 3]) n.unsupported("carried value " + std::to_string(k) + " changes its type from " + types[k + 3].str() + " to " + body.b.type(results[k + 1]).str());
  const auto next = body.b.op("add", {inner[0], body.b.scalar(DType::i64, 1)});
  results.insert(results.begin(), {next, inner[1]});
  const ValueId goes_on[] = {cond.b.op("and", {cond.b.op("lt", {outer[0], outer[1]}), outer[2]})};
  for (auto v : share_captures(body, cond)) {
    operands.push_back(v);
    results.push_back(body.inner_of.at(v));
  }
  const auto all = n.b.add("while", operands, attrs({{"cond", cond.function.name}, {"body", body.function.name}}));
  n.importer.keep(tidy(body, results));
  n.importer.keep(tidy(cond, goes_on));
  give(n, std::span(all).subspan(3, p.carried));
}

void loop(NodeImport& n) {
  const auto carried = n.input_count() > 2 ? n.input_count() - 2 : 0;
  if (n.output_count() < carried) n.fail("has fewer outputs than carried values");
  LoopParts p{n.subgraph("body"), n.subgraph_inputs("body"), carried, n.output_count() - carried};
  if (p.inputs.size() != 2 + carried) n.fail("the body takes " + std::to_string(p.inputs.size()) + " values, not " + std::to_string(2 + carried));
  std::optional<std::int64_t> trips;
  if (n.has(0)) {
    if (n.type_in(0).dtype != DType::i64 || n.type_in(0).elements() != 1) n.fail("the trip count must be one i64, not " + n.type_in(0).str());
    if (p.scanned != 0) n.need(n.in(0), "the trip count of a loop with scan outputs");
    if (const auto* l = n.known(n.in(0))) trips = l->int_at(0);
    else return as_while(n, p);
  }
  if (!unroll(n, p, trips)) as_while(n, p);
}

constexpr OpEntry entries[] = {{"If", 1, 1, if_node}, {"Loop", 0, any_number, loop}};
}  // namespace
std::span<const OpEntry> control_family() { return entries; }
}  // namespace plumb::ir::onnx_import
