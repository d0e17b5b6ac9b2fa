// Signs and integral parts.
#pragma once
#include <array>

#include "ir/scalar/function_row.h"

namespace plumb::scalar {

struct Neg {
  static constexpr FnRow row{"neg", 1, Takes::numeric, Gives::same, 0.5, "-x: flips a float's sign bit, NaN's value stays NaN. Unsigned: wraps."};
  static constexpr std::array edges{
      Edge{"E1", "zeros and infinities", "the sign flips", "the same: IEEE 754; 0 - x would give +0 for +0"},
      Edge{"E2", "NaN", "NaN", "the same: IEEE 754"},
      Edge{"E3", "the least integer", "itself: it wraps", "the same: NumPy, PyTorch, XLA; undefined in C"},
      Edge{"E4", "an unsigned integer", "2^bits - x", "the same: C, NumPy, XLA"}};
  static auto partials(const auto& x) { return std::array{like(x, -1)}; }
};
struct Abs {
  static constexpr FnRow row{"abs", 1, Takes::numeric, Gives::same, 0.5, "|x|. Integers: |MIN| = MIN (wraps)."};
  static constexpr std::array edges{
      Edge{"E1", "zeros and infinities", "+0, inf", "the same: IEEE 754"},
      Edge{"E2", "NaN", "NaN", "the same: IEEE 754"},
      Edge{"E3", "the least integer", "itself: it wraps", "the same: NumPy, PyTorch, XLA; undefined in C"},
      Edge{"E4", "an unsigned integer", "itself", "the same: NumPy"}};
  static constexpr std::string_view kink = "0 at 0";
  static auto partials(const auto& x) { return std::array{sign(x)}; }
};
struct Sign {
  static constexpr FnRow row{"sign", 1, Takes::numeric, Gives::same, 0.5, "-1, 0 or 1; keeps ±0; NaN stays NaN."};
  static constexpr std::array edges{
      Edge{"E1", "zeros", "kept, with their sign", "the same: XLA; NumPy and PyTorch give +0 for -0"},
      Edge{"E2", "NaN", "NaN", "the same: NumPy, XLA; PyTorch gives 0"},
      Edge{"E3", "infinities and subnormal numbers", "±1", "the same: NumPy, PyTorch"},
      Edge{"E4", "integers", "-1, 0 or 1; 1 for every unsigned one but 0", "the same: NumPy, PyTorch"}};
  static constexpr std::string_view kink = "0 everywhere, at the jump too";
  static auto partials(const auto& x) { return std::array{like(x, 0)}; }
};
struct Floor {
  static constexpr FnRow row{"floor", 1, Takes::numeric, Gives::same, 0.5, "Greatest integer not above x; keeps ±0. Integers: x."};
  static constexpr std::array edges{
      Edge{"E1", "between 0 and ±1", "0 or -1", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "zeros, infinities, NaN", "kept", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E3", "numbers without a fraction, 2^23 and more in f32", "kept", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "0 or -1", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E5", "integers", "x", "the same: NumPy"}};
  static constexpr std::string_view kink = "0 everywhere, at the jumps too";
  static auto partials(const auto& x) { return std::array{like(x, 0)}; }
};
struct Ceil {
  static constexpr FnRow row{"ceil", 1, Takes::numeric, Gives::same, 0.5, "Least integer not below x; ceil(-0.5) = -0. Integers: x."};
  static constexpr std::array edges{
      Edge{"E1", "between 0 and ±1", "1 or -0", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "zeros, infinities, NaN", "kept", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E3", "numbers without a fraction, 2^23 and more in f32", "kept", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "1 or -0", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E5", "integers", "x", "the same: NumPy"}};
  static constexpr std::string_view kink = "0 everywhere, at the jumps too";
  static auto partials(const auto& x) { return std::array{like(x, 0)}; }
};
struct Trunc {
  static constexpr FnRow row{"trunc", 1, Takes::numeric, Gives::same, 0.5, "Integer part, sign kept. Integers: x."};
  static constexpr std::array edges{
      Edge{"E1", "between 0 and ±1", "±0, with the sign", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "zeros, infinities, NaN", "kept", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E3", "numbers without a fraction, 2^23 and more in f32", "kept", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "±0, with the sign", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E5", "integers", "x", "the same: NumPy"}};
  static constexpr std::string_view kink = "0 everywhere, at the jumps too";
  static auto partials(const auto& x) { return std::array{like(x, 0)}; }
};
struct RoundEven {
  static constexpr FnRow row{"round_even", 1, Takes::numeric, Gives::same, 0.5, "Nearest integer, ties to even, sign kept. Integers: x."};
  static constexpr std::array edges{
      Edge{"E1", "between 0 and ±1", "ties go to the even integer, zeros keep the sign", "the same: IEEE 754's roundToIntegralTiesToEven, NumPy, PyTorch, ONNX; C's round goes away from zero"},
      Edge{"E2", "zeros, infinities, NaN", "kept", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E3", "numbers without a fraction, 2^23 and more in f32", "kept", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E4", "subnormal numbers", "±0, with the sign", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E5", "integers", "x", "the same: NumPy"}};
  static constexpr std::string_view kink = "0 everywhere, at the jumps too";
  static auto partials(const auto& x) { return std::array{like(x, 0)}; }
};

}  // namespace plumb::scalar
