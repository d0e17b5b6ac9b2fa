// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include "ir/import/families.h"

namespace plumb::ir::onnx_import {
namespace {

/// log_p [N, C, d…] at the classes [N, d…], negated and weighted, reduced as asked. Elements of the ignored class count
/// as 0, with weight 0. The class is found by comparison: a class outside [0, C) has no term, as an ignored one.
ValueId nll(NodeImport& n, ValueId log_p, ValueId classes, ValueId weights) {
  const Shape shape = n.type(log_p).shape, of_classes = n.type(classes).shape;
  const DType t = n.type(log_p).dtype;
  if (shape.size() < 2 || of_classes.size() + 1 != shape.size()) n.fail("takes [N,C,…] and classes [N,…], not " + n.type(log_p).str() + " and " + n.type(classes).str());
  Ints dims{0};
  for (std::size_t d = 2; d < shape.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
  const auto index = n.b.convert(classes, DType::i64);
  ValueId hit = n.b.op("eq", {n.broadcast(index, shape, dims), n.iota(DType::i64, shape, 1)});
  if (n.has_attr("ignore_index")) {
    const auto ignored = n.with("eq", index, static_cast<double>(n.integer("ignore_index")));
    hit = n.b.op("and", {hit, n.unary("not", n.broadcast(ignored, shape, dims))});
  }
  const auto nothing = n.b.splat_like(log_p, 0);
  const auto weight = weights < 0 ? n.b.splat_like(log_p, 1) : n.broadcast(weights, shape, {1});
  const auto loss = n.unary("neg", n.reduce("reduce_sum", n.b.op("select", {hit, n.b.op("mul", {log_p, weight}), nothing}), {1}));
  const auto how = n.text("reduction", "mean");
  if (how == "none") return loss;
  if (how != "mean" && how != "sum") n.fail("reduction is '" + how + "'");
  Ints all;
  for (std::size_t d = 0; d < of_classes.size(); ++d) all.push_back(static_cast<std::int64_t>(d));
  const auto total = n.reduce("reduce_sum", loss, all);
  if (how == "sum") return total;
  if (weights < 0 && !n.has_attr("ignore_index")) return n.b.op("div", {total, n.b.scalar(t, static_cast<double>(n.type(loss).elements()))});
  Ints everything = all;
  everything.push_back(static_cast<std::int64_t>(of_classes.size()));
  return n.b.op("div", {total, n.reduce("reduce_sum", n.b.op("select", {hit, weight, nothing}), everything)});
}

void negative_log_likelihood(NodeImport& n) { n.out(nll(n, n.in(0), n.in(1), n.has(2) ? n.in(2) : -1)); }

void softmax_cross_entropy(NodeImport& n) {
  if (n.rank(n.in(0)) < 2) n.fail("takes scores [N,C,…], not " + n.type_in(0).str());
  const auto log_p = n.b.op("log_softmax", {n.in(0)}, attrs({{"axis", std::int64_t{1}}}));
  n.out(0, nll(n, log_p, n.in(1), n.has(2) ? n.in(2) : -1));
  n.out(1, log_p);
}

constexpr OpEntry entries[] = {{"NegativeLogLikelihoodLoss", 2, 3, negative_log_likelihood}, {"SoftmaxCrossEntropyLoss", 2, 3, softmax_cross_entropy}};
}  // namespace
std::span<const OpEntry> loss_family() { return entries; }
}  // namespace plumb::ir::onnx_import
