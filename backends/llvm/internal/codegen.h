// Kernel IR → LLVM IR, private to this folder: the only headers that see LLVM.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>

#include "ir/kernel/kernel.h"
#include "ir/support/error.h"

namespace plumb::backends::codegen {

using llvm::Value;

/// Scalar functions on LLVM values, scalar or vector alike. Narrow floats are held as their bit patterns.
class Math {
 public:
  explicit Math(llvm::IRBuilder<>& b) : b_(b) {}
  Value* apply(FnId fn, DType t, std::vector<Value*> args);
  Value* convert(Value* v, DType from, DType to);
  /// The register type of a dtype: i1 for bool, iN for integers and narrow floats, float, double.
  llvm::Type* type(DType t) const;
  llvm::Type* like(Value* shape, llvm::Type* element) const;   ///< element, in as many lanes
  Value* constant(Value* shape, llvm::Type* element, double v) const;
  Value* intrinsic(llvm::Intrinsic::ID id, std::vector<Value*> args);

 private:
  Value* float_function(FnId fn, DType t, std::vector<Value*>& a);
  Value* integer_function(FnId fn, DType t, std::vector<Value*>& a);
  Value* integer_division(FnId fn, DType t, Value* x, Value* y);
  Value* integer_power(DType t, Value* x, Value* y);
  Value* remainder_family(FnId fn, Value* x, Value* y);  ///< in double
  Value* elementary(FnId fn, DType t, std::vector<Value*>& a);
  Value* exp_double(Value* x);
  Value* library_call(const char* name, std::vector<Value*> args);  ///< double, lane by lane
  Value* widen(Value* v, DType t);                         ///< any float to double
  Value* narrow_to(Value* f32, DType t);
  Value* widen_to_f32(Value* bits, DType t);
  Value* double_to_odd_float(Value* d);
  Value* select_nan(Value* x, Value* otherwise);
  Value* i(Value* shape, llvm::Type* t, std::uint64_t v) const;

  llvm::IRBuilder<>& b_;
};

/// Emits one kernel into a module: `void name(ptr buffers, ptr runtime)`.
void emit_kernel(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, int threads);
/// Bytes of scratch memory a thread needs for the kernel's large local buffers.
std::int64_t scratch_bytes(const kir::Kernel& kernel);

inline constexpr std::int64_t small_buffer_bytes = 16 << 10;

}  // namespace plumb::backends::codegen
