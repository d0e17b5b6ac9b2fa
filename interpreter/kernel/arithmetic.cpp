#include "interpreter/kernel/internal/arithmetic.h"

namespace plumb::interp::kernel {
namespace {

template <class T> void fused_by_library(T* r, const T* x, const T* y, const T* z, int n) {
  for (int l = 0; l < n; ++l) r[l] = std::fma(x[l], y[l], z[l]);
}

#if defined(__x86_64__)
bool has_fma() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
__attribute__((target("avx2,fma"))) void fused_by_machine(float* r, const float* x, const float* y, const float* z, int n) {
  for (int l = 0; l < n; ++l) r[l] = __builtin_fmaf(x[l], y[l], z[l]);
}
__attribute__((target("avx2,fma"))) void fused_by_machine(double* r, const double* x, const double* y, const double* z, int n) {
  for (int l = 0; l < n; ++l) r[l] = __builtin_fma(x[l], y[l], z[l]);
}
#else
bool has_fma() { return false; }
void fused_by_machine(float* r, const float* x, const float* y, const float* z, int n) { fused_by_library(r, x, y, z, n); }
void fused_by_machine(double* r, const double* x, const double* y, const double* z, int n) { fused_by_library(r, x, y, z, n); }
#endif

}  // namespace

void fused_lanes(float* r, const float* x, const float* y, const float* z, int n) { has_fma() ? fused_by_machine(r, x, y, z, n) : fused_by_library(r, x, y, z, n); }
void fused_lanes(double* r, const double* x, const double* y, const double* z, int n) { has_fma() ? fused_by_machine(r, x, y, z, n) : fused_by_library(r, x, y, z, n); }

}  // namespace plumb::interp::kernel
