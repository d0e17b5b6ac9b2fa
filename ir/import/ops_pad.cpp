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

std::int64_t modulo(std::int64_t k, std::int64_t size) { return (k % size + size) % size; }
std::int64_t reflected(std::int64_t k, std::int64_t size) {
  if (size == 1) return 0;
  const auto m = modulo(k, 2 * (size - 1));
  return m < size ? m : 2 * (size - 1) - m;
}
std::int64_t clamped(std::int64_t k, std::int64_t size) { return std::clamp<std::int64_t>(k, 0, size - 1); }

/// The operand continued beyond its ends by a rule from position to position.
void pad_continued(NodeImport& n, const Padding& p, std::int64_t (*rule)(std::int64_t, std::int64_t)) {
  ValueId x = n.in(0);
  for (std::size_t d = 0; d < p.low.size(); ++d) {
    const auto size = n.extents(x)[d];
    if (p.low[d] == 0 && p.high[d] == 0) continue;
    if (size == 0) n.fail("axis " + std::to_string(d) + " is empty: there is nothing to continue");
    n.check_table(size + p.low[d] + p.high[d]);
    Ints positions;
    for (auto k = -p.low[d]; k < size + p.high[d]; ++k) positions.push_back(rule(k, size));
    x = n.pick(x, d, positions);
  }
  n.out(x);
}

void pad(NodeImport& n) {
  const Padding p = padding_of(n, n.rank(n.in(0)));
  const auto mode = n.text("mode", "constant");
  if (mode == "constant") pad_constant(n, p);
  else if (mode == "reflect") pad_continued(n, p, reflected);
  else if (mode == "edge") pad_continued(n, p, clamped);
  else if (mode == "wrap") pad_continued(n, p, modulo);
  else n.fail("mode is '" + mode + "'");
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
