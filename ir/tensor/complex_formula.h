// Formulas over complex tensors as pairs of terms: what the meanings of scalar functions on complex numbers are written in.
#pragma once
#include "ir/tensor/formula.h"

namespace plumb::ir {

struct Complex {
  Term re, im;
};
inline DType dtype(Term x) { return x.b->type(x.id).dtype; }
inline bool is_f32(Term x) { return dtype(x) == DType::f32; }
inline Term converted(Term x, DType to) { return {x.b, x.b->convert(x.id, to)}; }
inline Complex converted(Complex x, DType to) { return {converted(x.re, to), converted(x.im, to)}; }
inline Complex select(Term condition, Complex x, Complex y) { return {select(condition, x.re, y.re), select(condition, x.im, y.im)}; }
inline Complex operator-(Complex x) { return {-x.re, -x.im}; }
inline Complex operator*(Complex x, Complex y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
/// i x and -i x.
inline Complex times_i(Complex x) { return {-x.im, x.re}; }
inline Complex over_i(Complex x) { return {x.im, -x.re}; }

/// |z|: +inf where a part is infinite, even beside a NaN.
Term magnitude(Complex z);

// Branch cuts, signed zeros, infinities and NaN as in C's Annex G (ISO/IEC 9899:2018, G.6); where that leaves a sign open,
// +0 and +infinity, or an operand's sign. complex_elementary.cpp, complex_inverse.cpp.
Complex complex_exp(Complex z);
Complex complex_log(Complex z);
Complex complex_sqrt(Complex z);
Complex complex_pow(Complex z, Complex w);
Complex complex_sinh(Complex z);
Complex complex_cosh(Complex z);
Complex complex_tanh(Complex z);
Complex complex_asin(Complex z);
Complex complex_acos(Complex z);
Complex complex_acosh(Complex z);
Complex complex_atanh(Complex z);

/// log |z| with 2^-2 or a power above 1 taken out first, where |z| itself leaves the range.
Term log_magnitude(Complex z);

}  // namespace plumb::ir
