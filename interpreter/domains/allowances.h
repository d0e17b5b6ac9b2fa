// What the fast contract grants, as intervals: each allowance widens what relaxed admits by its own stated amount.
//
// tf32         A factor of a contraction of f32 may be rounded or cut to 11 significant bits (NVIDIA's TF32): it then lies
//              within 2^-10 of itself, or is infinite beyond the greatest such number. Its sums may be cut toward zero.
// ftz          An operand or result of arithmetic, and a partial sum, that is a subnormal number of f32 may be read as a
//              zero of its sign. f64 is not touched, nor are moves, conversions and what is stored without arithmetic.
// approximate  An elementary function of f32 or of a narrower dtype may err by 2^-10 of its value, and by 2^-20.
#pragma once
#include "interpreter/domains/enclosure.h"
#include "ir/scalar/contract.h"

namespace plumb::interp {

/// A function's image under what is allowed.
Enclosed enclose_allowed(const Allowances& allow, FnId fn, DType t, std::span<const Enclosed> args);
/// A factor of a contraction.
Enclosed allowed_factor(const Allowances& allow, DType t, const Enclosed& v);
/// How a reduction accumulates, `contraction` or not.
Accumulation allowed_accumulation(const Allowances& allow, DType t, Accumulation how, bool contraction);

}  // namespace plumb::interp
