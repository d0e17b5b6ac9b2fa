// Conv and ConvTranspose.
#include "ir/import/families.h"
#include "ir/import/window.h"

namespace plumb::ir::onnx_import {
namespace {

ValueId with_bias(NodeImport& n, ValueId y) {
  if (!n.has(2)) return y;
  const Type t = n.type(y);
  if (n.type_in(2) != Type{t.dtype, {t.shape[1]}}) n.fail("the bias must be " + Type{t.dtype, {t.shape[1]}}.str() + ", not " + n.type_in(2).str());
  return n.b.op("add", {y, n.per_channel(n.in(2), y)});
}
std::int64_t groups_of(NodeImport& n) {
  const auto groups = n.integer("group", 1);
  if (groups < 1 || groups > (std::int64_t{1} << 31)) n.fail("group is " + std::to_string(groups));
  return groups;
}
/// The window's sizes from the weights, checked against kernel_shape where that is given.
Ints kernel_of(NodeImport& n) {
  const Ints sizes = spatial_sizes(n, n.in(1));
  if (n.rank(n.in(0)) != sizes.size() + 2) n.fail("operand " + n.type_in(0).str() + " and weights " + n.type_in(1).str() + " differ in rank");
  for (auto k : sizes)
    if (k < 1 || k > (1 << 20)) n.fail("weights " + n.type_in(1).str() + " have an empty or huge window");
  if (n.has_attr("kernel_shape") && kernel_shape(n, sizes.size()) != sizes) n.fail("kernel_shape is not that of the weights " + n.type_in(1).str());
  return sizes;
}

void conv(NodeImport& n) {
  const auto x = n.in(0), w = n.in(1);
  const Window window = read_window(n, kernel_of(n), spatial_sizes(n, x));
  const auto y = n.b.op("convolution", {x, w}, attrs({{"stride", window.stride}, {"low", window.low}, {"high", window.high}, {"rhs_dilation", window.dilation}, {"groups", groups_of(n)}}));
  n.out(with_bias(n, y));
}

/// The padding that ConvTranspose takes off its full result.
void transposed_padding(NodeImport& n, Window& w, const Ints& sizes, const Ints& output_padding) {
  const auto mode = n.text("auto_pad", "NOTSET");
  const auto wanted = n.int_list("output_shape");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") n.fail("auto_pad is '" + mode + "'");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!wanted && !same) {
    if (mode == "NOTSET") w = read_window(n, w.kernel, sizes);
    return;
  }
  Ints shape = wanted ? window_attr(n, "output_shape", w.kernel.size(), 1, 0) : Ints{};
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    const auto out = wanted ? shape[d] : sizes[d] * w.stride[d];
    const auto total = w.stride[d] * (sizes[d] - 1) + output_padding[d] + w.span(d) - out;
    // A result larger than the full one is filled up at the end.
    const auto half = std::max<std::int64_t>(total, 0) / 2;
    w.low[d] = mode == "SAME_UPPER" ? half : std::max<std::int64_t>(total, 0) - half;
    w.high[d] = total - w.low[d];
  }
}

/// [C, M/groups, k…] as a convolution's weights [M, C/groups, k…] with the window reversed.
ValueId mirrored_weights(NodeImport& n, std::int64_t groups) {
  const Extents e = n.extents(n.in(1));
  if (e[0] % groups != 0) n.fail(std::to_string(e[0]) + " channels do not divide into " + std::to_string(groups) + " groups");
  if (e.size() == max_rank) n.unsupported("rank " + std::to_string(max_rank));
  Shape cut{groups, e[0] / groups, e[1]}, shape{groups * e[1], e[0] / groups};
  Ints perm{0, 2, 1}, spatial;
  for (std::size_t d = 2; d < e.size(); ++d) {
    cut.push_back(e[d]);
    shape.push_back(e[d]);
    perm.push_back(static_cast<std::int64_t>(d) + 1);
    spatial.push_back(static_cast<std::int64_t>(d));
  }
  return n.reverse(n.b.reshape(n.b.transpose(n.b.reshape(n.in(1), cut), perm), shape), spatial);
}

/// A convolution over the operand dilated by the stride. The result's part outside the padding is cut off.
void conv_transpose(NodeImport& n) {
  const auto x = n.in(0);
  const Ints kernel = kernel_of(n), sizes = spatial_sizes(n, x);
  const auto groups = groups_of(n);
  Window w = read_window_without_padding(n, kernel);
  const Ints output_padding = window_attr(n, "output_padding", kernel.size(), 0, 0);
  for (std::size_t d = 0; d < kernel.size(); ++d)
    if (output_padding[d] >= std::max(w.stride[d], w.dilation[d]) && output_padding[d] > 0)
      n.fail("output_padding " + std::to_string(output_padding[d]) + " must be below the stride " + std::to_string(w.stride[d]) + " or the dilation " + std::to_string(w.dilation[d]));
  transposed_padding(n, w, sizes, output_padding);
  Ints low, high, cut_low, cut_high;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    const auto before = w.span(d) - 1 - w.low[d], after = w.span(d) - 1 - w.high[d] + output_padding[d];
    low.push_back(std::max<std::int64_t>(before, 0));
    high.push_back(std::max<std::int64_t>(after, 0));
    cut_low.push_back(low.back() - before);
    cut_high.push_back(high.back() - after);
  }
  auto y = n.b.op("convolution", {x, mirrored_weights(n, groups)}, attrs({{"low", low}, {"high", high}, {"lhs_dilation", w.stride}, {"rhs_dilation", w.dilation}, {"groups", groups}}));
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    const auto size = n.extents(y)[d + 2];
    if (cut_low[d] + cut_high[d] > size) n.fail("the padding is larger than the result");
    y = n.slice(y, d + 2, cut_low[d], size - cut_high[d]);
  }
  n.out(with_bias(n, y));
}

constexpr OpEntry entries[] = {{"Conv", 2, 3, conv}, {"ConvTranspose", 2, 3, conv_transpose}};
}  // namespace
std::span<const OpEntry> convolution_family() { return entries; }
}  // namespace plumb::ir::onnx_import
