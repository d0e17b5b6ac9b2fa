// Kernel IR → LLVM IR.
#pragma once
#include <llvm/IR/Module.h>

#include <string>

#include "backends/llvm/internal/calls.h"
#include "backends/llvm/launch_shape.h"
#include "ir/kernel/kernel.h"

namespace plumb::backends::codegen {

class Grid;

struct EmitOptions {
  int threads = 1;
  const Grid* grid = nullptr;   ///< the target has blocks of threads
};
struct Emitted {
  std::int64_t scratch_bytes = 0;   ///< scratch memory that each thread needs
  LaunchShape shape;                ///< with a grid
};

/// Emits one kernel, every function of it private but that one. Without a grid it is `void symbol(ptr buffers, ptr runtime,
/// ptr scratch)`; with one a kernel that takes the buffers one by one, then the runtime.
Emitted emit_kernel(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, const Calls& calls, const EmitOptions& options);

}  // namespace plumb::backends::codegen
