// One ONNX node, imported and evaluated by the reference, for tests that state values.
#pragma once
#include <optional>

#include "import_writer.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/import/onnx.h"
#include "ir/import/tensor_proto.h"
#include "ir/scalar/storage.h"

namespace plumb::onnx_test {

/// An operand of any dtype from doubles; none where an optional input is left out.
using Operand = std::optional<ir::Literal>;
inline ir::Literal of(DType dtype, const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
  ir::Literal l(ir::Type{dtype, ir::to_shape(shape)});
  require(l.elements() == static_cast<std::int64_t>(values.size()), "a test's values fit the shape");
  for (std::size_t i = 0; i < values.size(); ++i) store_element(dtype, l.mutable_raw(), static_cast<std::int64_t>(i), values[i]);
  return l;
}
inline ir::Literal reals(const std::vector<std::int64_t>& shape, const std::vector<double>& values) { return of(DType::f32, shape, values); }
inline ir::Literal whole(const std::vector<std::int64_t>& shape, const std::vector<double>& values) { return of(DType::i64, shape, values); }

struct Evaluated {
  DType dtype;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};
/// The module for these operands; those that decide shapes are fixed to their values.
inline ir::Module import_model(const Graph& g, int opset, const std::vector<ir::Literal>& operands) {
  std::vector<ir::Type> types;
  std::vector<const ir::Literal*> values;
  for (const auto& x : operands) {
    types.push_back(x.type());
    values.push_back(&x);
  }
  return ir::OnnxModel::parse(g.model(opset), "test.onnx").import(types, values);
}
inline std::vector<Evaluated> evaluate_model(const Graph& g, int opset, const std::vector<ir::Literal>& operands) {
  std::vector<Evaluated> all;
  for (const auto& l : interp::evaluate(import_model(g, opset, operands), operands)) {
    const auto e = l.extents();
    Evaluated r{l.dtype(), {e.begin(), e.end()}, {}};
    for (std::int64_t i = 0; i < l.elements(); ++i) r.values.push_back(is_float(l.dtype()) ? load_element(l.dtype(), l.raw(), i) : static_cast<double>(l.int_at(i)));
    all.push_back(std::move(r));
  }
  return all;
}
inline std::vector<Evaluated> evaluate_node(int opset, std::string_view op, const std::vector<Operand>& operands, const std::vector<Message>& attributes = {}, std::size_t outputs = 1) {
  Graph g;
  std::vector<std::string> inputs, results;
  std::vector<ir::Literal> values;
  for (const auto& x : operands) {
    inputs.push_back(x ? "x" + std::to_string(inputs.size()) : "");
    if (!x) continue;
    const auto e = x->extents();
    g.input(inputs.back(), ir::onnx_import::data_type_of(x->dtype()), {e.begin(), e.end()});
    values.push_back(*x);
  }
  for (std::size_t k = 0; k < outputs; ++k) results.push_back("y" + std::to_string(k));
  g.node(op, inputs, results, attributes);
  for (const auto& r : results) g.output(r);
  return evaluate_model(g, opset, values);
}
inline std::vector<double> values_of(int opset, std::string_view op, const std::vector<Operand>& operands, const std::vector<Message>& attributes = {}) {
  return evaluate_node(opset, op, operands, attributes).at(0).values;
}

}  // namespace plumb::onnx_test
