// From a kernel to optimised LLVM IR to an object file in memory.
#pragma once
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include "backends/llvm/internal/codegen.h"
#include "ir/support/error.h"

namespace plumb::backends::codegen {

template <class T> T take(llvm::Expected<T> e) {
  if (!e) fail_internal("LLVM: " + llvm::toString(e.takeError()));
  return std::move(*e);
}
inline void take(llvm::Error e) {
  if (e) fail_internal("LLVM: " + llvm::toString(std::move(e)));
}

struct NamedKernel {
  const kir::Kernel* kernel;
  std::string symbol;
  Emitted emitted;   ///< set by emission
};

/// A module of its own for some kernels, optimised.
std::unique_ptr<llvm::Module> build_module(llvm::LLVMContext& context, llvm::TargetMachine& machine, std::span<NamedKernel> kernels, const Calls& calls, const EmitOptions& options);
std::unique_ptr<llvm::MemoryBuffer> object_file(llvm::Module& module, llvm::TargetMachine& machine);
std::string assembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace plumb::backends::codegen
