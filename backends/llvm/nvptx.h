// Kernels as PTX, through LLVM's NVPTX code generator. No LLVM types here.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/llvm/launch_shape.h"
#include "ir/kernel/kernel.h"

namespace plumb::backends::codegen {

struct PtxKernel {
  std::string symbol;
  LaunchShape shape;
};
struct Ptx {
  std::string text;                 ///< of one module
  std::vector<PtxKernel> kernels;   ///< in the order asked for; each takes its buffers, then a pointer to its Fault
};
/// What a kernel whose index check failed writes: the first one to come.
struct Fault {
  std::int32_t failed = 0, site = 0;
  std::int64_t value = 0, extent = 0;
};

/// `arch` is what LLVM calls the processor: sm_80, sm_90a.
Ptx compile_ptx(std::span<const kir::Kernel* const> kernels, const std::string& arch);
/// A kernel's optimised LLVM IR, for people.
std::string nvptx_ir(const kir::Kernel& kernel, const std::string& arch);

}  // namespace plumb::backends::codegen
