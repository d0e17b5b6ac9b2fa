#include "backends/llvm/jit.h"

#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "backends/llvm/internal/pipeline.h"

namespace plumb::backends::codegen {
namespace {

namespace orc = llvm::orc;

/// Addresses here are one base, one index and constants, which x86 has; strength reduction takes up to half of code
/// generation's time for kernels with many rows and makes nothing faster. LLVM has only this switch for it.
void disable_strength_reduction() {
  auto& options = llvm::cl::getRegisteredOptions();
  if (auto it = options.find("disable-lsr"); it != options.end()) it->second->addOccurrence(1, "disable-lsr", "true");
}

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    disable_strength_reduction();
  });
}

class JitImpl;

class CodeImpl : public Code {
 public:
  CodeImpl(std::shared_ptr<orc::LLJIT> jit, orc::JITDylib& library) : jit_(std::move(jit)), library_(library) {}
  ~CodeImpl() override { llvm::consumeError(jit_->getExecutionSession().removeJITDylib(library_)); }
  Entry entry(std::size_t kernel) const override { return entries_[kernel]; }
  std::int64_t scratch_bytes() const override { return scratch_; }

 private:
  friend class JitImpl;
  std::shared_ptr<orc::LLJIT> jit_;
  orc::JITDylib& library_;
  std::vector<Entry> entries_;
  std::int64_t scratch_ = 0;
};

class JitImpl : public Jit {
 public:
  explicit JitImpl(JitOptions options) : options_(std::move(options)), builder_(host(options_.vector_bytes)), calls_(host_cpu(options_.vector_bytes).vector_bytes == 64) {
    jit_ = take(orc::LLJITBuilder().setJITTargetMachineBuilder(builder_).setPlatformSetUp(orc::setUpInactivePlatform).create());
    auto& library = jit_->getMainJITDylib();
    orc::SymbolMap symbols;
    auto define = [&](const HostFunction& f) {
      symbols[jit_->mangleAndIntern(f.name)] = {orc::ExecutorAddr::fromPtr(f.address), llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    };
    for (const auto& f : host_functions()) define(f);
    for (const auto& f : options_.runtime) define(f);
    take(library.define(orc::absoluteSymbols(std::move(symbols))));
    // LLVM itself may call memcpy or fmod.
    library.addGenerator(take(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit_->getDataLayout().getGlobalPrefix())));
  }

  std::unique_ptr<Code> compile(std::span<const kir::Kernel* const> kernels) override {
    static std::atomic<int> count{0};
    const std::string name = "plumb" + std::to_string(count++);
    std::vector<NamedKernel> named;
    for (std::size_t i = 0; i < kernels.size(); ++i) named.push_back({kernels[i], name + "_" + std::to_string(i), {}});
    auto& library = jit_->getExecutionSession().createBareJITDylib(name);
    library.addToLinkOrder(jit_->getMainJITDylib());
    auto code = std::make_unique<CodeImpl>(jit_, library);
    for (auto& object : objects(named)) take(jit_->addObjectFile(library, std::move(object)));
    for (const auto& k : named) {
      code->entries_.push_back(take(jit_->lookup(library, k.symbol)).toPtr<Code::Entry>());
      code->scratch_ = std::max(code->scratch_, k.emitted.scratch_bytes);
    }
    return code;
  }

  std::string text(const kir::Kernel& kernel, bool want_assembly) override {
    llvm::LLVMContext context;
    auto machine = take(builder_.createTargetMachine());
    NamedKernel named{&kernel, "kernel", {}};
    auto module = build_module(context, *machine, {&named, 1}, calls_, emit_options());
    if (want_assembly) return assembly(*module, *machine);
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

 private:
  static orc::JITTargetMachineBuilder host(int vector_bytes) {
    initialize_llvm();
    auto builder = take(orc::JITTargetMachineBuilder::detectHost());
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    if (vector_bytes > 0 && vector_bytes < 64) builder.getFeatures().AddFeature("avx512f", false);
    if (vector_bytes > 0 && vector_bytes < 32) builder.getFeatures().AddFeature("avx", false);
    return builder;
  }
  EmitOptions emit_options() const { return {options_.threads}; }

  std::unique_ptr<llvm::MemoryBuffer> object(std::span<NamedKernel> kernels) {
    llvm::LLVMContext context;
    auto machine = take(builder_.createTargetMachine());
    auto module = build_module(context, *machine, kernels, calls_, emit_options());
    return object_file(*module, *machine);
  }

  /// One module for a few kernels; several, compiled side by side, for many.
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects(std::vector<NamedKernel>& kernels) {
    constexpr std::size_t worth_a_thread = 4;
    const std::size_t parts = std::clamp<std::size_t>(kernels.size() / worth_a_thread, 1, std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> results(parts);
    std::vector<std::exception_ptr> failures(parts);
    auto part = [&](std::size_t p) {
      try {
        const std::size_t begin = kernels.size() * p / parts, end = kernels.size() * (p + 1) / parts;
        results[p] = object(std::span(kernels).subspan(begin, end - begin));
      } catch (...) {
        failures[p] = std::current_exception();
      }
    };
    std::vector<std::thread> others;
    others.reserve(parts - 1);
    for (std::size_t p = 1; p < parts; ++p) try {
        others.emplace_back(part, p);
      } catch (const std::system_error&) {  // no more threads are to be had: this one does the part
        part(p);
      }
    part(0);
    for (auto& t : others) t.join();
    for (auto& f : failures)
      if (f) std::rethrow_exception(f);
    return results;
  }

  JitOptions options_;
  orc::JITTargetMachineBuilder builder_;
  HostCalls calls_;
  std::shared_ptr<orc::LLJIT> jit_;
};

}  // namespace

HostCpu host_cpu(int asked) {
  const auto features = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<const char*> names) { return std::ranges::all_of(names, [&](const char* n) { return features.lookup(n); }); };
  const int widest = has({"avx512f", "avx512bw", "avx512dq", "avx512vl"}) ? 64 : has({"avx2", "fma"}) ? 32 : 16;
  if (asked != 0 && asked != 16 && asked != 32 && asked != 64) fail_input("vectors of " + std::to_string(asked) + " bytes: 16, 32 and 64 are possible");
  if (asked > widest) fail_unsupported("this machine's vectors have " + std::to_string(widest) + " bytes, not " + std::to_string(asked));
  const int used = asked ? asked : widest;
  return {llvm::sys::getHostCPUName().str(), used, used == 64 ? 32 : 16};
}

std::shared_ptr<Jit> make_jit(JitOptions options) { return std::make_shared<JitImpl>(std::move(options)); }

}  // namespace plumb::backends::codegen
