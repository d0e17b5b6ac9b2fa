// The inner loops of contractions over a block of columns, for the number types that carry whole models.
#pragma once
#include <cstdint>

namespace plumb::interp {

inline constexpr std::int64_t block_columns = 64;

/// out[j] = Σ_k a[k]·b[k][j] in the canonical order: fused chains of 128 from +0, their sums serially to 4,096 terms,
/// those serially. b is [terms][block_columns].
void canonical_dot(const float* a, const float* b, std::int64_t terms, float* out);
void canonical_dot(const double* a, const double* b, std::int64_t terms, double* out);

/// centre[j] = Σ a·b, magnitude[j] = Σ |a·b|, in double.
void enclosed_dot(const double* a, const double* b, std::int64_t terms, double* centre, double* magnitude);
/// radius[j] = Σ |a|·rb + ra·(|b| + rb): what the factors' own widths add.
void enclosed_radius(const double* a, const double* ra, const double* b, const double* rb, std::int64_t terms, double* radius);

}  // namespace plumb::interp
