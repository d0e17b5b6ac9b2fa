// What scalar functions mean for complex numbers, as formulas over the parts.
//
// Arithmetic is the plain formula in each part, every operation rounded once, as in NumPy and PyTorch: an infinity times a
// number may give NaN parts (C's Annex G would recover the infinity). Elementary functions have the branch cuts, signed
// zeros and special values of C's Annex G, as NumPy's have. Comparison is by equality alone: complex numbers have no order.
#pragma once
#include "ir/tensor/record.h"

namespace plumb::ir {

/// Whether the function has a meaning for complex operands.
constexpr bool takes_complex(FnId f) {
  using namespace scalar;
  constexpr std::array all{fn_id<Add>, fn_id<Sub>, fn_id<Mul>, fn_id<Div>, fn_id<Neg>, fn_id<Abs>, fn_id<Eq>, fn_id<Ne>, fn_id<Exp>, fn_id<Log>, fn_id<Sqrt>, fn_id<Pow>, fn_id<Sin>, fn_id<Cos>, fn_id<Tan>,
                           fn_id<Sinh>, fn_id<Cosh>, fn_id<Tanh>, fn_id<Asin>, fn_id<Acos>, fn_id<Atan>, fn_id<Asinh>, fn_id<Acosh>, fn_id<Atanh>};
  return std::ranges::find(all, f) != all.end();
}
constexpr DType complex_result_dtype(FnId f, DType operand) {
  return plumb::row(f).gives == Gives::boolean ? DType::boolean : f == fn_id<scalar::Abs> ? part_dtype(operand) : operand;
}
/// The function's meaning added to the builder's function.
Parts complex_function(Builder& b, FnId f, std::span<const Parts> in);

}  // namespace plumb::ir
