#include "verify/simt_target.h"

#include "interpreter/kernel/interpreter.h"
#include "ir/kernel/text.h"
#include "ir/kernel/verifier.h"
#include "ir/support/index_space.h"

namespace plumb::verify {
namespace {

class SimtExecutable : public backends::Executable {
 public:
  SimtExecutable(std::span<const kir::Kernel* const> kernels, const kir::TargetFacts& facts) {
    for (const auto* k : kernels) {
      kir::verify(*k);
      fits_shared_memory(*k, facts);
      compiled_.emplace_back(*k, interp::KernelOptions{facts.warp, facts.tiles_truncate});
      kernels_.push_back(*k);
    }
  }

  void launch(std::size_t kernel, std::span<void* const> buffers) override {
    const auto run = compiled_.at(kernel).run(buffers);
    if (run.fault) backends::fail_index(kernels_[kernel], run.fault->site, run.fault->value, run.fault->extent);
  }

  /// There is no code but the kernel itself.
  std::string code(std::size_t kernel, bool) const override { return kir::print(kernels_.at(kernel)); }

 private:
  static void fits_shared_memory(const kir::Kernel& k, const kir::TargetFacts& facts) {
    std::int64_t bytes = 0;
    for (const auto& b : k.buffers)
      if (b.space == kir::Space::shared) bytes += element_count(b.extents) * byte_size(b.dtype);
    if (bytes > facts.shared_bytes)
      fail_unsupported("kernel @" + k.name + " takes " + std::to_string(bytes) + " bytes of shared memory, " + facts.name + " has " + std::to_string(facts.shared_bytes) + " a block");
  }
  std::vector<kir::Kernel> kernels_;
  std::vector<interp::CompiledKernel> compiled_;
};

class SimtBackend : public backends::Backend {
 public:
  explicit SimtBackend(const SimtOptions& options) {
    facts_.name = "simt";
    facts_.vector_bytes = 128;       // a warp's worth of f32: the interpreter's cost is by the statement, not by the lane
    facts_.vector_registers = 32;
    facts_.threads = 1;
    facts_.grid = options.grid;
    facts_.warp = options.warp;
    facts_.shared_bytes = std::int64_t{48} << 10;
    facts_.tiles_truncate = options.tiles_truncate;
  }
  std::string name() const override { return "simt"; }
  std::string description() const override { return "the kernel interpreter, warps of " + std::to_string(facts_.warp) + ": bounds, races, barriers and poison watched"; }
  const kir::TargetFacts& facts() const override { return facts_; }
  std::unique_ptr<backends::Executable> compile(std::span<const kir::Kernel* const> kernels) override { return std::make_unique<SimtExecutable>(kernels, facts_); }

 private:
  kir::TargetFacts facts_;
};

}  // namespace

std::shared_ptr<backends::Backend> make_simt_backend(const SimtOptions& options) { return std::make_shared<SimtBackend>(options); }

}  // namespace plumb::verify
