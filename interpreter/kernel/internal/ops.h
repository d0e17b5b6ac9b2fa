// Makers of compiled operations, by theme.
#pragma once
#include "interpreter/kernel/internal/index.h"

namespace plumb::interp::kernel {

using OpPtr = std::unique_ptr<Op>;

// ops_scalar.cpp: slots are those of the arguments' lanes
OpPtr constant_op(DType t, int result, std::uint64_t bits);
OpPtr apply_op(FnId fn, DType t, int result, std::span<const int> args);
OpPtr convert_op(DType from, DType to, int result, int arg);
OpPtr bitcast_op(DType from, DType to, int result, int arg);
OpPtr select_op(DType t, int result, int condition, int on_true, int on_false);
OpPtr index_op(int result, Linear expr);
OpPtr test_op(int result, Test test);
OpPtr check_index_op(int result, int value, std::int64_t extent, int site);
/// Copies one value to all lanes; runs with the lanes' number still to come, so it is given.
OpPtr widen_op(DType t, int result, int arg, int lanes);

/// The atoms that are not linear, computed for all lanes at once (or one word).
enum class AtomFn : std::uint8_t { floor_div, mod, bit_xor };
OpPtr atom_op(AtomFn fn, int result, Linear a, Linear b, std::int64_t divisor);

// ops_memory.cpp
OpPtr load_op(DType t, int result, Access access, Test guard, int other, bool checked);
OpPtr store_op(DType t, Access access, int value, bool once);
OpPtr combine_op(DType t, Access access, FnId fn, int a, int b);
OpPtr alloc_op(int region);

// ops_control.cpp
struct LoopPlan {
  Linear extent;
  int var = -1;
  bool unordered = false;    ///< iterations are nobody's before or after: a frame is kept
  bool vector = false;       ///< an unordered loop whose earlier reads do not matter
};
OpPtr loop_op(LoopPlan plan, Ops body);
OpPtr vector_op(std::int64_t extent, int width, int var, Ops enter, Ops body);
OpPtr if_op(Test condition, Ops then, Ops otherwise);
OpPtr if_value_op(int condition, Ops then);

// ops_threads.cpp
struct ThreadAxis {
  std::int64_t extent;
  std::int64_t stride;       ///< threads from one value to the next
  int var;                   ///< a word a lane
};
OpPtr threads_op(std::vector<ThreadAxis> axes, int threads, Ops enter, Ops body);
OpPtr tile_loop_op(std::int64_t extent, int var, Ops body);
OpPtr barrier_op(kir::Scope scope);
OpPtr shuffle_op(DType t, int result, int arg, kir::ShuffleMode mode, Linear lane);
OpPtr async_copy_op(DType t, std::vector<Linear> to, int to_region, std::vector<Linear> from, int from_region, Extents tile);
OpPtr async_commit_op();
OpPtr async_wait_op(int pending);

// ops_tile.cpp
OpPtr tile_fill_op(DType t, int fragment, int value);
OpPtr tile_load_op(DType t, int fragment, int from, std::vector<Linear> index, bool transposed);
OpPtr tile_store_op(DType t, int to, std::vector<Linear> index, int fragment, bool once);
struct MmaPlan {
  int d, a, b;
  DType factor, sum, accumulator;
  bool truncates;
  std::int64_t m, n, k;
};
OpPtr tile_mma_op(const MmaPlan& plan);

}  // namespace plumb::interp::kernel
