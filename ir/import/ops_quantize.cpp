// Linear quantisation, one scale a tensor or one an index of an axis.
#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir::onnx_import {
namespace {

/// A scale or zero point, spread over x: a scalar, or a vector along the axis.
ValueId spread(NodeImport& n, ValueId v, ValueId x) {
  const Shape shape = n.type(x).shape;
  if (n.integer("block_size", 0) != 0) n.unsupported("blocked quantisation");
  if (n.type(v).elements() == 1) return n.broadcast(n.b.reshape(v, {}), shape, {});
  if (n.rank(v) != 1) n.unsupported("a scale of type " + n.type(v).str());
  return n.broadcast(v, shape, {n.axis(n.integer("axis", 1), shape.size())});
}

/// (x - zero) * scale, in the scale's dtype.
void dequantize(NodeImport& n) {
  const auto x = n.in(0);
  const DType to = n.type_in(1).dtype;
  // The difference of two 8-bit integers needs more bits: it is taken where it is exact.
  const auto wide = is_integer(n.type(x).dtype) ? DType::i32 : to;
  auto centred = n.b.convert(x, wide);
  if (n.has(2)) centred = n.b.op("sub", {centred, spread(n, n.b.convert(n.in(2), wide), x)});
  n.out(n.b.op("mul", {n.b.convert(centred, to), spread(n, n.in(1), x)}));
}

/// saturate(round_even(x / scale) + zero).
void quantize(NodeImport& n) {
  const auto x = n.in(0);
  const DType t = n.type(x).dtype;
  DType to = n.has(2) ? n.type_in(2).dtype : DType::u8;
  if (n.integer("output_dtype", 0) != 0) to = require_dtype(static_cast<int>(n.integer("output_dtype")), "QuantizeLinear's result", n.where);
  if (!is_integer(to)) n.unsupported("quantising to " + std::string(name(to)));
  const auto in = is_float(t) ? x : n.b.convert(x, n.type_in(1).dtype);
  auto q = n.unary("round_even", n.b.op("div", {in, spread(n, n.b.convert(n.in(1), n.type(in).dtype), x)}));
  if (n.has(2)) q = n.b.op("add", {q, spread(n, n.b.convert(n.in(2), n.type(q).dtype), x)});
  n.out(n.b.convert(q, to));
}

constexpr OpEntry entries[] = {{"DequantizeLinear", 2, 3, dequantize}, {"QuantizeLinear", 2, 3, quantize}};
}  // namespace
std::span<const OpEntry> quantize_family() { return entries; }
}  // namespace plumb::ir::onnx_import
