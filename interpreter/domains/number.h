// One element's value, and the reference's scalar functions on it: every operation correctly rounded.
#pragma once
#include <cstdint>
#include <span>

#include "ir/scalar/functions.h"
#include "ir/support/error.h"

namespace plumb::interp {

/// Any float dtype is held exactly as a double; signed integers in i; unsigned integers and bool (0, 1) in u.
union Number {
  double f;
  std::int64_t i;
  std::uint64_t u;
};

Number load(DType t, const void* base, std::int64_t index);
void store(DType t, void* base, std::int64_t index, Number v);
/// Nearest value of a float dtype, ties to even, from a double: one rounding.
double round_to(DType t, double v);
/// The function's value for arguments of dtype t, rounded once to t (ir/scalar/functions.h says what it is).
Number apply(FnId fn, DType t, std::span<const Number> args);
Number convert(Number v, DType from, DType to);
/// The same bits in a dtype as wide; a NaN's bits are those of the positive quiet NaN without payload.
Number bitcast(Number v, DType from, DType to);
/// The same value: NaN is NaN, and zeros are told apart.
bool same(DType t, Number a, Number b);
Number number(DType t, double v);

/// f(x) of an elementary function in double with relative error below 2^-48, for bounds and as a first guess.
double approximate(FnId fn, double x, double y = 0);
/// f(x) rounded once to `t`. Double first: accepted when no value within its error bound rounds elsewhere. `near`, where not null, gets
/// what `approximate` gives.
double elementary(FnId fn, DType t, double x, double y, double* near);
/// f(x) rounded once to `t` by arbitrary precision (MPFR), whatever it costs.
double exact_elementary(FnId fn, DType t, double x, double y);
/// floor(x / y) of the exact quotient, rounded once to `t`; x and y finite, y not 0, the quotient 1 or more in magnitude.
double exact_floor_quotient(DType t, double x, double y);

}  // namespace plumb::interp
