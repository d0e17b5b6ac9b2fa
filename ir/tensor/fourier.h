// Discrete Fourier transforms as operations on complex tensors.
#pragma once
#include "ir/tensor/builder.h"

namespace plumb::ir {

/// cos and sin of m/n of a turn, from the first octant, so that zeros, halves and quarters are exact; 0 <= m, n below 2^60.
double cosine_of_turn(std::int64_t m, std::int64_t n);
double sine_of_turn(std::int64_t m, std::int64_t n);

/// Real or complex x divided by a real constant, part by part.
ValueId divided(Builder& b, ValueId x, double by);

/// The transform of complex x along an axis of n: sum over j of x[j] e^(-2 pi i j k / n), or with +, neither divided by n.
/// Mixed radices: n's factors up to 16 first, each a product with a small matrix; primes up to 64 likewise, greater ones by
/// Bluestein's convolution with a chirp.
ValueId fourier(Builder& b, ValueId x, std::int64_t axis, bool inverse);

}  // namespace plumb::ir
