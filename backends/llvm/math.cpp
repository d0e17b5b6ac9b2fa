#include <cmath>

#include "backends/llvm/internal/codegen.h"

namespace plumb::backends::codegen {

using namespace scalar;
using llvm::Intrinsic::ID;

llvm::Type* Math::type(DType t) const {
  if (is_bool(t)) return b_.getInt1Ty();
  if (t == DType::f32) return b_.getFloatTy();
  if (t == DType::f64) return b_.getDoubleTy();
  return b_.getIntNTy(static_cast<unsigned>(byte_size(t) * 8));
}

llvm::Type* Math::like(Value* shape, llvm::Type* element) const {
  auto* v = llvm::dyn_cast<llvm::FixedVectorType>(shape->getType());
  return v ? llvm::FixedVectorType::get(element, v->getNumElements()) : element;
}
Value* Math::constant(Value* shape, llvm::Type* element, double v) const { return llvm::ConstantFP::get(like(shape, element), v); }
Value* Math::i(Value* shape, llvm::Type* t, std::uint64_t v) const { return llvm::ConstantInt::get(like(shape, t), v); }

Value* Math::intrinsic(ID id, std::vector<Value*> args) { return b_.CreateIntrinsic(args[0]->getType(), id, args); }

Value* Math::select_nan(Value* x, Value* otherwise) { return b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, otherwise); }

// ── narrow floats ──

Value* Math::widen_to_f32(Value* bits, DType t) {
  llvm::Type *i32 = b_.getInt32Ty(), *f32 = b_.getFloatTy();
  if (t == DType::f16 || t == DType::f8e5m2) {
    Value* h = t == DType::f16 ? bits : b_.CreateShl(b_.CreateZExt(bits, like(bits, b_.getInt16Ty())), 8);
    return b_.CreateFPExt(b_.CreateBitCast(h, like(bits, b_.getHalfTy())), like(bits, f32));
  }
  Value* w = b_.CreateZExt(bits, like(bits, i32));
  if (t == DType::bf16) return b_.CreateBitCast(b_.CreateShl(w, 16), like(bits, f32));
  // e4m3fn: exponent and mantissa fall into place after a shift, 2^120 corrects the bias.
  Value* magnitude = b_.CreateAnd(w, i(w, i32, 0x7f));
  Value* v = b_.CreateFMul(b_.CreateBitCast(b_.CreateShl(magnitude, 20), like(bits, f32)), constant(w, f32, 0x1p120));
  v = b_.CreateSelect(b_.CreateICmpEQ(magnitude, i(w, i32, 0x7f)), constant(w, f32, std::nan("")), v);
  Value* sign = b_.CreateShl(b_.CreateAnd(w, i(w, i32, 0x80)), 24);
  return b_.CreateBitCast(b_.CreateOr(b_.CreateBitCast(v, like(w, i32)), sign), like(w, f32));
}

Value* Math::narrow_to(Value* f, DType t) {
  llvm::Type *i32 = b_.getInt32Ty(), *f32 = b_.getFloatTy();
  auto* out = like(f, type(t));
  if (t == DType::f16) return b_.CreateBitCast(b_.CreateFPTrunc(f, like(f, b_.getHalfTy())), out);
  Value* bits = b_.CreateBitCast(f, like(f, i32));
  Value* is_nan = b_.CreateFCmpUNO(f, f);
  if (t == DType::bf16) {
    Value* lsb = b_.CreateAnd(b_.CreateLShr(bits, 16), i(bits, i32, 1));
    Value* r = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(bits, i(bits, i32, 0x7fff)), lsb), 16);
    return b_.CreateTrunc(b_.CreateSelect(is_nan, i(bits, i32, 0x7fc0), r), out);
  }
  const auto& facts = row(t);
  const int m = facts.precision - 1, drop = 23 - m;
  Value* sign = b_.CreateLShr(b_.CreateAnd(bits, i(bits, i32, 0x80000000)), 24);
  Value* a = b_.CreateAnd(bits, i(bits, i32, 0x7fffffff));
  Value* lsb = b_.CreateAnd(b_.CreateLShr(a, static_cast<std::uint64_t>(drop)), i(a, i32, 1));
  Value* normal = b_.CreateLShr(b_.CreateAdd(b_.CreateAdd(a, i(a, i32, (1u << (drop - 1)) - 1)), lsb), static_cast<std::uint64_t>(drop));
  normal = b_.CreateSub(normal, i(a, i32, static_cast<std::uint64_t>(127 + facts.emin - 1) << m));
  // Below the least normal: adding 2^(emin - m + 23) rounds at the subnormals' place.
  const double magic = std::scalbn(1.0, facts.emin - m + 23);
  Value* af = b_.CreateBitCast(a, like(a, f32));
  Value* subnormal = b_.CreateSub(b_.CreateBitCast(b_.CreateFAdd(af, constant(a, f32, magic)), like(a, i32)), b_.CreateBitCast(constant(a, f32, magic), like(a, i32)));
  Value* r = b_.CreateSelect(b_.CreateFCmpOLT(af, constant(a, f32, std::scalbn(1.0, facts.emin))), subnormal, normal);
  const std::uint64_t largest = t == DType::f8e4m3fn ? 0x7e : 0x7b;
  Value* over = b_.CreateICmpSGT(r, i(a, i32, largest));
  r = b_.CreateSelect(over, i(a, i32, t == DType::f8e4m3fn ? 0x7e : 0x7c), r);
  Value* infinite = b_.CreateFCmpOEQ(af, constant(a, f32, HUGE_VAL));
  r = b_.CreateSelect(infinite, i(a, i32, t == DType::f8e4m3fn ? 0x7f : 0x7c), r);
  r = b_.CreateOr(r, sign);
  r = b_.CreateSelect(is_nan, i(a, i32, t == DType::f8e4m3fn ? 0x7f : 0x7e), r);
  if (t == DType::f8e4m3fn) r = b_.CreateSelect(infinite, i(a, i32, 0x7f), r);
  return b_.CreateTrunc(r, out);
}

/// A double as a float that remembers inexactness in its last bit: rounding it once more is rounding once.
Value* Math::double_to_odd_float(Value* d) {
  llvm::Type *i32 = b_.getInt32Ty(), *f32 = b_.getFloatTy();
  Value* f = b_.CreateFPTrunc(d, like(d, f32));
  Value* back = b_.CreateFPExt(f, d->getType());
  Value* bits = b_.CreateBitCast(f, like(d, i32));
  Value* too_big = b_.CreateFCmpOGT(intrinsic(llvm::Intrinsic::fabs, {back}), intrinsic(llvm::Intrinsic::fabs, {d}));
  Value* toward_zero = b_.CreateSelect(too_big, b_.CreateSub(bits, i(bits, i32, 1)), bits);
  Value* inexact = b_.CreateFCmpONE(back, d);
  return b_.CreateBitCast(b_.CreateSelect(inexact, b_.CreateOr(toward_zero, i(bits, i32, 1)), bits), f->getType());
}

Value* Math::widen(Value* v, DType t) {
  if (t == DType::f64) return v;
  Value* f = t == DType::f32 ? v : widen_to_f32(v, t);
  return b_.CreateFPExt(f, like(v, b_.getDoubleTy()));
}

Value* Math::convert(Value* v, DType from, DType to) {
  if (from == to) return v;
  auto* out = like(v, type(to));
  if (is_float(from)) {
    if (is_narrow_float(from)) return to == DType::f32 ? widen_to_f32(v, from) : convert(widen_to_f32(v, from), DType::f32, to);
    if (to == DType::f64) return b_.CreateFPExt(v, out);
    if (to == DType::f32) return b_.CreateFPTrunc(v, out);
    if (is_float(to)) return narrow_to(from == DType::f64 ? double_to_odd_float(v) : v, to);
    if (is_bool(to)) return b_.CreateFCmpUNE(v, llvm::ConstantFP::get(v->getType(), 0));
    const auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {out, v->getType()}, {v});
  }
  if (is_bool(to)) return b_.CreateICmpNE(v, llvm::ConstantInt::get(v->getType(), 0));
  if (!is_float(to)) return is_signed(from) ? b_.CreateSExtOrTrunc(v, out) : b_.CreateZExtOrTrunc(v, out);
  if (is_narrow_float(to)) {
    // Through a double: exact below 2^53; larger magnitudes are made odd first, so that the last rounding is the only one.
    Value* w = v;
    if (byte_size(from) == 8) {
      auto* i64 = b_.getInt64Ty();
      Value* negative = is_signed(from) ? b_.CreateICmpSLT(v, i(v, i64, 0)) : nullptr;
      Value* a = negative ? b_.CreateSelect(negative, b_.CreateNeg(v), v) : v;
      Value* sticky = b_.CreateICmpNE(b_.CreateAnd(a, i(v, i64, 0xfff)), i(v, i64, 0));
      Value* odd = b_.CreateOr(b_.CreateAnd(a, i(v, i64, ~std::uint64_t{0xfff})), b_.CreateZExt(sticky, like(v, i64)));
      Value* large = b_.CreateICmpUGE(a, i(v, i64, std::uint64_t{1} << 52));
      Value* shifted = b_.CreateSelect(large, b_.CreateOr(b_.CreateAnd(odd, i(v, i64, ~std::uint64_t{0x1fff})), b_.CreateShl(b_.CreateZExt(b_.CreateICmpNE(b_.CreateAnd(a, i(v, i64, 0x1fff)), i(v, i64, 0)), like(v, i64)), 12)), a);
      Value* d = b_.CreateUIToFP(shifted, like(v, b_.getDoubleTy()));
      return narrow_to(double_to_odd_float(negative ? b_.CreateSelect(negative, b_.CreateFNeg(d), d) : d), to);
    }
    auto* f64 = like(v, b_.getDoubleTy());
    return narrow_to(double_to_odd_float(is_signed(from) ? b_.CreateSIToFP(w, f64) : b_.CreateUIToFP(w, f64)), to);
  }
  return is_signed(from) ? b_.CreateSIToFP(v, out) : b_.CreateUIToFP(v, out);
}

// ── integers ──

Value* Math::integer_division(FnId fn, DType t, Value* x, Value* y) {
  auto* ty = x->getType();
  Value *zero = llvm::ConstantInt::get(ty, 0), *one = llvm::ConstantInt::get(ty, 1);
  Value* by_zero = b_.CreateICmpEQ(y, zero);
  if (!is_signed(t)) {
    Value* safe = b_.CreateSelect(by_zero, one, y);
    const bool quotient = fn == fn_id<Div> || fn == fn_id<FloorDiv>;
    return b_.CreateSelect(by_zero, quotient ? zero : x, quotient ? b_.CreateUDiv(x, safe) : b_.CreateURem(x, safe));
  }
  Value* minus_one = b_.CreateICmpEQ(y, llvm::ConstantInt::getAllOnesValue(ty));
  Value* safe = b_.CreateSelect(b_.CreateOr(by_zero, minus_one), one, y);  // MIN / -1 traps on some machines
  Value *q = b_.CreateSDiv(x, safe), *r = b_.CreateSRem(x, safe);
  Value* adjust = b_.CreateAnd(b_.CreateICmpNE(r, zero), b_.CreateICmpSLT(b_.CreateXor(r, y), zero));
  if (fn == fn_id<FloorDiv>) q = b_.CreateSelect(adjust, b_.CreateSub(q, one), q);
  if (fn == fn_id<Remainder>) r = b_.CreateSelect(adjust, b_.CreateAdd(r, y), r);
  const bool quotient = fn == fn_id<Div> || fn == fn_id<FloorDiv>;
  Value* plain = quotient ? b_.CreateSelect(minus_one, b_.CreateNeg(x), q) : b_.CreateSelect(minus_one, zero, r);
  return b_.CreateSelect(by_zero, quotient ? zero : x, plain);
}

/// Square and multiply over all bits of the exponent, without a branch.
Value* Math::integer_power(DType t, Value* x, Value* y) {
  auto* ty = x->getType();
  Value *zero = llvm::ConstantInt::get(ty, 0), *one = llvm::ConstantInt::get(ty, 1);
  Value *result = one, *base = x;
  for (int bit = 0; bit < byte_size(t) * 8; ++bit) {
    Value* set = b_.CreateICmpNE(b_.CreateAnd(b_.CreateLShr(y, llvm::ConstantInt::get(ty, static_cast<std::uint64_t>(bit))), one), zero);
    result = b_.CreateSelect(set, b_.CreateMul(result, base), result);
    base = b_.CreateMul(base, base);
  }
  if (!is_signed(t)) return result;
  Value* odd = b_.CreateICmpNE(b_.CreateAnd(y, one), zero);
  Value* minus = llvm::ConstantInt::getAllOnesValue(ty);
  Value* inverse = b_.CreateSelect(b_.CreateICmpEQ(x, one), one, b_.CreateSelect(b_.CreateICmpEQ(x, minus), b_.CreateSelect(odd, minus, one), zero));
  return b_.CreateSelect(b_.CreateICmpSLT(y, zero), inverse, result);
}

Value* Math::integer_function(FnId fn, DType t, std::vector<Value*>& a) {
  Value *x = a[0], *y = a.size() > 1 ? a[1] : nullptr;
  auto* ty = x->getType();
  const bool s = is_signed(t);
  Value* zero = llvm::ConstantInt::get(ty, 0);
  const std::uint64_t width = is_bool(t) ? 1 : static_cast<std::uint64_t>(byte_size(t)) * 8;
  auto less = [&](Value* p, Value* q) { return s ? b_.CreateICmpSLT(p, q) : b_.CreateICmpULT(p, q); };
  auto past = [&] { return b_.CreateICmpUGE(y, llvm::ConstantInt::get(ty, width)); };  // negative counts are huge unsigned ones
  auto count = [&] { return b_.CreateSelect(past(), zero, y); };
  switch (fn) {
    case fn_id<Add>: return b_.CreateAdd(x, y);
    case fn_id<Sub>: return b_.CreateSub(x, y);
    case fn_id<Mul>: return b_.CreateMul(x, y);
    case fn_id<Fma>: return b_.CreateAdd(b_.CreateMul(x, y), a[2]);
    case fn_id<Div>:
    case fn_id<FloorDiv>:
    case fn_id<Remainder>:
    case fn_id<Fmod>: return integer_division(fn, t, x, y);
    case fn_id<Pow>: return integer_power(t, x, y);
    case fn_id<Minimum>: return b_.CreateSelect(less(x, y), x, y);
    case fn_id<Maximum>: return b_.CreateSelect(less(x, y), y, x);
    case fn_id<Neg>: return b_.CreateNeg(x);
    case fn_id<Abs>: return s ? b_.CreateSelect(less(x, zero), b_.CreateNeg(x), x) : x;
    case fn_id<Sign>: {
      Value* one = llvm::ConstantInt::get(ty, 1);
      Value* r = b_.CreateSelect(b_.CreateICmpEQ(x, zero), zero, one);
      return s ? b_.CreateSelect(less(x, zero), llvm::ConstantInt::getAllOnesValue(ty), r) : r;
    }
    case fn_id<Floor>:
    case fn_id<Ceil>:
    case fn_id<Trunc>:
    case fn_id<RoundEven>: return x;
    case fn_id<SignBit>: return s ? less(x, zero) : static_cast<Value*>(llvm::ConstantInt::get(like(x, b_.getInt1Ty()), 0));
    case fn_id<Eq>: return b_.CreateICmpEQ(x, y);
    case fn_id<Ne>: return b_.CreateICmpNE(x, y);
    case fn_id<Lt>: return less(x, y);
    case fn_id<Le>: return b_.CreateNot(less(y, x));
    case fn_id<Gt>: return less(y, x);
    case fn_id<Ge>: return b_.CreateNot(less(x, y));
    case fn_id<And>: return b_.CreateAnd(x, y);
    case fn_id<Or>: return b_.CreateOr(x, y);
    case fn_id<Xor>: return b_.CreateXor(x, y);
    case fn_id<Not>: return b_.CreateNot(x);
    case fn_id<ShiftLeft>: return b_.CreateSelect(past(), zero, b_.CreateShl(x, count()));
    case fn_id<ShiftRightLogical>: return b_.CreateSelect(past(), zero, b_.CreateLShr(x, count()));
    case fn_id<ShiftRight>:
      if (!s) return b_.CreateSelect(past(), zero, b_.CreateLShr(x, count()));
      return b_.CreateAShr(x, b_.CreateSelect(past(), llvm::ConstantInt::get(ty, width - 1), y));
    case fn_id<Popcount>: return intrinsic(llvm::Intrinsic::ctpop, {x});
    case fn_id<CountLeadingZeros>: return b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {ty}, {x, b_.getFalse()});
    default: fail_internal("no code for " + std::string(row(fn).name) + " on integers");
  }
}

Value* Math::apply(FnId fn, DType t, std::vector<Value*> args) {
  if (!is_float(t)) return integer_function(fn, t, args);
  if (!is_narrow_float(t)) return float_function(fn, t, args);
  for (auto& a : args) a = widen_to_f32(a, t);
  Value* r = float_function(fn, DType::f32, args);
  return row(fn).gives == Gives::boolean ? r : narrow_to(r, t);
}

}  // namespace plumb::backends::codegen
