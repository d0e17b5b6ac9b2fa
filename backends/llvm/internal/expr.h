// An LLVM value, scalar or vector alike, with operators: formulas read as formulas. Constants take the shape and the
// element type of the value beside them. No fast-math flags: each operator is the IEEE operation, or the wrapping one.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <initializer_list>
#include <span>

namespace plumb::backends::codegen {

using Builder = llvm::IRBuilder<>;
using llvm::Value;

/// `element`, in as many lanes as `shape` has.
inline llvm::Type* shaped(llvm::Type* shape, llvm::Type* element) {
  auto* v = llvm::dyn_cast<llvm::FixedVectorType>(shape);
  return v ? llvm::FixedVectorType::get(element, v->getNumElements()) : element;
}

struct Expr {
  Builder* b;
  Value* v;

  llvm::Type* type() const { return v->getType(); }
  llvm::Type* element() const { return v->getType()->getScalarType(); }
  bool is_float() const { return v->getType()->isFPOrFPVectorTy(); }
  Expr with(Value* other) const { return {b, other}; }
  /// A constant of this value's type.
  Expr c(double x) const { return with(llvm::ConstantFP::get(type(), x)); }
  Expr k(std::uint64_t x) const { return with(llvm::ConstantInt::get(type(), x)); }

  Expr as(llvm::Type* element_type) const { return with(b->CreateBitCast(v, shaped(type(), element_type))); }
  Expr as_i32() const { return as(b->getInt32Ty()); }
  Expr as_i64() const { return as(b->getInt64Ty()); }
  Expr as_f32() const { return as(b->getFloatTy()); }
  Expr as_f64() const { return as(b->getDoubleTy()); }
  Expr to_f64() const { return with(element()->isDoubleTy() ? v : b->CreateFPExt(v, shaped(type(), b->getDoubleTy()))); }
  Expr to_f32() const { return with(element()->isFloatTy() ? v : b->CreateFPTrunc(v, shaped(type(), b->getFloatTy()))); }
  Expr zext(llvm::Type* t) const { return with(b->CreateZExt(v, shaped(type(), t))); }
  Expr trunc(llvm::Type* t) const { return with(b->CreateTrunc(v, shaped(type(), t))); }

  Expr shl(unsigned n) const { return with(b->CreateShl(v, n)); }
  Expr lshr(unsigned n) const { return with(b->CreateLShr(v, n)); }
  Expr ashr(unsigned n) const { return with(b->CreateAShr(v, n)); }

  Expr intrinsic(llvm::Intrinsic::ID id, std::initializer_list<Value*> rest = {}) const {
    llvm::SmallVector<Value*, 3> args{v};
    args.append(rest.begin(), rest.end());
    return with(b->CreateIntrinsic(type(), id, args));
  }
};

inline Expr operator+(Expr x, Expr y) { return x.with(x.is_float() ? x.b->CreateFAdd(x.v, y.v) : x.b->CreateAdd(x.v, y.v)); }
inline Expr operator-(Expr x, Expr y) { return x.with(x.is_float() ? x.b->CreateFSub(x.v, y.v) : x.b->CreateSub(x.v, y.v)); }
inline Expr operator*(Expr x, Expr y) { return x.with(x.is_float() ? x.b->CreateFMul(x.v, y.v) : x.b->CreateMul(x.v, y.v)); }
inline Expr operator/(Expr x, Expr y) { return x.with(x.b->CreateFDiv(x.v, y.v)); }
inline Expr operator-(Expr x) { return x.with(x.is_float() ? x.b->CreateFNeg(x.v) : x.b->CreateNeg(x.v)); }
inline Expr operator&(Expr x, Expr y) { return x.with(x.b->CreateAnd(x.v, y.v)); }
inline Expr operator|(Expr x, Expr y) { return x.with(x.b->CreateOr(x.v, y.v)); }
inline Expr operator^(Expr x, Expr y) { return x.with(x.b->CreateXor(x.v, y.v)); }
inline Expr operator!(Expr x) { return x.with(x.b->CreateNot(x.v)); }

inline Expr operator+(Expr x, double y) { return x + x.c(y); }
inline Expr operator-(Expr x, double y) { return x - x.c(y); }
inline Expr operator*(Expr x, double y) { return x * x.c(y); }
inline Expr operator/(Expr x, double y) { return x / x.c(y); }
inline Expr operator+(double x, Expr y) { return y.c(x) + y; }
inline Expr operator-(double x, Expr y) { return y.c(x) - y; }
inline Expr operator*(double x, Expr y) { return y.c(x) * y; }
inline Expr operator/(double x, Expr y) { return y.c(x) / y; }

// Comparisons of floats are false with NaN, except ne.
inline Expr operator<(Expr x, Expr y) { return x.with(x.b->CreateFCmpOLT(x.v, y.v)); }
inline Expr operator<=(Expr x, Expr y) { return x.with(x.b->CreateFCmpOLE(x.v, y.v)); }
inline Expr operator>(Expr x, Expr y) { return y < x; }
inline Expr operator>=(Expr x, Expr y) { return y <= x; }
inline Expr operator<(Expr x, double y) { return x < x.c(y); }
inline Expr operator<=(Expr x, double y) { return x <= x.c(y); }
inline Expr operator>(Expr x, double y) { return x.c(y) < x; }
inline Expr operator>=(Expr x, double y) { return x.c(y) <= x; }
inline Expr eq(Expr x, Expr y) { return x.with(x.is_float() ? x.b->CreateFCmpOEQ(x.v, y.v) : x.b->CreateICmpEQ(x.v, y.v)); }
inline Expr eq(Expr x, double y) { return eq(x, x.c(y)); }
inline Expr ne(Expr x, Expr y) { return x.with(x.is_float() ? x.b->CreateFCmpUNE(x.v, y.v) : x.b->CreateICmpNE(x.v, y.v)); }
inline Expr ne(Expr x, double y) { return ne(x, x.c(y)); }
inline Expr below_zero(Expr integer) { return integer.with(integer.b->CreateICmpSLT(integer.v, integer.k(0).v)); }
inline Expr is_nan(Expr x) { return x.with(x.b->CreateFCmpUNO(x.v, x.v)); }

inline Expr select(Expr condition, Expr x, Expr y) { return x.with(x.b->CreateSelect(condition.v, x.v, y.v)); }
inline Expr select(Expr condition, double x, Expr y) { return select(condition, y.c(x), y); }
inline Expr select(Expr condition, Expr x, double y) { return select(condition, x, x.c(y)); }

inline Expr fma(Expr x, Expr y, Expr z) { return x.intrinsic(llvm::Intrinsic::fma, {y.v, z.v}); }
inline Expr fma(Expr x, double y, Expr z) { return fma(x, x.c(y), z); }
inline Expr fma(Expr x, Expr y, double z) { return fma(x, y, x.c(z)); }
inline Expr fma(Expr x, double y, double z) { return fma(x, x.c(y), x.c(z)); }
inline Expr abs(Expr x) { return x.intrinsic(llvm::Intrinsic::fabs); }
inline Expr sqrt(Expr x) { return x.intrinsic(llvm::Intrinsic::sqrt); }
inline Expr copysign(Expr magnitude, Expr sign) { return magnitude.intrinsic(llvm::Intrinsic::copysign, {sign.v}); }
inline Expr round_even(Expr x) { return x.intrinsic(llvm::Intrinsic::roundeven); }

/// Σ c[i]·x^i by Horner's rule, coefficients from the highest down.
inline Expr polynomial(Expr x, std::span<const double> highest_first) {
  Expr p = x.c(highest_first[0]);
  for (double c : highest_first.subspan(1)) p = fma(p, x, c);
  return p;
}
inline Expr polynomial(Expr x, std::initializer_list<double> highest_first) { return polynomial(x, std::span(highest_first.begin(), highest_first.size())); }

/// A rounded sum and what the rounding left out, exactly.
struct Sum { Expr high, low; };
inline Sum two_sum(Expr x, Expr y) {
  Expr s = x + y, t = s - x;
  return {s, (x - (s - t)) + (y - t)};
}

}  // namespace plumb::backends::codegen
