// Tensor IR: a module of functions; a function is a list of operations over typed SSA values.
//
// Semantics. Values are whole tensors, immutable, without aliasing. Operations run in order but have no
// side effect, so any order that respects uses gives the same answer. Integers wrap; floats follow the
// contract the function is compiled under (strict, relaxed, fast); no operation has undefined behaviour.
// What an operation means is its record's equation (ir/tensor/ops) or, for a composite, its decomposition.
// Control flow (if, while) names other functions of the module; operands are passed explicitly.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/support/error.h"
#include "ir/tensor/attr.h"
#include "ir/tensor/type.h"

namespace plumb::ir {

using ValueId = std::int32_t;  ///< index into Function::values
using OpCode = std::uint16_t;  ///< place in the op table (ir/tensor/op_table.h)

struct Value {
  Type type;
  std::string name;       ///< without '%'; unique in its function
  std::int32_t node = -1; ///< the defining node, -1 for a parameter
};

struct Node {
  OpCode op = 0;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  AttrMap attrs;
  SourceLocation where;   ///< the user's line or the model's node
};

/// Along the axis, a result of the function holds as many slices as the value of another result says.
struct ResultSize { std::size_t result; std::int64_t axis; std::size_t count; };

struct Function {
  std::string name = "main";
  std::vector<Value> values;
  std::vector<ValueId> params;
  std::vector<Node> nodes;   ///< in a valid order: definitions before uses
  std::vector<ValueId> results;
  std::vector<std::string> result_names;  ///< optional (a model's output names); not part of the text
  std::vector<ResultSize> result_sizes;   ///< optional, as result_names (ir/tensor/result_sizes.h)
  const Type& type(ValueId v) const { return values[static_cast<std::size_t>(v)].type; }
  const Value& value(ValueId v) const { return values[static_cast<std::size_t>(v)]; }
};

struct Module {
  std::vector<Function> functions;   ///< the entry is "main", or the first
  const Function& entry() const;
  const Function* find(std::string_view name) const;
};

/// How many operations use each value; results of the function count as uses.
std::vector<int> use_counts(const Function& f);

}  // namespace plumb::ir
