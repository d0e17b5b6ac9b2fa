// Reductions, ArgMax and ArgMin, CumSum.
#include "ir/import/families.h"

namespace plumb::ir::onnx_import {
namespace {

struct Axes {
  Ints list;
  bool keep;
  bool identity;  ///< no axes and noop_with_empty_axes: the operand as it is
};
/// ReduceSum takes its axes as an input from opset 13 on, the others from 18 on.
Axes axes_of(NodeImport& n) {
  const auto rank = n.rank(n.in(0));
  std::optional<Ints> list;
  if (n.opset < (n.op_type() == "ReduceSum" ? 13 : 18)) list = n.int_list("axes");
  else if (n.has(1)) list = n.need_ints(1, "axes");
  Axes a{{}, n.integer("keepdims", 1) != 0, false};
  if (list && !list->empty()) a.list = n.axes(*list, rank);
  else if (n.integer("noop_with_empty_axes", 0) != 0) a.identity = true;
  else
    for (std::size_t d = 0; d < rank; ++d) a.list.push_back(static_cast<std::int64_t>(d));
  return a;
}
ValueId reduced(NodeImport& n, std::string_view op, ValueId x, const Axes& a) { return a.identity ? x : n.reduce(op, x, a.list, a.keep); }

ValueId square(NodeImport& n, ValueId x) { return n.b.op("mul", {x, x}); }

void sum(NodeImport& n) { n.out(reduced(n, "reduce_sum", n.in(0), axes_of(n))); }
void prod(NodeImport& n) { n.out(reduced(n, "reduce_prod", n.in(0), axes_of(n))); }
void max(NodeImport& n) { n.out(reduced(n, "reduce_max", n.in(0), axes_of(n))); }
void min(NodeImport& n) { n.out(reduced(n, "reduce_min", n.in(0), axes_of(n))); }
void mean(NodeImport& n) {
  const auto a = axes_of(n);
  const auto x = n.in(0);
  if (is_float(n.type(x).dtype)) return n.out(reduced(n, "reduce_mean", x, a));
  std::int64_t count = 1;
  for (auto d : a.list) count *= n.extents(x)[static_cast<std::size_t>(d)];
  n.out(n.with("div", reduced(n, "reduce_sum", x, a), static_cast<double>(count)));
}
void l1(NodeImport& n) { n.out(reduced(n, "reduce_sum", n.unary("abs", n.in(0)), axes_of(n))); }
void l2(NodeImport& n) { n.out(n.unary("sqrt", reduced(n, "reduce_sum", square(n, n.in(0)), axes_of(n)))); }
void sum_square(NodeImport& n) { n.out(reduced(n, "reduce_sum", square(n, n.in(0)), axes_of(n))); }
void log_sum(NodeImport& n) { n.out(n.unary("log", reduced(n, "reduce_sum", n.in(0), axes_of(n)))); }

void log_sum_exp(NodeImport& n) { n.out(reduced(n, "logsumexp", n.in(0), axes_of(n))); }

/// select_last_index: the first of the reversed axis, counted from the other end.
void arg_reduce(NodeImport& n) {
  const auto x = n.in(0);
  const auto axis = n.axis(n.integer("axis", 0), n.rank(x));
  const bool last = n.integer("select_last_index", 0) != 0;
  const char* op = n.op_type() == "ArgMax" ? "argmax" : "argmin";
  Shape kept = n.type(x).shape;
  const auto size = kept[static_cast<std::size_t>(axis)].size();
  kept[static_cast<std::size_t>(axis)] = 1;
  auto r = n.b.op(op, {last ? n.reverse(x, {axis}) : x}, attrs({{"axis", axis}}));
  if (last) r = n.b.op("sub", {n.b.splat_like(r, static_cast<double>(size - 1)), r});
  n.out(n.integer("keepdims", 1) != 0 ? n.b.reshape(r, kept) : r);
}

void cum_sum(NodeImport& n) {
  const auto axis = n.axis(n.need_int(1, "axis"), n.rank(n.in(0)));
  n.out(n.b.op("cumsum", {n.in(0)}, attrs({{"axis", axis}, {"exclusive", n.integer("exclusive", 0) != 0}, {"reverse", n.integer("reverse", 0) != 0}})));
}

constexpr OpEntry entries[] = {
    {"ArgMax", 1, 1, arg_reduce}, {"ArgMin", 1, 1, arg_reduce}, {"CumSum", 2, 2, cum_sum}, {"ReduceL1", 1, 2, l1}, {"ReduceL2", 1, 2, l2},
    {"ReduceLogSum", 1, 2, log_sum}, {"ReduceLogSumExp", 1, 2, log_sum_exp}, {"ReduceMax", 1, 2, max}, {"ReduceMean", 1, 2, mean}, {"ReduceMin", 1, 2, min},
    {"ReduceProd", 1, 2, prod}, {"ReduceSum", 1, 2, sum}, {"ReduceSumSquare", 1, 2, sum_square},
};
}  // namespace
std::span<const OpEntry> reduce_family() { return entries; }
}  // namespace plumb::ir::onnx_import
