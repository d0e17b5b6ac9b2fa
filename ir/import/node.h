// A node as the handlers see it: inputs as values, attributes by name, outputs to set. No protobuf in sight.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/import/importer.h"
#include "ir/tensor/ops/words.h"

namespace plumb::ir::onnx_import {

class NodeImport {
 public:
  NodeImport(Importer& importer, Scope& scope, const ::onnx::NodeProto& node, int opset, SourceLocation where);

  Importer& importer;
  Scope& scope;
  Builder& b;
  const int opset;
  const SourceLocation where;

  const std::string& op_type() const;
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void unsupported(const std::string& message) const;

  // ── inputs ──
  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] >= 0; }
  ValueId in(std::size_t i) const;  ///< bad input when it is not there
  std::vector<ValueId> all() const;  ///< every input, none left out
  Type type(ValueId v) const { return b.type(v); }  ///< a copy: building more values moves the function's types
  Type type_in(std::size_t i) const { return b.type(in(i)); }
  Extents extents(ValueId v) const { return b.type(v).extents(); }
  std::size_t rank(ValueId v) const { return b.type(v).rank(); }

  // ── values known at import ──
  const Literal* known(ValueId v) const { return scope.fn.known.find(v); }
  const Literal& need(ValueId v, const char* what) const;      ///< unsupported when it is not known
  Ints need_ints(std::size_t i, const char* what) const;       ///< an integer scalar or vector
  std::int64_t need_int(std::size_t i, const char* what) const;
  std::vector<double> need_reals(std::size_t i, const char* what) const;
  bool need_flag(std::size_t i, const char* what) const;

  // ── attributes ──
  bool has_attr(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  double real(std::string_view name, double fallback) const;  ///< the attribute's f32 value; the fallback is rounded likewise
  std::string text(std::string_view name, const std::string& fallback) const;
  std::optional<Ints> int_list(std::string_view name) const;
  std::optional<std::vector<double>> real_list(std::string_view name) const;
  std::optional<std::vector<std::string>> text_list(std::string_view name) const;
  std::optional<Literal> tensor(std::string_view name) const;
  const ::onnx::GraphProto& subgraph(std::string_view name) const;
  std::vector<std::string> subgraph_inputs(std::string_view name) const;
  const ::onnx::AttributeProto* attribute(std::string_view name) const;  ///< references to a model function's attributes resolved

  // ── outputs ──
  std::size_t output_count() const;
  bool wants(std::size_t i) const;
  void out(ValueId v) { out(0, v); }
  void out(std::size_t i, ValueId v) { set_output(i, v); }
  /// An output that holds `count` (i64[]) slices along the axis, and padding after them.
  void out_padded(std::size_t i, ValueId v, std::int64_t axis, ValueId count);
  const std::vector<ValueId>& results() const { return outputs_; }
  const ::onnx::NodeProto& proto() const { return node_; }

  // ── words that handlers share ──
  std::int64_t axis(std::int64_t a, std::size_t rank) const;  ///< counted from the end when negative; bad input outside
  Ints axes(Ints list, std::size_t rank) const;               ///< each likewise, no two equal
  ValueId reduce(std::string_view op, ValueId x, const Ints& axes, bool keep = false) const { return words().reduce(op, x, axes, keep); }
  ValueId unary(std::string_view op, ValueId x) const { return b.op(op, {x}); }
  ValueId binary(std::string_view op, ValueId x, ValueId y) const { return b.binary(op, x, y); }
  ValueId with(std::string_view op, ValueId x, double constant) const { return words().with(op, x, constant); }
  ValueId select(ValueId condition, ValueId yes, ValueId no) const { return words().select(condition, yes, no); }
  ValueId slice(ValueId x, std::size_t axis, std::int64_t start, std::int64_t limit, std::int64_t stride = 1) const { return words().slice(x, axis, start, limit, stride); }
  ValueId concat(std::span<const ValueId> xs, std::int64_t axis) const { return words().concat(xs, axis); }
  ValueId gather(ValueId x, ValueId indices, std::int64_t axis) const { return words().gather(x, indices, axis); }
  ValueId reverse(ValueId x, Ints axes) const { return words().reverse(x, std::move(axes)); }
  ValueId iota(DType dtype, const Shape& shape, std::int64_t axis) const { return words().iota(dtype, shape, axis); }
  ValueId broadcast(ValueId x, const Shape& shape, Ints dims) const { return words().broadcast(x, shape, std::move(dims)); }
  ValueId per_channel(ValueId vector, ValueId like) const { return words().per_channel(vector, like); }
  ValueId ints(const Ints& values) const { return words().ints(values); }
  ValueId pick(ValueId x, std::size_t axis, const Ints& positions) const { return words().pick(x, axis, positions); }
  ops::Words words() const { return {b}; }
  /// Bounds what the importer computes element by element (index tables, counts).
  void check_table(std::int64_t elements) const;

 private:
  void set_output(std::size_t i, ValueId v);
  const ::onnx::AttributeProto* attribute(std::string_view name, int type) const;
  const ::onnx::NodeProto& node_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
};

/// Attributes of an operation, with their values: attrs({{"axis", 1}, …}).
inline AttrMap attrs(std::initializer_list<std::pair<std::string_view, AttrValue>> list) { return ops::attr_list(list); }

}  // namespace plumb::ir::onnx_import
