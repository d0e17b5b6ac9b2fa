// Machine code for kernels on this machine, through LLVM's ORC. No LLVM types here.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/llvm/host_math.h"
#include "ir/kernel/kernel.h"

namespace plumb::backends::codegen {

struct HostCpu {
  std::string name;
  int vector_bytes;       ///< of the widest registers that the code generator uses well
  int vector_registers;
};
/// This machine. A width of 16 or 32 asked for leaves the wider registers' instructions unused.
HostCpu host_cpu(int vector_bytes_asked);

struct JitOptions {
  int vector_bytes = 0;                     ///< as in host_cpu
  int threads = 1;                          ///< of the pool that parallel loops run on
  std::vector<HostFunction> runtime;        ///< plumb_parallel_for, plumb_index_fault
};

/// Kernels as functions in memory; they live as long as this.
class Code {
 public:
  using Entry = void (*)(void* const* buffers, void* runtime, char* scratch);
  virtual ~Code() = default;
  virtual Entry entry(std::size_t kernel) const = 0;
  virtual std::int64_t scratch_bytes() const = 0;   ///< that each thread needs
};

class Jit {
 public:
  virtual ~Jit() = default;
  virtual std::unique_ptr<Code> compile(std::span<const kir::Kernel* const> kernels) = 0;
  /// What is generated for a kernel, for people: assembly, or optimised LLVM IR.
  virtual std::string text(const kir::Kernel& kernel, bool assembly) = 0;
};
std::shared_ptr<Jit> make_jit(JitOptions options);

}  // namespace plumb::backends::codegen
