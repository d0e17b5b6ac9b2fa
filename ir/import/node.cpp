#include "ir/import/node.h"

#include <onnx/onnx_pb.h>

#include "ir/import/parsed.h"
#include "ir/import/tensor_proto.h"
#include "ir/scalar/storage.h"

namespace plumb::ir::onnx_import {

NodeImport::NodeImport(Importer& im, Scope& s, const ::onnx::NodeProto& node, int version, SourceLocation at)
    : importer(im), scope(s), b(s.fn.b), opset(version), where(std::move(at)), node_(node), outputs_(static_cast<std::size_t>(node.output_size()), -1) {
  for (const auto& name : node.input()) inputs_.push_back(name.empty() ? -1 : importer.exact(scope.fn, importer.lookup(scope, name, where), where));
  while (!inputs_.empty() && inputs_.back() < 0) inputs_.pop_back();
}

const std::string& NodeImport::op_type() const { return node_.op_type(); }
void NodeImport::fail(const std::string& message) const { fail_input(op_type() + ": " + message, where); }
void NodeImport::unsupported(const std::string& message) const {
  fail_unsupported(op_type() + " (domain '" + (node_.domain().empty() ? "ai.onnx" : node_.domain()) + "', opset " + std::to_string(opset) + "): " + message, where);
}

ValueId NodeImport::in(std::size_t i) const {
  if (!has(i)) fail("input " + std::to_string(i) + " is missing");
  return inputs_[i];
}
std::vector<ValueId> NodeImport::all() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) in(i);
  return inputs_;
}

const Literal& NodeImport::need(ValueId v, const char* what) const {
  if (const auto* l = known(v)) return *l;
  importer.fix_inputs_of(scope.fn, v);
  unsupported(std::string(what) + " must be known when the model is imported, but " + importer.why_unknown(scope.fn, v));
}
Ints NodeImport::need_ints(std::size_t i, const char* what) const {
  const auto& l = need(in(i), what);
  if (!is_integer(l.dtype()) || l.type().rank() > 1) fail(std::string(what) + " must be integers, a scalar or a vector, not " + l.type().str());
  if (l.elements() > KnownValues::max_operand) fail(std::string(what) + " has " + std::to_string(l.elements()) + " elements");
  Ints r;
  for (std::int64_t k = 0; k < l.elements(); ++k) r.push_back(l.int_at(k));
  return r;
}
std::int64_t NodeImport::need_int(std::size_t i, const char* what) const {
  const auto r = need_ints(i, what);
  if (r.size() != 1) fail(std::string(what) + " must be one integer, not " + std::to_string(r.size()));
  return r[0];
}
std::vector<double> NodeImport::need_reals(std::size_t i, const char* what) const {
  const auto& l = need(in(i), what);
  if (!is_float(l.dtype()) || l.type().rank() > 1 || l.elements() > KnownValues::max_operand) fail(std::string(what) + " must be floats, a scalar or a vector, not " + l.type().str());
  std::vector<double> r;
  for (std::int64_t k = 0; k < l.elements(); ++k) r.push_back(load_element(l.dtype(), l.raw(), k));
  return r;
}
bool NodeImport::need_flag(std::size_t i, const char* what) const {
  const auto& l = need(in(i), what);
  if (!is_bool(l.dtype()) || l.elements() != 1) fail(std::string(what) + " must be one bool, not " + l.type().str());
  return l.int_at(0) != 0;
}

const ::onnx::AttributeProto* NodeImport::attribute(std::string_view name) const {
  for (const auto& a : node_.attribute())
    if (a.name() == name) {
      if (a.ref_attr_name().empty()) return &a;
      if (const auto* given = scope.caller ? scope.caller->attribute(a.ref_attr_name()) : nullptr) return given;
      if (scope.defaults)
        for (const auto& d : *scope.defaults)
          if (d.name() == a.ref_attr_name()) return &d;
      return nullptr;
    }
  return nullptr;
}
const ::onnx::AttributeProto* NodeImport::attribute(std::string_view name, int type) const {
  const auto* a = attribute(name);
  // Old writers left the type out; the field that is set then tells.
  if (a && a->type() != type && a->type() != ::onnx::AttributeProto::UNDEFINED)
    fail("attribute '" + std::string(name) + "' is of type " + ::onnx::AttributeProto::AttributeType_Name(a->type()) + ", not " +
         ::onnx::AttributeProto::AttributeType_Name(static_cast<::onnx::AttributeProto::AttributeType>(type)));
  return a;
}
bool NodeImport::has_attr(std::string_view name) const { return attribute(name) != nullptr; }
std::int64_t NodeImport::integer(std::string_view name) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::INT);
  if (!a) fail("attribute '" + std::string(name) + "' is missing");
  return a->i();
}
std::int64_t NodeImport::integer(std::string_view name, std::int64_t fallback) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::INT);
  return a ? a->i() : fallback;
}
double NodeImport::real(std::string_view name, double fallback) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::FLOAT);
  return a ? a->f() : static_cast<float>(fallback);
}
std::string NodeImport::text(std::string_view name, const std::string& fallback) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::STRING);
  return a ? a->s() : fallback;
}
std::optional<Ints> NodeImport::int_list(std::string_view name) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::INTS);
  if (!a) return std::nullopt;
  return Ints(a->ints().begin(), a->ints().end());
}
std::optional<std::vector<double>> NodeImport::real_list(std::string_view name) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::FLOATS);
  if (!a) return std::nullopt;
  return std::vector<double>(a->floats().begin(), a->floats().end());
}
std::optional<std::vector<std::string>> NodeImport::text_list(std::string_view name) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::STRINGS);
  if (!a) return std::nullopt;
  return std::vector<std::string>(a->strings().begin(), a->strings().end());
}
std::optional<Literal> NodeImport::tensor(std::string_view name) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::TENSOR);
  if (!a) return std::nullopt;
  return to_literal(a->t(), importer.model().folder, where);
}
const ::onnx::GraphProto& NodeImport::subgraph(std::string_view name) const {
  const auto* a = attribute(name, ::onnx::AttributeProto::GRAPH);
  if (!a) fail("attribute '" + std::string(name) + "' is missing");
  return a->g();
}

std::vector<std::string> NodeImport::subgraph_inputs(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& v : subgraph(name).input()) names.push_back(v.name());
  return names;
}

std::size_t NodeImport::output_count() const { return outputs_.size(); }
bool NodeImport::wants(std::size_t i) const { return i < outputs_.size() && !node_.output(static_cast<int>(i)).empty(); }
void NodeImport::out_padded(std::size_t i, ValueId v, std::int64_t axis, ValueId count) {
  scope.fn.padded.emplace(v, FunctionBuild::Padded{axis, count});
  out(i, v);
}
void NodeImport::set_output(std::size_t i, ValueId v) {
  if (i < outputs_.size()) outputs_[i] = v;
}

}  // namespace plumb::ir::onnx_import
