#include "ir/import/importer.h"

#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <set>

#include "ir/import/changed_forms.h"
#include "ir/import/node.h"
#include "ir/import/parsed.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir::onnx_import {
namespace {
// More than any model has, less than memory holds: functions may call functions, and loops unroll.
constexpr std::size_t max_values = 4'000'000;
constexpr int max_call_depth = 64;
constexpr std::int64_t most_fixed = 64;  ///< elements of an input whose value may be fixed

/// Runs it; an error that names no place gets this one.
template <class Action> auto at_place(const SourceLocation& where, const std::string& what, Action action) {
  try {
    return action();
  } catch (const Error& e) {
    if (e.where().known()) throw;
    throw Error(e.kind(), what + ": " + e.what(), where);
  }
}

/// Field 11 of FunctionProto, attribute_proto, came with IR version 9; an older onnx.proto keeps it as an unknown field.
template <class Function> std::vector<::onnx::AttributeProto> default_attributes(const Function& f) {
  std::vector<::onnx::AttributeProto> all;
  if constexpr (requires { f.attribute_proto(); }) {
    all.assign(f.attribute_proto().begin(), f.attribute_proto().end());
  } else {
    const auto& unknown = f.unknown_fields();
    for (int i = 0; i < unknown.field_count(); ++i)
      if (const auto& field = unknown.field(i); field.number() == 11 && field.type() == ::google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
        all.emplace_back();
        if (!parse_message(all.back(), field.length_delimited())) fail_input("function '" + f.name() + "': an attribute's default cannot be read");
      }
  }
  return all;
}

std::string domain_of(const ::onnx::NodeProto& node) { return node.domain() == "ai.onnx" ? "" : node.domain(); }
}  // namespace

Importer::Importer(const OnnxModel::Parsed& model, std::span<const Type> types, std::span<const Literal* const> values, const std::vector<bool>& fixed)
    : model_(model), types_(types), values_(values), fixed_(fixed) {}

SourceLocation Importer::location(const ::onnx::NodeProto& node) const {
  std::string name = node.name();
  if (name.empty()) name = node.op_type() + (node.output_size() > 0 ? "(" + node.output(0) + ")" : "");
  return {model_.name + "#" + name, 0, 0};
}

Module Importer::run() {
  FunctionBuild main("main");
  Scope scope{main, nullptr, &model_.opsets, nullptr, nullptr, {}, {}};
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const auto v = main.b.param(types_[i], model_.inputs[i].name);
    bind(scope, model_.inputs[i].name, v, {model_.name, 0, 0});
    if (fixed_[i]) main.known.state(v, *values_[i]);
  }
  check_new_values(main.function, 0, {model_.name, 0, 0});
  auto results = graph(model_.proto.graph(), scope);
  std::vector<ResultSize> sizes;
  for (std::size_t k = 0; k < model_.outputs.size(); ++k)
    if (const auto it = main.padded.find(results[k]); it != main.padded.end()) {
      sizes.push_back({k, it->second.axis, results.size()});
      results.push_back(it->second.count);
    }
  functions_.insert(functions_.begin(), tidy(main, results));
  functions_.front().result_names = model_.outputs;
  functions_.front().result_sizes = std::move(sizes);
  drop_unreachable(functions_);
  return Module{std::move(functions_)};
}

std::vector<ValueId> Importer::graph(const ::onnx::GraphProto& g, Scope& scope) {
  if (g.sparse_initializer_size() > 0) fail_unsupported("sparse initialiser '" + g.sparse_initializer(0).values().name() + "'", {model_.name, 0, 0});
  for (const auto& t : g.initializer()) {
    const SourceLocation where{model_.name + "#" + t.name(), 0, 0};
    const auto first = scope.fn.function.values.size();
    scope.fn.b.at(where);
    const auto value = at_place(where, "tensor '" + t.name() + "'", [&] { return to_literal(t, model_.folder, where); });
    bind(scope, t.name(), scope.fn.b.constant(value), where);
    check_new_values(scope.fn.function, first, where);
  }
  for (const auto& n : g.node()) node(n, scope);
  std::vector<ValueId> results;
  for (const auto& o : g.output()) results.push_back(lookup(scope, o.name(), {model_.name + "#" + o.name(), 0, 0}));
  for (auto& v : results) {
    if (v < 0) fail_input("a graph's output is an input that was left out", {model_.name, 0, 0});
    if (scope.fn.outer) v = exact(scope.fn, v, {model_.name, 0, 0});  // only the model's own results may be larger than they are
  }
  return results;
}

void Importer::node(const ::onnx::NodeProto& node, Scope& scope) {
  const auto where = location(node);
  const auto domain = domain_of(node);
  auto version = scope.opsets->find(domain);
  if (version == scope.opsets->end()) {
    version = model_.opsets.find(domain);
    if (version == model_.opsets.end()) fail_input(node.op_type() + ": the model imports no opset of domain '" + domain + "'", where);
  }
  scope.fn.b.at(where);
  const auto first = scope.fn.function.values.size();
  NodeImport n(*this, scope, node, version->second, where);
  if (const auto f = model_.functions.find({domain, node.op_type()}); f != model_.functions.end()) {
    call(*f->second, n, scope);
  } else {
    const OpEntry* entry = domain.empty() ? find_entry(node.op_type()) : nullptr;
    if (!entry) n.unsupported("the operator is not supported (node '" + node.name() + "')");
    if (n.input_count() < entry->min_inputs || n.input_count() > entry->max_inputs) n.fail("has " + std::to_string(n.input_count()) + " inputs");
    check_form(n);
    at_place(where, node.op_type(), [&] { entry->build(n); });
  }
  check_new_values(scope.fn.function, first, where);
  for (std::size_t i = 0; i < n.output_count(); ++i) {
    if (!n.wants(i)) continue;
    const auto& name = node.output(static_cast<int>(i));
    if (n.results()[i] >= 0) bind(scope, name, n.results()[i], where);
    else scope.absent[name] = "output " + std::to_string(i) + " of " + node.op_type() + " (node '" + node.name() + "') is not supported";
  }
}

void Importer::call(const ::onnx::FunctionProto& f, NodeImport& n, Scope& scope) {
  if (call_depth_ >= max_call_depth) n.fail("model functions call each other more than " + std::to_string(max_call_depth) + " deep");
  if (n.input_count() > static_cast<std::size_t>(f.input_size())) n.fail("has " + std::to_string(n.input_count()) + " inputs; the model's function takes " + std::to_string(f.input_size()));
  const auto opsets = read_opsets(f.opset_import(), n.where);
  const auto defaults = default_attributes(f);
  Scope body{scope.fn, nullptr, &opsets, &n, &defaults, {}, {}};
  for (int i = 0; i < f.input_size(); ++i) bind(body, f.input(i), n.has(static_cast<std::size_t>(i)) ? n.in(static_cast<std::size_t>(i)) : -1, n.where);
  ++call_depth_;
  for (const auto& inner : f.node()) node(inner, body);
  --call_depth_;
  // An output that its node inside does not give is none of the call's, which is an error only where something reads it.
  for (int i = 0; i < f.output_size(); ++i)
    if (n.wants(static_cast<std::size_t>(i)) && !body.absent.contains(f.output(i))) n.out(static_cast<std::size_t>(i), lookup(body, f.output(i), n.where));
}

void Importer::check_new_values(const Function& f, std::size_t first, const SourceLocation& where) {
  values_made_ += f.values.size() - first + 1;  // one more: a node without a value takes time, too
  if (values_made_ > max_values) fail_unsupported("the model unrolls to more than " + std::to_string(max_values) + " operations", where);
  for (std::size_t v = first; v < f.values.size(); ++v) {
    const Type& t = f.values[v].type;
    for (const auto& d : t.shape)
      if (d.size() < 0 || d.size() > max_dim) fail_input("a tensor of type " + t.str() + " is too large", where);
    std::int64_t bytes = byte_size(t.dtype);
    for (const auto& d : t.shape)
      if (d.size() > 0 && __builtin_mul_overflow(bytes, d.size(), &bytes)) fail_input("a tensor of type " + t.str() + " is larger than 2^63 bytes", where);
  }
}

void Importer::bind(Scope& scope, const std::string& name, ValueId v, const SourceLocation& where) {
  if (name.empty()) fail_input("a value without a name", where);
  if (scope.absent.contains(name) || !scope.names.emplace(name, v).second) fail_input("the name '" + name + "' is given to two values", where);
}

ValueId Importer::lookup(Scope& scope, const std::string& name, const SourceLocation& where) { return find(scope, name, where); }

ValueId Importer::find(Scope& scope, const std::string& name, const SourceLocation& where) {
  if (auto it = scope.names.find(name); it != scope.names.end()) return it->second;
  if (auto it = scope.absent.find(name); it != scope.absent.end()) fail_unsupported(it->second, where);
  if (!scope.outer) fail_input("'" + name + "' is used before anything gives it: an input or initialiser is missing, or the graph is cyclic or out of order", where);
  const ValueId v = find(*scope.outer, name, where);
  return v < 0 || &scope.outer->fn == &scope.fn ? v : scope.fn.capture(exact(scope.outer->fn, v, where));
}

ValueId Importer::exact(FunctionBuild& fn, ValueId v, const SourceLocation& where) const {
  const auto it = fn.padded.find(v);
  if (it == fn.padded.end()) return v;
  fix_inputs_of(fn, it->second.count);
  fail_unsupported("a tensor whose size depends on data can be an output of the model, but here it is read: " + why_unknown(fn, it->second.count), where);
}

bool Importer::inputs_behind(FunctionBuild& fn, ValueId v, std::vector<std::size_t>& inputs) const {
  std::vector<std::pair<FunctionBuild*, ValueId>> stack{{&fn, v}};
  std::set<std::pair<FunctionBuild*, ValueId>> seen;
  while (!stack.empty()) {
    const auto [f, x] = stack.back();
    stack.pop_back();
    if (!seen.insert({f, x}).second) continue;
    if (const auto node = f->function.value(x).node; node >= 0) {
      for (auto y : f->function.nodes[static_cast<std::size_t>(node)].operands) stack.push_back({f, y});
      continue;
    }
    if (!f->outer) {
      const auto& params = f->function.params;
      inputs.push_back(static_cast<std::size_t>(std::find(params.begin(), params.end(), x) - params.begin()));
      continue;
    }
    bool captured = false;
    for (const auto& [outer, inner] : f->inner_of)
      if (inner == x) {
        captured = true;
        stack.push_back({f->outer, outer});
      }
    if (!captured) return false;  // a loop's own variable
  }
  return true;
}

void Importer::fix_inputs_of(FunctionBuild& fn, ValueId v) const {
  NeedsValues needed;
  if (!inputs_behind(fn, v, needed.inputs)) return;
  std::erase_if(needed.inputs, [&](std::size_t i) { return fixed_[i]; });
  if (needed.inputs.empty()) return;
  for (auto i : needed.inputs)
    if (i >= values_.size() || !values_[i] || types_[i].elements() > most_fixed) return;
  throw needed;
}

std::string Importer::why_unknown(FunctionBuild& fn, ValueId v) const {
  std::vector<std::size_t> inputs;
  const bool only_inputs = inputs_behind(fn, v, inputs);
  if (!only_inputs || inputs.empty()) return "it is computed by operations that the importer does not evaluate";
  std::string s = "it depends on the value of input";
  for (std::size_t k = 0; k < inputs.size(); ++k) s += (k ? ", '" : " '") + model_.inputs[inputs[k]].name + "'";
  return s;
}

}  // namespace plumb::ir::onnx_import
