// Elementary functions of one argument.
#pragma once
#include <array>
#include <numbers>

#include "ir/scalar/function_row.h"

namespace plumb::scalar {

struct Sqrt {
  static constexpr FnRow row{"sqrt", 1, Takes::floating, Gives::same, 0.5, "Square root; sqrt(-0) = -0; NaN below zero."};
  static constexpr std::array edges{
      Edge{"E1", "zeros", "kept: -0 gives -0", "the same: IEEE 754"},
      Edge{"E2", "below zero, NaN", "NaN", "the same: IEEE 754"},
      Edge{"E3", "inf", "inf", "the same: IEEE 754"},
      Edge{"E4", "subnormal numbers", "their root, a normal number", "the same: IEEE 754"},
      Edge{"E5", "squares", "exact; other roots rounded correctly, under every contract", "the same: IEEE 754"}};
  static constexpr std::string_view kink = "inf at +0 and -inf at -0, by the formula";
  static auto partials(const auto& x) { return std::array{0.5 / sqrt(x)}; }
};
struct Rsqrt {
  static constexpr FnRow row{"rsqrt", 1, Takes::floating, Gives::same, 1.5, "1/sqrt(x), rounded once; rsqrt(±0) = ±inf; NaN below zero; rsqrt(inf) = 0."};
  static constexpr std::array edges{
      Edge{"E1", "zeros", "±inf, with the sign", "the same: IEEE 754's rSqrt, 1 / sqrt(x)"},
      Edge{"E2", "below zero, NaN", "NaN", "the same: IEEE 754's rSqrt"},
      Edge{"E3", "inf", "+0", "the same: IEEE 754's rSqrt"},
      Edge{"E4", "subnormal numbers", "a normal number: nothing overflows", "the same: IEEE 754's rSqrt; inf with CUDA's -ftz=true"}};
  static constexpr std::string_view kink = "-inf at ±0, by the formula";
  static auto partials(const auto& x) { return std::array{-0.5 * rsqrt(x) / x}; }
};
struct Cbrt {
  static constexpr FnRow row{"cbrt", 1, Takes::floating, Gives::same, 0.6, "Cube root, odd."};
  static constexpr std::array edges{
      Edge{"E1", "zeros and infinities", "kept", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "below zero", "the real root", "the same: C, NumPy; pow(x, 1/3) gives NaN"},
      Edge{"E3", "NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "their root, a normal number", "the same: C's Annex F, NumPy, PyTorch"}};
  static constexpr std::string_view kink = "inf at ±0, by the formula";
  static auto partials(const auto& x) {
    const auto c = cbrt(x);
    return std::array{1.0 / 3 / c / c};
  }
};
struct Exp {
  static constexpr FnRow row{"exp", 1, Takes::floating, Gives::same, 1.1, "e^x; exp(-inf) = +0."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "inf, +0, NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0", "1", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "beyond the greatest number", "inf from x = 88.72284 on in f32; in f8e4m3fn 448", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "below the least normal number", "rounded among the subnormal numbers; 0 from x = -103.97208 down in f32", "the same: C's Annex F, NumPy, PyTorch; 0 with CUDA's -ftz=true"},
      Edge{"E5", "subnormal numbers", "1", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{exp(x)}; }
};
struct Exp2 {
  static constexpr FnRow row{"exp2", 1, Takes::floating, Gives::same, 0.6, "2^x."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "inf, +0, NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "integers, ±0 too", "exact powers", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "beyond the greatest number", "inf from x = 128 on in f32; in f8e4m3fn 448", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "below the least normal number", "subnormal numbers down to 2^-149 in f32; 0 from x = -150 down", "the same: C's Annex F, NumPy, PyTorch; 0 with CUDA's -ftz=true"}};
  static auto partials(const auto& x) { return std::array{std::numbers::ln2 * exp2(x)}; }
};
struct Expm1 {
  static constexpr FnRow row{"expm1", 1, Takes::floating, Gives::same, 0.6, "e^x - 1, rounded once; keeps ±0."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "inf, -1, NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0", "kept", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "x near 0, subnormal numbers too", "x, rounded once: nothing cancels", "the same: C's Annex F, NumPy, PyTorch; exp(x) - 1 gives 0"},
      Edge{"E4", "x below -17.33 in f32", "-1", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E5", "beyond the greatest number", "inf; in f8e4m3fn 448", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{exp(x)}; }
};
struct Log {
  static constexpr FnRow row{"log", 1, Takes::floating, Gives::same, 1, "Natural logarithm; log(±0) = -inf; NaN below zero."};
  static constexpr std::array edges{
      Edge{"E1", "±0", "-inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "below zero, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "1, inf", "+0, inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "their logarithm", "the same: C's Annex F, NumPy, PyTorch; -inf with CUDA's -ftz=true"}};
  static auto partials(const auto& x) { return std::array{1 / x}; }
};
struct Log2 {
  static constexpr FnRow row{"log2", 1, Takes::floating, Gives::same, 0.6, "Logarithm to base 2; log2(±0) = -inf; NaN below zero."};
  static constexpr std::array edges{
      Edge{"E1", "±0", "-inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "below zero, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "1, inf", "+0, inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "their logarithm", "the same: C's Annex F, NumPy, PyTorch; -inf with CUDA's -ftz=true"},
      Edge{"E5", "powers of 2", "exact", "the same: NumPy"}};
  static auto partials(const auto& x) { return std::array{std::numbers::log2e / x}; }
};
struct Log10 {
  static constexpr FnRow row{"log10", 1, Takes::floating, Gives::same, 0.6, "Logarithm to base 10; as log."};
  static constexpr std::array edges{
      Edge{"E1", "±0", "-inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "below zero, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "1, inf", "+0, inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "their logarithm", "the same: C's Annex F, NumPy, PyTorch; -inf with CUDA's -ftz=true"},
      Edge{"E5", "powers of 10", "exact", "others: NumPy gives 3.0000002 for 1000 in f32"}};
  static auto partials(const auto& x) { return std::array{std::numbers::log10e / x}; }
};
struct Log1p {
  static constexpr FnRow row{"log1p", 1, Takes::floating, Gives::same, 0.6, "log(1 + x), rounded once; keeps ±0; log1p(-1) = -inf."};
  static constexpr std::array edges{
      Edge{"E1", "±0", "kept", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "-1", "-inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "below -1, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "x near 0, subnormal numbers too", "x, rounded once: nothing cancels", "the same: C's Annex F, NumPy, PyTorch; log(1 + x) gives 0"},
      Edge{"E5", "inf", "inf", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{1 / (1 + x)}; }
};
struct Sin {
  static constexpr FnRow row{"sin", 1, Takes::floating, Gives::same, 0.6, "Sine, full-range reduction; sin(±inf) = NaN; keeps ±0."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0", "kept", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "large arguments", "reduced by π in full: the nearest number", "the same: NumPy; CUDA's -use_fast_math leaves out the reduction"},
      Edge{"E4", "subnormal numbers", "themselves", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E5", "the number nearest to π", "what is left: it is not π", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{cos(x)}; }
};
struct Cos {
  static constexpr FnRow row{"cos", 1, Takes::floating, Gives::same, 0.6, "Cosine, full-range reduction; cos(±inf) = NaN."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0", "1", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "large arguments", "reduced by π in full: the nearest number", "the same: NumPy; CUDA's -use_fast_math leaves out the reduction"},
      Edge{"E4", "the number nearest to π/2", "what is left: it is not π/2", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{-sin(x)}; }
};
struct Tan {
  static constexpr FnRow row{"tan", 1, Takes::floating, Gives::same, 0.6, "Tangent; tan(±inf) = NaN; keeps ±0."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0", "kept", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "large arguments", "reduced by π in full: the nearest number", "the same: NumPy; CUDA's -use_fast_math leaves out the reduction"},
      Edge{"E4", "subnormal numbers", "themselves", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E5", "the number nearest to π/2", "finite: it is not π/2", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) {
    const auto t = tan(x);
    return std::array{1 + t * t};
  }
};
struct Asin {
  static constexpr FnRow row{"asin", 1, Takes::floating, Gives::same, 0.6, "Arc sine; NaN outside [-1, 1]; keeps ±0."};
  static constexpr std::array edges{
      Edge{"E1", "±1", "±π/2", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "beyond ±1, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "±0, subnormal numbers", "themselves", "the same: C's Annex F, NumPy, PyTorch"}};
  static constexpr std::string_view kink = "inf at ±1, by the formula";
  static auto partials(const auto& x) { return std::array{rsqrt((1 - x) * (1 + x))}; }
};
struct Acos {
  static constexpr FnRow row{"acos", 1, Takes::floating, Gives::same, 0.6, "Arc cosine; NaN outside [-1, 1]."};
  static constexpr std::array edges{
      Edge{"E1", "1, -1", "+0, π", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "beyond ±1, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "±0, subnormal numbers", "π/2", "the same: C's Annex F, NumPy, PyTorch"}};
  static constexpr std::string_view kink = "-inf at ±1, by the formula";
  static auto partials(const auto& x) { return std::array{-rsqrt((1 - x) * (1 + x))}; }
};
struct Atan {
  static constexpr FnRow row{"atan", 1, Takes::floating, Gives::same, 0.6, "Arc tangent; atan(±inf) = ±pi/2; keeps ±0."};
  static constexpr std::array edges{
      Edge{"E1", "±inf", "±π/2", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "±0, subnormal numbers", "themselves", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) {
    const auto r = 1 / hypot(like(x, 1), x);  // 1 / (1 + x^2), where x^2 overflows too
    return std::array{r * r};
  }
};
struct Sinh {
  static constexpr FnRow row{"sinh", 1, Takes::floating, Gives::same, 0.6, "Hyperbolic sine; finite wherever the result is; keeps ±0."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "kept", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0, subnormal numbers", "themselves", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "exp(x) beyond the greatest number, half of it not", "finite", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "beyond the greatest number", "±inf; in f8e4m3fn ±448", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{cosh(x)}; }
};
struct Cosh {
  static constexpr FnRow row{"cosh", 1, Takes::floating, Gives::same, 0.6, "Hyperbolic cosine."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "inf, NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0, subnormal numbers", "1", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "exp(x) beyond the greatest number, half of it not", "finite", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "beyond the greatest number", "inf; in f8e4m3fn 448", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{sinh(x)}; }
};
struct Tanh {
  static constexpr FnRow row{"tanh", 1, Takes::floating, Gives::same, 1.4, "Hyperbolic tangent; keeps ±0."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "±1, NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0, subnormal numbers", "themselves", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "|x| from 9.02 on in f32", "±1: never beyond", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) {
    const auto r = 1 / cosh(x);  // 1 - tanh(x)^2 would cancel
    return std::array{r * r};
  }
};
struct Asinh {
  static constexpr FnRow row{"asinh", 1, Takes::floating, Gives::same, 0.6, "Inverse hyperbolic sine; finite for finite x; keeps ±0."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "kept", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0, subnormal numbers", "themselves", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "x^2 beyond the greatest number", "finite", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{1 / hypot(like(x, 1), x)}; }
};
struct Acosh {
  static constexpr FnRow row{"acosh", 1, Takes::floating, Gives::same, 0.6, "Inverse hyperbolic cosine; NaN below 1."};
  static constexpr std::array edges{
      Edge{"E1", "1", "+0", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "below 1, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "inf", "inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "x^2 beyond the greatest number", "finite", "the same: C's Annex F, NumPy, PyTorch"}};
  static constexpr std::string_view kink = "inf at 1, by the formula";
  static auto partials(const auto& x) { return std::array{rsqrt(x - 1) * rsqrt(x + 1)}; }
};
struct Atanh {
  static constexpr FnRow row{"atanh", 1, Takes::floating, Gives::same, 0.6, "Inverse hyperbolic tangent; ±inf at ±1; NaN beyond."};
  static constexpr std::array edges{
      Edge{"E1", "±1", "±inf", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "beyond ±1, NaN", "NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "±0, subnormal numbers", "themselves", "the same: C's Annex F, NumPy, PyTorch"}};
  static constexpr std::string_view kink = "inf at ±1, by the formula";
  static auto partials(const auto& x) { return std::array{1 / ((1 - x) * (1 + x))}; }
};
struct Erf {
  static constexpr FnRow row{"erf", 1, Takes::floating, Gives::same, 1.1, "Error function; odd; ±1 at ±inf."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "±1, NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0", "kept", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "|x| from 3.92 on in f32", "±1: never beyond", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "2x/sqrt(π), rounded among them", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{2 * std::numbers::inv_sqrtpi * exp(-(x * x))}; }
};
struct Erfc {
  static constexpr FnRow row{"erfc", 1, Takes::floating, Gives::same, 0.6, "1 - erf(x), rounded once; 2 at -inf, 0 at inf."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "0, 2, NaN", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E2", "±0, subnormal numbers", "1", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E3", "where erf(x) rounds to 1", "the small difference, not 0", "the same: C's Annex F, NumPy, PyTorch; 1 - erf(x) gives 0"},
      Edge{"E4", "below the least normal number", "rounded among the subnormal numbers; 0 from x = 10.06 on in f32", "the same: C's Annex F, NumPy, PyTorch"},
      Edge{"E5", "below -3.84 in f32", "2: never beyond", "the same: C's Annex F, NumPy, PyTorch"}};
  static auto partials(const auto& x) { return std::array{-2 * std::numbers::inv_sqrtpi * exp(-(x * x))}; }
};
struct Sigmoid {
  static constexpr FnRow row{"sigmoid", 1, Takes::floating, Gives::same, 1.5, "1 / (1 + e^-x), rounded once; 0 at -inf, 1 at inf."};
  static constexpr std::array edges{
      Edge{"E1", "±inf, NaN", "1, 0, NaN", "the same: PyTorch, up to the last digits"},
      Edge{"E2", "±0, subnormal numbers", "1/2", "the same: PyTorch, up to the last digits"},
      Edge{"E3", "e^-x beyond the greatest number", "rounded among the subnormal numbers; 0 from x = -103.97208 down in f32", "others: 1 / (1 + exp(-x)) gives 0"},
      Edge{"E4", "x from 17.33 on in f32", "1: never beyond", "the same: PyTorch, up to the last digits"}};
  static auto partials(const auto& x) { return std::array{sigmoid(x) * sigmoid(-x)}; }
};

}  // namespace plumb::scalar
