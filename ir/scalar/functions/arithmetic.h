// Functions of two and three arguments.
#pragma once
#include <array>

#include "ir/scalar/function_row.h"

namespace plumb::scalar {

struct Add {
  static constexpr FnRow row{"add", 2, Takes::numeric, Gives::same, 0.5, "x + y."};
  static constexpr std::array edges{
      Edge{"E1", "inf + -inf, or a NaN", "NaN", "the same: IEEE 754"},
      Edge{"E2", "zeros, and a number and its negative", "-0 only for -0 + -0", "the same: IEEE 754"},
      Edge{"E3", "half way between two numbers", "the one with an even significand", "the same: IEEE 754"},
      Edge{"E4", "beyond the greatest number", "±inf from half a unit on; in f8e4m3fn ±448", "the same: IEEE 754; f8e4m3fn as with conversions that saturate"},
      Edge{"E5", "below the least normal number", "exact: subnormal numbers are kept", "the same: IEEE 754; 0 with CUDA's -ftz=true"},
      Edge{"E6", "an integer beyond the range", "wraps", "the same: NumPy, PyTorch, XLA; undefined in C and C++ where signed"}};
  static auto partials(const auto& x, const auto&) { return std::array{like(x, 1), like(x, 1)}; }
};
struct Sub {
  static constexpr FnRow row{"sub", 2, Takes::numeric, Gives::same, 0.5, "x - y."};
  static constexpr std::array edges{
      Edge{"E1", "inf - inf, or a NaN", "NaN", "the same: IEEE 754"},
      Edge{"E2", "zeros, and equal numbers", "-0 only for -0 - +0", "the same: IEEE 754"},
      Edge{"E3", "numbers close to each other", "exact; 0 only where they are equal", "the same: IEEE 754; 0 also for others with CUDA's -ftz=true"},
      Edge{"E4", "beyond the greatest number", "±inf from half a unit on; in f8e4m3fn ±448", "the same: IEEE 754; f8e4m3fn as with conversions that saturate"},
      Edge{"E5", "an integer beyond the range", "wraps", "the same: NumPy, PyTorch, XLA; undefined in C and C++ where signed"}};
  static auto partials(const auto& x, const auto&) { return std::array{like(x, 1), like(x, -1)}; }
};
struct Mul {
  static constexpr FnRow row{"mul", 2, Takes::numeric, Gives::same, 0.5, "x * y."};
  static constexpr std::array edges{
      Edge{"E1", "0 * ±inf, or a NaN", "NaN", "the same: IEEE 754"},
      Edge{"E2", "zeros and infinities beside numbers", "the sign of the product of the signs", "the same: IEEE 754"},
      Edge{"E3", "beyond the greatest number", "±inf; in f8e4m3fn ±448", "the same: IEEE 754; f8e4m3fn as with conversions that saturate"},
      Edge{"E4", "below the least normal number", "rounded among the subnormal numbers; half the least gives 0, with the sign", "the same: IEEE 754; 0 with CUDA's -ftz=true"},
      Edge{"E5", "an integer beyond the range", "wraps", "the same: NumPy, PyTorch, XLA; undefined in C and C++ where signed"}};
  static auto partials(const auto& x, const auto& y) { return std::array{y, x}; }
};
struct Div {
  static constexpr FnRow row{"div", 2, Takes::numeric, Gives::same, 0.5, "x / y. Integers: truncated toward zero; x / 0 = 0; MIN / -1 = MIN (wraps)."};
  static constexpr std::array edges{
      Edge{"E1", "a float by 0", "±inf by the signs; 0 / 0 and NaN give NaN", "the same: IEEE 754; Python raises an error"},
      Edge{"E2", "infinities", "inf / inf is NaN, inf / y infinite, x / inf a zero with the sign", "the same: IEEE 754"},
      Edge{"E3", "an integer by 0", "0", "others: XLA gives -1 (all ones), NumPy 0 with a warning, PyTorch an error; undefined in C"},
      Edge{"E4", "the least integer by -1", "itself: it wraps", "the same: XLA, RISC-V, Arm; undefined in C, an interrupt on x86"},
      Edge{"E5", "a quotient of integers that is none", "without its fraction: towards zero", "the same: C, Rust, XLA; Python's // is floor_div"},
      Edge{"E6", "a quotient that differs from the product with the rounded reciprocal", "the number nearest to the quotient, under every contract", "the same: IEEE 754; within 2 ULP with CUDA's -prec-div=false"},
      Edge{"E7", "beyond the greatest or below the least normal number", "±inf, or a rounded subnormal number", "the same: IEEE 754"}};
  static auto partials(const auto& x, const auto& y) { return std::array{1 / y, -(x / y) / y}; }
};
struct FloorDiv {
  static constexpr FnRow row{"floor_div", 2, Takes::numeric, Gives::same, 0.5,
      "floor(x / y), of the exact quotient, rounded once. Integers: x floor_div 0 = 0; MIN floor_div -1 = MIN. Floats: y = 0 as x / y."};
  static constexpr std::array edges{
      Edge{"E1", "operands of unlike signs", "down, not towards zero", "the same: Python, NumPy, PyTorch with rounding_mode=floor"},
      Edge{"E2", "an integer by 0", "0", "others: XLA gives -1 (all ones), NumPy 0 with a warning, PyTorch an error; undefined in C"},
      Edge{"E3", "the least integer by -1", "itself: it wraps", "the same: NumPy, XLA; undefined in C"},
      Edge{"E4", "a float by 0", "as x / y: ±inf, NaN for 0 / 0", "the same: NumPy, PyTorch; Python raises an error"},
      Edge{"E5", "a quotient just below an integer, which x / y rounds up to it", "the integer below: the exact quotient counts", "the same: Python, NumPy, PyTorch; floor(x / y) would give 10"},
      Edge{"E6", "an infinite x", "as x / y", "others: NumPy, PyTorch and Python give NaN"},
      Edge{"E7", "a finite x by ±inf", "±0 where the signs agree, else -1; a zero stays one", "the same: Python, NumPy"},
      Edge{"E8", "a zero quotient", "the sign of x / y", "the same: Python"}};
  static constexpr std::string_view kink = "0 everywhere, at the jumps too";
  static auto partials(const auto& x, const auto&) { return std::array{like(x, 0), like(x, 0)}; }
};
struct Remainder {
  static constexpr FnRow row{"remainder", 2, Takes::numeric, Gives::same, 0.5,
      "Sign of the divisor (Python's %): the exact x - y*floor(x/y), rounded once. A zero result has y's sign. Integers: x remainder 0 = x. Floats: y = 0 or x infinite gives NaN; finite x and y = ±inf gives x when their signs agree or x = 0, else y."};
  static constexpr std::array edges{
      Edge{"E1", "operands of unlike signs", "the divisor's sign", "the same: Python, NumPy, PyTorch"},
      Edge{"E2", "a zero result", "the divisor's sign", "the same: Python, NumPy"},
      Edge{"E3", "an integer by 0", "x", "the same: XLA, RISC-V; NumPy gives 0 with a warning, PyTorch an error; undefined in C"},
      Edge{"E4", "the least integer by -1", "0", "the same: NumPy, XLA; undefined in C"},
      Edge{"E5", "a float by 0, an infinite x, a NaN", "NaN", "the same: NumPy, PyTorch; Python raises an error for 0"},
      Edge{"E6", "a finite x by ±inf", "x where the signs agree, else y; a zero has y's sign", "the same: Python, NumPy"},
      Edge{"E7", "a small negative x, whose exact remainder rounds to y", "y", "the same: Python, NumPy, PyTorch"}};
  static constexpr std::string_view kink = "where y divides x, at a jump, the slopes of the side on which the result starts from 0";
  static auto partials(const auto& x, const auto& y) { return std::array{like(x, 1), -floor_div(x, y)}; }
};
struct Fmod {
  static constexpr FnRow row{"fmod", 2, Takes::numeric, Gives::same, 0.5,
      "Sign of the dividend (C's %): the exact x - y*trunc(x/y). A zero result has x's sign. Integers: x fmod 0 = x; MIN fmod -1 = 0. Floats: as C's fmod."};
  static constexpr std::array edges{
      Edge{"E1", "operands of unlike signs", "the dividend's sign", "the same: C, NumPy, PyTorch"},
      Edge{"E2", "a zero result", "the dividend's sign", "the same: C, NumPy, PyTorch"},
      Edge{"E3", "an integer by 0", "x", "the same: XLA, RISC-V; NumPy gives 0 with a warning, PyTorch an error; undefined in C"},
      Edge{"E4", "the least integer by -1", "0", "the same: NumPy, XLA; undefined in C"},
      Edge{"E5", "a float by 0, an infinite x, a NaN", "NaN", "the same: C, NumPy, PyTorch"},
      Edge{"E6", "a finite x by ±inf", "x", "the same: C, NumPy, PyTorch"},
      Edge{"E7", "a quotient that no integer dtype holds", "exact", "the same: C, NumPy"}};
  static constexpr std::string_view kink = "where y divides x, at a jump, the slopes of the side on which the result starts from 0";
  static auto partials(const auto& x, const auto& y) { return std::array{like(x, 1), -(sign(x) * sign(y) * floor_div(abs(x), abs(y)))}; }
};
struct Pow {
  static constexpr FnRow row{"pow", 2, Takes::numeric, Gives::same, 0.6,
      "x^y with IEEE-754's special cases (pow(x, ±0) = 1, pow(1, y) = 1 even for NaN). Integers: wraps; negative exponents give 1/x truncated (0 unless x = ±1; 0 for x = 0)."};
  static constexpr std::array edges{
      Edge{"E1", "y is ±0", "1, whatever x is, NaN included", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "x is 1, or -1 beside ±inf", "1, whatever y is, NaN included", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E3", "a NaN elsewhere", "NaN", "the same: IEEE 754, C"},
      Edge{"E4", "x is ±0, y < 0", "±inf with the sign of x where y is an odd integer, else inf", "the same: IEEE 754, C"},
      Edge{"E5", "x is ±0, y > 0", "±0 with the sign of x where y is an odd integer, else +0", "the same: IEEE 754, C"},
      Edge{"E6", "x < 0 and y finite and no integer", "NaN", "the same: IEEE 754, C, NumPy, PyTorch; complex numbers have a power"},
      Edge{"E7", "x < 0 and y an integer", "negative where y is odd; every f32 from 2^24 on is even", "the same: IEEE 754, C"},
      Edge{"E8", "y is ±inf", "0 or inf: the limit", "the same: IEEE 754, C"},
      Edge{"E9", "x is inf", "inf, or 0 for y < 0", "the same: IEEE 754, C"},
      Edge{"E10", "x is -inf", "±inf, or ±0 for y < 0; negative where y is an odd integer", "the same: IEEE 754, C"},
      Edge{"E11", "beyond the range", "±inf; 0 or a subnormal number with the sign; in f8e4m3fn ±448", "the same: IEEE 754"},
      Edge{"E12", "an integer beyond the range", "wraps; 0^0 = 1", "the same: NumPy, PyTorch"},
      Edge{"E13", "an integer to a negative power", "1 / x towards zero: 0 but for x = ±1, 0 also for x = 0", "the same: PyTorch; NumPy raises an error"}};
  static constexpr std::string_view kink = "0 to x where y = 0; 0 to y where x = 0 and y >= 0; NaN to y where x < 0";
  static auto partials(const auto& x, const auto& y) {
    const auto zero = like(x, 0);
    return std::array{select(eq(y, zero), zero, y * pow(x, y - 1)), select(eq(x, zero) & ge(y, zero), zero, pow(x, y) * log(x))};
  }
};
struct Atan2 {
  static constexpr FnRow row{"atan2", 2, Takes::floating, Gives::same, 0.6,
      "Angle of the point with the ordinate y and the abscissa x, from the positive x axis; IEEE-754 special cases.", "y, x"};
  static constexpr std::array edges{
      Edge{"E1", "±0 beside x > 0 or +0", "±0", "the same: IEEE 754, C"},
      Edge{"E2", "±0 beside x < 0 or -0", "±π", "the same: IEEE 754, C"},
      Edge{"E3", "y beside ±0", "±π/2", "the same: IEEE 754, C"},
      Edge{"E4", "±inf beside ±inf", "±π/4, ±3π/4", "the same: IEEE 754, C"},
      Edge{"E5", "a finite y beside ±inf", "±0 beside inf, ±π beside -inf", "the same: IEEE 754, C"},
      Edge{"E6", "±inf beside a finite x", "±π/2", "the same: IEEE 754, C"},
      Edge{"E7", "a NaN", "NaN", "the same: IEEE 754, C"},
      Edge{"E8", "an angle below the least normal number", "rounded among the subnormal numbers, or ±0", "the same: IEEE 754"},
      Edge{"E9", "π itself", "the number nearest to π, above it in f32, below it in f64", "the same: IEEE 754, C, NumPy"}};
  static constexpr std::string_view kink = "0 at the origin";
  static auto partials(const auto& y, const auto& x) {
    const auto r = hypot(x, y);
    const auto origin = eq(r, like(x, 0));
    return std::array{select(origin, r, x / r / r), select(origin, r, -(y / r / r))};
  }
};
struct Hypot {
  static constexpr FnRow row{"hypot", 2, Takes::floating, Gives::same, 0.6,
      "sqrt(x^2 + y^2), rounded once, without overflow or underflow in between. An infinite argument gives inf, even beside NaN."};
  static constexpr std::array edges{
      Edge{"E1", "an infinity, beside NaN too", "inf", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "a NaN beside a finite number", "NaN", "the same: IEEE 754, C"},
      Edge{"E3", "zeros", "|the other|; +0 for two zeros", "the same: IEEE 754, C"},
      Edge{"E4", "squares beyond the greatest number", "the distance, where it is a number", "the same: IEEE 754; inf where the squares are formed"},
      Edge{"E5", "squares below the least subnormal number", "the distance", "the same: IEEE 754; 0 where the squares are formed"},
      Edge{"E6", "beyond the greatest number", "inf; in f8e4m3fn 448", "the same: IEEE 754"}};
  static constexpr std::string_view kink = "0 at the origin";
  static auto partials(const auto& x, const auto& y) {
    const auto r = hypot(x, y);
    const auto origin = eq(r, like(x, 0));
    return std::array{select(origin, r, x / r), select(origin, r, y / r)};
  }
};
struct Minimum {
  static constexpr FnRow row{"minimum", 2, Takes::any, Gives::same, 0.5, "Lesser; NaN if either is NaN; -0 is below +0 (IEEE-754 minimum)."};
  static constexpr std::array edges{
      Edge{"E1", "a NaN", "NaN", "the same: IEEE 754-2019 minimum and maximum, NumPy, PyTorch, JAX; fmin and fmax of C, and IEEE 754-2019 minimumNumber, give the number"},
      Edge{"E2", "-0 and +0", "-0", "the same: IEEE 754-2019; C, NumPy and PyTorch: either"},
      Edge{"E3", "infinities and subnormal numbers", "ordered as numbers", "the same: IEEE 754"},
      Edge{"E4", "integers", "by their sign or without one, as the dtype says", "the same: NumPy, PyTorch"},
      Edge{"E5", "bool", "false below true: and", "the same: NumPy, PyTorch"}};
  static constexpr std::string_view kink = "half to each where x = y, -0 and +0 too; 0 to both beside a NaN";
  static auto partials(const auto& x, const auto& y) {
    const auto tie = select(eq(x, y), like(x, 0.5), like(x, 0));
    return std::array{select(lt(x, y), like(x, 1), tie), select(lt(y, x), like(x, 1), tie)};
  }
};
struct Maximum {
  static constexpr FnRow row{"maximum", 2, Takes::any, Gives::same, 0.5, "Greater; NaN if either is NaN; +0 is above -0 (IEEE-754 maximum)."};
  static constexpr std::array edges{
      Edge{"E1", "a NaN", "NaN", "the same: IEEE 754-2019 minimum and maximum, NumPy, PyTorch, JAX; fmin and fmax of C, and IEEE 754-2019 minimumNumber, give the number"},
      Edge{"E2", "-0 and +0", "+0", "the same: IEEE 754-2019; C, NumPy and PyTorch: either"},
      Edge{"E3", "infinities and subnormal numbers", "ordered as numbers", "the same: IEEE 754"},
      Edge{"E4", "integers", "by their sign or without one, as the dtype says", "the same: NumPy, PyTorch"},
      Edge{"E5", "bool", "false below true: or", "the same: NumPy, PyTorch"}};
  static constexpr std::string_view kink = "half to each where x = y, -0 and +0 too; 0 to both beside a NaN";
  static auto partials(const auto& x, const auto& y) {
    const auto tie = select(eq(x, y), like(x, 0.5), like(x, 0));
    return std::array{select(lt(y, x), like(x, 1), tie), select(lt(x, y), like(x, 1), tie)};
  }
};
struct Fma {
  static constexpr FnRow row{"fma", 3, Takes::numeric, Gives::same, 0.5, "x * y + z, rounded once. Integers: wraps."};
  static constexpr std::array edges{
      Edge{"E1", "a product that a rounding would change", "one rounding, of the exact sum", "the same: IEEE 754"},
      Edge{"E2", "0 * ±inf, beside any z; an infinite product beside the other infinity; a NaN", "NaN", "the same: IEEE 754, which leaves 0 * inf + NaN open to a signal only"},
      Edge{"E3", "a product beyond the greatest number that z brings back", "the sum", "the same: IEEE 754"},
      Edge{"E4", "a sum of zero", "+0, but for two zeros that are both negative", "the same: IEEE 754"},
      Edge{"E5", "below the least normal number", "rounded once among the subnormal numbers", "the same: IEEE 754"},
      Edge{"E6", "an integer beyond the range", "wraps", "the same: NumPy, PyTorch, XLA; undefined in C and C++ where signed"}};
  static auto partials(const auto& x, const auto& y, const auto&) { return std::array{y, x, like(x, 1)}; }
};

}  // namespace plumb::scalar
