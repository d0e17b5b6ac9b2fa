// Functions of bits.
#pragma once
#include <array>
#include <string_view>

#include "ir/scalar/function_row.h"

namespace plumb::scalar {

struct And {
  static constexpr FnRow row{"and", 2, Takes::bits, Gives::same, 0.5, "Bitwise and; logical on bool."};
  static constexpr std::array edges{
      Edge{"E1", "negative integers", "their two's complement bits", "the same: C, NumPy, PyTorch"},
      Edge{"E2", "unsigned integers", "every bit counts", "the same: C, NumPy, PyTorch"},
      Edge{"E3", "bool", "logical and", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};
struct Or {
  static constexpr FnRow row{"or", 2, Takes::bits, Gives::same, 0.5, "Bitwise or; logical on bool."};
  static constexpr std::array edges{
      Edge{"E1", "negative integers", "their two's complement bits", "the same: C, NumPy, PyTorch"},
      Edge{"E2", "unsigned integers", "every bit counts", "the same: C, NumPy, PyTorch"},
      Edge{"E3", "bool", "logical or", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};
struct Xor {
  static constexpr FnRow row{"xor", 2, Takes::bits, Gives::same, 0.5, "Bitwise exclusive or; logical on bool."};
  static constexpr std::array edges{
      Edge{"E1", "negative integers", "their two's complement bits", "the same: C, NumPy, PyTorch"},
      Edge{"E2", "unsigned integers", "every bit counts", "the same: C, NumPy, PyTorch"},
      Edge{"E3", "bool", "true where they differ", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};
struct Not {
  static constexpr FnRow row{"not", 1, Takes::bits, Gives::same, 0.5, "Bitwise complement; logical on bool."};
  static constexpr std::array edges{
      Edge{"E1", "signed integers", "-x - 1", "the same: C, NumPy, PyTorch"},
      Edge{"E2", "unsigned integers", "2^bits - 1 - x", "the same: NumPy; C widens narrow ones first"},
      Edge{"E3", "bool", "logical not", "the same: NumPy, PyTorch; C gives true for both"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};
struct ShiftLeft {
  static constexpr FnRow row{"shift_left", 2, Takes::integer, Gives::same, 0.5, "x << y; y < 0 or y >= width gives 0."};
  static constexpr std::array edges{
      Edge{"E1", "a count of the width or more", "0", "the same: NumPy, PyTorch, XLA; undefined in C; x86 takes the count modulo the width"},
      Edge{"E2", "a negative count", "0", "the same: NumPy, PyTorch, XLA; undefined in C; x86 takes the count modulo the width"},
      Edge{"E3", "bits shifted into or past the sign", "wrap modulo 2^bits", "the same: C++20, NumPy, XLA; undefined in C"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};
struct ShiftRight {
  static constexpr FnRow row{"shift_right", 2, Takes::integer, Gives::same, 0.5,
      "x >> y, arithmetic for signed, logical for unsigned; y < 0 or y >= width gives all sign bits (0, or -1 for negative x)."};
  static constexpr std::array edges{
      Edge{"E1", "a negative x", "the sign is shifted in: down, not towards zero", "the same: C++20, NumPy, PyTorch, XLA"},
      Edge{"E2", "an unsigned x", "zeros are shifted in", "the same: C, NumPy, PyTorch"},
      Edge{"E3", "a count of the width or more", "0, or -1 for a negative x", "the same: NumPy, PyTorch, XLA; undefined in C; x86 takes the count modulo the width"},
      Edge{"E4", "a negative count", "0, or -1 for a negative x", "the same: NumPy, PyTorch, XLA; undefined in C; x86 takes the count modulo the width"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};
struct ShiftRightLogical {
  static constexpr FnRow row{"shift_right_logical", 2, Takes::integer, Gives::same, 0.5, "x >> y with zeros shifted in; y < 0 or y >= width gives 0."};
  static constexpr std::array edges{
      Edge{"E1", "a negative x", "zeros are shifted into its two's complement", "the same: XLA"},
      Edge{"E2", "a count of the width or more", "0", "the same: XLA"},
      Edge{"E3", "a negative count", "0", "the same: XLA"},
      Edge{"E4", "a count of 0", "x", "the same: XLA"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};
struct Popcount {
  static constexpr FnRow row{"popcount", 1, Takes::integer, Gives::same, 0.5, "Number of set bits."};
  static constexpr std::array edges{
      Edge{"E1", "0 and every bit set", "0 and the width", "the same: C++20, XLA"},
      Edge{"E2", "negative integers", "the bits of their two's complement", "the same: XLA"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};
struct CountLeadingZeros {
  static constexpr FnRow row{"clz", 1, Takes::integer, Gives::same, 0.5, "Leading zero bits; the width for 0."};
  static constexpr std::array edges{
      Edge{"E1", "0", "the width", "the same: C++20's countl_zero, XLA; __builtin_clz is undefined"},
      Edge{"E2", "the highest bit set, negative integers too", "0", "the same: C++20, XLA"},
      Edge{"E3", "1 in a narrow dtype", "the dtype's width less 1", "the same: C++20, XLA"}};
  static constexpr std::string_view no_derivative = no_slope_of_bits;
};

}  // namespace plumb::scalar
