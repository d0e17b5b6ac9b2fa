// Activations.
#include "ir/import/families.h"

namespace plumb::ir::onnx_import {
namespace {

void relu(NodeImport& n) { n.out(n.unary("relu", n.in(0))); }
void leaky_relu(NodeImport& n) { n.out(n.b.op("leaky_relu", {n.in(0)}, attrs({{"slope", n.real("alpha", 0.01)}}))); }
void prelu(NodeImport& n) { n.out(n.b.op("prelu", {n.in(0), n.in(1)})); }
void thresholded_relu(NodeImport& n) {
  const auto x = n.in(0);
  n.out(n.b.op("select", {n.with("gt", x, n.real("alpha", 1)), x, n.b.splat_like(x, 0)}));
}
void elu(NodeImport& n) { n.out(n.b.op("elu", {n.in(0)}, attrs({{"alpha", n.real("alpha", 1)}}))); }
void selu(NodeImport& n) { n.out(n.b.op("selu", {n.in(0)}, attrs({{"alpha", n.real("alpha", 1.67326319217681884765625)}, {"gamma", n.real("gamma", 1.05070102214813232421875)}}))); }
void celu(NodeImport& n) { n.out(n.b.op("celu", {n.in(0)}, attrs({{"alpha", n.real("alpha", 1)}}))); }
void hard_sigmoid(NodeImport& n) { n.out(n.b.op("hard_sigmoid", {n.in(0)}, attrs({{"alpha", n.real("alpha", 0.2)}, {"beta", n.real("beta", 0.5)}}))); }
void hard_swish(NodeImport& n) {
  const auto gate = n.b.op("hard_sigmoid", {n.in(0)}, attrs({{"alpha", static_cast<double>(static_cast<float>(1.0 / 6))}, {"beta", 0.5}}));
  n.out(n.b.op("mul", {n.in(0), gate}));
}
void softplus(NodeImport& n) { n.out(n.unary("softplus", n.in(0))); }
void softsign(NodeImport& n) { n.out(n.unary("softsign", n.in(0))); }
void mish(NodeImport& n) { n.out(n.unary("mish", n.in(0))); }
void swish(NodeImport& n) {
  const auto x = n.in(0);
  const double alpha = n.real("alpha", 1);
  n.out(alpha == 1 ? n.unary("silu", x) : n.b.op("mul", {x, n.unary("sigmoid", n.with("mul", x, alpha))}));
}
void gelu(NodeImport& n) {
  const auto kind = n.text("approximate", "none");
  if (kind != "none" && kind != "tanh") n.fail("approximate is '" + kind + "'");
  n.out(n.b.op("gelu", {n.in(0)}, attrs({{"approximate", kind == "tanh"}})));
}
void shrink(NodeImport& n) {
  const auto x = n.in(0);
  const double bias = n.real("bias", 0), lambd = n.real("lambd", 0.5);
  const auto above = n.b.op("select", {n.with("gt", x, lambd), n.with("sub", x, bias), n.b.splat_like(x, 0)});
  n.out(n.b.op("select", {n.with("lt", x, -lambd), n.with("add", x, bias), above}));
}

/// Before opset 13 the axes from `axis` on are one: [prod before, prod from] is normalised along its second axis.
void softmax_like(NodeImport& n, std::string_view op) {
  const auto x = n.in(0);
  const Type t = n.type(x);
  const auto rank = t.rank();
  if (rank == 0) n.fail("takes no scalar");
  if (n.opset >= 13) return n.out(n.b.op(op, {x}, attrs({{"axis", n.axis(n.integer("axis", -1), rank)}})));
  const auto declared = n.integer("axis", 1);
  const auto axis = declared == static_cast<std::int64_t>(rank) ? declared : n.axis(declared, rank);
  if (axis + 1 == static_cast<std::int64_t>(rank)) return n.out(n.b.op(op, {x}, attrs({{"axis", axis}})));
  const auto e = t.extents();
  const auto cut = static_cast<std::size_t>(axis);
  const auto flat = n.b.reshape(x, {element_count({e.begin(), cut}), element_count({e.begin() + cut, e.size() - cut})});
  n.out(n.b.reshape(n.b.op(op, {flat}, attrs({{"axis", std::int64_t{1}}})), t.shape));
}
void softmax(NodeImport& n) { softmax_like(n, "softmax"); }
void log_softmax(NodeImport& n) { softmax_like(n, "log_softmax"); }

/// 1 at the first maximum along the axis, 0 elsewhere; axes are one from `axis` on before opset 13, as in Softmax.
void hardmax(NodeImport& n) {
  const Type t = n.type_in(0);
  const auto axis = n.axis(n.integer("axis", n.opset >= 13 ? -1 : 1), t.rank());
  const auto cut = static_cast<std::size_t>(axis);
  const auto e = t.extents();
  ValueId x = n.in(0);
  std::int64_t along = axis;
  if (n.opset < 13) {
    x = n.b.reshape(x, {element_count({e.begin(), cut}), element_count({e.begin() + cut, e.size() - cut})});
    along = 1;
  }
  const Type flat = n.type(x);
  const auto best = n.b.op("argmax", {x}, attrs({{"axis", along}}));
  const auto position = n.iota(DType::i64, flat.shape, along);
  const std::int64_t axes[] = {along};
  const auto hit = n.b.op("eq", {position, n.b.keep_dims(best, axes, flat.shape, position)});
  n.out(n.b.reshape(n.b.convert(hit, t.dtype), t.shape));
}

constexpr OpEntry entries[] = {
    {"Celu", 1, 1, celu}, {"Elu", 1, 1, elu}, {"Gelu", 1, 1, gelu}, {"HardSigmoid", 1, 1, hard_sigmoid}, {"HardSwish", 1, 1, hard_swish}, {"Hardmax", 1, 1, hardmax},
    {"LeakyRelu", 1, 1, leaky_relu}, {"LogSoftmax", 1, 1, log_softmax}, {"Mish", 1, 1, mish}, {"PRelu", 2, 2, prelu}, {"Relu", 1, 1, relu}, {"Selu", 1, 1, selu},
    {"Shrink", 1, 1, shrink}, {"Softmax", 1, 1, softmax}, {"Softplus", 1, 1, softplus}, {"Softsign", 1, 1, softsign}, {"Swish", 1, 1, swish},
    {"ThresholdedRelu", 1, 1, thresholded_relu},
};
}  // namespace
std::span<const OpEntry> activation_family() { return entries; }
}  // namespace plumb::ir::onnx_import
