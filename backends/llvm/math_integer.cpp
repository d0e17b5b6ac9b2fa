// Integers and bools: everything wraps, nothing traps, absent lanes included.
#include "backends/llvm/internal/math.h"
#include "ir/support/error.h"

namespace plumb::backends::codegen {

using namespace scalar;

Expr integer_division(FnId fn, bool is_signed, Expr x, Expr divisor) {
  auto& b = *x.b;
  // Absent lanes may hold anything, and a division by such a value would be undefined.
  const Expr y = divisor.with(llvm::isa<llvm::Constant>(divisor.v) ? divisor.v : b.CreateFreeze(divisor.v));
  const Expr by_zero = eq(y, y.k(0));
  const bool quotient = fn == fn_id<Div> || fn == fn_id<FloorDiv>;
  const Expr at_zero = quotient ? x.k(0) : x;
  if (!is_signed) {
    const Expr safe = select(by_zero, y.k(1), y);
    return select(by_zero, at_zero, x.with(quotient ? b.CreateUDiv(x.v, safe.v) : b.CreateURem(x.v, safe.v)));
  }
  const Expr minus_one = eq(y, y.with(llvm::ConstantInt::getAllOnesValue(y.type())));
  const Expr safe = select(by_zero | minus_one, y.k(1), y);  // MIN / -1 traps on some machines
  const Expr q = x.with(b.CreateSDiv(x.v, safe.v)), r = x - q * safe;
  const Expr adjust = ne(r, r.k(0)) & below_zero(r ^ y);
  if (quotient) return select(by_zero, at_zero, select(minus_one, -x, fn == fn_id<FloorDiv> ? select(adjust, q - q.k(1), q) : q));
  return select(by_zero, at_zero, select(minus_one, x.k(0), fn == fn_id<Remainder> ? select(adjust, r + y, r) : r));
}

/// Square and multiply over all bits of the exponent, without a branch.
Expr integer_power(bool is_signed, Expr x, Expr y) {
  Expr result = x.k(1), base = x;
  const unsigned bits = x.element()->getIntegerBitWidth();
  for (unsigned bit = 0; bit < bits; ++bit) {
    result = select(ne(y.lshr(bit) & y.k(1), y.k(0)), result * base, result);
    base = base * base;
  }
  if (!is_signed) return result;
  const Expr minus = x.with(llvm::ConstantInt::getAllOnesValue(x.type())), odd = ne(y & y.k(1), y.k(0));
  const Expr inverse = select(eq(x, x.k(1)), x.k(1), select(eq(x, minus), select(odd, minus, x.k(1)), x.k(0)));
  return select(below_zero(y), inverse, result);
}

Value* Math::integer_function(FnId fn, DType t, std::span<Value* const> args) const {
  const Expr x = e(args[0]), y = e(args.size() > 1 ? args[1] : args[0]);
  const bool s = is_signed(t);
  const std::uint64_t width = is_bool(t) ? 1 : static_cast<std::uint64_t>(byte_size(t)) * 8;
  auto less = [&](Expr p, Expr q) { return p.with(s ? b_.CreateICmpSLT(p.v, q.v) : b_.CreateICmpULT(p.v, q.v)); };
  // Shift counts: negative ones are huge unsigned ones.
  const auto past = [&] { return y.with(b_.CreateICmpUGE(y.v, y.k(width).v)); };
  const auto count = [&] { return select(past(), y.k(0), y).v; };
  const auto shifted = [&](Value* v) { return select(past(), x.k(0), x.with(v)).v; };
  switch (fn) {
    case fn_id<Add>: return (x + y).v;
    case fn_id<Sub>: return (x - y).v;
    case fn_id<Mul>: return (x * y).v;
    case fn_id<Fma>: return (x * y + e(args[2])).v;
    case fn_id<Div>:
    case fn_id<FloorDiv>:
    case fn_id<Remainder>:
    case fn_id<Fmod>: return integer_division(fn, s, x, y).v;
    case fn_id<Pow>: return integer_power(s, x, y).v;
    case fn_id<Minimum>: return select(less(y, x), y, x).v;
    case fn_id<Maximum>: return select(less(x, y), y, x).v;
    case fn_id<Neg>: return (-x).v;
    case fn_id<Abs>: return s ? select(below_zero(x), -x, x).v : x.v;
    case fn_id<Sign>: {
      const Expr positive = select(eq(x, x.k(0)), x.k(0), x.k(1));
      return s ? select(below_zero(x), x.with(llvm::ConstantInt::getAllOnesValue(x.type())), positive).v : positive.v;
    }
    case fn_id<Floor>:
    case fn_id<Ceil>:
    case fn_id<Trunc>:
    case fn_id<RoundEven>: return x.v;
    case fn_id<SignBit>: return s ? below_zero(x).v : static_cast<Value*>(llvm::ConstantInt::getFalse(shaped(x.type(), b_.getInt1Ty())));
    case fn_id<Eq>: return eq(x, y).v;
    case fn_id<Ne>: return ne(x, y).v;
    case fn_id<Lt>: return less(x, y).v;
    case fn_id<Le>: return (!less(y, x)).v;
    case fn_id<Gt>: return less(y, x).v;
    case fn_id<Ge>: return (!less(x, y)).v;
    case fn_id<And>: return (x & y).v;
    case fn_id<Or>: return (x | y).v;
    case fn_id<Xor>: return (x ^ y).v;
    case fn_id<Not>: return (!x).v;
    case fn_id<ShiftLeft>: return shifted(b_.CreateShl(x.v, count()));
    case fn_id<ShiftRightLogical>: return shifted(b_.CreateLShr(x.v, count()));
    case fn_id<ShiftRight>:
      if (!s) return shifted(b_.CreateLShr(x.v, count()));
      return b_.CreateAShr(x.v, select(past(), y.k(width - 1), y).v);
    case fn_id<Popcount>: return x.intrinsic(llvm::Intrinsic::ctpop).v;
    case fn_id<CountLeadingZeros>: return x.intrinsic(llvm::Intrinsic::ctlz, {b_.getFalse()}).v;
    default: fail_internal("no code for " + std::string(row(fn).name) + " on integers");
  }
}

}  // namespace plumb::backends::codegen
