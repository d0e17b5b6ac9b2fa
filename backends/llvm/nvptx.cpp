#include "backends/llvm/nvptx.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "backends/llvm/internal/device_library.h"
#include "backends/llvm/internal/grid.h"
#include "backends/llvm/internal/pipeline.h"

namespace plumb::backends::codegen {
namespace {

using I = llvm::Intrinsic::NVVMIntrinsics;

class NvptxGrid : public Grid {
 public:
  Value* block_index(Builder& b, int axis, std::int64_t extent) const override {
    static constexpr I of[] = {I::nvvm_read_ptx_sreg_ctaid_x, I::nvvm_read_ptx_sreg_ctaid_y, I::nvvm_read_ptx_sreg_ctaid_z};
    return below(b.CreateIntrinsic(b.getInt32Ty(), of[axis], {}), extent);
  }
  Value* thread_index(Builder& b, int axis, std::int64_t extent) const override {
    static constexpr I of[] = {I::nvvm_read_ptx_sreg_tid_x, I::nvvm_read_ptx_sreg_tid_y, I::nvvm_read_ptx_sreg_tid_z};
    return below(b.CreateIntrinsic(b.getInt32Ty(), of[axis], {}), extent);
  }
  void barrier(Builder& b, kir::Scope scope) const override {
    switch (scope) {
      case kir::Scope::block: b.CreateIntrinsic(b.getVoidTy(), I::nvvm_barrier0, {}); return;
      case kir::Scope::warp: b.CreateIntrinsic(b.getVoidTy(), I::nvvm_bar_warp_sync, {b.getInt32(~0u)}); return;
      case kir::Scope::warpgroup: fail_unsupported("barriers of a warpgroup are not in this version's NVIDIA target");
    }
  }
  Value* shuffle(Builder& b, kir::ShuffleMode mode, Value* x, Value* lane) const override {
    static constexpr I of[] = {I::nvvm_shfl_sync_bfly_i32, I::nvvm_shfl_sync_down_i32, I::nvvm_shfl_sync_up_i32, I::nvvm_shfl_sync_idx_i32};
    return b.CreateIntrinsic(b.getInt32Ty(), of[static_cast<int>(mode)], {b.getInt32(~0u), x, lane, b.getInt32(mode == kir::ShuffleMode::up ? 0 : 31)});
  }
  Value* shared_memory(llvm::Module& m) const override {
    if (auto* known = m.getNamedGlobal("shared_memory")) return known;
    auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(m.getContext()), 0);
    auto* g = new llvm::GlobalVariable(m, bytes, false, llvm::GlobalValue::ExternalLinkage, nullptr, "shared_memory", nullptr, llvm::GlobalValue::NotThreadLocal, Grid::shared);
    g->setAlignment(llvm::Align(128));
    return g;
  }
  void declare_kernel(llvm::Function& f, const LaunchShape& shape) const override {
    f.setCallingConv(llvm::CallingConv::PTX_Kernel);
    auto* notes = f.getParent()->getOrInsertNamedMetadata("nvvm.annotations");
    auto note = [&](const char* what, std::int64_t value) {
      auto& c = f.getContext();
      notes->addOperand(llvm::MDNode::get(c, {llvm::ValueAsMetadata::get(&f), llvm::MDString::get(c, what), llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(c), static_cast<std::uint64_t>(value)))}));
    };
    note("kernel", 1);
    note("reqntidx", shape.threads[0]);
    note("reqntidy", shape.threads[1]);
    note("reqntidz", shape.threads[2]);
  }

 private:
  static Value* below(llvm::CallInst* i, std::int64_t extent) {
    i->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, static_cast<std::uint64_t>(extent))));
    return i;
  }
};

/// Functions of the device library (backends/exact).
class NvptxCalls : public Calls {
 public:
  Value* function(Builder& b, const char* name, llvm::ArrayRef<Value*> args) const override { return each_lane(b, std::string("plumb_math_") + name, args); }
  Value* exact_function(Builder& b, FnId fn, DType t, llvm::ArrayRef<Value*> args) const override {
    if (t == DType::f64) fail_unsupported("correctly rounded " + std::string(row(fn).name) + " of f64 (the strict contract) is not to be had on NVIDIA GPUs: use f32, or relaxed");
    return each_lane(b, "plumb_exact_" + std::string(row(fn).name), args);
  }
  /// The first fault is kept: who finds `failed` at 0 writes.
  void index_fault(Builder& b, Value* runtime, int site, Value* value, std::int64_t extent) const override {
    auto *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
    auto* type = llvm::StructType::get(b.getContext(), {i32, i32, i64, i64});
    auto* swap = b.CreateAtomicCmpXchg(runtime, b.getInt32(0), b.getInt32(1), llvm::Align(4), llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
    auto* function = b.GetInsertBlock()->getParent();
    auto *first = llvm::BasicBlock::Create(b.getContext(), "first", function), *after = llvm::BasicBlock::Create(b.getContext(), "noted", function);
    b.CreateCondBr(b.CreateExtractValue(swap, 1), first, after);
    b.SetInsertPoint(first);
    b.CreateStore(b.getInt32(static_cast<std::uint32_t>(site)), b.CreateStructGEP(type, runtime, 1));
    b.CreateStore(value, b.CreateStructGEP(type, runtime, 2));
    b.CreateStore(b.getInt64(static_cast<std::uint64_t>(extent)), b.CreateStructGEP(type, runtime, 3));
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }
  void parallel(Builder&, Value*, llvm::Function*, Value*, Value*, std::int64_t) const override { fail_internal("a grid's kernels have no parallel loops"); }
  Value* memory_mask(Builder&, Value* mask) const override { return mask; }

 private:
  static Value* each_lane(Builder& b, const std::string& name, llvm::ArrayRef<Value*> args) {
    auto* f64 = b.getDoubleTy();
    auto callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(name, llvm::FunctionType::get(f64, llvm::SmallVector<llvm::Type*, 2>(args.size(), f64), false));
    auto* f = llvm::cast<llvm::Function>(callee.getCallee());
    f->setDoesNotThrow();
    f->setDoesNotAccessMemory();
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(args[0]->getType());
    if (!vector) return b.CreateCall(callee, args);
    Value* r = llvm::PoisonValue::get(vector);
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
      llvm::SmallVector<Value*, 2> one;
      for (auto* a : args) one.push_back(b.CreateExtractElement(a, lane));
      r = b.CreateInsertElement(r, b.CreateCall(callee, one), lane);
    }
    return r;
  }
};

std::unique_ptr<llvm::TargetMachine> machine_for(const std::string& arch) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string problem;
  const std::string triple = "nvptx64-nvidia-cuda";
  const auto* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target) fail_unsupported("this build's LLVM has no NVPTX code generator: " + problem);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, arch, "+ptx80", {}, llvm::Reloc::PIC_, {}, llvm::CodeGenOptLevel::Default));
}

/// Adds the library's functions that kernels call, and what those call.
void link_library(llvm::Module& module) {
  const auto needed = llvm::find_if(module, [](const llvm::Function& f) { return f.isDeclaration() && !f.isIntrinsic(); });
  if (needed == module.end()) return;
  const auto bytes = nvptx_library();
  if (bytes.empty()) fail_unsupported("this build has no " + needed->getName().str() + " for NVIDIA GPUs: it was made without clang++-19; install clang-19 and build again");
  const llvm::StringRef data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto library = take(llvm::getLazyBitcodeModule({data, "exact"}, module.getContext()));
  library->setDataLayout(module.getDataLayout());
  library->setTargetTriple(module.getTargetTriple());
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded)) fail_internal("the device library does not link");
  for (auto& f : module) {
    if (f.isDeclaration() && !f.isIntrinsic()) fail_internal("the device library has no " + f.getName().str());
    if (f.getCallingConv() != llvm::CallingConv::PTX_Kernel && !f.isDeclaration()) f.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

std::unique_ptr<llvm::Module> module_for(llvm::LLVMContext& context, llvm::TargetMachine& machine, std::span<NamedKernel> named) {
  static const NvptxGrid grid;
  static const NvptxCalls calls;
  auto module = build_module(context, machine, named, calls, {1, &grid});
  link_library(*module);
  return module;
}

}  // namespace

Ptx compile_ptx(std::span<const kir::Kernel* const> kernels, const std::string& arch) {
  std::vector<NamedKernel> named;
  for (std::size_t i = 0; i < kernels.size(); ++i) named.push_back({kernels[i], "plumb_" + std::to_string(i), {}});
  llvm::LLVMContext context;
  auto machine = machine_for(arch);
  auto module = module_for(context, *machine, named);
  Ptx r{assembly(*module, *machine), {}};
  for (const auto& k : named) r.kernels.push_back({k.symbol, k.emitted.shape});
  return r;
}

std::string nvptx_ir(const kir::Kernel& kernel, const std::string& arch) {
  NamedKernel named{&kernel, "kernel", {}};
  llvm::LLVMContext context;
  auto machine = machine_for(arch);
  auto module = module_for(context, *machine, {&named, 1});
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

}  // namespace plumb::backends::codegen
