// The cpu target: kernels through LLVM's JIT, for this machine's own vector width, on all cores.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "backends/backend.h"
#include "backends/cpu/pool.h"
#include "backends/llvm/jit.h"
#include "ir/support/error.h"

namespace plumb::backends {
namespace {

using Body = void (*)(void* context, void* runtime, char* scratch, std::int64_t begin, std::int64_t end);

/// Memory for local buffers too large for the stack, one piece a thread.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes) : data_(static_cast<char*>(std::aligned_alloc(64, (static_cast<std::size_t>(bytes) + 127) / 64 * 64))) {
    if (!data_) fail_unsupported("out of memory: a kernel asks for " + std::to_string(bytes) + " bytes of scratch memory a thread");
  }
  ~Scratch() { std::free(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() const { return data_; }

 private:
  char* data_;
};

/// What compiled code reaches through its runtime pointer.
struct Runtime {
  Pool* pool = nullptr;
  std::vector<std::unique_ptr<Scratch>> scratch;   ///< one a thread
  std::atomic<bool> failed{false};
  std::int64_t site = 0, value = 0, extent = 0;    ///< of the first index check that failed in this launch
};

void parallel_for(void* runtime, void* body, void* context, std::int64_t n, std::int64_t grain) {
  auto& r = *static_cast<Runtime*>(runtime);
  r.pool->run(n, grain, [&](int thread, std::int64_t begin, std::int64_t end) {
    reinterpret_cast<Body>(body)(context, runtime, r.scratch[static_cast<std::size_t>(thread)]->data(), begin, end);
  });
}

void index_fault(void* runtime, std::int64_t site, std::int64_t value, std::int64_t extent) {
  auto& r = *static_cast<Runtime*>(runtime);
  if (r.failed.exchange(true)) return;
  r.site = site, r.value = value, r.extent = extent;
}

std::vector<codegen::HostFunction> runtime_functions() {
  return {{"plumb_parallel_for", reinterpret_cast<void*>(&parallel_for)}, {"plumb_index_fault", reinterpret_cast<void*>(&index_fault)}};
}

class CpuExecutable : public Executable {
 public:
  CpuExecutable(std::span<const kir::Kernel* const> kernels, std::shared_ptr<Pool> pool, std::shared_ptr<codegen::Jit> jit)
      : kernels_(kernels.begin(), kernels.end()), pool_(std::move(pool)), jit_(std::move(jit)), code_(jit_->compile(kernels)) {
    runtime_.pool = pool_.get();
    for (int t = 0; t < pool_->threads(); ++t) runtime_.scratch.push_back(std::make_unique<Scratch>(code_->scratch_bytes()));
  }

  void launch(std::size_t kernel, std::span<void* const> buffers) override {
    runtime_.failed.store(false, std::memory_order_relaxed);
    code_->entry(kernel)(buffers.data(), &runtime_, runtime_.scratch[0]->data());
    if (runtime_.failed.load(std::memory_order_relaxed)) fail_index(*kernels_[kernel], static_cast<int>(runtime_.site), runtime_.value, runtime_.extent);
  }

  std::string code(std::size_t kernel, bool assembly) const override { return jit_->text(*kernels_.at(kernel), assembly); }

 private:
  std::vector<const kir::Kernel*> kernels_;
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<codegen::Jit> jit_;
  std::unique_ptr<codegen::Code> code_;
  Runtime runtime_;
};

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options) {
    if (options.threads < 0) fail_input("the number of threads cannot be negative");
    const auto cpu = codegen::host_cpu(options.vector_bytes);
    pool_ = std::make_shared<Pool>(options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    jit_ = codegen::make_jit({cpu.vector_bytes, pool_->threads(), runtime_functions()});
    facts_.name = "cpu";
    facts_.vector_bytes = cpu.vector_bytes;
    facts_.vector_registers = cpu.vector_registers;
    facts_.threads = pool_->threads();
    description_ = cpu.name + ", " + std::to_string(cpu.vector_bytes * 8) + "-bit vectors, " + std::to_string(facts_.threads) + (facts_.threads == 1 ? " thread" : " threads");
  }
  std::string name() const override { return "cpu"; }
  std::string description() const override { return description_; }
  const kir::TargetFacts& facts() const override { return facts_; }
  std::unique_ptr<Executable> compile(std::span<const kir::Kernel* const> kernels) override { return std::make_unique<CpuExecutable>(kernels, pool_, jit_); }

 private:
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<codegen::Jit> jit_;
  kir::TargetFacts facts_;
  std::string description_;
};

}  // namespace

std::shared_ptr<Backend> make_cpu_backend(const CpuOptions& options) { return std::make_shared<CpuBackend>(options); }

}  // namespace plumb::backends
