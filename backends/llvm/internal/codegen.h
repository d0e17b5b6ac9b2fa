// Kernel IR → LLVM IR.
#pragma once
#include <llvm/IR/Module.h>

#include <string>

#include "backends/llvm/internal/calls.h"
#include "ir/kernel/kernel.h"

namespace plumb::backends::codegen {

struct EmitOptions {
  int threads = 1;
};

/// Emits one kernel: `void symbol(ptr buffers, ptr runtime, ptr scratch)`, every function of it private but that one.
/// Gives the bytes of scratch memory that each thread needs.
std::int64_t emit_kernel(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, const Calls& calls, const EmitOptions& options);

}  // namespace plumb::backends::codegen
