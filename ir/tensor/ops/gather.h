// Elements looked up by index.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct Gather : PartByPart<Gather> {
  static constexpr OpRow row{"gather", "x, indices", OpClass::gather, "x's slices along an axis at the indices: the axis is replaced by the axes of indices. An index outside [0, size) is an error where a result needs the element; a lowering may leave out what none needs."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "0"}};
  static constexpr std::string_view equation =
      "r[(b, k, e)] = x[(b, indices[k], e)]\n"
      "b: components before the axis, k: an index of indices, e: components after the axis";
  static constexpr std::string_view derivative = "r' = gather(x', indices).";
  static constexpr std::array constraints{
      Constraint{"C1", "axis is an axis of x."},
      Constraint{"C2", "indices are integers."}};
  static constexpr std::array edges{
      Edge{"E1", "a negative index", "an error where a result needs the element", "NumPy and PyTorch's indexing count from the end, PyTorch's embedding is an error, JAX counts from the end; the ONNX importer adds the size"},
      Edge{"E2", "an index of the size or beyond", "an error where a result needs the element", "the same: NumPy, PyTorch's CPU; JAX clamps or fills"},
      Edge{"E3", "one index more than once", "its element each time"},
      Edge{"E4", "indices of rank 0", "the axis goes", "the same: NumPy"},
      Edge{"E5", "no indices", "no elements, out of an axis of size 0 too", "the same: NumPy"},
      Edge{"E6", "u8 and other narrow indices", "their values, never taken modulo"},
      Edge{"E7", "a u64 index beyond 2^63", "an error where a result needs the element"},
      Edge{"E8", "an index outside that no result needs", "no error on the reference; a lowering may report it"}};
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

struct GatherElements : PartByPart<GatherElements> {
  static constexpr OpRow row{"gather_elements", "x, indices", OpClass::gather, "At each result index, the element of x whose coordinate along the axis is the index found there. An index outside [0, size) is an error where a result needs the element; a lowering may leave out what none needs."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "0"}};
  static constexpr std::string_view equation =
      "r[i] = x[i[axis <- indices[i]]]";
  static constexpr std::string_view derivative = "r' = gather_elements(x', indices).";
  static constexpr std::array constraints{
      Constraint{"C1", "axis is an axis of x."},
      Constraint{"C2", "indices are integers."},
      Constraint{"C3", "x and indices have the same rank."},
      Constraint{"C4", "x and indices agree in every size but the axis's."}};
  static constexpr std::array edges{
      Edge{"E1", "an index outside [0, size), negative ones too", "an error where a result needs the element", "PyTorch's gather the same; ONNX counts negative ones from the end: its importer adds the size"},
      Edge{"E2", "more indices than x has elements along the axis", "one element each", "the same: NumPy, PyTorch"},
      Edge{"E3", "no indices", "no elements"},
      Edge{"E4", "an index outside that no result needs", "no error on the reference; a lowering may report it"}};
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

using GatherOps = OpList<Gather, GatherElements>;

}  // namespace plumb::ir::ops
