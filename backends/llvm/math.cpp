// Scalar functions on floats: arithmetic by instructions; elementary functions by the formulas of elementary_*.cpp or,
// where there are none, by the machine's function on doubles.
#include "backends/llvm/internal/math.h"

#include <cmath>

#include "backends/llvm/internal/elementary.h"
#include "ir/support/error.h"

namespace plumb::backends::codegen {

using namespace scalar;

Value* Math::apply(FnId fn, DType t, std::span<Value* const> args) const {
  if (!is_float(t)) return integer_function(fn, t, args);
  llvm::SmallVector<Expr, 3> a;
  for (auto* v : args) a.push_back(e(v));
  const bool rounds_once = correct_ && is_elementary(fn);
  if (!is_narrow_float(t)) return rounds_once ? correctly_rounded(fn, t, a).v : float_function(fn, t, a).v;
  for (auto& x : a) x = widen_to_f32(x, t);
  if (fn == fn_id<Fma>) return narrow_fma(t, a[0], a[1], a[2]).v;
  Expr r = rounds_once ? correctly_rounded(fn, t, a) : float_function(fn, DType::f32, a);
  // Where f32 overflows, a format without infinities saturates; only a pole, at zero, gives its NaN.
  const bool grows = fn == fn_id<Exp> || fn == fn_id<Exp2> || fn == fn_id<Expm1> || fn == fn_id<Sinh> || fn == fn_id<Cosh> || fn == fn_id<Pow>;
  if (grows && !plumb::row(t).has_inf) r = select(eq(abs(r), HUGE_VAL) & ne(a[0], 0), copysign(r.c(0x1p100), r), r);
  return row(fn).gives == Gives::boolean ? r.v : round_to_narrow(r, t).v;
}

/// The product is exact in double; the sum keeps its rounding's direction, so that the last rounding is the only one.
Expr Math::narrow_fma(DType t, Expr x, Expr y, Expr z) const {
  const Expr sum = to_odd_f64(two_sum(x.to_f64() * y.to_f64(), z.to_f64()));
  return round_to_narrow(to_odd_f32(sum), t);
}

Expr Math::fmod(Expr x, Expr y) const { return x.with(calls_.function(b_, "fmod", {x.v, y.v})); }

/// LLVM narrows llvm.maximum of two widened halves to one of halves, whose expansion, where no instruction has it, LLVM 19 gets
/// wrong: maximum(+0, NaN) is +0, and so is minimum(NaN, -0) -0. Spelled out, it is an instruction with two corrections.
Expr Math::extreme(bool greatest, Expr x, Expr y) const {
  if (calls_.has_extremes()) return x.intrinsic(greatest ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, {y.v});
  const Expr picked = greatest ? select(x > y, x, y) : select(x < y, x, y);  // y where either is NaN
  llvm::Type* bits = x.b->getIntNTy(x.element()->getScalarSizeInBits());
  const Expr both = (greatest ? x.as(bits) & y.as(bits) : x.as(bits) | y.as(bits)).as(x.element());  // equal: one number, or zeros
  return select(is_nan(x), x, select(eq(x, y), both, picked));
}

Expr Math::float_function(FnId fn, DType t, std::span<const Expr> a) const {
  const Expr x = a[0], y = a.size() > 1 ? a[1] : a[0];
  using I = llvm::Intrinsic::IndependentIntrinsics;
  switch (fn) {
    case fn_id<Add>: return x + y;
    case fn_id<Sub>: return x - y;
    case fn_id<Mul>: return x * y;
    case fn_id<Div>: return x / y;
    case fn_id<Fma>: return fma(x, y, a[2]);
    case fn_id<Sqrt>: return sqrt(x);
    case fn_id<Minimum>:
    case fn_id<Maximum>: return extreme(fn == fn_id<Maximum>, x, y);
    case fn_id<Neg>: return -x;
    case fn_id<Abs>: return abs(x);
    case fn_id<Floor>: return x.intrinsic(I::floor);
    case fn_id<Ceil>: return x.intrinsic(I::ceil);
    case fn_id<Trunc>: return x.intrinsic(I::trunc);
    case fn_id<RoundEven>: return round_even(x);
    case fn_id<Sign>: return select(eq(x, 0) | is_nan(x), x, copysign(x.c(1), x));
    case fn_id<IsNan>: return is_nan(x);
    case fn_id<IsInf>: return eq(abs(x), HUGE_VAL);
    case fn_id<IsFinite>: return abs(x) < HUGE_VAL;
    case fn_id<SignBit>: return below_zero(t == DType::f64 ? x.as_i64() : x.as_i32()) & !is_nan(x);
    case fn_id<Eq>: return eq(x, y);
    case fn_id<Ne>: return ne(x, y);
    case fn_id<Lt>: return x < y;
    case fn_id<Le>: return x <= y;
    case fn_id<Gt>: return x > y;
    case fn_id<Ge>: return x >= y;
    case fn_id<Fmod>: return t == DType::f64 ? fmod(x, y) : fmod(x.to_f64(), y.to_f64()).to_f32();
    case fn_id<Remainder>:
      if (t == DType::f64) return floor_remainder(x, y, fmod(x, y));
      return floor_remainder(x, y, fmod(x.to_f64(), y.to_f64()).to_f32());  // fmod is exact in f32, too
    case fn_id<FloorDiv>: {
      const Expr xd = x.to_f64(), yd = y.to_f64(), q = floor_quotient(xd, yd, fmod(xd, yd), t != DType::f64);
      return t == DType::f64 ? q : q.to_f32();
    }
    default: return elementary(fn, a);
  }
}

/// Functions that have an error bound of their own.
bool Math::is_elementary(FnId fn) { return row(fn).ulp > 0.5 && row(fn).takes != Takes::integer; }

Expr Math::elementary(FnId fn, std::span<const Expr> a) const { return a[0].element()->isDoubleTy() ? elementary_f64(fn, a) : elementary_f32(fn, a); }

/// From the double formulas, whose relative error is below 2^-40: where a rounding boundary of t is nearer than that, or the
/// value is a double itself, the exact function decides. For narrow t an f32 that rounds to t as the value does.
Expr Math::correctly_rounded(FnId fn, DType t, std::span<const Expr> a) const {
  llvm::SmallVector<Expr, 2> x;
  llvm::SmallVector<Value*, 2> args;
  for (auto e : a) x.push_back(e.to_f64()), args.push_back(x.back().v);
  const auto exact = [&] { return x[0].with(calls_.exact_function(b_, fn, t, args)); };
  if (t == DType::f64) return exact();
  const Expr y = wide(fn, x), decided = fn == fn_id<Hypot> ? y : unless(near_boundary(y, t), y, exact);   // that one's last bit is sticky
  return t == DType::f32 ? decided.to_f32() : to_odd_f32(decided);
}

/// Functions of f32 and narrower, in double.
Expr Math::wide(FnId fn, std::span<const Expr> a) const {
  const Expr x = a[0];
  switch (fn) {
    case fn_id<Exp>: return exp_f64(x);
    case fn_id<Exp2>: return exp2_f64(x);
    case fn_id<Expm1>: return expm1_f64(x);
    case fn_id<Log>: return log_f64(x);
    case fn_id<Log2>: return log_f64(x) * 0x1.71547652b82fep+0;
    case fn_id<Log10>: return log_f64(x) * 0x1.bcb7b1526e50ep-2;
    case fn_id<Log1p>: return log1p_f64(x);
    case fn_id<Sinh>: return sinh_f64(x);
    case fn_id<Cosh>: return cosh_f64(x);
    case fn_id<Tanh>: return tanh_f64(x);
    case fn_id<Asinh>: return asinh_f64(x);
    case fn_id<Acosh>: return acosh_f64(x);
    case fn_id<Atanh>: return atanh_f64(x);
    case fn_id<Cbrt>: return cbrt_f64(x);
    case fn_id<Rsqrt>: return 1.0 / sqrt(x);
    case fn_id<Sigmoid>: return sigmoid_f64(x);
    case fn_id<Erf>: return erf_f64(x);
    case fn_id<Erfc>: return erfc_f64(x);
    case fn_id<Pow>: return pow_f64(x, a[1]);
    case fn_id<Sin>: return trig_f64(Trig::sine, x, calls_);
    case fn_id<Cos>: return trig_f64(Trig::cosine, x, calls_);
    case fn_id<Tan>: return trig_f64(Trig::tangent, x, calls_);
    case fn_id<Atan2>: return atan2_f64(x, a[1]);
    case fn_id<Hypot>: return hypot_f64(x, a[1]);
    case fn_id<Atan>: return atan_f64(x);
    case fn_id<Asin>: return asin_f64(x);
    case fn_id<Acos>: return acos_f64(x);
    default: fail_internal("no formula in double for " + std::string(row(fn).name));
  }
}

Expr Math::library(FnId fn, std::span<const Expr> a) const {
  llvm::SmallVector<Value*, 2> args;
  for (auto x : a) args.push_back(x.to_f64().v);
  const Expr r = a[0].with(calls_.function(b_, std::string(row(fn).name).c_str(), args));
  return a[0].element()->isDoubleTy() ? r : r.to_f32();
}

Expr Math::elementary_f64(FnId fn, std::span<const Expr> a) const {
  switch (fn) {
    case fn_id<Exp>: return exp_f64(a[0]);
    case fn_id<Log>: return log_f64(a[0]);
    default: return library(fn, a);
  }
}

/// The hot ones in f32; the others in double, rounded.
Expr Math::elementary_f32(FnId fn, std::span<const Expr> a) const {
  const Expr x = a[0];
  switch (fn) {
    case fn_id<Exp>: return exp_f32(x);
    case fn_id<Log>: return log_f32(x);
    case fn_id<Sigmoid>: return sigmoid_f32(x);
    case fn_id<Tanh>: return tanh_f32(x);
    case fn_id<Erf>: return erf_f32(x);
    case fn_id<Rsqrt>: return 1.0 / sqrt(x);
    default: break;
  }
  llvm::SmallVector<Expr, 2> w;
  for (auto e : a) w.push_back(e.to_f64());
  return wide(fn, w).to_f32();
}

}  // namespace plumb::backends::codegen
