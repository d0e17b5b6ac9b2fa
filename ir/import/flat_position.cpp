#include "ir/import/flat_position.h"

namespace plumb::ir::onnx_import {
namespace {
bool known_inside(const NodeImport& n, ValueId coordinate, std::int64_t size) {
  const auto* l = n.known(coordinate);
  bool inside = l != nullptr;
  for (std::int64_t i = 0; inside && i < l->elements(); ++i) inside = l->int_at(i) >= 0 && l->int_at(i) < size;
  return inside;
}
}  // namespace

void FlatPosition::append(ValueId coordinate, std::int64_t size) {
  flat_ = flat_ < 0 ? coordinate : n_.b.op("add", {n_.with("mul", flat_, static_cast<double>(size)), coordinate});
}

void FlatPosition::add_index(const Shape& shape, std::size_t axis, std::int64_t size) { append(n_.iota(DType::i64, shape, static_cast<std::int64_t>(axis)), size); }

void FlatPosition::add(ValueId coordinate, std::int64_t size) {
  const auto c = n_.b.convert(coordinate, DType::i64);
  if (known_inside(n_, c, size)) return append(c, size);
  const auto wrapped = n_.b.op("select", {n_.with("lt", c, 0), n_.with("add", c, static_cast<double>(size)), c});
  append(wrapped, size);
  const auto fits = n_.b.op("and", {n_.with("ge", wrapped, 0), n_.with("lt", wrapped, static_cast<double>(size))});
  inside_ = inside_ < 0 ? fits : n_.b.op("and", {inside_, fits});
}

ValueId FlatPosition::value() const { return inside_ < 0 ? flat_ : n_.b.op("select", {inside_, flat_, n_.b.splat_like(flat_, -1)}); }

}  // namespace plumb::ir::onnx_import
