// Words that shape rules share.
#pragma once
#include <algorithm>
#include <limits>
#include <string>

#include "ir/tensor/complex_parts.h"
#include "ir/tensor/ops/op_list.h"

namespace plumb::ir::ops {

inline Inferred one(Type t) { return std::vector<Type>{std::move(t)}; }
inline Inferred no(std::string why) { return why; }

inline bool contains(std::span<const std::int64_t> axes, std::int64_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

/// "" when axes are distinct and within rank; else a sentence.
inline std::string check_axes(std::span<const std::int64_t> axes, std::size_t rank, const char* what) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= static_cast<std::int64_t>(rank))
      return std::string(what) + " " + std::to_string(axes[i]) + " is outside rank " + std::to_string(rank);
    if (contains(axes.subspan(0, i), axes[i])) return std::string(what) + " " + std::to_string(axes[i]) + " is named twice";
  }
  return {};
}
inline std::string check_axis(std::int64_t axis, std::size_t rank) {
  const std::int64_t a[] = {axis};
  return check_axes(a, rank, "axis");
}
/// The shape without the named axes.
inline Shape drop(const Shape& s, std::span<const std::int64_t> axes) {
  Shape r;
  for (std::size_t d = 0; d < s.size(); ++d)
    if (!contains(axes, static_cast<std::int64_t>(d))) r.push_back(s[d]);
  return r;
}
inline bool concrete(const Shape& s) {
  return std::none_of(s.begin(), s.end(), [](const Dim& d) { return d.is_symbol(); });
}

/// Base of the operations that treat the parts of complex operands alike: f(z) = f(re z) + i f(im z); real operands
/// (indices, conditions) serve both.
template <class Op> struct PartByPart {
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return {part_by_part(b, Op::row.name, in, a)}; }
};

/// Sizes are computed in 128 bits: attributes come from text and files, and may be anything.
__extension__ using Wide = __int128;
/// Whether a size that was computed wide is one that a tensor may have.
inline bool fits(Wide size) { return size >= 0 && size <= std::numeric_limits<std::int64_t>::max(); }
/// Number of windows: 0 when the window is longer than what it slides over.
inline Wide positions(Wide span, std::int64_t stride) { return span < 0 ? 0 : span / stride + 1; }

}  // namespace plumb::ir::ops
