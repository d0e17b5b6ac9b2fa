// Elementary functions without a library: integer arithmetic of 128 bits, tables of a few kilobytes, no calls outside, so
// that one text serves the host, other processors and GPUs (clang++ --target=nvptx64-nvidia-cuda).
//
// Special values are those of ir/scalar/functions.h. Nothing here throws, allocates or keeps a state.
#pragma once

extern "C" {

/// f at arguments that are f32 numbers (or of a narrower format), as a double rounded to odd: one more rounding, to f32 or
/// narrower, subnormals included, is the correct one. Exact where the value is a double. Beyond the range of doubles the
/// greatest, or least, number.
double plumb_exact_exp(double x);
double plumb_exact_exp2(double x);
double plumb_exact_expm1(double x);
double plumb_exact_log(double x);
double plumb_exact_log2(double x);
double plumb_exact_log10(double x);
double plumb_exact_log1p(double x);
double plumb_exact_sin(double x);
double plumb_exact_cos(double x);
double plumb_exact_tan(double x);
double plumb_exact_asin(double x);
double plumb_exact_acos(double x);
double plumb_exact_atan(double x);
double plumb_exact_sinh(double x);
double plumb_exact_cosh(double x);
double plumb_exact_tanh(double x);
double plumb_exact_asinh(double x);
double plumb_exact_acosh(double x);
double plumb_exact_atanh(double x);
double plumb_exact_erf(double x);
double plumb_exact_erfc(double x);
double plumb_exact_cbrt(double x);
double plumb_exact_rsqrt(double x);
double plumb_exact_sigmoid(double x);
double plumb_exact_pow(double x, double y);
double plumb_exact_atan2(double y, double x);

/// f at any doubles, in error by less than 0.5 + 2^-40 units in the last place, subnormal results included.
double plumb_math_exp(double x);
double plumb_math_exp2(double x);
double plumb_math_expm1(double x);
double plumb_math_log(double x);
double plumb_math_log2(double x);
double plumb_math_log10(double x);
double plumb_math_log1p(double x);
double plumb_math_sin(double x);
double plumb_math_cos(double x);
double plumb_math_tan(double x);
double plumb_math_asin(double x);
double plumb_math_acos(double x);
double plumb_math_atan(double x);
double plumb_math_sinh(double x);
double plumb_math_cosh(double x);
double plumb_math_tanh(double x);
double plumb_math_asinh(double x);
double plumb_math_acosh(double x);
double plumb_math_atanh(double x);
double plumb_math_erf(double x);
double plumb_math_erfc(double x);
double plumb_math_cbrt(double x);
double plumb_math_rsqrt(double x);
double plumb_math_sigmoid(double x);
double plumb_math_pow(double x, double y);
double plumb_math_atan2(double y, double x);
double plumb_math_hypot(double x, double y);
/// The exact remainder, with the sign of x.
double plumb_math_fmod(double x, double y);
}
