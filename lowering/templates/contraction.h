// dot_general and convolution as one problem: C[b, m, n] = Σ_k A[b, m, k] · B[b, k, n], each of b, m, n, k a list of axes.
#pragma once
#include "lowering/templates/template.h"

namespace plumb::lowering {

struct Contraction {
  explicit Contraction(KernelContext& c);

  Extents batch, m, n, k;
  DType dtype;                   ///< compute dtype of operands
  bool convolution = false;
  std::int64_t per_group_out = 1, per_group_in = 1;

  /// Elements at coordinates; where `wanted` does not hold nothing is read, and the element is 0.
  ScalarId lhs(const Indices& b, const Indices& m, const Indices& k, const kir::Predicate& wanted = {}) const;
  ScalarId rhs(const Indices& b, const Indices& k, const Indices& n, const kir::Predicate& wanted) const;
  Indices output(const Indices& b, const Indices& m, const Indices& n) const;
  /// The inverse of output.
  void coordinates(const Indices& out, Indices& b, Indices& m, Indices& n) const;
  std::int64_t terms() const { return element_count(k); }
  /// Whether reading B at a flat n needs no delinearisation (a plain matrix operand, or a 1×1 stride-1 convolution).
  bool flat_n() const;
  /// Whether neighbouring terms, not neighbouring rows (or columns), are neighbours in the operand.
  bool lhs_along_k() const;
  bool rhs_along_k() const;

 private:
  KernelContext& c_;
  ir::ValueId x_, w_;            ///< convolution: image and weights; dot: lhs and rhs
};

/// Chains of 128 steps, sums of up to 4,096 terms, then serial (ir/tensor/ops/contract.h).
inline constexpr std::int64_t chain_steps = 128, block_terms = 4096;
std::int64_t contraction_height(std::int64_t terms);

/// One output element a lane; B is read in place. For small or thin products and depthwise convolutions.
void lower_direct(KernelContext& c, const Contraction& p, int reduction);
/// Register tiles over a packed panel of B. For everything else.
void lower_tiled(KernelContext& c, const Contraction& p, int reduction);

}  // namespace plumb::lowering
