// Elementary functions as straight-line code for scalars and vectors. Coefficients come from fit_polynomials.py.
//
// Names end in what they compute in. `_f32` ones are within 2 ULP. `_f64` ones are within 1.5 ULP of a double, unless
// they say "for f32": then, for arguments that are f32 numbers, their relative error is below 2^-42.
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
