// Elementary functions as straight-line code for scalars and vectors. Coefficients come from fit_polynomials.py.
//
// Names end in what they compute in. Over all f32 arguments `_f32` ones err by at most 0.85 (log), 1.05 (exp), 1.06 (erf), 1.34
// (tanh) and 1.5 ULP (sigmoid), as bench/results/functions.json has it. `_f64` ones "for f32" have, for arguments that are f32
// numbers, a relative error below 2^-42; exp_f64 and log_f64 are f64's own too: 0.94 and 0.75 ULP where tests/unit/backends_elementary.cpp
// tries them. What is promised are the bounds of the functions' rows (ir/scalar/functions.h).
// All give NaN for NaN, keep subnormals, and take infinities and zeros as ir/scalar/functions.h says.
#pragma once
#include "backends/llvm/internal/calls.h"
#include "backends/llvm/internal/expr.h"

namespace plumb::backends::codegen {

/// x, or what `otherwise` gives where `rare` holds in some lane; both are evaluated for all lanes then.
template <class F> inline Expr unless(Expr rare, Expr x, const F& otherwise) {
  auto& b = *x.b;
  auto* function = b.GetInsertBlock()->getParent();
  auto* before = b.GetInsertBlock();
  auto *inside = llvm::BasicBlock::Create(b.getContext(), "rare", function), *after = llvm::BasicBlock::Create(b.getContext(), "usual", function);
  b.CreateCondBr(rare.v->getType()->isVectorTy() ? b.CreateOrReduce(rare.v) : rare.v, inside, after);
  b.SetInsertPoint(inside);
  const Expr other = select(rare, otherwise(), x);
  auto* from = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  auto* phi = b.CreatePHI(x.type(), 2);
  phi->addIncoming(x.v, before);
  phi->addIncoming(other.v, from);
  return x.with(phi);
}

// elementary_exp.cpp
Expr exp_f32(Expr x);
Expr sigmoid_f32(Expr x);
Expr sigmoid_f64(Expr x);       ///< for f32
Expr tanh_f32(Expr x);
Expr tanh_f64(Expr x);          ///< for f32
Expr exp_f64(Expr x);
Expr exp2_f64(Expr x);          ///< for f32
Expr expm1_f64(Expr x);         ///< for f32
Expr sinh_f64(Expr x);          ///< for f32
Expr cosh_f64(Expr x);          ///< for f32

// elementary_log.cpp
Expr log_f32(Expr x);
Expr log_f64(Expr x);
Expr log1p_f64(Expr x);         ///< for f32
Expr asinh_f64(Expr x);         ///< for f32
Expr acosh_f64(Expr x);         ///< for f32
Expr atanh_f64(Expr x);         ///< for f32
Expr cbrt_f64(Expr x);          ///< for f32
Expr pow_f64(Expr x, Expr y);   ///< for f32

// elementary_root.cpp
Expr hypot_f64(Expr x, Expr y); ///< for f32: exact, or rounded to odd, so that rounding it to f32 or narrower is rounding once

// elementary_erf.cpp
Expr erf_f32(Expr x);
Expr erf_f64(Expr x);           ///< for f32
Expr erfc_f64(Expr x);          ///< for f32

// elementary_trig.cpp, all for f32
enum class Trig { sine, cosine, tangent };
Expr trig_f64(Trig which, Expr x, const Calls& calls);
Expr atan2_f64(Expr y, Expr x);
Expr atan_f64(Expr x);
Expr asin_f64(Expr x);
Expr acos_f64(Expr x);

}  // namespace plumb::backends::codegen
