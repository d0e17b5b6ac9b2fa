// Narrow float formats: bit patterns to f32 exactly, and back with one rounding to nearest even; conversions of dtypes.
#include <cmath>

#include "backends/llvm/internal/math.h"
#include "ir/support/error.h"

namespace plumb::backends::codegen {

llvm::Type* Math::type(DType t) const {
  if (is_bool(t)) return b_.getInt1Ty();
  if (t == DType::f32) return b_.getFloatTy();
  if (t == DType::f64) return b_.getDoubleTy();
  return b_.getIntNTy(static_cast<unsigned>(byte_size(t) * 8));
}

Expr widen_to_f32(Expr bits, DType t) {
  auto& b = *bits.b;
  if (t == DType::f16 || t == DType::f8e5m2) {
    const Expr half = t == DType::f16 ? bits : bits.zext(b.getInt16Ty()).shl(8);
    const Expr h = half.as(b.getHalfTy());
    return h.with(b.CreateFPExt(h.v, shaped(h.type(), b.getFloatTy())));
  }
  const Expr w = bits.zext(b.getInt32Ty());
  if (t == DType::bf16) return w.shl(16).as_f32();
  // e4m3fn: exponent and mantissa fall into place after a shift, 2^120 corrects the bias.
  const Expr magnitude = w & w.k(0x7f), sign = (w & w.k(0x80)).shl(24);
  const Expr v = select(eq(magnitude, w.k(0x7f)), std::nan(""), magnitude.shl(20).as_f32() * 0x1p120);
  return (v.as_i32() | sign).as_f32();
}

namespace {

/// The 8-bit formats: normal numbers by integer rounding, subnormal ones by adding a power of two that rounds in place.
Expr round_to_f8(Expr f, DType t) {
  const bool e4m3 = t == DType::f8e4m3fn;
  const auto& facts = row(t);
  const int m = facts.precision - 1;
  const auto drop = static_cast<unsigned>(23 - m);
  const Expr bits = f.as_i32(), sign = (bits & bits.k(0x80000000)).lshr(24), a = bits & bits.k(0x7fffffff), af = a.as_f32();
  const Expr tie = a.lshr(drop) & a.k(1);
  const Expr normal = (a + a.k((1u << (drop - 1)) - 1) + tie).lshr(drop) - a.k(static_cast<std::uint64_t>(127 + facts.emin - 1) << m);
  const double magic = std::scalbn(1.0, facts.emin - m + 23);
  const Expr subnormal = (af + magic).as_i32() - af.c(magic).as_i32();
  Expr r = select(af < std::scalbn(1.0, facts.emin), subnormal, normal);
  const Expr over = a.with(a.b->CreateICmpUGT(r.v, r.k(e4m3 ? 0x7e : 0x7b).v));
  r = select(over, r.k(e4m3 ? 0x7e : 0x7c), r);
  r = select(eq(af, HUGE_VAL), r.k(e4m3 ? 0x7f : 0x7c), r);
  return select(is_nan(f), r.k(e4m3 ? 0x7f : 0x7e), r | sign).trunc(f.b->getInt8Ty());
}

}  // namespace

Expr round_to_narrow(Expr f, DType t) {
  auto& b = *f.b;
  if (t == DType::f16) return f.with(b.CreateFPTrunc(f.v, shaped(f.type(), b.getHalfTy()))).as(b.getInt16Ty());
  if (t != DType::bf16) return round_to_f8(f, t);
  const Expr bits = f.as_i32(), tie = bits.lshr(16) & bits.k(1);
  const Expr rounded = (bits + bits.k(0x7fff) + tie).lshr(16);
  return select(is_nan(f), rounded.k(0x7fc0), rounded).trunc(b.getInt16Ty());
}

Expr to_odd_f32(Expr d) {
  const Expr f = d.to_f32(), back = f.to_f64(), bits = f.as_i32();
  const Expr toward_zero = select(abs(back) > abs(d), bits - bits.k(1), bits);
  const Expr inexact = d.with(d.b->CreateFCmpONE(back.v, d.v));
  return select(inexact, toward_zero | bits.k(1), bits).as_f32();
}

Expr to_odd_f64(Sum sum) {
  const Expr bits = sum.high.as_i64(), low = sum.low.as_i64();
  const Expr inexact = ne(sum.low, 0) & !is_nan(sum.low), odd = ne(bits & bits.k(1), bits.k(0));
  const Expr outward = !below_zero(bits ^ low);  // the rest lies away from zero
  const Expr moved = select(outward, bits + bits.k(1), bits - bits.k(1));
  return select(inexact & !odd, moved, bits).as_f64();
}

namespace {

/// An integer as a double that a further rounding to a narrow float takes right: bits past 53 become sticky.
Expr integer_to_f64(Expr v, bool is_signed) {
  auto& b = *v.b;
  auto* i64 = b.getInt64Ty();
  auto* f64 = shaped(v.type(), b.getDoubleTy());
  if (v.element()->getIntegerBitWidth() < 64) return v.with(is_signed ? b.CreateSIToFP(v.v, f64) : b.CreateUIToFP(v.v, f64));
  const Expr negative = is_signed ? below_zero(v) : v.with(llvm::ConstantInt::getFalse(shaped(v.type(), b.getInt1Ty())));
  const Expr a = select(negative, -v, v);
  const Expr large = a.with(b.CreateICmpUGT(a.v, a.k(std::uint64_t{1} << 53).v)), sticky = ne(a & a.k(0x1fff), a.k(0)).zext(i64).shl(12);
  const Expr d = a.with(b.CreateUIToFP(select(large, (a & a.k(~std::uint64_t{0x1fff})) | sticky, a).v, f64));
  return select(negative, -d, d);
}

}  // namespace

Value* Math::convert(Value* v, DType from, DType to) const {
  if (from == to) return v;
  auto* out = shaped(v->getType(), type(to));
  const Expr x = e(v);
  if (is_narrow_float(from)) {
    const Expr wide = widen_to_f32(x, from);
    return to == DType::f32 ? wide.v : convert(wide.v, DType::f32, to);
  }
  if (is_float(from)) {
    if (to == DType::f64) return x.to_f64().v;
    if (to == DType::f32) return x.to_f32().v;
    if (is_float(to)) return round_to_narrow(from == DType::f64 ? to_odd_f32(x) : x, to).v;
    if (is_bool(to)) return ne(x, 0).v;
    return b_.CreateIntrinsic(is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat, {out, v->getType()}, {v});
  }
  if (is_bool(to)) return ne(x, x.k(0)).v;
  if (is_integer(to)) return is_signed(from) ? b_.CreateSExtOrTrunc(v, out) : b_.CreateZExtOrTrunc(v, out);
  if (is_narrow_float(to)) return round_to_narrow(to_odd_f32(integer_to_f64(x, is_signed(from))), to).v;
  return is_signed(from) ? b_.CreateSIToFP(v, out) : b_.CreateUIToFP(v, out);
}

Expr near_boundary(Expr y, DType t) {
  const auto& format = plumb::row(t);
  const int dropped = 53 - format.precision;
  // Normal: the dropped bits against half a unit, both ways. 2^-40 of the value is 2^13 of its last places.
  const Expr rest = y.as_i64() & y.as_i64().k((std::uint64_t{1} << dropped) - 1), half = rest.k(std::uint64_t{1} << (dropped - 1)), margin = rest.k(std::uint64_t{1} << 13);
  const Expr off = rest - (half - margin), near = off.with(off.b->CreateICmpULT(off.v, (margin + margin).v));
  // Subnormal: the same in units of the least number.
  const Expr units = abs(y) * std::ldexp(1.0, format.precision - 1 - format.emin), fraction = units - units.intrinsic(llvm::Intrinsic::floor);
  const Expr near_below = abs(fraction - 0.5) <= units * 0x1p-40;
  return select(abs(y) < std::ldexp(1.0, format.emin), near_below, near);
}

}  // namespace plumb::backends::codegen
