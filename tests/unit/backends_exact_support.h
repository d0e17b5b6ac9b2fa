// The functions of backends/exact, each with the MPFR function that judges it.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "backends/exact/exact.h"
#include "backends/llvm/exact_math.h"
#include "ir/scalar/functions.h"
#include "ir/scalar/storage.h"

namespace plumb::backends {

struct ExactOne {
  const char* name;
  FnId fn;
  double (*exact)(double);
  double (*math)(double);
};
struct ExactTwo {
  const char* name;
  FnId fn;
  double (*exact)(double, double);
  double (*math)(double, double);
};

inline constexpr ExactOne exact_ones[] = {
    {"exp", fn_id<scalar::Exp>, plumb_exact_exp, plumb_math_exp}, {"exp2", fn_id<scalar::Exp2>, plumb_exact_exp2, plumb_math_exp2},
    {"expm1", fn_id<scalar::Expm1>, plumb_exact_expm1, plumb_math_expm1}, {"log", fn_id<scalar::Log>, plumb_exact_log, plumb_math_log},
    {"log2", fn_id<scalar::Log2>, plumb_exact_log2, plumb_math_log2}, {"log10", fn_id<scalar::Log10>, plumb_exact_log10, plumb_math_log10},
    {"log1p", fn_id<scalar::Log1p>, plumb_exact_log1p, plumb_math_log1p}, {"sin", fn_id<scalar::Sin>, plumb_exact_sin, plumb_math_sin},
    {"cos", fn_id<scalar::Cos>, plumb_exact_cos, plumb_math_cos}, {"tan", fn_id<scalar::Tan>, plumb_exact_tan, plumb_math_tan},
    {"asin", fn_id<scalar::Asin>, plumb_exact_asin, plumb_math_asin}, {"acos", fn_id<scalar::Acos>, plumb_exact_acos, plumb_math_acos},
    {"atan", fn_id<scalar::Atan>, plumb_exact_atan, plumb_math_atan}, {"sinh", fn_id<scalar::Sinh>, plumb_exact_sinh, plumb_math_sinh},
    {"cosh", fn_id<scalar::Cosh>, plumb_exact_cosh, plumb_math_cosh}, {"tanh", fn_id<scalar::Tanh>, plumb_exact_tanh, plumb_math_tanh},
    {"asinh", fn_id<scalar::Asinh>, plumb_exact_asinh, plumb_math_asinh}, {"acosh", fn_id<scalar::Acosh>, plumb_exact_acosh, plumb_math_acosh},
    {"atanh", fn_id<scalar::Atanh>, plumb_exact_atanh, plumb_math_atanh}, {"erf", fn_id<scalar::Erf>, plumb_exact_erf, plumb_math_erf},
    {"erfc", fn_id<scalar::Erfc>, plumb_exact_erfc, plumb_math_erfc}, {"cbrt", fn_id<scalar::Cbrt>, plumb_exact_cbrt, plumb_math_cbrt},
    {"rsqrt", fn_id<scalar::Rsqrt>, plumb_exact_rsqrt, plumb_math_rsqrt}, {"sigmoid", fn_id<scalar::Sigmoid>, plumb_exact_sigmoid, plumb_math_sigmoid},
};
inline constexpr ExactTwo exact_twos[] = {
    {"pow", fn_id<scalar::Pow>, plumb_exact_pow, plumb_math_pow}, {"atan2", fn_id<scalar::Atan2>, plumb_exact_atan2, plumb_math_atan2},
};
inline constexpr DType narrowed[] = {DType::f32, DType::f16, DType::bf16, DType::f8e5m2, DType::f8e4m3fn};

/// Correctly rounded by MPFR.
inline double by_mpfr(FnId fn, DType t, double x, double y = 0) { return codegen::correctly_rounded(fn, static_cast<std::int32_t>(t), x, y); }

inline bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Bit patterns in an order without pattern (splitmix64).
class Patterns {
 public:
  std::uint64_t operator()() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  /// Any f32; every second one within 2^±8, where functions have most of their values.
  double f32() {
    auto bits = static_cast<std::uint32_t>((*this)());
    if ((*this)() & 1) bits = (bits & 0x807fffffu) | (119 + (bits >> 23) % 16) << 23;
    return static_cast<double>(std::bit_cast<float>(bits));
  }
  /// Any f64; every second one within 2^±12.
  double f64() {
    auto bits = (*this)();
    if ((*this)() & 1) bits = (bits & 0x800fffffffffffffu) | (1011 + (bits >> 52) % 24) << 52;
    return std::bit_cast<double>(bits);
  }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace plumb::backends
