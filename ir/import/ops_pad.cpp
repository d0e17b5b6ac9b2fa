// Pad in its four modes, and CenterCropPad.
#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir::onnx_import {
namespace {

struct Padding {
  Ints low, high;  ///< one entry an axis; negative crops
};
Padding padding_of(NodeImport& n, std::size_t rank) {
  Ints pads;
  if (n.opset < 11) {
    const auto list = n.int_list("pads");
    if (!list) n.fail("attribute 'pads' is missing");
    pads = *list;
  } else {
    pads = n.need_ints(1, "pads");
  }
  Ints axes;
  if (n.has(3)) axes = n.axes(n.need_ints(3, "axes"), rank);
  else
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
  if (pads.size() != 2 * axes.size()) n.fail("pads has " + std::to_string(pads.size()) + " entries for " + std::to_string(axes.size()) + " axes");
  Padding p{Ints(rank, 0), Ints(rank, 0)};
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto d = static_cast<std::size_t>(axes[k]);
    p.low[d] = pads[k];
    p.high[d] = pads[k + axes.size()];
    const auto size = n.extents(n.in(0))[d];
    for (auto v : {p.low[d], p.high[d]})
      if (v < -max_dim || v > max_dim) n.fail("pads has entry " + std::to_string(v));
    if (size + p.low[d] + p.high[d] < 0) n.fail("axis " + std::to_string(d) + " would have a negative size");
  }
  return p;
}

void pad_constant(NodeImport& n, const Padding& p) {
  const Type t = n.type_in(0);
  ValueId value = -1;
  if (n.has(2)) value = n.in(2);
  else value = n.b.scalar(t.dtype, n.opset < 11 ? n.real("value", 0) : 0);
  if (n.type(value).elements() != 1) n.fail("the padding value must be a scalar, not " + n.type(value).str());
  n.out(n.b.op("pad", {n.in(0), n.b.reshape(value, {})}, attrs({{"low", p.low}, {"high", p.high}})));
}

void pad(NodeImport& n) {
  const Padding p = padding_of(n, n.rank(n.in(0)));
  const auto mode = n.text("mode", "constant");
  if (mode == "constant") return pad_constant(n, p);
  const auto op = mode == "reflect" ? "reflection_pad" : mode == "edge" ? "replication_pad" : mode == "wrap" ? "circular_pad" : "";
  if (!*op) n.fail("mode is '" + mode + "'");
  n.out(n.b.op(op, {n.in(0)}, attrs({{"low", p.low}, {"high", p.high}})));
}

/// Each axis cut, or filled up with zeros, about its middle; the odd element goes behind.
void center_crop_pad(NodeImport& n) {
  const auto x = n.in(0);
  const Ints sizes = n.need_ints(1, "the shape");
  Ints axes;
  if (const auto list = n.int_list("axes")) axes = n.axes(*list, n.rank(x));
  else
    for (std::size_t d = 0; d < n.rank(x); ++d) axes.push_back(static_cast<std::int64_t>(d));
  if (sizes.size() != axes.size()) n.fail("the shape has " + std::to_string(sizes.size()) + " entries for " + std::to_string(axes.size()) + " axes");
  Ints low(n.rank(x), 0), high(n.rank(x), 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto d = static_cast<std::size_t>(axes[k]);
    if (sizes[k] < 0 || sizes[k] > max_dim) n.fail("the shape has a dimension of size " + std::to_string(sizes[k]));
    const auto more = sizes[k] - n.extents(x)[d];
    low[d] = more / 2;  // towards zero: of an odd number of elements cut, fewer are cut before
    high[d] = more - low[d];
  }
  n.out(n.b.op("pad", {x, n.b.scalar(n.type(x).dtype, 0)}, attrs({{"low", low}, {"high", high}})));
}

constexpr OpEntry entries[] = {{"CenterCropPad", 2, 2, center_crop_pad}, {"Pad", 1, 4, pad}};
}  // namespace
std::span<const OpEntry> pad_family() { return entries; }
}  // namespace plumb::ir::onnx_import
