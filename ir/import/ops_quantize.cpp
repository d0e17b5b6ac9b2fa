// Linear quantisation, one scale a tensor or one an index of an axis; integer products.
#include "ir/import/families.h"
#include "ir/import/narrow_float.h"
#include "ir/import/tensor_proto.h"
#include "ir/import/window.h"

namespace plumb::ir::onnx_import {
namespace {

/// One scale (or zero point) for each block of elements along the axis; the last block may be shorter.
ValueId of_blocks(NodeImport& n, ValueId v, ValueId x, std::int64_t block) {
  const Extents e = n.extents(x), given = n.extents(v);
  const auto axis = static_cast<std::size_t>(n.axis(n.integer("axis", 1), e.size()));
  if (block < 1) n.fail("block_size is " + std::to_string(block));
  Extents wanted = e;
  wanted[axis] = e[axis] / block + (e[axis] % block != 0);
  if (given != wanted) n.fail("a scale of type " + n.type(v).str() + " for blocks of " + std::to_string(block) + " along axis " + std::to_string(axis) + " of " + n.type(x).str());
  n.check_table(e[axis]);
  Ints positions;
  for (std::int64_t k = 0; k < e[axis]; ++k) positions.push_back(k / block);
  return n.pick(v, axis, positions);
}
/// A scale or zero point, spread over x: a scalar, a vector along the axis, or one entry a block.
ValueId spread(NodeImport& n, ValueId v, ValueId x) {
  const Shape shape = n.type(x).shape;
  if (const auto block = n.integer("block_size", 0); block != 0) return of_blocks(n, v, x, block);
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
  if (is_float(to) && byte_size(to) > 1) n.fail("cannot quantise to " + std::string(name(to)));
  const auto in = is_float(t) ? x : n.b.convert(x, n.type_in(1).dtype);
  const auto scaled = n.b.op("div", {in, spread(n, n.b.convert(n.in(1), n.type(in).dtype), x)});
  if (is_float(to)) return n.out(to_narrow_float(n, scaled, to, n.integer("saturate", 1) != 0));  // its zero point is 0
  auto q = n.unary("round_even", scaled);
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

ValueId integer_convolution(NodeImport& n, ValueId x, ValueId weights) {
  const Window w = read_window(n, spatial_sizes(n, weights), spatial_sizes(n, x));
  return n.b.op("convolution", {x, weights}, attrs({{"stride", w.stride}, {"low", w.low}, {"high", w.high}, {"rhs_dilation", w.dilation}, {"groups", n.integer("group", 1)}}));
}
void conv_integer(NodeImport& n) { n.out(integer_convolution(n, centred(n, n.in(0), optional_in(n, 2), -1), centred(n, n.in(1), optional_in(n, 3), 0))); }

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

/// A convolution of integers with an integer bias, requantised: the weights' scale may be one a feature.
void qlinear_conv(NodeImport& n) {
  for (std::size_t i : {1, 6, 7})
    if (n.type_in(i).elements() != 1) n.fail("input " + std::to_string(i) + " must be a scalar, not " + n.type_in(i).str());
  const auto scalar = [&](std::size_t i) { return n.b.reshape(n.in(i), {}); };
  auto sum = integer_convolution(n, centred(n, n.in(0), n.in(2), -1), centred(n, n.in(3), n.in(5), 0));
  if (n.has(8)) sum = n.b.op("add", {sum, n.per_channel(n.b.convert(n.in(8), DType::i32), sum)});
  const auto weights_scale = n.type_in(4).elements() == 1 ? scalar(4) : n.in(4);
  const auto factor = n.binary("div", n.binary("mul", scalar(1), weights_scale), scalar(6));
  const DType t = n.type(factor).dtype;
  const auto factors = n.rank(factor) == 0 ? n.broadcast(factor, n.type(sum).shape, {}) : n.per_channel(factor, sum);
  const auto steps = n.unary("round_even", n.b.op("mul", {n.b.convert(sum, t), factors}));
  n.out(n.b.convert(n.binary("add", steps, n.b.convert(scalar(7), t)), n.type_in(7).dtype));
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
    {"QLinearConv", 8, 9, qlinear_conv}, {"QLinearMatMul", 8, 8, qlinear_mat_mul}, {"QuantizeLinear", 2, 3, quantize},
};
}  // namespace
std::span<const OpEntry> quantize_family() { return entries; }
}  // namespace plumb::ir::onnx_import
