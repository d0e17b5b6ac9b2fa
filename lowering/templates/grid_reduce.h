// Row reductions mapped to a grid: out[r] = fn over x[r, :], one block of threads a row.
#pragma once
#include "ir/kernel/kernel.h"

namespace plumb::lowering {

struct GridReduce {
  enum class Finish : std::uint8_t {
    tree,      ///< halving in shared memory, a barrier a level
    shuffles   ///< within each warp by shuffles, then over the warps
  };
  std::int64_t rows = 1, terms = 1;
  std::int64_t threads = 256;      ///< a power of two; for shuffles a multiple of the warp, and at most warp²
  std::int64_t warp = 32;
  FnId fn = fn_id<scalar::Add>;
  double identity = -0.0;          ///< of fn
  DType dtype = DType::f32;
  Finish finish = Finish::tree;
  bool barriers = true;            ///< false: the fault that tests plant
};
kir::Kernel grid_reduce(const GridReduce& p);

}  // namespace plumb::lowering
