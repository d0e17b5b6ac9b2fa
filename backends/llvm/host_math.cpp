#include "backends/llvm/host_math.h"

#include <cmath>

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
      {"plumb_exact", reinterpret_cast<void*>(&correctly_rounded)},
  };
  return table;
}

}  // namespace plumb::backends::codegen
