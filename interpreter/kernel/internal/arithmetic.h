// Arithmetic of float and double lanes that the host has: the same values as interpreter/domains/number.h gives.
#pragma once
#include <cmath>
#include <cstdint>

namespace plumb::interp::kernel {

/// IEEE-754 minimum and maximum: NaN wins, -0 is below +0.
template <class T> T least(T x, T y) {
  if (x != x || y != y) return x + y;
  return x < y || (x == y && std::signbit(x)) ? x : y;
}
template <class T> T greatest(T x, T y) {
  if (x != x || y != y) return x + y;
  return x > y || (x == y && !std::signbit(x)) ? x : y;
}

/// r[l] = x[l]·y[l] + z[l], rounded once; r may be z. By the machine's own instruction where it has one.
void fused_lanes(float* r, const float* x, const float* y, const float* z, int n);
void fused_lanes(double* r, const double* x, const double* y, const double* z, int n);

}  // namespace plumb::interp::kernel
