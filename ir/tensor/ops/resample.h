// Reading an image between its elements: resizing, and at positions that a grid gives. Decompositions stand in
// resample.cpp and grid_sample.cpp.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

struct Upsample {
  static constexpr OpRow row{"upsample", "x", OpClass::composite,
      "x is [N, C, spatial…]; each spatial axis resized by nearest (floor of o / scale), nearest_exact (of (o + 1/2) / scale), linear or cubic (a = -3/4) interpolation. "
      "With align_corners the first and last elements keep their places; else positions are of half pixels, for linear cut at 0. An entry of scales that is not 0 replaces size / n."};
  static constexpr std::string_view equation = "out[n, c, o] = sum_k weight_k(p) x[n, c, clip(floor(p) + k)], p = align_corners ? o (n - 1) / (size - 1) : (o + 1/2) / scale - 1/2, axis by axis";
  static constexpr std::array attrs{AttrSpec{"size", AttrKind::ints}, AttrSpec{"mode", AttrKind::text, "nearest"}, AttrSpec{"align_corners", AttrKind::boolean, "false"}, AttrSpec{"scales", AttrKind::reals, "[]"}};
  static constexpr std::array constraints{Constraint{"C1", "x is [N, C, …], and size has an entry for each of the 1 to 3 spatial axes, in [1, 2^20]."}, Constraint{"C2", "no spatial axis of x is empty."},
      Constraint{"C3", "mode is nearest, nearest_exact, linear or cubic."}, Constraint{"C4", "linear and cubic take floats."}, Constraint{"C5", "scales is empty or has an entry a spatial axis, each 0 or positive and finite."}};
  static constexpr std::array edges{Edge{"E1", "unchanged size", "x", "the same: PyTorch"}, Edge{"E2", "linear, 2 elements to 1, half pixels", "their mean; with align_corners, the first", "the same: PyTorch"},
                                    Edge{"E3", "one element to many", "it everywhere, but for the rounding of weights", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct GridSample {
  static constexpr OpRow row{"grid_sample", "x, grid", OpClass::composite,
      "x, [N, C, spatial…], at the positions of grid, [N, out…, axes]: its last axis holds coordinates in [-1, 1], the last spatial axis' first. mode is nearest (ties to even), linear or cubic (a = -3/4). "
      "padding: beyond the image lie zeros, its border's elements, or its reflection; with align_corners -1 and 1 are the centres of the outer elements, else their outer edges. A coordinate beyond the border is moved before it is read; for cubic, with by_tap, only the elements' positions are."};
  static constexpr std::string_view equation = "out[n, c, o] = sum_k weight_k(p) x[n, c, position_k(p)], p = align_corners ? (grid + 1) / 2 (size - 1) : ((grid + 1) size - 1) / 2";
  static constexpr std::array attrs{AttrSpec{"mode", AttrKind::text, "linear"}, AttrSpec{"padding", AttrKind::text, "zeros"}, AttrSpec{"align_corners", AttrKind::boolean, "false"},
                                    AttrSpec{"by_tap", AttrKind::boolean, "false"}};
  static constexpr std::array constraints{Constraint{"C1", "x is [N, C, …] with 1 to 3 spatial axes, and grid [N, …, axes] with as many."}, Constraint{"C2", "no spatial axis of x is empty."}, Constraint{"C3", "mode is nearest, linear or cubic; padding zeros, border or reflection."},
      Constraint{"C4", "grid holds floats; linear and cubic take floats."}};
  static constexpr std::array edges{Edge{"E1", "zeros, a position far outside", "0", "the same: PyTorch"}, Edge{"E2", "border, NaN coordinate", "NaN for linear: its weights are NaN", "PyTorch reads the element at -1 as 0"},
                                    Edge{"E3", "nearest, halfway", "the even neighbour", "the same: PyTorch"},
                                    Edge{"E4", "cubic, border, a coordinate just outside", "the border's element; with by_tap, an overshoot of the elements near it", "ONNX the former, PyTorch the latter"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct PixelShuffle {
  static constexpr OpRow row{"pixel_shuffle", "x", OpClass::composite, "[…, C r^2, H, W] to […, C, H r, W r]: r^2 channels are the positions of one image r times as fine. Its inverse with `inverse`: […, C, H r, W r] to […, C r^2, H, W]."};
  static constexpr std::string_view equation = "out[…, c, h r + i, w r + j] = x[…, (c r + i) r + j, h, w]; the inverse is read the other way";
  static constexpr std::array attrs{AttrSpec{"factor", AttrKind::integer}, AttrSpec{"inverse", AttrKind::boolean, "false"}};
  static constexpr std::array constraints{Constraint{"C1", "x has at least 3 axes and at most 9."}, Constraint{"C2", "factor is in [1, 2^20], and its square divides the channels, or it both sizes."}};
  static constexpr std::array edges{Edge{"E1", "factor 1", "x", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

using ResampleOps = OpList<Upsample, GridSample, PixelShuffle>;

}  // namespace plumb::ir::ops
