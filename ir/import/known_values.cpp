#include "ir/import/known_values.h"

#include "ir/tensor/op_table.h"

namespace plumb::ir::onnx_import {
namespace {
bool small(const Type& t, std::int64_t limit) { return t.elements() <= limit; }
}  // namespace

const Literal* KnownValues::find(ValueId v) {
  // Operands before uses, with a stack of our own: a chain may be as long as the model.
  std::vector<ValueId> stack{v};
  while (!stack.empty()) {
    const ValueId top = stack.back();
    const auto before = stack.size();
    const auto node = f_.value(top).node;
    if (!memo_.contains(top) && node >= 0 && small(f_.type(top), max_result))
      for (auto x : f_.nodes[static_cast<std::size_t>(node)].operands)
        if (!memo_.contains(x)) stack.push_back(x);
    if (stack.size() != before) continue;
    stack.pop_back();
    if (!memo_.contains(top)) evaluate(top);
  }
  const auto& found = memo_.at(v);
  return found ? &*found : nullptr;
}

void KnownValues::evaluate(ValueId v) {
  auto& entry = memo_[v];
  const auto index = f_.value(v).node;
  if (index < 0) return;
  const Node& n = f_.nodes[static_cast<std::size_t>(index)];
  if (name(n) == "constant") {
    entry = n.attrs.get<Literal>("value");
    return;
  }
  if (n.results.size() != 1 || !small(f_.type(v), max_result)) return;
  std::vector<const Literal*> operands;
  for (auto x : n.operands) {
    const auto& known = memo_.at(x);
    if (!known || !small(known->type(), max_operand)) return;
    operands.push_back(&*known);
  }
  entry = evaluate_node(n, f_.type(v), operands);
}

}  // namespace plumb::ir::onnx_import
