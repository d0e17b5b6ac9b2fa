// Gradients that ATen names as operations of their own. Each is the transpose of its forward operation's derivative,
// written with the operations that compute it well; decompositions stand in backward.cpp. Narrow floats run in f32.
#pragma once
#include "ir/tensor/ops/pool.h"

namespace plumb::ir::ops {

struct ConvolutionBackward {
  static constexpr OpRow row{"convolution_backward", "dy, x, w", OpClass::composite,
      "The gradients of a convolution's x, w and bias, for dy that of its result. stride, padding (on both sides) and dilation have an entry a spatial axis. transposed: the forward operation is the transposed one, its w [in, out / groups, window…]."};
  static constexpr std::string_view equation = "dx = sum over o, n of dy[…] w[…], dw[o, i, k] = sum_{n, p} dy[n, o, p] x[n, i, p stride - padding + k dilation], db[o] = sum_{n, p} dy[n, o, p]";
  static constexpr std::array attrs{AttrSpec{"stride", AttrKind::ints}, AttrSpec{"padding", AttrKind::ints}, AttrSpec{"dilation", AttrKind::ints}, AttrSpec{"transposed", AttrKind::boolean, "false"}, AttrSpec{"groups", AttrKind::integer, "1"}};
  static constexpr std::array constraints{Constraint{"C1", "dy, x and w share a float dtype and a rank of 3 to 5, and no size is 0."}, Constraint{"C2", "stride, padding and dilation have an entry a spatial axis; strides and dilations are in [1, 2^20], paddings in [0, 2^20]."},
      Constraint{"C3", "groups divides the channels, which agree among dy, x and w."}, Constraint{"C4", "dy has the forward result's sizes."}};
  static constexpr std::array edges{Edge{"E1", "elements of x that no window reads", "gradient 0", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct AvgPoolBackward {
  static constexpr OpRow row{"avg_pool_backward", "dy, x", OpClass::composite, "The gradient of avg_pool's x, for dy that of its result: each window's positions inside x get dy over the window's count. x gives its shape alone."};
  static constexpr std::string_view equation = "dx[n, c, i] = sum over windows o that hold i of dy[n, c, o] / count[o]";
  static constexpr auto attrs = AvgPool::attrs;
  static constexpr std::array constraints{pool_constraints[0], pool_constraints[1], pool_constraints[2], pool_constraints[3], pool_constraints[4], pool_constraints[5],
      Constraint{"C7", "dy has avg_pool's result type, of floats; a window has at most 4,096 positions."}};
  static constexpr std::array edges{Edge{"E1", "an element in no window", "0", "the same: PyTorch"}, Edge{"E2", "windows that overlap", "the sum of their shares", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct MaxPoolBackward {
  static constexpr OpRow row{"max_pool_backward", "dy, at", OpClass::composite, "The gradient of max_pool's x, for dy that of its values and at its places: each element of dy goes to its place. size holds x's spatial sizes."};
  static constexpr std::string_view equation = "dx[n, c, i] = sum_{o: at[n, c, o] = i} dy[n, c, o]";
  static constexpr std::array attrs{AttrSpec{"size", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "dy holds numbers, at integers, and both have one shape."}, Constraint{"C2", "size has 1 to 3 entries, with one or two axes of dy before them; entries are in [0, 2^40]."}};
  static constexpr std::array edges{Edge{"E1", "one place chosen by several windows", "the sum, in the windows' order", "the same: PyTorch on CPU"}, Edge{"E2", "a place outside the image", "an error where a result needs the element"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct AdaptiveAvgPoolBackward {
  static constexpr OpRow row{"adaptive_avg_pool_backward", "dy, x", OpClass::composite, "The gradient of adaptive_avg_pool's x, for dy that of its result, over `axes` last axes. x gives its shape alone."};
  static constexpr std::string_view equation = "dx[…, i] = sum over parts o that hold i of dy[…, o] / length[o]";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "dy and x share a float dtype and a rank of at most 11."}, Constraint{"C2", "axes is 1 to 3 and below the rank; the other axes agree, and these are not empty."}};
  static constexpr std::array edges{Edge{"E1", "5 elements into 3 parts: those in two parts", "the sum of both shares", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct LayerNormBackward {
  static constexpr OpRow row{"layer_norm_backward", "dy, x, mean, rstd, scale", OpClass::composite,
      "The gradients of layer_norm's x, scale and bias, for dy that of its result; mean and rstd = 1 / sqrt(var + epsilon) are those of each row, in the shape of the axes before `axis`."};
  static constexpr std::string_view equation = "dx = rstd (g - mean(g) - h mean(g h)), g = dy scale, h = (x - mean) rstd; dscale = sum dy h; dbias = sum dy";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype, and axis is an axis of it."}, Constraint{"C2", "dy has x's type; mean and rstd have its dtype and the axes before axis, scale those from it on."}};
  static constexpr std::array edges{Edge{"E1", "dy constant along a row, scale 1", "dx 0 but for rounding", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct GroupNormBackward {
  static constexpr OpRow row{"group_norm_backward", "dy, x, mean, rstd, scale", OpClass::composite, "The gradients of group_norm's x, scale and bias, for dy that of its first result; mean and rstd are its other results, [N, groups]."};
  static constexpr std::string_view equation = "dx = rstd (g - mean(g) - h mean(g h)) over each group, g = dy scale, h = (x - mean) rstd; dscale[c] = sum dy h; dbias[c] = sum dy";
  static constexpr std::array attrs{AttrSpec{"groups", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "x is [N, C, …] of floats, and groups divides C."}, Constraint{"C2", "dy has x's type; mean and rstd are [N, groups], scale [C], of its dtype."}};
  static constexpr std::array edges{Edge{"E1", "dy constant in a group, scale 1", "dx 0 but for rounding", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct EmbeddingBackward {
  static constexpr OpRow row{"embedding_backward", "dy, indices", OpClass::composite,
      "The gradient of a table of `rows` rows from which indices were gathered: each row of dy added to its index's, but those of padding_index (-1: none). With by_frequency each share is divided by how often its index comes."};
  static constexpr std::string_view equation = "dtable[r] = sum_{j: indices[j] = r, r != padding_index} dy[j]";
  static constexpr std::array attrs{AttrSpec{"rows", AttrKind::integer}, AttrSpec{"padding_index", AttrKind::integer, "-1"}, AttrSpec{"by_frequency", AttrKind::boolean, "false"}};
  static constexpr std::array constraints{Constraint{"C1", "indices are integers, and dy, of floats, has their shape and one more axis."}, Constraint{"C2", "rows is in [1, 2^40]."}};
  static constexpr std::array edges{Edge{"E1", "a row that no index names", "0", "the same: PyTorch"}, Edge{"E2", "an index outside the table", "an error where a result needs the element", "the same: PyTorch an error"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

using BackwardOps = OpList<ConvolutionBackward, AvgPoolBackward, MaxPoolBackward, AdaptiveAvgPoolBackward, LayerNormBackward, GroupNormBackward, EmbeddingBackward>;

}  // namespace plumb::ir::ops
