// The cuda target: kernels through LLVM's NVPTX to PTX, assembled by the driver.
#include <array>

#include "backends/backend.h"
#include "backends/cuda/device.h"
#include "backends/llvm/nvptx.h"
#include "ir/support/error.h"
#include "ir/support/index_space.h"

namespace plumb::backends {
namespace {

using codegen::Fault;
using cuda::Gpu;

/// A module in the device's memory.
class Loaded {
 public:
  Loaded(std::shared_ptr<Gpu> gpu, const std::string& ptx) : gpu_(std::move(gpu)) {
    gpu_->enter();
    std::array<char, 4096> log{};
    std::array<int, 2> options{cuda::log_buffer, cuda::log_buffer_bytes};
    std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
    const auto r = gpu_->driver().ModuleLoadDataEx(&module_, ptx.c_str(), options.size(), options.data(), values.data());
    gpu_->driver().check(r, "assembling kernels for " + gpu_->name() + (log[0] ? std::string(": ") + log.data() : ""));
  }
  ~Loaded() {
    if (gpu_->driver().CtxSetCurrent(gpu_->context()) == 0) gpu_->driver().ModuleUnload(module_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  cuda::Function function(const std::string& symbol) const {
    cuda::Function f = nullptr;
    gpu_->driver().check(gpu_->driver().ModuleGetFunction(&f, module_, symbol.c_str()), "looking up kernel " + symbol);
    return f;
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  cuda::Module module_ = nullptr;
};

class CudaExecutable : public Executable {
 public:
  CudaExecutable(std::span<const kir::Kernel* const> kernels, std::shared_ptr<Gpu> gpu)
      : kernels_(kernels.begin(), kernels.end()), gpu_(std::move(gpu)), ptx_(codegen::compile_ptx(kernels, gpu_->arch())), module_(gpu_, ptx_.text) {
    const auto& d = gpu_->driver();
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const auto& shape = ptx_.kernels[k].shape;
      if (shape.shared_bytes > gpu_->shared_bytes())
        fail_unsupported("kernel @" + kernels_[k]->name + " takes " + std::to_string(shape.shared_bytes) + " bytes of shared memory, " + gpu_->name() + " has " + std::to_string(gpu_->shared_bytes()) + " a block");
      functions_.push_back(module_.function(ptx_.kernels[k].symbol));
      if (shape.shared_bytes > 0) d.check(d.FuncSetAttribute(functions_.back(), cuda::function_dynamic_shared_attribute, static_cast<int>(shape.shared_bytes)), "asking for shared memory");
      checks_ = checks_ || !kernels_[k]->sites.empty();
    }
    if (!checks_) return;
    faults_ = gpu_->allocate(static_cast<std::int64_t>(kernels_.size() * sizeof(Fault)), "index checks");
    clear_faults();
  }

  void enqueue(std::size_t kernel, std::span<void* const> buffers) override {
    const auto& shape = ptx_.kernels[kernel].shape;
    if (shape.block_count() == 0) return;
    gpu_->enter();
    std::vector<void*> arguments(buffers.begin(), buffers.end());
    arguments.push_back(faults_ ? static_cast<Fault*>(faults_.get()) + kernel : nullptr);
    std::vector<void*> places;
    places.reserve(arguments.size());
    for (auto& a : arguments) places.push_back(&a);
    const auto size = [](std::int64_t n) { return static_cast<unsigned>(n); };
    gpu_->driver().check(gpu_->driver().LaunchKernel(functions_[kernel], size(shape.blocks[0]), size(shape.blocks[1]), size(shape.blocks[2]), size(shape.threads[0]), size(shape.threads[1]), size(shape.threads[2]),
                                                     size(shape.shared_bytes), gpu_->stream(), places.data(), nullptr),
                         "launching kernel " + kernels_[kernel]->name);
  }

  void finish() override {
    if (!checks_) return gpu_->enter(), gpu_->wait();
    std::vector<Fault> found(kernels_.size());
    gpu_->download(found.data(), faults_.get(), static_cast<std::int64_t>(found.size() * sizeof(Fault)));
    for (std::size_t k = 0; k < found.size(); ++k)
      if (found[k].failed != 0) {
        clear_faults();
        fail_index(*kernels_[k], found[k].site, found[k].value, found[k].extent);
      }
  }

  void launch(std::size_t kernel, std::span<void* const> buffers) override {
    const auto& k = *kernels_[kernel];
    std::vector<std::shared_ptr<void>> memory;
    std::vector<void*> pointers;
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const auto& b = k.buffers[static_cast<std::size_t>(i < k.inputs.size() ? k.inputs[i] : k.outputs[i - k.inputs.size()])];
      sizes.push_back(element_count(b.extents) * byte_size(b.dtype));
      memory.push_back(gpu_->allocate(sizes.back(), "kernel " + k.name));
      gpu_->upload(memory.back().get(), buffers[i], sizes.back());   // outputs too: what a kernel leaves alone stays
      pointers.push_back(memory.back().get());
    }
    enqueue(kernel, pointers);
    finish();
    for (std::size_t i = k.inputs.size(); i < buffers.size(); ++i) gpu_->download(buffers[i], pointers[i], sizes[i]);
  }

  std::string code(std::size_t kernel, bool assembly) const override {
    return assembly ? codegen::compile_ptx({&kernels_.at(kernel), 1}, gpu_->arch()).text : codegen::nvptx_ir(*kernels_.at(kernel), gpu_->arch());
  }

 private:
  void clear_faults() { gpu_->fill(faults_.get(), 0, static_cast<std::int64_t>(kernels_.size() * sizeof(Fault))); }

  std::vector<const kir::Kernel*> kernels_;
  std::shared_ptr<Gpu> gpu_;
  codegen::Ptx ptx_;
  Loaded module_;
  std::vector<cuda::Function> functions_;
  bool checks_ = false;
  std::shared_ptr<void> faults_;
};

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(int device) : gpu_(std::make_shared<Gpu>(device)), number_(device) {
    facts_ = nvidia_facts();
    facts_.l2_bytes = gpu_->l2_bytes();
    facts_.shared_bytes = gpu_->shared_bytes();
  }
  std::string name() const override { return number_ == 0 ? "cuda" : "cuda:" + std::to_string(number_); }
  std::string description() const override {
    return gpu_->name() + ", " + gpu_->arch() + ", " + std::to_string(gpu_->multiprocessors()) + " multiprocessors, " + std::to_string(gpu_->memory_bytes() >> 30) + " GiB, driver for CUDA " + gpu_->toolkit();
  }
  const kir::TargetFacts& facts() const override { return facts_; }
  std::unique_ptr<Executable> compile(std::span<const kir::Kernel* const> kernels) override { return std::make_unique<CudaExecutable>(kernels, gpu_); }
  DeviceMemory* memory() override { return gpu_.get(); }

 private:
  std::shared_ptr<Gpu> gpu_;
  int number_;
  kir::TargetFacts facts_;
};

/// Code to look at, of kernels that do not run here.
class CompiledOnly : public Executable {
 public:
  CompiledOnly(std::span<const kir::Kernel* const> kernels, std::string arch) : kernels_(kernels.begin(), kernels.end()), arch_(std::move(arch)) {}
  void launch(std::size_t, std::span<void* const>) override { fail_unsupported("kernels for " + arch_ + " are compiled here, not run"); }
  std::string code(std::size_t kernel, bool assembly) const override { return assembly ? codegen::compile_ptx({&kernels_.at(kernel), 1}, arch_).text : codegen::nvptx_ir(*kernels_.at(kernel), arch_); }

 private:
  std::vector<const kir::Kernel*> kernels_;
  std::string arch_;
};

class CudaCompiler : public Backend {
 public:
  explicit CudaCompiler(std::string arch) : arch_(std::move(arch)), facts_(nvidia_facts()) {}
  std::string name() const override { return "cuda"; }
  std::string description() const override { return "the code generator for " + arch_ + ", no device"; }
  const kir::TargetFacts& facts() const override { return facts_; }
  std::unique_ptr<Executable> compile(std::span<const kir::Kernel* const> kernels) override { return std::make_unique<CompiledOnly>(kernels, arch_); }

 private:
  std::string arch_;
  kir::TargetFacts facts_;
};

}  // namespace

kir::TargetFacts nvidia_facts() {
  kir::TargetFacts f;
  f.name = "cuda";
  f.vector_bytes = 16;
  f.vector_registers = 32;
  f.grid = true;
  f.warp = 32;
  f.shared_bytes = std::int64_t{227} << 10;
  return f;
}

std::shared_ptr<Backend> make_cuda_compiler(const std::string& arch) { return std::make_shared<CudaCompiler>(arch); }
std::shared_ptr<Backend> make_cuda_backend(int device) { return std::make_shared<CudaBackend>(device); }

}  // namespace plumb::backends
