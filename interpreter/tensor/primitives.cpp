#include "interpreter/tensor/primitives.h"

#include <algorithm>

#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"

namespace plumb::interp {
namespace {

bool is_primitive(const ir::Node& n) { return !ir::is_composite(n.op); }

/// One level of decomposition: what comes out may hold composites again.
ir::Function decomposed_once(const ir::Function& f) {
  ir::Function out;
  ir::Builder b(out);
  std::vector<ir::ValueId> now(f.values.size(), -1);
  const auto at = [&](std::span<const ir::ValueId> values) {
    std::vector<ir::ValueId> r;
    for (auto v : values) r.push_back(now[static_cast<std::size_t>(v)]);
    return r;
  };
  for (auto v : f.params) now[static_cast<std::size_t>(v)] = b.param(f.type(v), f.value(v).name);
  for (const auto& n : f.nodes) {
    std::vector<ir::Type> types;
    for (auto v : n.results) types.push_back(f.type(v));
    b.at(n.where);
    const auto by = is_primitive(n) ? b.add_typed(n.op, at(n.operands), n.attrs, types) : ir::decompose(n.op, b, at(n.operands), n.attrs);
    for (std::size_t k = 0; k < by.size(); ++k) now[static_cast<std::size_t>(n.results[k])] = by[k];
  }
  out.name = f.name;
  b.results(at(f.results));
  return out;
}

}  // namespace

ir::Function in_primitives(const ir::Function& function) {
  ir::Function f = function;
  while (!std::ranges::all_of(f.nodes, is_primitive)) f = decomposed_once(f);
  return f;
}

}  // namespace plumb::interp
