// State and pieces of the translation of one kernel. Inside a vector loop of W lanes a value is either uniform (scalar)
// or a vector of W; `mask_` holds the lanes that are present. Tail and body are one emission with and without a mask.
#pragma once
#include <functional>

#include "backends/llvm/internal/codegen.h"

namespace plumb::backends::codegen {

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, int threads);
  void emit();

 private:
  struct Parallel { std::vector<const kir::For*> loops; const kir::Block* body; std::int64_t iterations; };

  // statements (emit_kernel.cpp)
  void block(const kir::Block& b);
  void statement(const kir::Stmt& s);
  void loop(const kir::For& f);
  void serial_loop(const kir::For& f, std::int64_t n);
  void vector_loop(const kir::For& f, std::int64_t n);
  void vector_step(const kir::For& f, Value* first, Value* mask);
  void parallel_loop(const kir::For& f);
  static Parallel perfect_nest(const kir::For& f);
  void branch(Value* condition, const kir::Block& then);
  void masked(Value* condition, const kir::Block& then);
  void alloc(const kir::Alloc& a);
  void check_index(const kir::CheckIndex& c);
  void counted(Value* from, Value* to, const std::function<void(Value*)>& body);

  // memory and indices (emit_memory.cpp)
  struct Address { Value* pointer; bool contiguous; bool uniform; Value* offsets; };
  Value* scalar_affine(const kir::Affine& a);
  Value* affine(const kir::Affine& a);                  ///< uniform i64, or a vector of i64
  Value* atom(const kir::Atom& a, bool vector);
  Value* divide(Value* x, std::int64_t c, bool remainder, const kir::Affine& of);
  bool depends_on_lane(const kir::Affine& a) const;
  kir::AtomRange ranges() const;
  Address address(kir::BufferId buffer, const kir::Indices& index);
  Value* load(kir::BufferId buffer, const kir::Indices& index, Value* mask, Value* other);
  void store(kir::BufferId buffer, const kir::Indices& index, Value* v);
  Value* guarded_load(const kir::Load& l);
  Value* predicate(const kir::Predicate& p);            ///< i1 or lanes of i1; null when always true
  llvm::Type* memory_type(DType t) const;
  Value* to_memory(Value* v, DType t);
  Value* from_memory(Value* v, DType t);
  Value* lanes(Value* v);                               ///< splat of a uniform value in a vector loop
  Value* i64(std::int64_t v) { return b_.getInt64(static_cast<std::uint64_t>(v)); }
  bool is_vector(Value* v) const { return v->getType()->isVectorTy(); }
  Value* both(Value* m, Value* n);                      ///< conjunction of masks, null for all

  Value*& scalar(kir::ScalarId s) { return scalars_[static_cast<std::size_t>(s)]; }
  DType dtype(kir::ScalarId s) const { return k_.scalars[static_cast<std::size_t>(s)]; }
  const kir::Buffer& info(kir::BufferId b) const { return k_.buffers[static_cast<std::size_t>(b)]; }

  llvm::Module& module_;
  const kir::Kernel& k_;
  std::string symbol_;
  int threads_;
  llvm::IRBuilder<> b_;
  Math math_;
  llvm::Function* function_ = nullptr;
  Value *runtime_ = nullptr, *scratch_ = nullptr, *parameters_ = nullptr;
  std::vector<Value*> scalars_, vars_, pointers_;
  std::vector<std::int64_t> extents_;                   ///< of the loop variables in scope, -1 unknown
  std::vector<bool> private_;                           ///< buffers with an instance a lane
  std::map<kir::BufferId, std::int64_t> scratch_offsets_;
  unsigned width_ = 0;                                  ///< lanes of the vector loop around, 0 outside
  kir::VarId lane_var_ = -1;
  Value *lane_base_ = nullptr, *mask_ = nullptr;
  int outlined_ = 0;
  bool in_parallel_ = false;
};

}  // namespace plumb::backends::codegen
