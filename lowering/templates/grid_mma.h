// Matrix products of narrow floats in matrix units: C[m,n] = A[m,k] · B[k,n].
#pragma once
#include "ir/kernel/kernel.h"

namespace plumb::lowering {

/// Warps multiply 16×16×16 tiles in matrix units; tiles of A and B arrive by async copies, one step ahead, in two halves of
/// shared memory. `dtype` is a narrow float, sums are f32 and so is C.
struct GridMma {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t warps_m = 2, warps_n = 2;
  std::int64_t warp = 32;
  DType dtype = DType::f16;
  bool truncates = false;                               ///< the unit cuts sums instead of rounding
};
kir::Kernel grid_mma(const GridMma& p);

}  // namespace plumb::lowering
