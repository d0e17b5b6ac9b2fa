// Short forms of tensor IR operations that the handlers share.
#include "ir/import/node.h"

namespace plumb::ir::onnx_import {

std::int64_t NodeImport::axis(std::int64_t a, std::size_t rank) const {
  const auto r = static_cast<std::int64_t>(rank);
  if (a < -r || a >= r) fail("axis " + std::to_string(a) + " is outside rank " + std::to_string(rank));
  return a < 0 ? a + r : a;
}
Ints NodeImport::axes(Ints list, std::size_t rank) const {
  for (auto& a : list) a = axis(a, rank);
  if (auto wrong = ops::check_axes(list, rank, "axis"); !wrong.empty()) fail(wrong);
  return list;
}

void NodeImport::check_table(std::int64_t elements) const {
  if (elements > (std::int64_t{1} << 22)) unsupported("a table of " + std::to_string(elements) + " entries would be needed");
}

}  // namespace plumb::ir::onnx_import
