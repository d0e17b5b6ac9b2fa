// The target `simt`: the kernel interpreter as a backend. It runs the kernels of any target, for GPUs or not, on the CPU, and
// reports races, barrier divergence, reads of poison, accesses out of bounds and outputs not written exactly once.
#pragma once
#include <memory>

#include "backends/backend.h"

namespace plumb::verify {

struct SimtOptions {
  /// Schedules map to blocks and threads (where the lowering has such a schedule); without, they are those of a CPU.
  bool grid = true;
  int warp = 32;
  bool tiles_truncate = false;   ///< its matrix unit cuts sums, as tensor cores do
};
/// Executables throw interp::ViolationError at the first violation, and fail_index's error where an index check failed.
std::shared_ptr<backends::Backend> make_simt_backend(const SimtOptions& options = {});

}  // namespace plumb::verify
