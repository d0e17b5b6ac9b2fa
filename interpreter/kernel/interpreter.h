// The kernel IR's executable meaning: runs a kernel statement by statement, and stops at what its language forbids.
//
// A kernel is compiled once to a tree of operations whose index expressions are linear where they can be. Lanes of a
// vector step and threads of a gpu block run in lockstep, each statement on all lanes before the next one, with a mask under
// control flow: one legal order, so barriers and shuffles need no scheduling. That no other order gives another answer is
// what the checks below show; parallel iterations and gpu blocks run one after another for the same reason.
//
// Watched, element by element: bounds; poison; outputs written exactly once; and races. A race is two accesses to one
// element, one a write, that nothing orders: from two iterations of one parallel or gpu_block loop; from two threads of a
// block without a barrier between, whose scope holds both; from two iterations of a vector loop, unless the read came
// first (vector lanes of one step run statement by statement). Where plain arithmetic on an access's indices shows that
// iterations cannot meet, nothing is recorded (independence.h).
//
// What kernel.h leaves open:
//  Thread number: axis 0 runs fastest; a warp is `warp` consecutive numbers, a warpgroup four warps. The last may be short.
//  Shuffle: xor and from name a lane of the warp that must exist; down and up past the warp's end give the lane's own value.
//  A tile loop's iterations go to the warp's lanes in turn, from the last lane down: nothing may rely on which.
//  A tile operation counts as an access by the whole warp: it is unordered with each single thread until a barrier.
//  An async copy's elements, both ends, may be touched by nobody until the issuing thread waits for its group.
//  TileMma: d[i,j] takes k terms in order, each one fused step in the reduction's accumulator (d's dtype when none is
//  declared), rounded to nearest even or, when the reduction or the target's unit truncates, toward zero.
//  Scope block in a tile operation means the warpgroup.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "ir/kernel/kernel.h"
#include "ir/kernel/violation.h"

namespace plumb::interp {

using kir::Violation, kir::ViolationError, kir::ViolationKind;

struct KernelOptions {
  int warp = 32;
  bool tiles_truncate = false;   ///< TileMma on floats truncates, declared or not
};

/// An index check that failed: the first in the order of execution.
struct IndexFault {
  int site = 0;
  std::int64_t value = 0, extent = 0;
};

struct KernelRun {
  std::optional<IndexFault> fault;
  std::int64_t operations = 0;   ///< scalar statements executed, one a lane
};

class CompiledKernel {
 public:
  /// The kernel must be well formed (ir/kernel/verifier.h); that it is gets checked here, bounds aside.
  explicit CompiledKernel(const kir::Kernel& kernel, const KernelOptions& options = {});
  ~CompiledKernel();
  CompiledKernel(CompiledKernel&&) noexcept;
  /// Buffers: inputs, then outputs, dense. Throws ViolationError at the first violation.
  KernelRun run(std::span<void* const> buffers) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plumb::interp
