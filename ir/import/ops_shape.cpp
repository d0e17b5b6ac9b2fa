// Operators that give the same elements another shape, or repeat and join them.
#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir::onnx_import {
namespace {

/// 0 keeps the operand's size (unless allowzero), one -1 takes what is left.
void reshape(NodeImport& n) {
  const auto x = n.in(0);
  const Extents e = n.extents(x);
  const bool allow_zero = n.integer("allowzero", 0) != 0;
  const Ints want = n.need_ints(1, "the shape");
  Shape shape;
  std::int64_t known = 1;
  std::size_t open = max_rank;
  for (std::size_t k = 0; k < want.size(); ++k) {
    std::int64_t d = want[k];
    if (d == 0 && !allow_zero) {
      if (k >= e.size()) n.fail("the shape's entry " + std::to_string(k) + " is 0, but the operand has rank " + std::to_string(e.size()));
      d = e[k];
    }
    if (d < -1 || d > max_dim || (d == -1 && open != max_rank)) n.fail("the shape has entry " + std::to_string(d) + (d == -1 ? " twice" : ""));
    if (d == -1) open = k;
    else if (__builtin_mul_overflow(known, d, &known)) n.fail("the shape's product overflows");
    shape.push_back(d == -1 ? 1 : d);
  }
  const std::int64_t all = n.type(x).elements();
  if (open != max_rank) {
    if (known == 0 || all % known != 0) n.fail(n.type(x).str() + " does not divide into the given shape");
    shape[open] = all / known;
  }
  n.out(n.b.reshape(x, shape));
}

void flatten(NodeImport& n) {
  const auto x = n.in(0);
  const Extents e = n.extents(x);
  const auto rank = static_cast<std::int64_t>(e.size());
  const auto declared = n.integer("axis", 1);
  const auto cut = static_cast<std::size_t>(declared == rank ? rank : n.axis(declared, e.size()));
  n.out(n.b.reshape(x, {element_count({e.begin(), cut}), element_count({e.begin() + cut, e.size() - cut})}));
}

/// An attribute before opset 13, an input since.
std::optional<Ints> axes_of(NodeImport& n) {
  if (n.opset < 13) return n.int_list("axes");
  if (!n.has(1)) return std::nullopt;
  return n.need_ints(1, "axes");
}
void squeeze(NodeImport& n) {
  const auto x = n.in(0);
  const Extents e = n.extents(x);
  const auto list = axes_of(n);
  const Ints axes = list ? n.axes(*list, e.size()) : Ints{};
  Shape shape;
  for (std::size_t d = 0; d < e.size(); ++d) {
    const bool named = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
    if (named && e[d] != 1) n.fail("axis " + std::to_string(d) + " of " + n.type(x).str() + " has size " + std::to_string(e[d]) + ", not 1");
    if (list ? !named : e[d] != 1) shape.push_back(e[d]);
  }
  n.out(n.b.reshape(x, shape));
}
void unsqueeze(NodeImport& n) {
  const auto x = n.in(0);
  const Extents e = n.extents(x);
  const auto list = axes_of(n);
  if (!list) n.fail("axes are missing");
  if (list->size() + e.size() > max_rank) n.unsupported("the result's rank is above " + std::to_string(max_rank));
  const std::size_t rank = e.size() + list->size();
  const Ints axes = n.axes(*list, rank);
  Shape shape(rank, Dim(1));
  std::size_t from = 0;
  for (std::size_t d = 0; d < rank; ++d)
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) == axes.end()) shape[d] = e[from++];
  n.out(n.b.reshape(x, shape));
}

void transpose(NodeImport& n) {
  const auto rank = static_cast<std::int64_t>(n.rank(n.in(0)));
  Ints reversed;
  for (auto d = rank; d-- > 0;) reversed.push_back(d);
  n.out(n.b.transpose(n.in(0), n.int_list("perm").value_or(reversed)));
}

void concat(NodeImport& n) {
  const auto xs = n.all();
  n.out(n.concat(xs, n.axis(n.integer("axis"), n.rank(xs.at(0)))));
}

/// Broadcasts both ways: a size 1 of the shape keeps the operand's.
void expand(NodeImport& n) {
  Shape want;
  for (auto d : n.need_ints(1, "the shape")) {
    if (d < 0 || d > max_dim) n.fail("the shape has a dimension of size " + std::to_string(d));
    want.push_back(d);
  }
  const auto shape = broadcast_shapes(n.type_in(0).shape, want);
  if (const auto* why = std::get_if<std::string>(&shape)) n.fail(*why);
  n.out(n.b.broadcast_to(n.in(0), std::get<Shape>(shape)));
}

/// One axis k times in a row: a broadcast before it, then the two as one.
ValueId repeat(NodeImport& n, ValueId x, std::size_t axis, std::int64_t times) {
  const Shape shape = n.type(x).shape;
  if (shape.size() == max_rank) n.unsupported("rank " + std::to_string(max_rank));
  Shape wide, merged = shape;
  Ints dims;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d == axis) wide.push_back(times);
    dims.push_back(static_cast<std::int64_t>(wide.size()));
    wide.push_back(shape[d]);
  }
  std::int64_t size = 0;
  if (__builtin_mul_overflow(shape[axis].size(), times, &size)) n.fail("the result is too large");
  merged[axis] = size;
  return n.b.reshape(n.broadcast(x, wide, dims), merged);
}
void tile(NodeImport& n) {
  ValueId x = n.in(0);
  const Ints times = n.need_ints(1, "repeats");
  if (times.size() != n.rank(x)) n.fail("repeats has " + std::to_string(times.size()) + " entries for " + n.type(x).str());
  for (std::size_t d = 0; d < times.size(); ++d) {
    if (times[d] < 0 || times[d] > max_dim) n.fail("repeats has entry " + std::to_string(times[d]));
    if (times[d] != 1) x = repeat(n, x, d, times[d]);
  }
  n.out(x);
}

struct Blocks {
  std::int64_t batch, channels, height, width, size;
};
Blocks blocks_of(NodeImport& n) {
  const Extents e = n.extents(n.in(0));
  if (e.size() != 4) n.fail("takes [N,C,H,W], not " + n.type_in(0).str());
  const auto size = n.integer("blocksize");
  if (size < 1 || size > (1 << 20)) n.fail("blocksize is " + std::to_string(size));
  return {e[0], e[1], e[2], e[3], size};
}
void depth_to_space(NodeImport& n) {
  const auto [batch, channels, height, width, size] = blocks_of(n);
  if (channels % (size * size) != 0) n.fail("channels do not divide into blocks of " + std::to_string(size * size));
  const auto mode = n.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") n.fail("mode is '" + mode + "'");
  const std::int64_t depth = channels / (size * size);
  const bool blocks_first = mode == "DCR";
  const auto cut = n.b.reshape(n.in(0), blocks_first ? Shape{batch, size, size, depth, height, width} : Shape{batch, depth, size, size, height, width});
  const auto moved = n.b.transpose(cut, blocks_first ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3});
  n.out(n.b.reshape(moved, {batch, depth, height * size, width * size}));
}
void space_to_depth(NodeImport& n) {
  const auto [batch, channels, height, width, size] = blocks_of(n);
  if (height % size != 0 || width % size != 0) n.fail("height and width do not divide into blocks of " + std::to_string(size));
  const auto cut = n.b.reshape(n.in(0), {batch, channels, height / size, size, width / size, size});
  n.out(n.b.reshape(n.b.transpose(cut, {0, 3, 5, 1, 2, 4}), {batch, channels * size * size, height / size, width / size}));
}

constexpr OpEntry entries[] = {
    {"Concat", 1, any_number, concat}, {"DepthToSpace", 1, 1, depth_to_space}, {"Expand", 2, 2, expand}, {"Flatten", 1, 1, flatten}, {"Reshape", 2, 2, reshape},
    {"SpaceToDepth", 1, 1, space_to_depth}, {"Squeeze", 1, 2, squeeze}, {"Tile", 2, 2, tile}, {"Transpose", 1, 1, transpose}, {"Unsqueeze", 1, 2, unsqueeze},
};
}  // namespace
std::span<const OpEntry> shape_family() { return entries; }
}  // namespace plumb::ir::onnx_import
