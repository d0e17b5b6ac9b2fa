// The cpu target: kernels through LLVM's ORC JIT, for this machine's own vector width, on all cores.
#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "backends/backend.h"
#include "backends/cpu/pool.h"
#include "backends/llvm/internal/codegen.h"

namespace plumb::backends {
namespace {

using Entry = void (*)(void* const* buffers, void* runtime, char* scratch);
using Body = void (*)(void* const* buffers, void* runtime, char* scratch, std::int64_t begin, std::int64_t end);

struct Scratch {
  explicit Scratch(std::size_t bytes) : data(static_cast<char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64))) {
    if (!data) fail_unsupported("out of memory: " + std::to_string(bytes) + " bytes of scratch memory asked for");
  }
  ~Scratch() { std::free(data); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data;
};

/// What compiled code reaches through its runtime pointer.
struct Runtime {
  Pool* pool = nullptr;
  std::vector<std::unique_ptr<Scratch>> scratch;   ///< one a thread
  std::atomic<bool> failed{false};
  std::int64_t site = 0, value = 0, extent = 0;
};

void parallel_for(void* runtime, void* body, void* const* buffers, std::int64_t n) {
  auto& r = *static_cast<Runtime*>(runtime);
  r.pool->run(n, [&](int thread, std::int64_t begin, std::int64_t end) {
    reinterpret_cast<Body>(body)(buffers, runtime, r.scratch[static_cast<std::size_t>(thread)]->data, begin, end);
  });
}

void index_fault(void* runtime, std::int64_t site, std::int64_t value, std::int64_t extent) {
  auto& r = *static_cast<Runtime*>(runtime);
  if (r.failed.exchange(true)) return;
  r.site = site, r.value = value, r.extent = extent;
}

std::string message(llvm::Error e) { return llvm::toString(std::move(e)); }
template <class T> T take(llvm::Expected<T> e) {
  if (!e) fail_internal("LLVM: " + message(e.takeError()));
  return std::move(*e);
}

/// No vectorisers, no unroller: the kernel IR already says what is a vector and what is unrolled.
constexpr const char* pass_pipeline = "function(sroa,early-cse<memssa>,instcombine,simplifycfg,loop-mssa(licm),gvn,instcombine,simplifycfg)";

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cam, mam);
  llvm::ModulePassManager passes;
  if (auto e = builder.parsePassPipeline(passes, pass_pipeline)) fail_internal("LLVM: " + message(std::move(e)));
  passes.run(module, mam);
}

class CpuExecutable : public Executable {
 public:
  CpuExecutable(std::span<const kir::Kernel* const> kernels, Pool& pool, const kir::TargetFacts& facts) : kernels_(kernels.begin(), kernels.end()) {
    runtime_.pool = &pool;
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("plumb", *context);
    std::size_t scratch = 64;
    auto builder = take(llvm::orc::JITTargetMachineBuilder::detectHost());
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    machine_ = take(builder.createTargetMachine());
    module->setDataLayout(machine_->createDataLayout());
    module->setTargetTriple(machine_->getTargetTriple().str());
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      codegen::emit_kernel(*module, *kernels_[i], symbol(i), pool.threads());
      scratch = std::max(scratch, static_cast<std::size_t>(codegen::scratch_bytes(*kernels_[i])));
    }
    for (auto& f : *module) {
      if (f.isDeclaration()) continue;
      if (facts.vector_bytes == 64) f.addFnAttr("prefer-vector-width", "512");
    }
    std::string problem;
    llvm::raw_string_ostream out(problem);
    if (llvm::verifyModule(*module, &out)) fail_internal("invalid code was generated: " + problem);
    optimize(*module, *machine_);
    llvm::raw_string_ostream(ir_) << *module;
    for (int t = 0; t < pool.threads(); ++t) runtime_.scratch.push_back(std::make_unique<Scratch>(scratch));
    link(std::move(builder), std::move(module), std::move(context));
  }

  void launch(std::size_t kernel, std::span<void* const> buffers) override {
    runtime_.failed = false;
    entries_[kernel](buffers.data(), &runtime_, runtime_.scratch[0]->data);
    if (runtime_.failed) fail_index(*kernels_[kernel], static_cast<int>(runtime_.site), runtime_.value, runtime_.extent);
  }

  std::string code(std::size_t, bool assembly) const override {
    if (!assembly) return ir_;
    llvm::LLVMContext context;
    auto module = parse(context);
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream out(text);
    llvm::legacy::PassManager passes;
    if (machine_->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) fail_internal("no assembly printer");
    passes.run(*module);
    return {text.data(), text.size()};
  }

 private:
  static std::string symbol(std::size_t i) { return "plumb_kernel_" + std::to_string(i); }
  std::unique_ptr<llvm::Module> parse(llvm::LLVMContext& context) const {
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(ir_, diagnostic, context);
    require(module != nullptr, "generated code parses");
    return module;
  }

  void link(llvm::orc::JITTargetMachineBuilder builder, std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context) {
    jit_ = take(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
    auto& library = jit_->getMainJITDylib();
    const char prefix = jit_->getDataLayout().getGlobalPrefix();
    library.addGenerator(take(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix)));
    auto define = [&](const char* name, auto* function) {
      llvm::orc::SymbolMap map;
      map[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
      if (auto e = library.define(llvm::orc::absoluteSymbols(std::move(map)))) fail_internal("LLVM: " + message(std::move(e)));
    };
    define("plumb_parallel_for", &parallel_for);
    define("plumb_index_fault", &index_fault);
    if (auto e = jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context)))) fail_internal("LLVM: " + message(std::move(e)));
    for (std::size_t i = 0; i < kernels_.size(); ++i) entries_.push_back(take(jit_->lookup(symbol(i))).toPtr<Entry>());
  }

  std::vector<const kir::Kernel*> kernels_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::vector<Entry> entries_;
  std::string ir_;
  Runtime runtime_;
};

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options) : pool_(options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))) {
    static std::once_flag once;
    std::call_once(once, [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
    });
    const auto features = llvm::sys::getHostCPUFeatures();
    auto has = [&](const char* f) { auto it = features.find(f); return it != features.end() && it->second; };
    const bool avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"), avx2 = has("avx2") && has("fma");
    facts_.vector_bytes = options.vector_bytes ? options.vector_bytes : avx512 ? 64 : avx2 ? 32 : 16;
    facts_.vector_registers = avx512 ? 32 : 16;
    facts_.threads = pool_.threads();
    description_ = llvm::sys::getHostCPUName().str() + ", " + std::to_string(facts_.vector_bytes * 8) + "-bit vectors, " + std::to_string(pool_.threads()) + " threads";
  }
  std::string name() const override { return "cpu"; }
  std::string description() const override { return description_; }
  const kir::TargetFacts& facts() const override { return facts_; }
  std::unique_ptr<Executable> compile(std::span<const kir::Kernel* const> kernels) override { return std::make_unique<CpuExecutable>(kernels, pool_, facts_); }

 private:
  Pool pool_;
  kir::TargetFacts facts_;
  std::string description_;
};

}  // namespace

std::shared_ptr<Backend> make_cpu_backend(const CpuOptions& options) { return std::make_shared<CpuBackend>(options); }

}  // namespace plumb::backends
