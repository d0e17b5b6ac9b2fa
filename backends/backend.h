// The one interface of a target: compile kernels, then launch them on memory it can reach.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/device_memory.h"
#include "ir/kernel/kernel.h"
#include "ir/kernel/target.h"

namespace plumb::backends {

/// Kernels compiled together for one target.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs kernel number `kernel` (its place in the span given to compile) on the buffers: inputs, then outputs, in the
  /// kernel's order, each dense and 64-byte aligned. Throws plumb::Error(input) when an index check failed: it names
  /// the operation, its place and the index. Throws kir::ViolationError when the target watches kernels and saw one do
  /// what its language forbids.
  virtual void launch(std::size_t kernel, std::span<void* const> buffers) = 0;
  /// The same on buffers in the backend's memory(), where it has one, in the order of its stream: the host does not wait.
  /// An index check's failure is thrown by finish().
  virtual void enqueue(std::size_t kernel, std::span<void* const> buffers);
  /// Waits for all that was enqueued.
  virtual void finish() {}
  /// What was generated, for people: LLVM IR, PTX, or "" where there is none.
  virtual std::string code(std::size_t kernel, bool assembly) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;  ///< one line for `plumb targets`: device, width, threads
  virtual const kir::TargetFacts& facts() const = 0;
  virtual std::unique_ptr<Executable> compile(std::span<const kir::Kernel* const> kernels) = 0;
  /// Where tensors live; nullptr: in the host's memory.
  virtual DeviceMemory* memory() { return nullptr; }
};

struct CpuOptions {
  int threads = 0;        ///< 0: all cores
  int vector_bytes = 0;   ///< 0: the host's widest
};
std::shared_ptr<Backend> make_cpu_backend(const CpuOptions& options = {});
/// NVIDIA's GPU of that number. Unsupported, saying why, where it is not to be had.
std::shared_ptr<Backend> make_cuda_backend(int device = 0);
/// Its compiler alone, for a processor by LLVM's name, on any machine: code to look at, nothing to run.
std::shared_ptr<Backend> make_cuda_compiler(const std::string& arch = "sm_90a");
/// What schedules for such a GPU rest on.
kir::TargetFacts nvidia_facts();

/// The error that an index check's failure becomes.
[[noreturn]] void fail_index(const kir::Kernel& kernel, int site, std::int64_t value, std::int64_t extent);

}  // namespace plumb::backends
