// Scalar functions (ir/scalar/functions.h) and conversions on LLVM values, scalar or vector alike.
#pragma once
#include <vector>

#include "backends/llvm/internal/calls.h"
#include "backends/llvm/internal/expr.h"
#include "ir/scalar/functions.h"

namespace plumb::backends::codegen {

class Math {
 public:
  /// `correct`: elementary functions are correctly rounded, not merely within the bounds of their rows.
  Math(Builder& b, const Calls& calls, bool correct) : b_(b), calls_(calls), correct_(correct) {}
  /// The register type of a dtype: i1 for bool, iN for integers and narrow floats (their bit patterns), float, double.
  llvm::Type* type(DType t) const;
  /// The function's value for arguments of dtype t, all of one shape.
  Value* apply(FnId fn, DType t, std::span<Value* const> args) const;
  Value* convert(Value* v, DType from, DType to) const;

 private:
  Expr e(Value* v) const { return {&b_, v}; }
  Value* integer_function(FnId fn, DType t, std::span<Value* const> args) const;
  Expr float_function(FnId fn, DType t, std::span<const Expr> args) const;
  Expr elementary(FnId fn, std::span<const Expr> args) const;
  Expr elementary_f32(FnId fn, std::span<const Expr> args) const;
  Expr elementary_f64(FnId fn, std::span<const Expr> args) const;
  static bool is_elementary(FnId fn);
  Expr wide(FnId fn, std::span<const Expr> args) const;
  Expr correctly_rounded(FnId fn, DType t, std::span<const Expr> args) const;
  Expr library(FnId fn, std::span<const Expr> args) const;
  Expr fmod(Expr x, Expr y) const;
  Expr extreme(bool greatest, Expr x, Expr y) const;
  Expr narrow_fma(DType t, Expr x, Expr y, Expr z) const;

  Builder& b_;
  const Calls& calls_;
  bool correct_;
};

// Storage formats (math_formats.cpp).
Expr widen_to_f32(Expr bits, DType narrow);
Expr round_to_narrow(Expr f32, DType narrow);
/// A double as a float that remembers inexactness in its last bit: rounding it once more is rounding once.
Expr to_odd_f32(Expr f64);
/// high + low, as a double whose last bit is odd when low is not 0.
Expr to_odd_f64(Sum sum);

/// Whether a double's distance from the middle between two neighbours of the format is below 2^-40 of it.
Expr near_boundary(Expr f64, DType format);

// Integers (math_integer.cpp).
Expr integer_division(FnId fn, bool is_signed, Expr x, Expr y);
Expr integer_power(bool is_signed, Expr x, Expr y);
// Floats (math_remainder.cpp): the quotient and remainder toward minus infinity from r = fmod(x, y), all doubles.
Expr floor_quotient(Expr x, Expr y, Expr r, bool to_odd);
Expr floor_remainder(Expr x, Expr y, Expr r);

}  // namespace plumb::backends::codegen
