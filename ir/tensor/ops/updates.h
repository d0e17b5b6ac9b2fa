// Elements updated at positions that tensors hold: an index for each update, or indices for several axes. Both join axes
// and are then one of the scatters along an axis (ops/scatter.h).
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

struct ScatterElements {
  static constexpr bool complex = true;
  static constexpr OpRow row{"scatter_elements", "x, indices, updates", OpClass::composite,
      "x, each element of updates taken to the place that has its coordinates, the one along the axis replaced by the index found there. mode says how: replace (the last update of a place stands), add, mul, max, or min (all take part, x first, "
      "in the row-major order of the indices)."};
  static constexpr std::string_view equation = "out[i] = combine, in this order, x[i] and updates[j] for each j with j[axis <- indices[j]] = i; or the last of these (replace)";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "0"}, AttrSpec{"mode", AttrKind::text, "replace"}};
  static constexpr std::array constraints{Constraint{"C1", "axis is an axis of x."},
                                          Constraint{"C2", "indices are integers, of x's rank, and beside the axis no larger than x."},
                                          Constraint{"C3", "updates has x's dtype and the indices' shape."},
                                          Constraint{"C4", "mode is replace, add, mul, max or min; add and mul take no bool, and mul, max and min no complex numbers."}};
  static constexpr std::array edges{Edge{"E1", "one place more than once, mode replace", "the last update in row-major order", "ONNX and PyTorch leave it open"},
                                    Edge{"E2", "one place more than once, other modes", "every update takes part", "the same: ONNX, PyTorch's scatter_reduce"},
                                    Edge{"E3", "an index outside [0, size), negative ones too", "an error where a result needs the element", "PyTorch an error; ONNX counts negative ones from the end: its importer adds the size"},
                                    Edge{"E4", "fewer indices than x has elements beside the axis", "x where no index leads", "the same: PyTorch"},
                                    Edge{"E5", "no indices", "x"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct IndexPut {
  static constexpr bool complex = true;
  static constexpr OpRow row{"index_put", "x, updates, indices...", OpClass::composite,
      "x, whose elements that advanced_index reads with the same indices and axes are replaced by updates (mode replace: the last of one place stands) or have them added (mode add: all, x first). updates broadcasts to the shape that advanced_index gives; "
      "negative indices count from the end."};
  static constexpr std::string_view equation = "out[…, indices_0[i], indices_1[i], …] = updates[…, i, …], or plus it; elsewhere x";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}, AttrSpec{"mode", AttrKind::text, "replace"}};
  static constexpr std::array constraints{Constraint{"C1", "axes are distinct, increase, and lie in x's rank; there is one for each of indices, and at least one."},
                                          Constraint{"C2", "indices are integers that broadcast together."},
                                          Constraint{"C3", "the elements that advanced_index gives have at most 12 axes."},
                                          Constraint{"C4", "updates has x's dtype, and broadcasts to those elements."},
                                          Constraint{"C5", "mode is replace or add; add takes no bool."}};
  static constexpr std::array edges{Edge{"E1", "one place more than once, mode replace", "the last update in row-major order of the indices", "NumPy the same; PyTorch leaves it open"},
                                    Edge{"E2", "one place more than once, mode add", "the updates add up", "the same: PyTorch's accumulate = True, NumPy's add.at"},
                                    Edge{"E3", "index -1", "the last element", "the same: PyTorch, NumPy"},
                                    Edge{"E4", "an index outside [-n, n)", "an error where a result needs the element", "PyTorch, NumPy an error"},
                                    Edge{"E5", "no indices", "x"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

using UpdateOps = OpList<ScatterElements, IndexPut>;

}  // namespace plumb::ir::ops
