// Reading a tensor between its elements: for grid_sample, and for ONNX's DeformConv and RoiAlign.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

/// One tap along one axis for every point: a whole position inside the axis, a weight, whether the tap counts (-1: all do).
struct Tap {
  ValueId position;  ///< a float
  ValueId weight, counts;
};
/// Where values are read: x as [images * spatial, channels], points as [images, points].
struct Sampled {
  ValueId rows;
  Ints sizes;  ///< spatial
};
/// [images, channels, spatial…] as rows.
Sampled rows_of(const Words& w, ValueId x);
/// For one tap an axis: the product of the weights times the element read, [images, points, channels]. Where a tap does
/// not count, 0. A weight of -1 is left out. `image` is each point's image as i64 [images, points].
ValueId sample(const Words& w, const Sampled& x, ValueId image, const std::vector<Tap>& taps);
/// The sum over every combination of one tap an axis.
ValueId sample_all(const Words& w, const Sampled& x, ValueId image, const std::vector<std::vector<Tap>>& axes);

/// The two elements around each coordinate, weighted linearly; those outside the axis do not count.
std::vector<Tap> linear_taps(const Words& w, ValueId coordinate, std::int64_t size);

}  // namespace plumb::ir::ops
