// What the importer knows of a function's values while it builds it: those that follow from constants alone.
//
// ONNX computes shapes, axes and conditions by the same operations as data. A value is evaluated only when a handler
// asks for it, so that arithmetic on weights stays in the program. This is the importer's own small evaluator
// (integers, bools, and the float operations whose result a double rounds correctly); the reference interpreter
// defines what a program means, and stands on the other side of the dependency rule.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/tensor/graph.h"

namespace plumb::ir::onnx_import {

class KnownValues {
 public:
  explicit KnownValues(const Function& f) : f_(f) {}
  /// Null when the value depends on anything but constants, is too large, or an operation is not evaluated here.
  /// The pointer stays valid as long as this object.
  const Literal* find(ValueId v);
  /// States a parameter's value (value specialisation).
  void state(ValueId v, Literal value) { memo_[v] = std::move(value); }

  static constexpr std::int64_t max_result = 4096;    ///< elements of an evaluated result
  static constexpr std::int64_t max_operand = 65536;  ///< elements of a constant that is read whole

 private:
  void evaluate(ValueId v);
  const Function& f_;
  std::unordered_map<ValueId, std::optional<Literal>> memo_;
};

/// One operation on known operands; none when it is not among those evaluated.
std::optional<Literal> evaluate_node(const Node& n, const Type& result, const std::vector<const Literal*>& operands);

}  // namespace plumb::ir::onnx_import
