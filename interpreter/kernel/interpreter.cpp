#include "interpreter/kernel/interpreter.h"

#include "interpreter/kernel/internal/compiler.h"
#include "ir/kernel/verifier.h"

namespace plumb::interp {

using kernel::Machine;

struct CompiledKernel::State {
  kernel::Program program;
};

CompiledKernel::CompiledKernel(const kir::Kernel& k, const KernelOptions& options) : state_(std::make_unique<State>()) {
  kir::verify(k, {ErrorKind::internal, false});
  if (options.warp < 1 || options.warp > 256) fail_input("a warp has 1 to 256 lanes");
  state_->program.kernel = k;
  state_->program.options = options;
  kernel::Compiler(state_->program).run();
}
CompiledKernel::~CompiledKernel() = default;
CompiledKernel::CompiledKernel(CompiledKernel&&) noexcept = default;

namespace {

void bind(Machine& m, const kernel::Program& p, std::span<void* const> buffers) {
  const auto& k = p.kernel;
  if (buffers.size() != k.inputs.size() + k.outputs.size()) fail_internal("kernel @" + k.name + " was launched with " + std::to_string(buffers.size()) + " buffers");
  std::size_t next = 0;
  for (auto b : k.inputs) m.regions[static_cast<std::size_t>(b)].data = static_cast<std::byte*>(buffers[next++]);
  for (auto b : k.outputs) m.regions[static_cast<std::size_t>(b)].data = static_cast<std::byte*>(buffers[next++]);
  for (std::size_t b = 0; b < m.regions.size(); ++b) {
    auto& r = m.regions[b];
    const auto& plan = p.regions[b];
    const bool input = std::find(k.inputs.begin(), k.inputs.end(), static_cast<kir::BufferId>(b)) != k.inputs.end();
    if (input) continue;
    const auto all = static_cast<std::size_t>(r.elements) * static_cast<std::size_t>(r.instances);
    if (plan.own) {
      r.own.resize(all * static_cast<std::size_t>(byte_size(k.buffers[b].dtype)));
      r.data = r.own.data();
    }
    r.stamp.assign(all, 0);
    if (plan.tracked) r.trace.assign(all, {});
  }
}

void check_outputs(const Machine& m, const kernel::Program& p) {
  for (auto b : p.kernel.outputs) {
    const auto& r = m.regions[static_cast<std::size_t>(b)];
    const auto missing = std::find(r.stamp.begin(), r.stamp.end(), kernel::Time{0});
    if (missing == r.stamp.end()) continue;
    const auto others = std::count(r.stamp.begin(), r.stamp.end(), kernel::Time{0});
    struct Nowhere : kernel::Op {
      void run(Machine&) const override {}
    };
    m.fail(ViolationKind::never_written, Nowhere{}, 0, std::to_string(others) + (others == 1 ? " element of an output is" : " elements of an output are") + " never written, the first here", &r, missing - r.stamp.begin());
  }
}

}  // namespace

KernelRun CompiledKernel::run(std::span<void* const> buffers) const {
  const auto& p = state_->program;
  try {
    Machine m(p);
    bind(m, p, buffers);
    try {
      p.body.run(m);
      if (!m.fault) check_outputs(m, p);
    } catch (const ViolationError&) {
      if (!m.fault) throw;  // what follows a bad index is the index's fault
    }
    return {m.fault, m.operations};
  } catch (const std::bad_alloc&) {
    fail_unsupported("out of memory: kernel @" + p.kernel.name + " in the interpreter");
  }
}

}  // namespace plumb::interp
