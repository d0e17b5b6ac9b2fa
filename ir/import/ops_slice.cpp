// Parts of a tensor: Slice, Split, Trilu, Compress, ReverseSequence.
#include <numeric>

#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir::onnx_import {
namespace {

/// NumPy's rule: negative bounds count from the end, then all are clamped; a negative step runs backwards.
ValueId slice_axis(NodeImport& n, ValueId x, std::size_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto size = n.extents(x)[axis];
  if (step == 0) n.fail("a step is 0");
  // A step of more than the size takes one element, whatever it is: bounded here, so that nothing below overflows.
  step = std::clamp<std::int64_t>(step, -size - 1, size + 1);
  const auto place = [&](std::int64_t k, std::int64_t low, std::int64_t high) { return std::clamp(k < 0 ? k + size : k, low, high); };
  if (step > 0) {
    const auto first = place(start, 0, size), last = place(end, 0, size);
    return n.slice(x, axis, first, std::max(first, last), step);
  }
  const auto first = place(start, -1, size - 1), last = place(end, -1, size - 1);
  if (first <= last) return n.slice(x, axis, 0, 0);
  const auto count = (first - last - 1) / -step + 1;
  const auto low = first + (count - 1) * step;
  return n.reverse(n.slice(x, axis, low, first + 1, -step), {static_cast<std::int64_t>(axis)});
}

void slice(NodeImport& n) {
  ValueId x = n.in(0);
  const std::size_t rank = n.rank(x);
  Ints starts, ends, axes, steps;
  if (n.opset < 10) {
    const auto s = n.int_list("starts"), e = n.int_list("ends");
    if (!s || !e) n.fail("starts or ends are missing");
    starts = *s;
    ends = *e;
    axes = n.int_list("axes").value_or(Ints{});
  } else {
    starts = n.need_ints(1, "starts");
    ends = n.need_ints(2, "ends");
    if (n.has(3)) axes = n.need_ints(3, "axes");
    if (n.has(4)) steps = n.need_ints(4, "steps");
  }
  if (axes.empty() && !starts.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) n.fail("starts, ends, axes and steps differ in length");
  axes = n.axes(axes, rank);
  for (std::size_t k = 0; k < axes.size(); ++k) x = slice_axis(n, x, static_cast<std::size_t>(axes[k]), starts[k], ends[k], steps[k]);
  n.out(x);
}

void split(NodeImport& n) {
  const auto x = n.in(0);
  const auto axis = static_cast<std::size_t>(n.axis(n.integer("axis", 0), n.rank(x)));
  const auto size = n.extents(x)[axis];
  const auto parts = static_cast<std::int64_t>(n.output_count());
  if (parts == 0) n.fail("has no outputs");
  Ints sizes;
  if (n.opset < 13) sizes = n.int_list("split").value_or(Ints{});
  else if (n.has(1)) sizes = n.need_ints(1, "split");
  if (sizes.empty()) {
    if (n.integer("num_outputs", parts) != parts) n.fail("num_outputs is not the number of outputs");
    const auto chunk = (size + parts - 1) / parts;  // from opset 18 on the last may be smaller
    if (n.opset < 18 && size % parts != 0) n.fail(std::to_string(size) + " does not divide into " + std::to_string(parts) + " parts");
    for (std::int64_t k = 0; k < parts; ++k) sizes.push_back(std::clamp<std::int64_t>(size - k * chunk, 0, chunk));
  }
  if (static_cast<std::int64_t>(sizes.size()) != parts) n.fail("split has " + std::to_string(sizes.size()) + " entries for " + std::to_string(parts) + " outputs");
  std::int64_t at = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] < 0 || sizes[k] > size - at) n.fail("split does not add up to " + std::to_string(size));
    n.out(k, n.slice(x, axis, at, at + sizes[k]));
    at += sizes[k];
  }
  if (at != size) n.fail("split does not add up to " + std::to_string(size));
}

/// Keeps column - row >= k (upper) or <= k (lower).
void trilu(NodeImport& n) {
  const auto x = n.in(0);
  const Shape shape = n.type(x).shape;
  if (shape.size() < 2) n.fail("takes matrices, not " + n.type(x).str());
  const auto k = std::clamp(n.has(1) ? n.need_int(1, "k") : 0, -max_dim, max_dim);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const Shape matrix{shape[shape.size() - 2], shape[shape.size() - 1]};
  const auto distance = n.b.op("sub", {n.iota(DType::i64, matrix, 1), n.iota(DType::i64, matrix, 0)});
  const auto keep = n.with(n.integer("upper", 1) != 0 ? "ge" : "le", distance, static_cast<double>(k));
  n.out(n.b.op("select", {n.broadcast(keep, shape, {rank - 2, rank - 1}), x, n.b.splat_like(x, 0)}));
}

void compress(NodeImport& n) {
  ValueId x = n.in(0);
  if (const Type c = n.type_in(1); c.dtype != DType::boolean || c.rank() != 1) n.fail("the condition must be a vector of bools, not " + c.str());
  if (!n.has_attr("axis")) x = n.b.reshape(x, {n.type(x).elements()});
  const auto axis = static_cast<std::size_t>(n.axis(n.integer("axis", 0), n.rank(x)));
  const auto* known = n.known(n.in(1));
  if (!known) {
    const auto r = n.b.add("compress", std::array{x, n.in(1)}, attrs({{"axis", static_cast<std::int64_t>(axis)}}));
    return n.out_padded(0, r[0], static_cast<std::int64_t>(axis), r[1]);
  }
  const auto& condition = *known;
  Ints positions;
  for (std::int64_t i = 0; i < condition.elements(); ++i)
    if (condition.int_at(i) != 0) positions.push_back(i);
  if (!positions.empty() && positions.back() >= n.extents(x)[axis]) n.fail("the condition is longer than the axis");
  n.out(n.pick(x, axis, positions));
}

/// Position t of a sequence of length s reads s - 1 - t, later positions themselves.
void reverse_sequence(NodeImport& n) {
  const auto x = n.in(0);
  const auto time = n.integer("time_axis", 0), batch = n.integer("batch_axis", 1);
  if (n.rank(x) < 2 || time + batch != 1 || (time != 0 && time != 1)) n.fail("time_axis and batch_axis must be 0 and 1 of an operand of rank 2 or more");
  const Shape shape = n.type(x).shape;
  const auto steps = n.iota(DType::i64, shape, time);
  const auto lengths = n.broadcast(n.b.convert(n.in(1), DType::i64), shape, {batch});
  const auto mirrored = n.with("sub", n.b.op("sub", {lengths, steps}), 1);
  const auto index = n.b.op("select", {n.b.op("lt", {steps, lengths}), mirrored, steps});
  n.out(n.b.op("gather_elements", {x, index}, attrs({{"axis", time}})));
}

constexpr OpEntry entries[] = {
    {"Compress", 2, 2, compress}, {"ReverseSequence", 2, 2, reverse_sequence}, {"Slice", 1, 5, slice}, {"Split", 1, 2, split}, {"Trilu", 1, 2, trilu},
};
}  // namespace
std::span<const OpEntry> slice_family() { return entries; }
}  // namespace plumb::ir::onnx_import
