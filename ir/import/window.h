// Sliding windows: the attributes that convolutions and poolings share.
#pragma once
#include "ir/import/node.h"

namespace plumb::ir::onnx_import {

/// One entry a spatial axis.
struct Window {
  Ints kernel, stride, dilation, low, high;
  std::int64_t span(std::size_t d) const { return (kernel[d] - 1) * dilation[d] + 1; }
};

/// strides, dilations and pads (auto_pad resolved against the sizes); each bounded, so that arithmetic on them is exact.
Window read_window(const NodeImport& n, const Ints& kernel, const Ints& sizes);
/// As read_window, leaving the padding 0: for those who resolve it themselves.
Window read_window_without_padding(const NodeImport& n, const Ints& kernel);
/// kernel_shape, bad input when it is missing or not one entry a spatial axis.
Ints kernel_shape(const NodeImport& n, std::size_t spatial);
/// An attribute of one entry a spatial axis, each within [least, 2^20].
Ints window_attr(const NodeImport& n, const char* name, std::size_t count, std::int64_t fallback, std::int64_t least);
/// The sizes from axis 2 on; bad input for a rank below 3.
Ints spatial_sizes(const NodeImport& n, ValueId x);
/// 1 1 followed by the entries (or the given filler): a window's attribute for [N, C, spatial…].
Ints with_batch_and_channel(const Ints& entries, std::int64_t filler);

}  // namespace plumb::ir::onnx_import
