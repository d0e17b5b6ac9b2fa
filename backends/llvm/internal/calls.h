// What generated code calls outside itself: the part of code generation that differs between machines. Another target
// implements this and keeps the rest.
#pragma once
#include "backends/llvm/internal/expr.h"
#include "ir/scalar/functions.h"

namespace plumb::backends::codegen {

class Calls {
 public:
  virtual ~Calls() = default;
  /// f(x) or f(x, y) of doubles, lane by lane, with an error below 0.51 units in the last place.
  virtual Value* function(Builder& b, const char* name, llvm::ArrayRef<Value*> args) const = 0;
  /// f of doubles, lane by lane, such that rounding to t (a float) gives the correctly rounded value.
  virtual Value* exact_function(Builder& b, FnId fn, DType t, llvm::ArrayRef<Value*> args) const = 0;
  /// Records that `value` was not in [0, extent) at a site.
  virtual void index_fault(Builder& b, Value* runtime, int site, Value* value, std::int64_t extent) const = 0;
  /// Runs `body(context, runtime, scratch, begin, end)` over pieces of [0, n) of at least `grain` on all threads.
  virtual void parallel(Builder& b, Value* runtime, llvm::Function* body, Value* context, Value* n, std::int64_t grain) const = 0;
  /// A mask as loads and stores may take it.
  virtual Value* memory_mask(Builder& b, Value* mask) const = 0;
  /// Whether llvm.minimum and llvm.maximum become instructions at every float type that LLVM may narrow them to.
  virtual bool has_extremes() const { return true; }
};

/// Plain calls of functions that the host program defines.
class HostCalls : public Calls {
 public:
  explicit HostCalls(bool mask_registers) : mask_registers_(mask_registers) {}
  Value* function(Builder& b, const char* name, llvm::ArrayRef<Value*> args) const override;
  Value* exact_function(Builder& b, FnId fn, DType t, llvm::ArrayRef<Value*> args) const override;
  void index_fault(Builder& b, Value* runtime, int site, Value* value, std::int64_t extent) const override;
  void parallel(Builder& b, Value* runtime, llvm::Function* body, Value* context, Value* n, std::int64_t grain) const override;
  Value* memory_mask(Builder& b, Value* mask) const override;
  bool has_extremes() const override { return false; }

 private:
  bool mask_registers_;
};

}  // namespace plumb::backends::codegen
