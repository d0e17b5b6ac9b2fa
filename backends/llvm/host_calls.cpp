#include "backends/llvm/internal/calls.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

#include <string>

namespace plumb::backends::codegen {
namespace {

llvm::FunctionCallee declare(Builder& b, const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> args) {
  auto callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(name, llvm::FunctionType::get(result, args, false));
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  f->setDoesNotThrow();
  return callee;
}

/// One call a lane, after the arguments that all lanes share.
Value* each_lane(Builder& b, llvm::FunctionCallee callee, llvm::ArrayRef<Value*> shared, llvm::ArrayRef<Value*> args) {
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotAccessMemory();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(args[0]->getType());
  Value* r = vector ? llvm::PoisonValue::get(vector) : nullptr;
  for (unsigned lane = 0; lane < (vector ? vector->getNumElements() : 1); ++lane) {
    llvm::SmallVector<Value*, 4> one(shared.begin(), shared.end());
    for (auto* a : args) one.push_back(vector ? b.CreateExtractElement(a, lane) : a);
    auto* call = b.CreateCall(callee, one);
    if (!vector) return call;
    r = b.CreateInsertElement(r, call, lane);
  }
  return r;
}

}  // namespace

Value* HostCalls::function(Builder& b, const char* name, llvm::ArrayRef<Value*> args) const {
  auto* f64 = b.getDoubleTy();
  return each_lane(b, declare(b, std::string("plumb_math_") + name, f64, llvm::SmallVector<llvm::Type*, 2>(args.size(), f64)), {}, args);
}

/// f64 needs MPFR; for narrower dtypes backends/exact rounds to odd.
Value* HostCalls::exact_function(Builder& b, FnId fn, DType t, llvm::ArrayRef<Value*> args) const {
  llvm::Type *f64 = b.getDoubleTy(), *i32 = b.getInt32Ty();
  if (t != DType::f64) return each_lane(b, declare(b, "plumb_exact_" + std::string(row(fn).name), f64, llvm::SmallVector<llvm::Type*, 2>(args.size(), f64)), {}, args);
  const llvm::SmallVector<Value*, 2> two{args[0], args.back()};
  return each_lane(b, declare(b, "plumb_exact", f64, {i32, i32, f64, f64}), {b.getInt32(static_cast<std::uint32_t>(fn)), b.getInt32(static_cast<std::uint32_t>(t))}, two);
}

void HostCalls::index_fault(Builder& b, Value* runtime, int site, Value* value, std::int64_t extent) const {
  auto* i64 = b.getInt64Ty();
  auto callee = declare(b, "plumb_index_fault", b.getVoidTy(), {b.getPtrTy(), i64, i64, i64});
  b.CreateCall(callee, {runtime, b.getInt64(static_cast<std::uint64_t>(site)), value, b.getInt64(static_cast<std::uint64_t>(extent))});
}

void HostCalls::parallel(Builder& b, Value* runtime, llvm::Function* body, Value* context, Value* n, std::int64_t grain) const {
  llvm::Type *i64 = b.getInt64Ty(), *pointer = b.getPtrTy();
  auto callee = declare(b, "plumb_parallel_for", b.getVoidTy(), {pointer, pointer, pointer, i64, i64});
  b.CreateCall(callee, {runtime, body, context, n, b.getInt64(static_cast<std::uint64_t>(grain))});
}

/// Without mask registers LLVM 19 splits a masked load and, where one half's mask is known to be empty though the whole
/// is not a constant, emits a plain load of that half: a read outside the buffer, and a wrong value. So some zero that
/// it cannot see through is or-ed in.
Value* HostCalls::memory_mask(Builder& b, Value* mask) const {
  if (mask_registers_ || llvm::isa<llvm::Constant>(mask)) return mask;
  auto* i64 = b.getInt64Ty();
  auto* hidden = llvm::InlineAsm::get(llvm::FunctionType::get(i64, {i64}, false), "", "=r,0", false);
  auto* zero = b.CreateCall(hidden, {b.getInt64(0)});
  zero->setDoesNotAccessMemory();
  zero->setDoesNotThrow();
  const auto lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  return b.CreateOr(mask, b.CreateVectorSplat(lanes, b.CreateTrunc(zero, b.getInt1Ty())));
}

}  // namespace plumb::backends::codegen
