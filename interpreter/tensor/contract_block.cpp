#include "interpreter/tensor/contract_block.h"

#include <algorithm>
#include <cmath>

// One source, compiled for each vector width; fused multiply-adds are exact on all (in software where there is no
// instruction), so every clone gives the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define PLUMB_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PLUMB_CLONES
#endif

namespace plumb::interp {
namespace {

template <class T> [[gnu::always_inline]] inline void canonical(const T* a, const T* b, std::int64_t terms, T* out) {
  constexpr std::int64_t chain = 128, block = 4096, n = block_columns;
  T total[n], sum[n], acc[n];
  for (std::int64_t j = 0; j < n; ++j) total[j] = T(-0.0);
  for (std::int64_t q = 0; q < terms; q += block) {
    const std::int64_t block_end = std::min(terms, q + block);
    for (std::int64_t j = 0; j < n; ++j) sum[j] = T(-0.0);
    for (std::int64_t c = q; c < block_end; c += chain) {
      const std::int64_t end = std::min(block_end, c + chain);
      for (std::int64_t j = 0; j < n; ++j) acc[j] = 0;
      for (std::int64_t k = c; k < end; ++k)
        for (std::int64_t j = 0; j < n; ++j) acc[j] = std::fma(a[k], b[k * n + j], acc[j]);
      for (std::int64_t j = 0; j < n; ++j) sum[j] += acc[j];
    }
    for (std::int64_t j = 0; j < n; ++j) total[j] += sum[j];
  }
  for (std::int64_t j = 0; j < n; ++j) out[j] = terms ? total[j] : T(0);
}

}  // namespace

PLUMB_CLONES void canonical_dot(const float* a, const float* b, std::int64_t terms, float* out) { canonical(a, b, terms, out); }
PLUMB_CLONES void canonical_dot(const double* a, const double* b, std::int64_t terms, double* out) { canonical(a, b, terms, out); }

PLUMB_CLONES void enclosed_dot(const double* a, const double* b, std::int64_t terms, double* centre, double* magnitude) {
  constexpr std::int64_t n = block_columns;
  double c[n], m[n];
  for (std::int64_t j = 0; j < n; ++j) c[j] = m[j] = 0;
  for (std::int64_t k = 0; k < terms; ++k)
    for (std::int64_t j = 0; j < n; ++j) {
      const double p = a[k] * b[k * n + j];
      c[j] += p;
      m[j] += std::fabs(p);
    }
  for (std::int64_t j = 0; j < n; ++j) centre[j] = c[j], magnitude[j] = m[j];
}

PLUMB_CLONES void enclosed_radius(const double* a, const double* ra, const double* b, const double* rb, std::int64_t terms, double* radius) {
  constexpr std::int64_t n = block_columns;
  double r[n];
  for (std::int64_t j = 0; j < n; ++j) r[j] = 0;
  for (std::int64_t k = 0; k < terms; ++k)
    for (std::int64_t j = 0; j < n; ++j) r[j] += std::fabs(a[k]) * rb[k * n + j] + ra[k] * (std::fabs(b[k * n + j]) + rb[k * n + j]);
  for (std::int64_t j = 0; j < n; ++j) radius[j] = r[j];
}

}  // namespace plumb::interp
