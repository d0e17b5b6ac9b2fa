// Slices of a product's operands on their way from memory to a block's shared memory, by way of registers: so that what
// is fused before the product is computed on the way, and edges are filled with zeros.
#pragma once
#include "lowering/templates/contraction.h"

namespace plumb::lowering {

/// One operand's part of a block: `size` of its `limit` rows (of A) or columns (of B) from `first` on, a slice of terms at a time.
struct Side {
  std::int64_t size = 0, limit = 0;
  Affine first;
  bool rhs = false, along_k = false;   ///< neighbours in memory are neighbouring terms
  bool turned = false;                 ///< shared memory has one row a row of the operand, not one a term
  std::int64_t lanes = 1;              ///< elements of one access to memory
  BufferId tile = -1, next = -1;       ///< [2][term][row], or [2][row][term] when turned; what a thread has on its way
};

class Slices {
 public:
  /// `lanes`: elements of 16 bytes, or fewer; `pad`: elements after each row in shared memory that keep rows apart.
  struct Shape { std::int64_t slice, threads, lanes, pad; DType stored; bool rows_by_term; };
  Slices(KernelContext& c, const Contraction& p, const Shape& shape) : c_(c), p_(p), shape_(shape) {}

  /// Allocates its shared memory: where terms are neighbours and rows are not wanted by term, it lies as in memory.
  Side side(bool rhs, std::int64_t size, const Affine& first);
  /// Within the threads: registers for what is on its way.
  void start(Side& s, const Affine& thread);
  /// A slice from memory into registers. Elements outside are zeros.
  void fetch(const Side& s, const Indices& batch, const Affine& number);
  /// From registers into a half of shared memory.
  void put(const Side& s, const Affine& half);

 private:
  std::int64_t passes(const Side& s) const { return s.size * shape_.slice / s.lanes / shape_.threads; }
  void each_access(const Side& s, const std::function<void(const Affine& pass, const Affine& along, const Affine& k)>& body);

  KernelContext& c_;
  const Contraction& p_;
  Shape shape_;
  Affine thread_;
};

}  // namespace plumb::lowering
