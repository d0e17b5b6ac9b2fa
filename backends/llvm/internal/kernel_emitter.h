// State and pieces of the translation of one kernel.
//
// On a grid the code is one thread's: loops over blocks and threads are the thread's own numbers.
// Inside a vector loop of W lanes a value is either uniform (scalar) or a vector of W; `mask_` holds the lanes that are
// present (null: all). Full and partial steps are one emission without and with a mask. Code under a mask runs only when
// some lane is present, so what is uniform there may be executed as such.
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "backends/llvm/analysis.h"
#include "backends/llvm/internal/codegen.h"
#include "backends/llvm/internal/grid.h"
#include "backends/llvm/internal/math.h"

namespace plumb::backends::codegen {

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, const Calls& calls, const EmitOptions& options);
  Emitted emit();

 private:
  // statements (emit_kernel.cpp)
  void block(const kir::Block& b);
  void emit_node(const kir::Constant& s);
  void emit_node(const kir::Apply& s);
  void emit_node(const kir::Convert& s);
  void emit_node(const kir::Select& s);
  void emit_node(const kir::IndexValue& s);
  void emit_node(const kir::Test& s);
  void emit_node(const kir::Load& s);
  void emit_node(const kir::Store& s);
  void emit_node(const kir::Combine& s);
  void emit_node(const kir::CheckIndex& s);
  void emit_node(const kir::Alloc& s);
  void emit_node(const kir::If& s);
  void emit_node(const kir::IfValue& s);
  void emit_node(const kir::For& s);
  void emit_node(const kir::Barrier& s);
  void emit_node(const kir::Shuffle& s);
  void emit_node(const kir::TileFill& s);
  void emit_node(const kir::TileLoad& s);
  void emit_node(const kir::TileMma& s);
  void emit_node(const kir::TileStore& s);
  template <class Other> void emit_node(const Other&) {
    fail_unsupported("kernel " + k_.name + " holds async copies, which this target does not run");
  }
  void conditional(Value* condition, const kir::Block& then);
  void branch(Value* condition, const std::function<void()>& then, bool rare = false);
  /// Values in one shape: vectors if any of them is one.
  llvm::SmallVector<Value*, 3> aligned(std::initializer_list<Value*> values);

  // loops (emit_loops.cpp)
  void counted(Value* from, Value* to, const std::function<void(Value*)>& body);
  void serial_loop(const kir::For& f);
  void unrolled_loop(const kir::For& f);
  void vector_loop(const kir::For& f);
  void unrolled_steps(const kir::For& f, std::int64_t n);
  void looped_steps(const kir::For& f);
  void vector_step(const kir::Block& body, Value* first, Value* mask);
  void set_range(kir::VarId v, std::optional<std::int64_t> n);

  // parallel loops (emit_parallel.cpp)
  struct Nest { std::vector<const kir::For*> loops; const kir::Block* body; };
  static Nest perfect_nest(const kir::For& f);
  void parallel_loop(const kir::For& f);
  llvm::Function* outline(const Nest& nest, const Uses& captured, llvm::StructType* context_type);
  void load_parameters(Value* buffers);

  // blocks of threads (emit_grid.cpp)
  void start_grid();
  void allocate_shared(kir::BufferId buffer);
  void grid_loop(const kir::For& f);
  void need_grid(const char* what) const;

  // tiles of a warp (emit_tile.cpp)
  const kir::Buffer& tile_fragment(kir::BufferId b) const;
  void allocate_fragment(kir::BufferId buffer);
  Value* fragment_register(kir::BufferId buffer, unsigned i);
  llvm::SmallVector<Value*, 8> fragment_values(kir::BufferId buffer);
  bool second_factor(kir::BufferId buffer) const;
  Value* tile_pointer(kir::BufferId buffer, const kir::Indices& index);

  // index expressions (emit_index.cpp)
  Value* affine(const kir::Affine& a);                  ///< uniform i64, or a vector of i64
  Value* lanes_of(const kir::Affine& a);                ///< a vector, of i32 where the ranges show that it fits
  Value* uniform(const kir::Affine& a);
  Value* uniform_atom(const kir::Atom& a);
  Value* vector_atom(const kir::Atom& a, llvm::Type* element);
  Value* divide(Value* x, std::int64_t c, bool remainder, const kir::Affine& of);
  bool fits_i32(const kir::Affine& a) const;
  bool varies(const kir::Affine& a) const;              ///< may differ between lanes
  /// a = uniform + stride·lane, where that can be shown. In `uniform` the lane variable stands for its first lane.
  struct Lanewise { kir::Affine uniform; std::int64_t stride; };
  std::optional<Lanewise> lanewise(const kir::Affine& a) const;
  std::optional<Lanewise> lanewise_atom(const kir::Atom& a) const;
  kir::AtomRange ranges() const;
  Value* predicate(const kir::Predicate& p);            ///< i1 or lanes of i1; null when it always holds
  Value* iota(llvm::Type* element);

  // memory (emit_memory.cpp)
  enum class Access : std::uint8_t { uniform, contiguous, scattered };
  struct Address { Access access; Value* base; Value* index; /* uniform, added to base */ Value* offsets; /* a vector, scattered only */ llvm::Align align{1}; /* of a contiguous step */ };
  Address address(kir::BufferId buffer, const kir::Indices& index);
  Value* pointer(kir::BufferId buffer, const Address& a);
  Value* load(kir::BufferId buffer, const kir::Indices& index, Value* guard, Value* other);
  Value* load_uniform(kir::BufferId buffer, const Address& a, Value* guard, Value* other);
  Value* load_scattered(kir::BufferId buffer, const Address& a, Value* mask, Value* other);
  void store(kir::BufferId buffer, const kir::Indices& index, Value* v);
  void store_scattered(kir::BufferId buffer, const Address& a, Value* v);
  Value* tagged(Value* access, kir::BufferId buffer);   ///< with what it cannot alias
  llvm::Type* memory_type(DType t) const;
  llvm::Align vector_alignment(kir::BufferId buffer, const kir::Affine& first) const;   ///< of a step's first element
  Value* to_memory(Value* v, DType t);
  Value* from_memory(Value* v, DType t);
  bool is_local(kir::BufferId b) const { return info(b).space != kir::Space::global; }

  Value* splat(Value* v);                               ///< a uniform value in every lane
  Value* both(Value* m, Value* n);                      ///< conjunction of masks, null for all
  Value* any(Value* condition);                         ///< whether some lane holds
  Value* i64(std::int64_t v) { return b_.getInt64(static_cast<std::uint64_t>(v)); }
  static bool is_vector(Value* v) { return v->getType()->isVectorTy(); }
  Value*& scalar(kir::ScalarId s) { return scalars_[static_cast<std::size_t>(s)]; }
  DType dtype(kir::ScalarId s) const { return k_.scalars[static_cast<std::size_t>(s)]; }
  const kir::Buffer& info(kir::BufferId b) const { return k_.buffers[static_cast<std::size_t>(b)]; }

  llvm::Module& module_;
  const kir::Kernel& k_;
  std::string symbol_;
  const Calls& calls_;
  EmitOptions options_;
  Builder b_;
  Math math_;

  /// What changes when emission moves into an outlined function.
  struct Frame {
    llvm::Function* function = nullptr;
    Value *buffers = nullptr, *runtime = nullptr, *scratch = nullptr;
    std::vector<Value*> scalars, vars, pointers;
    std::map<std::pair<kir::BufferId, unsigned>, Value*> slots;  ///< local memory by buffer and lanes
    std::int64_t stack_bytes = 0;
    bool parallel = false;
  };
  Frame frame_;
  std::vector<Value*>&scalars_ = frame_.scalars, &vars_ = frame_.vars, &pointers_ = frame_.pointers;
  std::vector<std::optional<kir::Range>> var_ranges_, value_ranges_;
  std::vector<unsigned> instances_;                     ///< of a local buffer: lanes that have their own, 0 for one shared
  std::vector<llvm::MDNode*> scopes_, others_;          ///< alias scopes, one a buffer
  unsigned width_ = 0;                                  ///< lanes of the vector loop around, 0 outside
  kir::VarId lane_var_ = -1;
  Value *lane_base_ = nullptr, *mask_ = nullptr;
  std::int64_t slack_bytes_ = 0, scratch_bytes_ = 0;
  std::map<std::pair<kir::BufferId, unsigned>, std::int64_t> scratch_offsets_;
  int outlined_ = 0;
  LaunchShape shape_;
  std::map<kir::VarId, Value*> block_vars_;
};

}  // namespace plumb::backends::codegen
