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
  // The layouts of PTX's mma.m16n8k16: a thread holds pairs of neighbours, of row lane / 4 and of the row 8 below.
  llvm::SmallVector<Value*, 4> load_tile(Builder& b, Value* from, std::int64_t pitch, bool second, bool transposed) const override {
    // Four 8 × 8 matrices, a lane naming a row of each eighth: A's go down first, then across; B's as they lie in memory by columns.
    Value *lane = lane_index(b), *in = b.CreateAnd(lane, 7), *low = b.CreateShl(b.CreateAnd(b.CreateLShr(lane, 3), 1), 3), *high = b.CreateShl(b.CreateLShr(lane, 4), 3);
    Value *row = b.CreateAdd(in, transposed ? high : low), *column = transposed ? low : high;
    const auto which = second != transposed ? I::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16 : I::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
    Value* at = b.CreateGEP(b.getInt16Ty(), from, b.CreateZExt(b.CreateAdd(b.CreateMul(row, b.getInt32(static_cast<std::uint32_t>(pitch))), column), b.getInt64Ty()));
    Value* four = b.CreateIntrinsic(which, {at->getType()}, {at});
    llvm::SmallVector<Value*, 4> r;
    for (unsigned i = 0; i < 4; ++i) r.push_back(b.CreateExtractValue(four, i));
    return r;
  }
  llvm::SmallVector<Value*, 8> multiply_tiles(Builder& b, llvm::ArrayRef<Value*> sums, llvm::ArrayRef<Value*> first, llvm::ArrayRef<Value*> second, DType factors) const override {
    const bool half = factors == DType::f16;
    auto* pair = llvm::FixedVectorType::get(b.getHalfTy(), 2);
    const auto operand = [&](Value* v) { return half ? b.CreateBitCast(v, pair) : v; };
    llvm::SmallVector<Value*, 8> r;
    for (unsigned columns = 0; columns < 2; ++columns) {
      llvm::SmallVector<Value*, 10> args;
      for (auto* v : first) args.push_back(operand(v));
      for (unsigned i = 0; i < 2; ++i) args.push_back(operand(second[2 * columns + i]));
      for (unsigned i = 0; i < 4; ++i) args.push_back(sums[4 * columns + i]);
      Value* four = b.CreateIntrinsic(half ? I::nvvm_mma_m16n8k16_row_col_f32_f32 : I::nvvm_mma_m16n8k16_row_col_bf16, {}, args);
      for (unsigned i = 0; i < 4; ++i) r.push_back(b.CreateExtractValue(four, i));
    }
    return r;
  }
  void store_tile(Builder& b, Value* to, std::int64_t pitch, llvm::ArrayRef<Value*> sums) const override {
    auto* two = llvm::FixedVectorType::get(b.getFloatTy(), 2);
    Value *lane = lane_index(b), *row = b.CreateLShr(lane, 2), *column = b.CreateShl(b.CreateAnd(lane, 3), 1);
    for (unsigned i = 0; i < 4; ++i) {
      Value* at = b.CreateAdd(b.CreateMul(b.CreateAdd(row, b.getInt32(8 * (i % 2))), b.getInt32(static_cast<std::uint32_t>(pitch))), b.CreateAdd(column, b.getInt32(8 * (i / 2))));
      Value* v = b.CreateInsertElement(b.CreateInsertElement(llvm::PoisonValue::get(two), sums[2 * i], b.getInt32(0)), sums[2 * i + 1], b.getInt32(1));
      b.CreateAlignedStore(v, b.CreateGEP(b.getFloatTy(), to, b.CreateZExt(at, b.getInt64Ty())), llvm::Align(pitch % 2 == 0 ? 8 : 4));
    }
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
    // Registers are shared out so that as many blocks run on a multiprocessor as its shared memory holds, of 128 registers a thread.
    constexpr std::int64_t shared_of_multiprocessor = std::int64_t{227} << 10, own = std::int64_t{1} << 10, threads_of_128_registers = 512;
    const std::int64_t together = std::min(threads_of_128_registers / (shape.threads[0] * shape.threads[1] * shape.threads[2]), shared_of_multiprocessor / (shape.shared_bytes + own));
    if (shape.shared_bytes >= 16 << 10 && together > 1) note("minctasm", together);
  }

 private:
  static Value* lane_index(Builder& b) { return b.CreateIntrinsic(b.getInt32Ty(), I::nvvm_read_ptx_sreg_laneid, {}); }
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
