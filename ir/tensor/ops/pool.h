// Pooling over [N, C, spatial…], or without N. Windows, strides and paddings have an entry a spatial axis; decompositions
// stand in pool.cpp. Narrow floats are summed in f32 and round once.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

/// The windows of a pooling: one entry a spatial axis. `high` is what the last windows read beyond x: with ceil_mode it
/// may be more than the padding that was asked for (`declared_high`), or less.
struct PoolWindow {
  std::size_t first = 0;  ///< axis of x where the spatial axes begin
  Ints kernel, stride, dilation, low, high, declared_high, sizes, out;
  std::int64_t positions() const { return element_count(kernel); }
  Ints with_leading(const Ints& entries, std::int64_t filler) const;  ///< filler for the axes before the spatial ones
  AttrMap attrs() const;                                              ///< of reduce_window_*
};
/// Reads kernel, stride (default: kernel), low, high, and dilation and ceil_mode where the operation has them. A window of
/// ceil_mode that would begin in the trailing padding does not exist.
std::variant<PoolWindow, std::string> pool_window(const Type& x, const AttrMap& a);
/// What avg_pool divides by, with its attributes: each window's sum over its count.
ValueId mean_of_windows(const Words& w, ValueId sum, const PoolWindow& p, const AttrMap& a);
/// x's type with the spatial sizes exchanged.
Type pooled_type(const Type& x, const PoolWindow& w);

inline constexpr std::array pool_constraints{Constraint{"C1", "x is numeric."}, Constraint{"C2", "x has the spatial axes and one or two before them; kernel has an entry for each of 1 to 3."},
    Constraint{"C3", "stride, low, high and dilation are empty or have as many entries."}, Constraint{"C4", "kernel, stride and dilation are in [1, 2^20], low and high in [0, 2^20]."},
    Constraint{"C5", "low and high are less than the window's span."}, Constraint{"C6", "every axis has a window."}};

struct MaxPool {
  static constexpr OpRow row{"max_pool", "x", OpClass::composite,
      "The greatest element of each window, and its place (i64) in the image, flattened over the spatial axes: the first of equals, the first NaN. Padding takes no part. "
      "ceil_mode adds a last window that begins inside x or its leading padding. column_major counts places with the first spatial axis fastest.", "slope to the element that is chosen"};
  static constexpr std::string_view equation = "at[n, c, o] = argmax_k x[n, c, o stride - low + k dilation], over the positions inside x; out = x[n, c, at]";
  static constexpr std::array attrs{AttrSpec{"kernel", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}, AttrSpec{"low", AttrKind::ints, "[]"}, AttrSpec{"high", AttrKind::ints, "[]"},
                                    AttrSpec{"dilation", AttrKind::ints, "[]"}, AttrSpec{"ceil_mode", AttrKind::boolean, "false"}, AttrSpec{"column_major", AttrKind::boolean, "false"}};
  static constexpr std::span<const Constraint> constraints = pool_constraints;
  static constexpr std::array edges{Edge{"E1", "a NaN in the window", "NaN, and the first NaN's place", "PyTorch the last NaN's"}, Edge{"E2", "equal elements", "the first", "the same: PyTorch, ONNX"},
                                    Edge{"E3", "a window of -inf beside padding", "-inf, and a place inside x", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct AvgPool {
  static constexpr OpRow row{"avg_pool", "x", OpClass::composite,
      "The sum of each window's elements over the number of its positions: of those inside x and the padding asked for, or inside x alone without count_include_pad; or over divisor, where that is not 0. "
      "A window that ceil_mode lets end beyond the padding does not count what lies there."};
  static constexpr std::string_view equation = "out[n, c, o] = sum_k x[n, c, o stride - low + k] / count[o]";
  static constexpr std::array attrs{AttrSpec{"kernel", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}, AttrSpec{"low", AttrKind::ints, "[]"}, AttrSpec{"high", AttrKind::ints, "[]"}, AttrSpec{"dilation", AttrKind::ints, "[]"},
                                    AttrSpec{"ceil_mode", AttrKind::boolean, "false"}, AttrSpec{"count_include_pad", AttrKind::boolean, "true"}, AttrSpec{"divisor", AttrKind::integer, "0"}};
  static constexpr std::span<const Constraint> constraints = pool_constraints;
  static constexpr std::array edges{Edge{"E1", "ceil_mode, 6x6, window 3, stride 2, padding 1", "the last windows count 2 of 3 positions an axis", "PyTorch's eager mode the same; torch.compile counted 3"},
                                    Edge{"E2", "count_include_pad = false", "positions inside x alone", "the same: PyTorch, ONNX"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct LpPool {
  static constexpr OpRow row{"lp_pool", "x", OpClass::composite, "(sum of |x|^p)^(1/p) over each window."};
  static constexpr std::string_view equation = "out[n, c, o] = (sum_k |x[n, c, o stride - low + k dilation]|^p)^(1/p)";
  static constexpr std::array attrs{AttrSpec{"kernel", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}, AttrSpec{"low", AttrKind::ints, "[]"}, AttrSpec{"high", AttrKind::ints, "[]"},
                                    AttrSpec{"dilation", AttrKind::ints, "[]"}, AttrSpec{"ceil_mode", AttrKind::boolean, "false"}, AttrSpec{"p", AttrKind::real, "2"}};
  static constexpr std::array constraints{pool_constraints[0], pool_constraints[1], pool_constraints[2], pool_constraints[3], pool_constraints[4], pool_constraints[5], Constraint{"C7", "x has a float dtype, and p is above 0 and finite."}};
  static constexpr std::array edges{Edge{"E1", "negative elements, p = 3", "their magnitude", "ONNX the same; PyTorch raises x itself: NaN for p = 1.5, 0 or NaN for an odd p"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct AdaptiveAvgPool {
  static constexpr OpRow row{"adaptive_avg_pool", "x", OpClass::composite, "Means over windows that cut each spatial axis (the last ones, an entry of `size` each) into as many parts: from floor(o n / size) up to ceil((o + 1) n / size)."};
  static constexpr std::string_view equation = "out[…, o] = mean_k x[…, k], floor(o n / size) <= k < ceil((o + 1) n / size)";
  static constexpr std::array attrs{AttrSpec{"size", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "size has 1 to 3 entries, fewer than x has axes."}, Constraint{"C3", "sizes are in [0, 2^20]; no spatial axis of x is empty."}};
  static constexpr std::array edges{Edge{"E1", "5 elements into 3", "windows of 2, 3 and 2 that overlap", "the same: PyTorch"}, Edge{"E2", "1 element into 3", "it thrice", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

using PoolOps = OpList<MaxPool, AvgPool, LpPool, AdaptiveAvgPool>;

}  // namespace plumb::ir::ops
