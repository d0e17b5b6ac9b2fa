// Floats: arithmetic by instructions, elementary functions in double (for f32 its error is far below half a ULP), the
// hot ones as vector code, the others through libm lane by lane.
#include <cmath>

#include "backends/llvm/internal/codegen.h"

namespace plumb::backends::codegen {

using namespace scalar;

Value* Math::library_call(const char* name, std::vector<Value*> args) {
  auto* f64 = b_.getDoubleTy();
  auto* module = b_.GetInsertBlock()->getModule();
  auto callee = module->getOrInsertFunction(name, llvm::FunctionType::get(f64, std::vector<llvm::Type*>(args.size(), f64), false));
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(args[0]->getType());
  if (!vector) return b_.CreateCall(callee, args);
  Value* r = llvm::PoisonValue::get(vector);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<Value*> one;
    for (auto* a : args) one.push_back(b_.CreateExtractElement(a, lane));
    r = b_.CreateInsertElement(r, b_.CreateCall(callee, one), lane);
  }
  return r;
}

/// e^x in double for results in f32's range, relative error below 2^-44: x = n·ln 2 + r, |r| <= ln 2 / 2, Taylor to r^11.
Value* Math::exp_double(Value* x) {
  llvm::Type *f64 = b_.getDoubleTy(), *i64 = b_.getInt64Ty();
  auto c = [&](double v) { return constant(x, f64, v); };
  Value* limited = b_.CreateSelect(b_.CreateFCmpOLT(x, c(-700)), c(-700), x);
  limited = b_.CreateSelect(b_.CreateFCmpOGT(limited, c(700)), c(700), limited);
  Value* n = intrinsic(llvm::Intrinsic::roundeven, {b_.CreateFMul(limited, c(1.4426950408889634))});
  Value* r = intrinsic(llvm::Intrinsic::fma, {n, c(-6.93147180369123816490e-01), limited});
  r = intrinsic(llvm::Intrinsic::fma, {n, c(-1.90821492927058770002e-10), r});
  double factorial = 39916800;  // 11!
  Value* p = c(1 / factorial);
  for (int k = 10; k >= 0; --k) {
    factorial /= k + 1;
    p = intrinsic(llvm::Intrinsic::fma, {p, r, c(1 / factorial)});
  }
  Value* exponent = b_.CreateShl(b_.CreateFPToSI(n, like(x, i64)), 52);
  Value* scaled = b_.CreateBitCast(b_.CreateAdd(b_.CreateBitCast(p, like(x, i64)), exponent), x->getType());
  return select_nan(x, scaled);
}

/// fmod is exact; the others follow from it as their doc lines say.
Value* Math::remainder_family(FnId fn, Value* x, Value* y) {
  auto* f64 = b_.getDoubleTy();
  auto c = [&](double v) { return constant(x, f64, v); };
  auto copysign = [&](Value* v, Value* s) { return intrinsic(llvm::Intrinsic::copysign, {v, s}); };
  Value* r = library_call("fmod", {x, y});
  if (fn == fn_id<Fmod>) return r;
  Value* zero = c(0);
  Value* nonzero = b_.CreateFCmpONE(r, zero);
  Value* opposite = b_.CreateAnd(nonzero, b_.CreateXor(b_.CreateFCmpOLT(r, zero), b_.CreateFCmpOLT(y, zero)));
  Value* y_infinite = b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs, {y}), c(HUGE_VAL));
  if (fn == fn_id<Remainder>) {
    Value* moved = b_.CreateSelect(y_infinite, y, b_.CreateFAdd(r, y));
    Value* result = b_.CreateSelect(opposite, moved, r);
    return b_.CreateSelect(b_.CreateFCmpOEQ(r, zero), copysign(zero, y), result);
  }
  Value* quotient = b_.CreateFDiv(b_.CreateFSub(x, r), y);
  Value* whole = intrinsic(llvm::Intrinsic::roundeven, {quotient});
  whole = b_.CreateSelect(opposite, b_.CreateFSub(whole, c(1)), whole);
  Value* plain = b_.CreateFDiv(x, y);
  whole = b_.CreateSelect(b_.CreateFCmpOEQ(whole, zero), copysign(zero, plain), whole);
  Value* infinite = b_.CreateSelect(b_.CreateFCmpOEQ(x, zero), copysign(zero, plain), b_.CreateSelect(opposite, c(-1), zero));
  whole = b_.CreateSelect(y_infinite, infinite, whole);
  Value* x_infinite = b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs, {x}), c(HUGE_VAL));
  Value* as_division = b_.CreateOr(b_.CreateFCmpUEQ(y, zero), b_.CreateOr(x_infinite, b_.CreateFCmpUNO(x, y)));
  return b_.CreateSelect(as_division, plain, whole);
}

Value* Math::elementary(FnId fn, DType t, std::vector<Value*>& a) {
  auto* f64 = b_.getDoubleTy();
  Value* x = widen(a[0], t);
  auto c = [&](double v) { return constant(x, f64, v); };
  const bool f32 = t == DType::f32;
  auto done = [&](Value* d) { return f32 ? b_.CreateFPTrunc(d, like(d, b_.getFloatTy())) : d; };
  if (fn == fn_id<Rsqrt>) return done(b_.CreateFDiv(c(1), intrinsic(llvm::Intrinsic::sqrt, {x})));
  if (f32 && fn == fn_id<Exp>) {
    Value* e = exp_double(x);
    return done(b_.CreateSelect(b_.CreateFCmpOLT(x, c(-700)), c(0), b_.CreateSelect(b_.CreateFCmpOGT(x, c(700)), c(HUGE_VAL), e)));
  }
  if (f32 && fn == fn_id<Sigmoid>) return done(b_.CreateFDiv(c(1), b_.CreateFAdd(c(1), exp_double(b_.CreateFNeg(x)))));
  if (f32 && fn == fn_id<Tanh>) {  // 1 - 2 / (e^2|x| + 1), and x - x³/3 + 2x⁵/15 where that cancels
    Value* m = intrinsic(llvm::Intrinsic::fabs, {x});
    Value* large = b_.CreateFSub(c(1), b_.CreateFDiv(c(2), b_.CreateFAdd(exp_double(b_.CreateFMul(m, c(2))), c(1))));
    Value* s = b_.CreateFMul(m, m);
    Value* series = intrinsic(llvm::Intrinsic::fma, {s, c(2.0 / 15), c(-1.0 / 3)});
    series = intrinsic(llvm::Intrinsic::fma, {b_.CreateFMul(series, s), m, m});
    Value* r = b_.CreateSelect(b_.CreateFCmpOLT(m, c(0x1p-6)), series, large);
    return done(select_nan(x, intrinsic(llvm::Intrinsic::copysign, {r, x})));
  }
  if (fn == fn_id<Sigmoid>) {
    Value* e = library_call("exp", {b_.CreateFNeg(x)});
    return done(b_.CreateSelect(b_.CreateFCmpOLT(x, c(-700)), library_call("exp", {x}), b_.CreateFDiv(c(1), b_.CreateFAdd(c(1), e))));
  }
  static const std::map<FnId, const char*> library{
      {fn_id<Exp>, "exp"}, {fn_id<Exp2>, "exp2"}, {fn_id<Expm1>, "expm1"}, {fn_id<Log>, "log"}, {fn_id<Log2>, "log2"}, {fn_id<Log10>, "log10"},
      {fn_id<Log1p>, "log1p"}, {fn_id<Sin>, "sin"}, {fn_id<Cos>, "cos"}, {fn_id<Tan>, "tan"}, {fn_id<Asin>, "asin"}, {fn_id<Acos>, "acos"},
      {fn_id<Atan>, "atan"}, {fn_id<Sinh>, "sinh"}, {fn_id<Cosh>, "cosh"}, {fn_id<Tanh>, "tanh"}, {fn_id<Asinh>, "asinh"}, {fn_id<Acosh>, "acosh"},
      {fn_id<Atanh>, "atanh"}, {fn_id<Erf>, "erf"}, {fn_id<Erfc>, "erfc"}, {fn_id<Cbrt>, "cbrt"}, {fn_id<Pow>, "pow"}, {fn_id<Atan2>, "atan2"}};
  auto it = library.find(fn);
  if (it == library.end()) fail_internal("no code for " + std::string(row(fn).name));
  std::vector<Value*> args{x};
  if (a.size() > 1) args.push_back(widen(a[1], t));
  return done(library_call(it->second, args));
}

Value* Math::float_function(FnId fn, DType t, std::vector<Value*>& a) {
  Value *x = a[0], *y = a.size() > 1 ? a[1] : nullptr;
  auto* ty = x->getType();
  auto c = [&](double v) { return llvm::ConstantFP::get(ty, v); };
  auto call = [&](llvm::Intrinsic::ID id) { return intrinsic(id, a); };
  switch (fn) {
    case fn_id<Add>: return b_.CreateFAdd(x, y);
    case fn_id<Sub>: return b_.CreateFSub(x, y);
    case fn_id<Mul>: return b_.CreateFMul(x, y);
    case fn_id<Div>: return b_.CreateFDiv(x, y);
    case fn_id<Fma>: return call(llvm::Intrinsic::fma);
    case fn_id<Sqrt>: return call(llvm::Intrinsic::sqrt);
    case fn_id<Minimum>: return call(llvm::Intrinsic::minimum);
    case fn_id<Maximum>: return call(llvm::Intrinsic::maximum);
    case fn_id<Neg>: return b_.CreateFNeg(x);
    case fn_id<Abs>: return call(llvm::Intrinsic::fabs);
    case fn_id<Floor>: return call(llvm::Intrinsic::floor);
    case fn_id<Ceil>: return call(llvm::Intrinsic::ceil);
    case fn_id<Trunc>: return call(llvm::Intrinsic::trunc);
    case fn_id<RoundEven>: return call(llvm::Intrinsic::roundeven);
    case fn_id<Sign>: return b_.CreateSelect(b_.CreateFCmpUEQ(x, c(0)), x, intrinsic(llvm::Intrinsic::copysign, {c(1), x}));
    case fn_id<IsNan>: return b_.CreateFCmpUNO(x, x);
    case fn_id<IsInf>: return b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs, {x}), c(HUGE_VAL));
    case fn_id<IsFinite>: return b_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {x}), c(HUGE_VAL));
    case fn_id<SignBit>: {
      auto* integer = b_.getIntNTy(static_cast<unsigned>(byte_size(t)) * 8);
      Value* set = b_.CreateICmpSLT(b_.CreateBitCast(x, like(x, integer)), i(x, integer, 0));
      return b_.CreateAnd(set, b_.CreateFCmpORD(x, x));
    }
    case fn_id<Eq>: return b_.CreateFCmpOEQ(x, y);
    case fn_id<Ne>: return b_.CreateFCmpUNE(x, y);
    case fn_id<Lt>: return b_.CreateFCmpOLT(x, y);
    case fn_id<Le>: return b_.CreateFCmpOLE(x, y);
    case fn_id<Gt>: return b_.CreateFCmpOGT(x, y);
    case fn_id<Ge>: return b_.CreateFCmpOGE(x, y);
    case fn_id<FloorDiv>:
    case fn_id<Remainder>:
    case fn_id<Fmod>: {
      Value* r = remainder_family(fn, widen(x, t), widen(y, t));
      return t == DType::f32 ? b_.CreateFPTrunc(r, ty) : r;
    }
    default: return elementary(fn, t, a);
  }
}

}  // namespace plumb::backends::codegen
