// Elements looked up and updated by index.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct Gather {
  static constexpr OpRow row{"gather", "x, indices", OpClass::gather, "x's slices along an axis at the indices: the axis is replaced by the axes of indices. An index outside [0, size) is an error where a result needs the element; a lowering may leave out what none needs."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "0"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto axis = a.integer("axis");
    if (auto e = check_axis(axis, in[0].rank()); !e.empty()) return no("C1: " + e);
    if (!is_integer(in[1].dtype)) return no("C2: indices must be integers, not " + std::string(name(in[1].dtype)));
    Shape s;
    for (std::size_t d = 0; d < in[0].rank(); ++d) {
      if (static_cast<std::int64_t>(d) != axis) s.push_back(in[0].shape[d]);
      else
        for (const auto& n : in[1].shape) s.push_back(n);
    }
    return one({in[0].dtype, s});
  }
};

struct GatherElements {
  static constexpr OpRow row{"gather_elements", "x, indices", OpClass::gather, "At each result index, the element of x whose coordinate along the axis is the index found there. An index outside [0, size) is an error where a result needs the element; a lowering may leave out what none needs."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "0"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto axis = a.integer("axis");
    if (auto e = check_axis(axis, in[0].rank()); !e.empty()) return no("C1: " + e);
    if (!is_integer(in[1].dtype)) return no("C2: indices must be integers, not " + std::string(name(in[1].dtype)));
    if (in[1].rank() != in[0].rank()) return no("C3: x and indices differ in rank");
    const std::int64_t axes[] = {axis};
    if (drop(in[0].shape, axes) != drop(in[1].shape, axes)) return no("C4: x " + in[0].str() + " and indices " + in[1].str() + " differ beside axis " + std::to_string(axis));
    return one({in[0].dtype, in[1].shape});
  }
};

struct ScatterAdd {
  static constexpr OpRow row{"scatter_add", "x, indices, updates", OpClass::scatter, "x plus, at each index along the axis, the updates' slices, added in the order of the indices (duplicates add up; x first). "
      "An index outside [0, size) is an error where a result needs the element; a lowering may leave out what none needs."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "0"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto axis = a.integer("axis");
    if (auto e = check_axis(axis, in[0].rank()); !e.empty()) return no("C1: " + e);
    if (!is_integer(in[1].dtype) || in[1].rank() != 1) return no("C2: indices must be a vector of integers, not " + in[1].str());
    Shape want = in[0].shape;
    want[static_cast<std::size_t>(axis)] = in[1].shape[0];
    if (in[2].dtype != in[0].dtype || in[2].shape != want) return no("C3: updates must be " + Type{in[0].dtype, want}.str() + ", not " + in[2].str());
    if (is_bool(in[0].dtype)) return no("C4: scatter_add takes numbers");
    return one(in[0]);
  }
};

using GatherOps = OpList<Gather, GatherElements, ScatterAdd>;

}  // namespace plumb::ir::ops
