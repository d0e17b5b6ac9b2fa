// Matrix products mapped to a grid: C[m,n] = A[m,k] · B[k,n], one block of threads a tile of C.
#pragma once
#include "ir/kernel/kernel.h"

namespace plumb::lowering {

/// One thread an element of C; tiles of A and B pass through shared memory, a barrier before and after each use.
struct GridDot {
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t tile_m = 16, tile_n = 16, tile_k = 16;   ///< tile_m·tile_n threads
  DType dtype = DType::f32;
  bool barriers = true;                                 ///< false: the fault that tests plant
};
kir::Kernel grid_dot(const GridDot& p);

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
