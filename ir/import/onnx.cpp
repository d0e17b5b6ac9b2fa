#include "ir/import/onnx.h"

#include <onnx/onnx_pb.h>

#include <set>

#include "ir/import/importer.h"
#include "ir/import/parsed.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir {
namespace {

using onnx_import::max_dim;

OnnxInput read_input(const ::onnx::ValueInfoProto& v, const SourceLocation& where) {
  OnnxInput in;
  in.name = v.name();
  if (v.type().has_sequence_type() || v.type().has_optional_type() || v.type().has_map_type() || v.type().has_sparse_tensor_type())
    fail_unsupported("input '" + v.name() + "' is not a dense tensor", where);
  if (!v.type().has_tensor_type()) fail_input("input '" + v.name() + "' has no type", where);
  const auto& t = v.type().tensor_type();
  in.dtype = onnx_import::require_dtype(t.elem_type(), "input '" + v.name() + "'", where);
  in.ranked = t.has_shape();
  if (t.shape().dim_size() > static_cast<int>(max_rank)) fail_unsupported("input '" + v.name() + "' has rank " + std::to_string(t.shape().dim_size()), where);
  for (const auto& d : t.shape().dim()) {
    OnnxDim dim;
    if (d.has_dim_value()) dim.size = d.dim_value();
    if (d.has_dim_param()) dim.symbol = d.dim_param();
    if (d.has_dim_value() && (dim.size < 0 || dim.size > max_dim)) fail_input("input '" + v.name() + "' has a dimension of size " + std::to_string(dim.size), where);
    in.dims.push_back(std::move(dim));
  }
  return in;
}

/// Checks one given type against its declaration; symbols bind at their first use.
void check_type(const OnnxInput& in, const Type& given, std::map<std::string, std::int64_t>& bound, const SourceLocation& where) {
  const std::string both = "input '" + in.name + "' is " + in.str() + " in the model, but " + given.str() + " was given";
  if (!given.is_concrete()) fail_input(both + ": every size must be known", where);
  if (given.dtype != in.dtype || (in.ranked && given.rank() != in.dims.size())) fail_input(both, where);
  for (const auto& d : given.shape)
    if (d.size() < 0 || d.size() > max_dim) fail_input(both + ": a size is out of range", where);
  given.bytes();
  for (std::size_t k = 0; k < in.dims.size(); ++k) {
    const auto size = given.shape[k].size();
    if (in.dims[k].size >= 0 && in.dims[k].size != size) fail_input(both, where);
    if (in.dims[k].symbol.empty()) continue;
    const auto [it, first] = bound.emplace(in.dims[k].symbol, size);
    if (it->second != size) fail_input(both + ": dimension " + in.dims[k].symbol + " is " + std::to_string(it->second) + " already", where);
  }
}

void read_signature(OnnxModel::Parsed& p, const SourceLocation& where) {
  const auto& g = p.proto.graph();
  std::set<std::string> initialised, seen;
  for (const auto& t : g.initializer()) initialised.insert(t.name());
  for (const auto& v : g.input()) {
    if (v.name().empty()) fail_input("an input has no name", where);
    if (!seen.insert(v.name()).second) fail_input("two inputs are named '" + v.name() + "'", where);
    if (!initialised.contains(v.name())) p.inputs.push_back(read_input(v, where));
  }
  for (const auto& v : g.output()) p.outputs.push_back(v.name());
  if (p.outputs.empty()) fail_input("the model has no outputs", where);
}

}  // namespace

std::string OnnxInput::str() const {
  std::string s = std::string(plumb::name(dtype)) + "[";
  if (!ranked) return s + "...]";
  for (std::size_t k = 0; k < dims.size(); ++k)
    s += (k ? "," : "") + (dims[k].size >= 0 ? std::to_string(dims[k].size) : dims[k].symbol.empty() ? "?" : dims[k].symbol);
  return s + "]";
}

OnnxModel OnnxModel::load(const std::filesystem::path& path) { return parse(onnx_import::read_file(path), path.filename().string(), path.parent_path()); }

OnnxModel OnnxModel::parse(std::string_view bytes, std::string name, std::filesystem::path folder) {
  auto p = std::make_shared<Parsed>();
  const SourceLocation where{name, 0, 0};
  if (!onnx_import::parse_message(p->proto, bytes)) fail_input("not an ONNX model, or cut short", where);
  if (!p->proto.has_graph()) fail_input("not an ONNX model: it has no graph", where);
  p->name = std::move(name);
  p->folder = std::move(folder);
  p->opsets = onnx_import::read_opsets(p->proto.opset_import(), where);
  // Before IR version 3 models stated no opset; that means version 1, which is below what is supported.
  if (p->opsets.empty()) fail_input("the model imports no opset", where);
  for (const auto& f : p->proto.functions()) {
    const std::string domain = f.domain() == "ai.onnx" ? "" : f.domain();
    if (!p->functions.emplace(std::pair{domain, f.name()}, &f).second) fail_input("two functions are named '" + f.name() + "'", where);
  }
  read_signature(*p, where);
  return OnnxModel(std::move(p));
}

const std::vector<OnnxInput>& OnnxModel::inputs() const { return parsed_->inputs; }
const std::vector<std::string>& OnnxModel::outputs() const { return parsed_->outputs; }

Module OnnxModel::import(std::span<const Type> types, std::span<const Literal* const> values, std::vector<Specialisation>* specialised) const {
  const auto& inputs = parsed_->inputs;
  const SourceLocation where{parsed_->name, 0, 0};
  if (types.size() != inputs.size()) fail_input("the model takes " + std::to_string(inputs.size()) + " inputs, " + std::to_string(types.size()) + " were given", where);
  if (!values.empty() && values.size() != inputs.size()) fail_input("values were given for " + std::to_string(values.size()) + " of " + std::to_string(inputs.size()) + " inputs", where);
  std::map<std::string, std::int64_t> bound;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_type(inputs[i], types[i], bound, where);
    if (i < values.size() && values[i] && values[i]->type() != types[i]) fail_input("input '" + inputs[i].name + "': the value's type is " + values[i]->type().str() + ", not " + types[i].str(), where);
  }
  // Each round fixes at least one more input, so there are at most as many rounds as inputs, and one.
  std::vector<bool> fixed(inputs.size(), false);
  for (;;) {
    try {
      Module m = onnx_import::Importer(*parsed_, types, values, fixed).run();
      for (std::size_t i = 0; specialised && i < inputs.size(); ++i)
        if (fixed[i]) specialised->push_back({inputs[i].name, *values[i]});
      return m;
    } catch (const onnx_import::NeedsValues& needed) {
      for (auto i : needed.inputs) fixed[i] = true;
    }
  }
}

}  // namespace plumb::ir
