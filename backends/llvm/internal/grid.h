// What a machine with blocks of threads has that others have not. Each such target implements this.
#pragma once
#include "backends/llvm/internal/expr.h"
#include "backends/llvm/launch_shape.h"
#include "ir/kernel/kernel.h"

namespace plumb::backends::codegen {

class Grid {
 public:
  enum Space : unsigned { global = 1, shared = 3 };   ///< address spaces, the same numbers for every GPU of LLVM's
  virtual ~Grid() = default;
  /// The block's, or the thread's, number along an axis, an i32 below `extent`.
  virtual Value* block_index(Builder& b, int axis, std::int64_t extent) const = 0;
  virtual Value* thread_index(Builder& b, int axis, std::int64_t extent) const = 0;
  virtual void barrier(Builder& b, kir::Scope scope) const = 0;
  /// Another lane's x, an i32; `lane` is an i32.
  virtual Value* shuffle(Builder& b, kir::ShuffleMode mode, Value* x, Value* lane) const = 0;
  /// The start of a block's shared memory, a pointer to Space::shared.
  virtual Value* shared_memory(llvm::Module& m) const = 0;
  /// Tiles of 16 × 16 in the registers of a warp; `pitch` elements lie between neighbouring rows in shared memory.
  /// Factors: 4 registers of two elements; `second` is B's layout, else A's; `transposed` where memory has columns for rows.
  virtual llvm::SmallVector<Value*, 4> load_tile(Builder& b, Value* from, std::int64_t pitch, bool second, bool transposed) const = 0;
  /// Sums, 8 floats: those given, plus the product.
  virtual llvm::SmallVector<Value*, 8> multiply_tiles(Builder& b, llvm::ArrayRef<Value*> sums, llvm::ArrayRef<Value*> first, llvm::ArrayRef<Value*> second, DType factors) const = 0;
  virtual void store_tile(Builder& b, Value* to, std::int64_t pitch, llvm::ArrayRef<Value*> sums) const = 0;
  /// Makes a function a kernel.
  virtual void declare_kernel(llvm::Function& f, const LaunchShape& shape) const = 0;
};

}  // namespace plumb::backends::codegen
