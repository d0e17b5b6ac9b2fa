#include "backends/llvm/host_math.h"

#include <cmath>

#include "backends/exact/exact.h"
#include "backends/llvm/exact_math.h"

namespace plumb::backends::codegen {
namespace {

using One = double (*)(double);
using Two = double (*)(double, double);

template <long double (*f)(long double)> double rounded(double x) { return static_cast<double>(f(static_cast<long double>(x))); }
double sigmoid(double x) {
  const long double e = std::exp(-static_cast<long double>(x));
  return static_cast<double>(1 / (1 + e));
}
double rsqrt(double x) { return static_cast<double>(1 / std::sqrt(static_cast<long double>(x))); }
double power(double x, double y) { return static_cast<double>(std::pow(static_cast<long double>(x), static_cast<long double>(y))); }
double arctangent(double y, double x) { return static_cast<double>(std::atan2(static_cast<long double>(y), static_cast<long double>(x))); }
double hypotenuse(double x, double y) { return static_cast<double>(std::hypot(static_cast<long double>(x), static_cast<long double>(y))); }

void* one(One f) { return reinterpret_cast<void*>(f); }
void* two(Two f) { return reinterpret_cast<void*>(f); }

}  // namespace

std::span<const HostFunction> host_functions() {
  static const HostFunction table[] = {
      {"plumb_math_exp", one(std::exp)},        {"plumb_math_exp2", one(std::exp2)},
      {"plumb_math_log", one(std::log)},        {"plumb_math_log2", one(std::log2)},
      {"plumb_math_sin", one(std::sin)},        {"plumb_math_cos", one(std::cos)},
      {"plumb_math_tan", one(rounded<tanl>)},   {"plumb_math_expm1", one(rounded<expm1l>)},
      {"plumb_math_log10", one(rounded<log10l>)}, {"plumb_math_log1p", one(rounded<log1pl>)},
      {"plumb_math_asin", one(rounded<asinl>)}, {"plumb_math_acos", one(rounded<acosl>)},
      {"plumb_math_atan", one(rounded<atanl>)}, {"plumb_math_sinh", one(rounded<sinhl>)},
      {"plumb_math_cosh", one(rounded<coshl>)}, {"plumb_math_tanh", one(rounded<tanhl>)},
      {"plumb_math_asinh", one(rounded<asinhl>)}, {"plumb_math_acosh", one(rounded<acoshl>)},
      {"plumb_math_atanh", one(rounded<atanhl>)}, {"plumb_math_erf", one(rounded<erfl>)},
      {"plumb_math_erfc", one(rounded<erfcl>)}, {"plumb_math_cbrt", one(rounded<cbrtl>)},
      {"plumb_math_sigmoid", one(sigmoid)},     {"plumb_math_rsqrt", one(rsqrt)},
      {"plumb_math_pow", two(power)},           {"plumb_math_atan2", two(arctangent)},
      {"plumb_math_hypot", two(hypotenuse)},
      {"plumb_math_fmod", two(std::fmod)},
      {"plumb_exact_exp", one(plumb_exact_exp)}, {"plumb_exact_exp2", one(plumb_exact_exp2)},
      {"plumb_exact_expm1", one(plumb_exact_expm1)}, {"plumb_exact_log", one(plumb_exact_log)},
      {"plumb_exact_log2", one(plumb_exact_log2)}, {"plumb_exact_log10", one(plumb_exact_log10)},
      {"plumb_exact_log1p", one(plumb_exact_log1p)}, {"plumb_exact_sin", one(plumb_exact_sin)},
      {"plumb_exact_cos", one(plumb_exact_cos)}, {"plumb_exact_tan", one(plumb_exact_tan)},
      {"plumb_exact_asin", one(plumb_exact_asin)}, {"plumb_exact_acos", one(plumb_exact_acos)},
      {"plumb_exact_atan", one(plumb_exact_atan)}, {"plumb_exact_sinh", one(plumb_exact_sinh)},
      {"plumb_exact_cosh", one(plumb_exact_cosh)}, {"plumb_exact_tanh", one(plumb_exact_tanh)},
      {"plumb_exact_asinh", one(plumb_exact_asinh)}, {"plumb_exact_acosh", one(plumb_exact_acosh)},
      {"plumb_exact_atanh", one(plumb_exact_atanh)}, {"plumb_exact_erf", one(plumb_exact_erf)},
      {"plumb_exact_erfc", one(plumb_exact_erfc)}, {"plumb_exact_cbrt", one(plumb_exact_cbrt)},
      {"plumb_exact_rsqrt", one(plumb_exact_rsqrt)}, {"plumb_exact_sigmoid", one(plumb_exact_sigmoid)},
      {"plumb_exact_pow", two(plumb_exact_pow)}, {"plumb_exact_atan2", two(plumb_exact_atan2)},
      {"plumb_exact", reinterpret_cast<void*>(&correctly_rounded)},
  };
  return table;
}

}  // namespace plumb::backends::codegen
