// Programs of one size, and data for them: what the oracle's sensitivity is measured on.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::fuzz {

/// K: the terms of a reduction or contraction; positions of softmax and layer norm; keys of attention.
inline constexpr std::array<std::string_view, 10> subject_ops{"sum", "mean", "prod", "max", "dot", "gemm", "convolution", "softmax", "layer_norm", "attention"};
enum class DataKind : std::uint8_t { normal, uniform, cancelling, integers };
inline constexpr std::array<std::string_view, 4> data_names{"normal", "uniform", "cancelling", "integers"};

struct Subject {
  std::string op;
  DType dtype = DType::f32;
  std::int64_t k = 64;
  ir::Module module;
  /// Of each parameter: the axis along which its second half repeats the first, from the end, under cancelling data; and the
  /// sign that it gets. Axis -1: none.
  struct Pairing { int axis = -1; double sign = 1; };
  std::vector<Pairing> pairings;
};
/// With `tail`, a few terms fewer than K, so that the last vector is a partial one.
Subject make_subject(std::string_view op, DType dtype, std::int64_t k, bool tail);

/// normal: mean 0, deviation 1. uniform: 0 to 1. cancelling: normal, and each term meets its negative. integers: -3 to 3.
/// Products take numbers near 1, so that they stay in range: all but about 64 of them are 1 or -1.
std::vector<ir::Literal> make_data(const Subject& subject, DataKind kind, std::uint64_t seed);

}  // namespace plumb::fuzz
