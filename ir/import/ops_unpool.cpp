// What puts windows back: MaxUnpool by the indices of MaxPool, Col2Im by overlapping sums.
#include "ir/import/equal_positions.h"
#include "ir/import/families.h"
#include "ir/import/flat_position.h"
#include "ir/import/tensor_proto.h"
#include "ir/import/window.h"

namespace plumb::ir::onnx_import {
namespace {

/// The shape that a pooling of these attributes would have pooled.
Shape unpooled_shape(NodeImport& n) {
  const auto x = n.in(0);
  const Ints sizes = spatial_sizes(n, x), kernel = kernel_shape(n, sizes.size());
  const Window w = read_window(n, kernel, sizes);
  Shape s{n.extents(x)[0], n.extents(x)[1]};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto size = (sizes[d] - 1) * w.stride[d] - w.low[d] - w.high[d] + kernel[d];
    if (size < 0 || size > max_dim) n.fail("axis " + std::to_string(d + 2) + " would have size " + std::to_string(size));
    s.push_back(size);
  }
  return s;
}

/// Zeros but for the elements at their indices in the flattened result; a wanted shape beyond that is filled up behind.
/// Windows that overlap may name one place twice: the value is one and the same, and is taken once.
void max_unpool(NodeImport& n) {
  const auto x = n.in(0);
  if (n.type_in(1).shape != n.type(x).shape) n.fail("indices " + n.type_in(1).str() + " and values " + n.type(x).str() + " differ in shape");
  const Shape shape = unpooled_shape(n);
  const auto count = n.type(x).elements(), total = Type{DType::f32, shape}.elements();
  FlatPosition at(n);
  at.add(n.b.reshape(n.in(1), {count}), total);
  const Updates u = last_ones(n, {at.value(), n.b.reshape(x, {count})});
  const DType t = n.type(x).dtype;
  const auto zeros = n.broadcast(n.b.scalar(t, is_float(t) ? -0.0 : 0), {total}, {});
  auto y = n.b.op("scatter_add", {zeros, u.positions, u.values}, attrs({{"axis", std::int64_t{0}}}));
  y = n.b.reshape(n.with("add", y, 0), shape);
  if (!n.has(2)) return n.out(y);
  const Ints wanted = n.need_ints(2, "output_shape");
  if (wanted.size() != shape.size()) n.fail("output_shape has " + std::to_string(wanted.size()) + " entries for rank " + std::to_string(shape.size()));
  Ints high;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] < 0 || wanted[d] > max_dim) n.fail("output_shape has entry " + std::to_string(wanted[d]));
    high.push_back(wanted[d] - shape[d].size());
  }
  n.out(n.b.op("pad", {y, n.b.scalar(t, 0)}, attrs({{"low", Ints(wanted.size(), 0)}, {"high", high}})));
}

struct Blocks {
  Ints image, block, counts;  ///< sizes of the image and of a block, blocks along each axis
  Window window;
};
Blocks blocks_of(NodeImport& n) {
  Blocks b;
  b.image = n.need_ints(1, "image_shape");
  b.block = n.need_ints(2, "block_shape");
  if (b.image.empty() || b.block.size() != b.image.size() || b.image.size() + 2 > max_rank) n.fail("image_shape and block_shape have " + std::to_string(b.image.size()) + " and " + std::to_string(b.block.size()) + " entries");
  for (std::size_t d = 0; d < b.image.size(); ++d)
    if (b.image[d] < 0 || b.image[d] > max_dim || b.block[d] < 1 || b.block[d] > (1 << 20)) n.fail("image_shape or block_shape has an entry that is no size");
  b.window = read_window(n, b.block, b.image);
  for (std::size_t d = 0; d < b.image.size(); ++d) {
    const auto free = b.image[d] + b.window.low[d] + b.window.high[d] - b.window.span(d);
    b.counts.push_back(free < 0 ? 0 : free / b.window.stride[d] + 1);
  }
  return b;
}

/// Each element of the blocks is an image of its own, its values as far apart as the blocks; their sum is the result.
void col2im(NodeImport& n) {
  const auto x = n.in(0);
  const Blocks b = blocks_of(n);
  const auto size = element_count(b.block), count = element_count(b.counts);
  const Extents e = n.extents(x);
  if (e.size() != 3 || e[1] % size != 0 || e[2] != count) n.fail("columns must be [N, a multiple of " + std::to_string(size) + ", " + std::to_string(count) + "], not " + n.type(x).str());
  if (size > 4096) n.unsupported("blocks of " + std::to_string(size) + " elements");
  const auto columns = n.b.reshape(x, {e[0], e[1] / size, size, count});
  const auto zero = n.b.scalar(n.type(x).dtype, 0);
  Shape grid{e[0], e[1] / size};
  for (auto c : b.counts) grid.push_back(c);
  ValueId sum = -1;
  Index at(b.block.size(), 0);
  for (std::int64_t k = 0; k < size; ++k, plumb::advance(at, b.block)) {
    Ints low(2, 0), high(2, 0), interior(2, 0);
    for (std::size_t d = 0; d < at.size(); ++d) {
      const auto wide = b.counts[d] == 0 ? 0 : (b.counts[d] - 1) * b.window.stride[d] + 1;
      low.push_back(at[d] * b.window.dilation[d] - b.window.low[d]);
      high.push_back(b.image[d] - wide - low.back());
      interior.push_back(b.window.stride[d] - 1);
    }
    const auto element = n.b.reshape(n.slice(columns, 2, k, k + 1), grid);
    const auto spread = n.b.op("pad", {element, zero}, attrs({{"low", low}, {"high", high}, {"interior", interior}}));
    sum = sum < 0 ? spread : n.b.op("add", {sum, spread});
  }
  n.out(sum);
}

constexpr OpEntry entries[] = {{"Col2Im", 3, 3, col2im}, {"MaxUnpool", 2, 3, max_unpool}};
}  // namespace
std::span<const OpEntry> unpool_family() { return entries; }
}  // namespace plumb::ir::onnx_import
