// Linear quantisation, one scale a tensor or one an index of an axis; integer products.
#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"
#include "ir/import/window.h"

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

/// x - zero as i32. A vector zero point belongs to the given axis.
ValueId centred(NodeImport& n, ValueId x, ValueId zero, std::int64_t axis) {
  const auto wide = n.b.convert(x, DType::i32);
  if (zero < 0) return wide;
  const Shape shape = n.type(x).shape;
  const auto z = n.b.convert(zero, DType::i32);
  if (n.type(z).elements() == 1) return n.b.op("sub", {wide, n.broadcast(n.b.reshape(z, {}), shape, {})});
  if (n.rank(z) != 1 || axis < 0) n.unsupported("a zero point of type " + n.type(zero).str());
  return n.b.op("sub", {wide, n.broadcast(z, shape, {axis})});
}
ValueId optional_in(NodeImport& n, std::size_t i) { return n.has(i) ? n.in(i) : -1; }

ValueId integer_product(NodeImport& n, ValueId x, ValueId x_zero, ValueId y, ValueId y_zero) {
  const auto rows = static_cast<std::int64_t>(n.rank(x)) - 2, columns = static_cast<std::int64_t>(n.rank(y)) - 1;
  return n.b.op("matmul", {centred(n, x, x_zero, rows), centred(n, y, y_zero, columns)});
}
void mat_mul_integer(NodeImport& n) { n.out(integer_product(n, n.in(0), optional_in(n, 2), n.in(1), optional_in(n, 3))); }

void conv_integer(NodeImport& n) {
  const Window w = read_window(n, spatial_sizes(n, n.in(1)), spatial_sizes(n, n.in(0)));
  const auto x = centred(n, n.in(0), optional_in(n, 2), -1), k = centred(n, n.in(1), optional_in(n, 3), 0);
  n.out(n.b.op("convolution", {x, k}, attrs({{"stride", w.stride}, {"low", w.low}, {"high", w.high}, {"rhs_dilation", w.dilation}, {"groups", n.integer("group", 1)}})));
}

/// saturate(round_even(product * (x_scale * y_scale / out_scale)) + out_zero), for scales of the whole tensor.
void qlinear_mat_mul(NodeImport& n) {
  for (std::size_t i : {1, 4, 6})
    if (n.type_in(i).elements() != 1) n.unsupported("a scale of type " + n.type_in(i).str());
  const auto scalar = [&](std::size_t i) { return n.b.reshape(n.in(i), {}); };
  const auto product = integer_product(n, n.in(0), n.in(2), n.in(3), n.in(5));
  const DType t = n.type_in(1).dtype, to = n.type_in(7).dtype;
  const auto factor = n.b.op("div", {n.b.op("mul", {scalar(1), scalar(4)}), n.b.convert(scalar(6), t)});
  const auto scaled = n.unary("round_even", n.binary("mul", n.b.convert(product, t), factor));
  n.out(n.b.convert(n.binary("add", scaled, n.b.convert(scalar(7), t)), to));
}

/// To u8 over the operand's own range, which always holds 0.
void dynamic_quantize(NodeImport& n) {
  const auto x = n.in(0);
  Ints all;
  for (std::size_t d = 0; d < n.rank(x); ++d) all.push_back(static_cast<std::int64_t>(d));
  const auto high = n.with("maximum", n.reduce("reduce_max", x, all), 0), low = n.with("minimum", n.reduce("reduce_min", x, all), 0);
  const auto scale = n.with("div", n.b.op("sub", {high, low}), 255);
  const auto zero = n.b.convert(n.unary("round_even", n.unary("neg", n.b.op("div", {low, scale}))), DType::u8);
  const auto steps = n.unary("round_even", n.binary("div", x, scale));
  n.out(0, n.b.convert(n.binary("add", steps, n.b.convert(zero, n.type(x).dtype)), DType::u8));
  n.out(1, scale);
  n.out(2, zero);
}

constexpr OpEntry entries[] = {
    {"ConvInteger", 2, 4, conv_integer}, {"DequantizeLinear", 2, 3, dequantize}, {"DynamicQuantizeLinear", 1, 1, dynamic_quantize}, {"MatMulInteger", 2, 4, mat_mul_integer},
    {"QLinearMatMul", 8, 8, qlinear_mat_mul}, {"QuantizeLinear", 2, 3, quantize},
};
}  // namespace
std::span<const OpEntry> quantize_family() { return entries; }
}  // namespace plumb::ir::onnx_import
