// Functions of networks: convolutions, pooling, normalisation, attention, losses.
#include <algorithm>

#include "api/eager/promote.h"
#include "api/include/plumb/functions.h"

namespace plumb {
namespace {

using eager::attrs;
using eager::Domain;
using eager::Values;
using ir::Builder;

/// An entry an axis from none, one, or as many.
ir::Ints each(const Sizes& given, std::size_t n, std::int64_t fallback, const char* what, Here here) {
  if (given.empty()) return ir::Ints(n, fallback);
  if (given.size() == 1) return ir::Ints(n, given[0]);
  if (given.size() != n) eager::fail(here, std::string(what) + " has " + std::to_string(given.size()) + " entries; 1 or " + std::to_string(n) + " are needed");
  return given;
}

void need_rank(const Tensor& t, std::size_t rank, Here here, const std::string& name, const char* sizes) {
  if (t.impl()->sizes.size() != rank) eager::fail(here, name + ": the input is [" + sizes + "], rank " + std::to_string(rank) + ", not " + eager::describe(t));
}

Tensor convolution(const std::string& name, std::size_t spatial, const Operand& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  const auto here = x.here();
  auto t = eager::tensors_of({&x}, name.c_str())[0];
  need_rank(t, spatial + 2, here, name, spatial == 1 ? "N, C, L" : spatial == 2 ? "N, C, H, W" : "N, C, D, H, W");
  eager::get(weight, here, name.c_str());
  const auto pads = each(o.padding, spatial, 0, "padding", here);
  const auto a = attrs({{"stride", each(o.stride, spatial, 1, "stride", here)}, {"low", pads}, {"high", pads}, {"rhs_dilation", each(o.dilation, spatial, 1, "dilation", here)}, {"groups", o.groups}});
  std::vector<Tensor> in{t, weight};
  if (bias.defined()) in.push_back(bias);
  return eager::call(name, eager::key_of(a), in, here, [&](Builder& b, const Values& v) {
    auto r = b.op("convolution", {v[0], v[1]}, a);
    if (v.size() == 2) return Values{r};
    const ir::Shape shape = b.type(r).shape;
    ir::Shape channel(shape.size(), ir::Dim(1));
    channel[1] = shape[1];
    if (b.type(v[2]).shape != ir::Shape{shape[1]}) fail_input("the bias has an entry a channel: " + shape[1].str() + " of them");
    return Values{b.op("add", {r, b.broadcast_to(b.reshape(v[2], channel), shape)})};
  }).at(0);
}

Tensor pooled(const std::string& name, const char* op, std::size_t spatial, const Operand& x, const Sizes& kernel, const PoolOptions& o) {
  const auto here = x.here();
  const auto t = eager::tensors_of({&x}, name.c_str())[0];
  need_rank(t, spatial + 2, here, name, spatial == 1 ? "N, C, L" : "N, C, H, W");
  const auto window = each(kernel, spatial, 1, "kernel", here), pads = each(o.padding, spatial, 0, "padding", here);
  const auto stride = o.stride.empty() ? window : each(o.stride, spatial, 1, "stride", here);
  return eager::apply(op, {t}, attrs({{"kernel", window}, {"stride", stride}, {"low", pads}, {"high", pads}, {"ceil_mode", o.ceil_mode}}), here).at(0);
}

/// The first of the axes that a norm goes over: the last ones, of these sizes.
std::int64_t norm_axis(const Tensor& t, const Sizes& shape, Here here, const char* name) {
  const auto& s = t.impl()->sizes;
  if (shape.empty() || shape.size() > s.size() || !std::equal(shape.rbegin(), shape.rend(), s.rbegin())) eager::fail(here, std::string(name) + ": normalized_shape " + ir::str(ir::to_shape(shape)) + " are not the last sizes of " + eager::describe(t));
  return static_cast<std::int64_t>(s.size() - shape.size());
}
Tensor given_or(const Tensor& t, const Sizes& sizes, double value, DType dtype, Here here) { return t.defined() ? t : full(sizes, Operand(value, here), dtype); }

std::string word(Reduction r) { return r == Reduction::none ? "none" : r == Reduction::mean ? "mean" : "sum"; }

Tensor loss(const char* op, const Operand& x, const Operand& target, Reduction reduction, ir::AttrMap a = {}) {
  a.set("reduction", word(reduction));
  const auto in = eager::tensors_of({&x, &target}, op);
  if (in[0].sizes() != in[1].sizes() && !in[1].impl()->weak) eager::fail(x.here(), std::string(op) + "(" + eager::describe(in[0]) + ", " + eager::describe(in[1]) + "): the target has the input's sizes; broadcast it first, if that is meant");
  return eager::meet(op, op, {&x, &target}, Domain::floating, a);
}

}  // namespace

Tensor linear(const Operand& x, const Tensor& weight, const Tensor& bias) {
  const auto here = x.here();
  const auto t = eager::tensors_of({&x}, "linear")[0];
  if (eager::get(weight, here, "linear").sizes.size() != 2 || t.dim() < 1 || t.size(-1, here) != weight.size(1)) eager::fail(here, "linear(" + eager::describe(t) + ", " + eager::describe(weight) + "): the weight is [out, in], and the input's last size is in");
  std::vector<Tensor> in{t, weight};
  if (bias.defined()) in.push_back(bias);
  return eager::call("linear", "", in, here, [&](Builder& b, const Values& v) {
    const auto last = static_cast<std::int64_t>(b.type(v[0]).rank()) - 1;
    auto r = b.op("dot_general", {v[0], v[1]}, attrs({{"lhs_contract", ir::Ints{last}}, {"rhs_contract", ir::Ints{1}}}));
    const ir::Shape shape = b.type(r).shape;
    return Values{v.size() == 2 ? r : b.op("add", {r, b.broadcast_to(v[2], shape)})};
  }).at(0);
}

Tensor embedding(const Tensor& indices, const Tensor& table, Here here) {
  eager::get(indices, here, "embedding");
  if (eager::get(table, here, "embedding").sizes.size() != 2) eager::fail(here, "embedding: the table is [rows, width], not " + eager::describe(table));
  return eager::apply1("gather", {table, indices}, attrs({{"axis", std::int64_t{0}}}), here);
}

Tensor conv1d(const Operand& x, const Tensor& w, const Tensor& b, const ConvOptions& o) { return convolution("conv1d", 1, x, w, b, o); }
Tensor conv2d(const Operand& x, const Tensor& w, const Tensor& b, const ConvOptions& o) { return convolution("conv2d", 2, x, w, b, o); }
Tensor conv3d(const Operand& x, const Tensor& w, const Tensor& b, const ConvOptions& o) { return convolution("conv3d", 3, x, w, b, o); }
Tensor max_pool1d(const Operand& x, const Sizes& kernel, const PoolOptions& o) { return pooled("max_pool1d", "max_pool", 1, x, kernel, o); }
Tensor max_pool2d(const Operand& x, const Sizes& kernel, const PoolOptions& o) { return pooled("max_pool2d", "max_pool", 2, x, kernel, o); }
Tensor avg_pool1d(const Operand& x, const Sizes& kernel, const PoolOptions& o) { return pooled("avg_pool1d", "avg_pool", 1, x, kernel, o); }
Tensor avg_pool2d(const Operand& x, const Sizes& kernel, const PoolOptions& o) { return pooled("avg_pool2d", "avg_pool", 2, x, kernel, o); }
Tensor adaptive_avg_pool2d(const Operand& x, const Sizes& size) {
  const auto t = eager::tensors_of({&x}, "adaptive_avg_pool2d")[0];
  return eager::apply1("adaptive_avg_pool", {t}, attrs({{"size", each(size, 2, 1, "size", x.here())}}), x.here());
}

Tensor layer_norm(const Operand& x, const Sizes& shape, const Tensor& weight, const Tensor& bias, double eps) {
  const auto t = eager::tensors_of({&x}, "layer_norm")[0];
  const auto axis = norm_axis(t, shape, x.here(), "layer_norm");
  return eager::apply1("layer_norm", {t, given_or(weight, shape, 1, t.dtype(), x.here()), given_or(bias, shape, 0, t.dtype(), x.here())}, attrs({{"axis", axis}, {"epsilon", eps}}), x.here());
}
Tensor rms_norm(const Operand& x, const Sizes& shape, const Tensor& weight, double eps) {
  auto in = eager::tensors_of({&x}, "rms_norm");
  const auto axis = norm_axis(in[0], shape, x.here(), "rms_norm");
  if (weight.defined()) in.push_back(weight);
  return eager::apply1("rms_norm", in, attrs({{"axis", axis}, {"epsilon", eps}}), x.here());
}
Tensor group_norm(const Operand& x, std::int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  const auto t = eager::tensors_of({&x}, "group_norm")[0];
  if (t.dim() < 2) eager::fail(x.here(), "group_norm: the input is [N, C, …], not " + eager::describe(t));
  const Sizes channels{t.size(1)};
  return eager::apply("group_norm", {t, given_or(weight, channels, 1, t.dtype(), x.here()), given_or(bias, channels, 0, t.dtype(), x.here())}, attrs({{"groups", groups}, {"epsilon", eps}}), x.here()).at(0);
}

Tensor dropout(const Operand& x, double p, bool training, Generator& generator) {
  const auto t = eager::tensors_of({&x}, "dropout")[0];
  if (!(p >= 0 && p <= 1)) eager::fail(x.here(), "dropout: p is " + std::to_string(p) + ", not a probability");
  return training && p > 0 ? eager::apply("dropout", {t, generator.next(x.here())}, attrs({{"p", p}}), x.here()).at(0) : t;
}

Tensor scaled_dot_product_attention(const Operand& query, const Tensor& key, const Tensor& value, const Tensor& mask, const AttentionOptions& o) {
  auto in = eager::tensors_of({&query}, "scaled_dot_product_attention");
  in.push_back(key), in.push_back(value);
  if (mask.defined()) in.push_back(mask);
  return eager::apply1("scaled_dot_product_attention", in, attrs({{"causal", o.is_causal}, {"scale", o.scale.value_or(0)}}), query.here());
}

Tensor cross_entropy(const Operand& x, const Tensor& target, const CrossEntropyOptions& o) {
  auto in = eager::tensors_of({&x}, "cross_entropy");
  in.push_back(target);
  if (o.weight.defined()) in.push_back(o.weight);
  return eager::apply1("cross_entropy", in, attrs({{"reduction", word(o.reduction)}, {"ignore_index", o.ignore_index}, {"label_smoothing", o.label_smoothing}}), x.here());
}
Tensor nll_loss(const Operand& x, const Tensor& target, Reduction reduction) {
  auto in = eager::tensors_of({&x}, "nll_loss");
  in.push_back(target);
  return eager::apply1("nll_loss", in, attrs({{"reduction", word(reduction)}}), x.here());
}
Tensor mse_loss(const Operand& x, const Operand& target, Reduction r) { return loss("mse_loss", x, target, r); }
Tensor l1_loss(const Operand& x, const Operand& target, Reduction r) { return loss("l1_loss", x, target, r); }
Tensor huber_loss(const Operand& x, const Operand& target, Reduction r, double delta) { return loss("huber_loss", x, target, r, attrs({{"delta", delta}})); }
Tensor smooth_l1_loss(const Operand& x, const Operand& target, Reduction r, double beta) { return loss("smooth_l1_loss", x, target, r, attrs({{"beta", beta}})); }
Tensor binary_cross_entropy(const Operand& x, const Operand& target, Reduction r) { return loss("binary_cross_entropy", x, target, r); }
Tensor binary_cross_entropy_with_logits(const Operand& x, const Operand& target, Reduction r) { return loss("binary_cross_entropy_with_logits", x, target, r); }
Tensor kl_div(const Operand& x, const Operand& target, Reduction r) { return loss("kl_div", x, target, r); }

}  // namespace plumb
