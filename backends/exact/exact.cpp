#include "backends/exact/exact.h"

#include "backends/exact/internal/functions.h"

namespace exact = plumb::backends::exact;
using exact::Mode;

double plumb_exact_exp(double x) { return exact::exp(x, Mode::odd); }
double plumb_exact_exp2(double x) { return exact::exp2(x, Mode::odd); }
double plumb_exact_expm1(double x) { return exact::expm1(x, Mode::odd); }
double plumb_exact_log(double x) { return exact::log(x, Mode::odd); }
double plumb_exact_log2(double x) { return exact::log2(x, Mode::odd); }
double plumb_exact_log10(double x) { return exact::log10(x, Mode::odd); }
double plumb_exact_log1p(double x) { return exact::log1p(x, Mode::odd); }
double plumb_exact_sin(double x) { return exact::sin(x, Mode::odd); }
double plumb_exact_cos(double x) { return exact::cos(x, Mode::odd); }
double plumb_exact_tan(double x) { return exact::tan(x, Mode::odd); }
double plumb_exact_asin(double x) { return exact::asin(x, Mode::odd); }
double plumb_exact_acos(double x) { return exact::acos(x, Mode::odd); }
double plumb_exact_atan(double x) { return exact::atan(x, Mode::odd); }
double plumb_exact_sinh(double x) { return exact::sinh(x, Mode::odd); }
double plumb_exact_cosh(double x) { return exact::cosh(x, Mode::odd); }
double plumb_exact_tanh(double x) { return exact::tanh(x, Mode::odd); }
double plumb_exact_asinh(double x) { return exact::asinh(x, Mode::odd); }
double plumb_exact_acosh(double x) { return exact::acosh(x, Mode::odd); }
double plumb_exact_atanh(double x) { return exact::atanh(x, Mode::odd); }
double plumb_exact_erf(double x) { return exact::erf(x, Mode::odd); }
double plumb_exact_erfc(double x) { return exact::erfc(x, Mode::odd); }
double plumb_exact_cbrt(double x) { return exact::cbrt(x, Mode::odd); }
double plumb_exact_rsqrt(double x) { return exact::rsqrt(x, Mode::odd); }
double plumb_exact_sigmoid(double x) { return exact::sigmoid(x, Mode::odd); }
double plumb_exact_pow(double x, double y) { return exact::pow(x, y, Mode::odd); }
double plumb_exact_atan2(double y, double x) { return exact::atan2(y, x, Mode::odd); }

double plumb_math_exp(double x) { return exact::exp(x, Mode::nearest); }
double plumb_math_exp2(double x) { return exact::exp2(x, Mode::nearest); }
double plumb_math_expm1(double x) { return exact::expm1(x, Mode::nearest); }
double plumb_math_log(double x) { return exact::log(x, Mode::nearest); }
double plumb_math_log2(double x) { return exact::log2(x, Mode::nearest); }
double plumb_math_log10(double x) { return exact::log10(x, Mode::nearest); }
double plumb_math_log1p(double x) { return exact::log1p(x, Mode::nearest); }
double plumb_math_sin(double x) { return exact::sin(x, Mode::nearest); }
double plumb_math_cos(double x) { return exact::cos(x, Mode::nearest); }
double plumb_math_tan(double x) { return exact::tan(x, Mode::nearest); }
double plumb_math_asin(double x) { return exact::asin(x, Mode::nearest); }
double plumb_math_acos(double x) { return exact::acos(x, Mode::nearest); }
double plumb_math_atan(double x) { return exact::atan(x, Mode::nearest); }
double plumb_math_sinh(double x) { return exact::sinh(x, Mode::nearest); }
double plumb_math_cosh(double x) { return exact::cosh(x, Mode::nearest); }
double plumb_math_tanh(double x) { return exact::tanh(x, Mode::nearest); }
double plumb_math_asinh(double x) { return exact::asinh(x, Mode::nearest); }
double plumb_math_acosh(double x) { return exact::acosh(x, Mode::nearest); }
double plumb_math_atanh(double x) { return exact::atanh(x, Mode::nearest); }
double plumb_math_erf(double x) { return exact::erf(x, Mode::nearest); }
double plumb_math_erfc(double x) { return exact::erfc(x, Mode::nearest); }
double plumb_math_cbrt(double x) { return exact::cbrt(x, Mode::nearest); }
double plumb_math_rsqrt(double x) { return exact::rsqrt(x, Mode::nearest); }
double plumb_math_sigmoid(double x) { return exact::sigmoid(x, Mode::nearest); }
double plumb_math_pow(double x, double y) { return exact::pow(x, y, Mode::nearest); }
double plumb_math_atan2(double y, double x) { return exact::atan2(y, x, Mode::nearest); }
double plumb_math_hypot(double x, double y) { return exact::hypot(x, y, Mode::nearest); }
double plumb_math_fmod(double x, double y) { return exact::fmod(x, y); }
