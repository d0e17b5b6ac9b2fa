// Builds kernels: loops by nesting calls, scalars by value.
#pragma once
#include <functional>
#include <string_view>

#include "ir/kernel/kernel.h"

namespace plumb::kir {

class KernelBuilder {
 public:
  explicit KernelBuilder(Kernel& k) : k_(k), block_(&k.body) {}

  BufferId buffer(std::string_view name, DType dtype, Extents extents, Space space = Space::global);
  BufferId input(std::string_view name, DType dtype, Extents extents);
  BufferId output(std::string_view name, DType dtype, Extents extents);
  /// A buffer with its Alloc here.
  BufferId alloc(std::string_view name, DType dtype, Extents extents, Space space = Space::local);

  using Body = std::function<void(Affine)>;
  void loop(std::string_view name, Affine extent, LoopKind kind, const Body& body, int width = 1);
  void when(Predicate condition, const std::function<void()>& then);
  void when_value(ScalarId condition, const std::function<void()>& then);

  ScalarId constant(DType dtype, double value);
  ScalarId constant_bits(DType dtype, std::uint64_t bits);
  ScalarId apply(FnId fn, std::initializer_list<ScalarId> args);
  ScalarId apply(FnId fn, std::span<const ScalarId> args);
  template <class Fn, class... Args> ScalarId apply(Args... args) { return apply(fn_id<Fn>, {args...}); }
  ScalarId convert(ScalarId x, DType to);   ///< x itself when it has that dtype
  ScalarId narrow(ScalarId x, DType to);    ///< as convert; what x, just made, was widened from when that has the dtype
  ScalarId bitcast(ScalarId x, DType to);   ///< x itself when it has that dtype; both are equally wide
  ScalarId select(ScalarId condition, ScalarId on_true, ScalarId on_false);
  ScalarId index_value(Affine expr);
  ScalarId test(Predicate p);
  ScalarId load(BufferId b, Indices index);
  ScalarId load(BufferId b, Indices index, Predicate guard, ScalarId other);
  ScalarId shuffle(ScalarId x, ShuffleMode mode, Affine lane);
  ScalarId check_index(ScalarId value, std::int64_t extent, int site);
  void store(BufferId b, Indices index, ScalarId value);
  void combine(BufferId b, Indices index, FnId fn, ScalarId a, int reduction);
  void combine_fma(BufferId b, Indices index, ScalarId x, ScalarId y, int reduction);
  void barrier(Scope scope = Scope::block);
  template <class S> void emit(S s) { block_->push_back(Stmt{std::move(s)}); }

  DType dtype(ScalarId s) const { return k_.scalars[static_cast<std::size_t>(s)]; }
  const Buffer& info(BufferId b) const { return k_.buffers[static_cast<std::size_t>(b)]; }
  /// Ranges of the loop variables now in scope, for simplifying indices.
  AtomRange ranges() const;
  Kernel& kernel() { return k_; }

 private:
  ScalarId fresh(DType dtype);
  Kernel& k_;
  Block* block_;
  std::vector<std::pair<VarId, std::int64_t>> scope_;  ///< constant extents of the enclosing loops
};

}  // namespace plumb::kir
