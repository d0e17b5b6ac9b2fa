// Normalisations at inference.
#include "ir/import/families.h"
#include "ir/import/window.h"

namespace plumb::ir::onnx_import {
namespace {

/// The batch's own mean and variance normalise; the running ones move towards them: old * momentum + batch * (1 - momentum).
void batch_normalization_in_training(NodeImport& n) {
  const auto x = n.in(0);
  const DType t = n.type(x).dtype;
  Ints axes{0};
  for (std::size_t d = 2; d < n.rank(x); ++d) axes.push_back(static_cast<std::int64_t>(d));
  if (n.rank(x) < 2) n.fail("takes [N,C,…], not " + n.type(x).str());
  const auto mean = n.reduce("reduce_mean", x, axes);
  const auto centred = n.b.op("sub", {x, n.per_channel(mean, x)});
  const auto var = n.reduce("reduce_mean", n.b.op("mul", {centred, centred}), axes);
  n.out(n.b.op("batch_norm", {x, n.b.convert(n.in(1), t), n.b.convert(n.in(2), t), mean, var}, attrs({{"epsilon", n.real("epsilon", 1e-5)}})));
  const double momentum = n.real("momentum", 0.9);
  const auto moved = [&](ValueId old, ValueId batch) { return n.b.op("add", {n.with("mul", old, momentum), n.with("mul", n.b.convert(batch, n.type(old).dtype), 1 - momentum)}); };
  n.out(1, moved(n.in(3), mean));
  n.out(2, moved(n.in(4), var));
}

void batch_normalization(NodeImport& n) {
  if (n.opset >= 14 && n.integer("training_mode", 0) != 0) return batch_normalization_in_training(n);
  if (n.opset < 9 && n.integer("spatial", 1) == 0) n.unsupported("spatial = 0");
  const auto x = n.in(0);
  const DType t = n.type(x).dtype;
  std::vector<ValueId> in{x};
  for (std::size_t i = 1; i < 5; ++i) in.push_back(n.b.convert(n.in(i), t));
  n.out(n.b.op("batch_norm", in, attrs({{"epsilon", n.real("epsilon", 1e-5)}})));
}

struct Normal {
  ValueId value, mean, inverse_deviation;  ///< mean and 1/deviation keep the reduced axes, of size 1
};
/// (x - mean) / sqrt(var + epsilon) over the axes.
Normal normalised(NodeImport& n, ValueId x, const Ints& axes, double epsilon) {
  const Shape shape = n.type(x).shape;
  const auto mean = n.reduce("reduce_mean", x, axes, true);
  const auto centred = n.b.op("sub", {x, n.b.broadcast_to(mean, shape)});
  const auto var = n.reduce("reduce_mean", n.b.op("mul", {centred, centred}), axes, true);
  const auto deviation = n.unary("sqrt", n.with("add", var, epsilon));
  return {n.b.op("div", {centred, n.b.broadcast_to(deviation, shape)}), mean, n.b.op("div", {n.b.splat_like(deviation, 1), deviation})};
}
Ints axes_from(std::size_t first, std::size_t rank) {
  Ints axes;
  for (auto d = first; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
  return axes;
}

/// f32 with plain scale and bias is the composite; else stage one runs in f32 (stash_type) and stage two in x's dtype.
void layer_normalization(NodeImport& n) {
  const auto x = n.in(0);
  const Type t = n.type(x);
  const auto axis = n.axis(n.integer("axis", -1), t.rank());
  const double epsilon = n.real("epsilon", 1e-5);
  const Shape tail(t.shape.begin() + axis, t.shape.end());
  if (n.integer("stash_type", 1) != 1) n.unsupported("stash_type other than f32");
  const bool plain = n.has(2) && !is_narrow_float(t.dtype) && n.type_in(1) == Type{t.dtype, tail} && n.type_in(2) == Type{t.dtype, tail};
  if (plain) n.out(n.b.op("layer_norm", {x, n.in(1), n.in(2)}, attrs({{"axis", axis}, {"epsilon", epsilon}})));
  if (plain && !n.wants(1) && !n.wants(2)) return;
  const auto stage = normalised(n, n.b.convert(x, accumulator(t.dtype)), axes_from(static_cast<std::size_t>(axis), t.rank()), epsilon);
  n.out(1, stage.mean);
  n.out(2, stage.inverse_deviation);
  if (plain) return;
  auto y = n.b.op("mul", {n.b.convert(stage.value, t.dtype), n.b.broadcast_to(n.in(1), t.shape)});
  n.out(n.has(2) ? n.b.op("add", {y, n.b.broadcast_to(n.in(2), t.shape)}) : y);
}

ValueId affine_per_channel(NodeImport& n, ValueId y, ValueId scale, ValueId bias) {
  return n.b.op("add", {n.b.op("mul", {y, n.per_channel(scale, y)}), n.per_channel(bias, y)});
}

void instance_normalization(NodeImport& n) {
  const auto x = n.in(0);
  spatial_sizes(n, x);
  n.out(affine_per_channel(n, normalised(n, x, axes_from(2, n.rank(x)), n.real("epsilon", 1e-5)).value, n.in(1), n.in(2)));
}

/// Scale and bias are one a group in opset 18, one a channel from 21 on.
void group_normalization(NodeImport& n) {
  const auto x = n.in(0);
  const Type t = n.type(x);
  const auto groups = n.integer("num_groups");
  if (t.rank() < 3) n.fail("takes [N,C,…], not " + t.str());
  const auto batch = t.shape[0].size(), channels = t.shape[1].size();
  if (groups < 1 || channels % groups != 0) n.fail(std::to_string(channels) + " channels do not divide into " + std::to_string(groups) + " groups");
  std::int64_t inner = channels / groups;
  for (auto s : spatial_sizes(n, x)) inner *= s;
  const auto grouped = n.b.reshape(n.b.convert(x, accumulator(t.dtype)), {batch, groups, inner});
  const auto normal = normalised(n, grouped, {2}, n.real("epsilon", 1e-5)).value;
  if (n.opset < 21) {
    const auto y = affine_per_channel(n, n.b.convert(normal, t.dtype), n.in(1), n.in(2));
    return n.out(n.b.reshape(y, t.shape));
  }
  n.out(affine_per_channel(n, n.b.reshape(n.b.convert(normal, t.dtype), t.shape), n.in(1), n.in(2)));
}

void lrn(NodeImport& n) {
  n.out(n.b.op("local_response_norm", {n.in(0)}, attrs({{"size", n.integer("size")}, {"alpha", n.real("alpha", 1e-4)}, {"beta", n.real("beta", 0.75)}, {"k", n.real("bias", 1)}})));
}

/// x over its norm along the axis; 0 where the norm is 0.
void lp_normalization(NodeImport& n) {
  const auto x = n.in(0);
  const auto axis = n.axis(n.integer("axis", -1), n.rank(x));
  const auto p = n.integer("p", 2);
  if (p != 1 && p != 2) n.fail("p is " + std::to_string(p));
  const auto total = n.reduce("reduce_sum", p == 1 ? n.unary("abs", x) : n.b.op("mul", {x, x}), {axis}, true);
  const auto norm = n.b.broadcast_to(p == 1 ? total : n.unary("sqrt", total), n.type(x).shape);
  n.out(n.b.op("select", {n.with("eq", norm, 0), n.b.splat_like(x, 0), n.b.op("div", {x, norm})}));
}

void mean_variance_normalization(NodeImport& n) {
  const auto x = n.in(0);
  const Ints axes = n.axes(n.int_list("axes").value_or(Ints{0, 2, 3}), n.rank(x));
  const auto centred = n.binary("sub", x, n.reduce("reduce_mean", x, axes, true));
  const auto deviation = n.unary("sqrt", n.reduce("reduce_mean", n.b.op("mul", {centred, centred}), axes, true));
  n.out(n.binary("div", centred, n.with("add", deviation, 1e-9)));
}

constexpr OpEntry entries[] = {
    {"BatchNormalization", 5, 5, batch_normalization}, {"GroupNormalization", 3, 3, group_normalization}, {"InstanceNormalization", 3, 3, instance_normalization}, {"LRN", 1, 1, lrn},
    {"LayerNormalization", 2, 3, layer_normalization}, {"LpNormalization", 1, 1, lp_normalization}, {"MeanVarianceNormalization", 1, 1, mean_variance_normalization},
};
}  // namespace
std::span<const OpEntry> normalization_family() { return entries; }
}  // namespace plumb::ir::onnx_import
