// Functions that give true or false: classes of floats, comparisons (bool orders false < true).
#pragma once
#include <array>
#include <string_view>

#include "ir/scalar/function_row.h"

namespace plumb::scalar {

struct IsNan {
  static constexpr FnRow row{"is_nan", 1, Takes::floating, Gives::boolean, 0.5, "True for NaN."};
  static constexpr std::array edges{
      Edge{"E1", "NaN, infinities, zeros, subnormal numbers", "true for NaN alone", "the same: C, NumPy, PyTorch, ONNX"},
      Edge{"E2", "in f8e4m3fn", "true for its one NaN", "the same: C, NumPy, PyTorch, ONNX"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct IsInf {
  static constexpr FnRow row{"is_inf", 1, Takes::floating, Gives::boolean, 0.5, "True for ±inf."};
  static constexpr std::array edges{
      Edge{"E1", "NaN, infinities, the greatest number", "true for both infinities alone", "the same: C, NumPy, PyTorch, ONNX, which may be asked for one of the two"},
      Edge{"E2", "in f8e4m3fn, which has none", "false", "the same: C, NumPy, PyTorch, ONNX"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct IsFinite {
  static constexpr FnRow row{"is_finite", 1, Takes::floating, Gives::boolean, 0.5, "True for neither NaN nor ±inf."};
  static constexpr std::array edges{
      Edge{"E1", "NaN and infinities", "false", "the same: C, NumPy, PyTorch"},
      Edge{"E2", "zeros, subnormal numbers, the greatest number", "true", "the same: C, NumPy, PyTorch"},
      Edge{"E3", "in f8e4m3fn", "false for NaN alone", "the same: PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct SignBit {
  static constexpr FnRow row{"sign_bit", 1, Takes::numeric, Gives::boolean, 0.5, "True when the sign bit is set (-0 included; a NaN's sign is unspecified and reads as false)."};
  static constexpr std::array edges{
      Edge{"E1", "-0", "true", "the same: IEEE 754, C, NumPy"},
      Edge{"E2", "NaN", "false, whatever its bits", "others: C, NumPy and PyTorch read the bit"},
      Edge{"E3", "infinities and subnormal numbers", "true below zero", "the same: C, NumPy"},
      Edge{"E4", "integers", "true below zero; never for unsigned ones", "the same: PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct Eq {
  static constexpr FnRow row{"eq", 2, Takes::any, Gives::boolean, 0.5, "x = y; false with NaN; -0 = +0."};
  static constexpr std::array edges{
      Edge{"E1", "a NaN", "false", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "-0 and +0", "they are equal", "the same: IEEE 754"},
      Edge{"E3", "infinities", "ordered as numbers, each equal to itself", "the same: IEEE 754"},
      Edge{"E4", "subnormal numbers", "are not 0", "the same: IEEE 754; they are with CUDA's -ftz=true"},
      Edge{"E5", "integers that no float tells apart", "compared exactly, by their sign or without one", "the same: C; NumPy within one dtype"},
      Edge{"E6", "bool", "false below true", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct Ne {
  static constexpr FnRow row{"ne", 2, Takes::any, Gives::boolean, 0.5, "Not eq; true with NaN."};
  static constexpr std::array edges{
      Edge{"E1", "a NaN", "true", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "-0 and +0", "they are equal", "the same: IEEE 754"},
      Edge{"E3", "infinities", "ordered as numbers, each equal to itself", "the same: IEEE 754"},
      Edge{"E4", "subnormal numbers", "are not 0", "the same: IEEE 754; they are with CUDA's -ftz=true"},
      Edge{"E5", "integers that no float tells apart", "compared exactly, by their sign or without one", "the same: C; NumPy within one dtype"},
      Edge{"E6", "bool", "false below true", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct Lt {
  static constexpr FnRow row{"lt", 2, Takes::any, Gives::boolean, 0.5, "x < y; false with NaN."};
  static constexpr std::array edges{
      Edge{"E1", "a NaN", "false", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "-0 and +0", "they are equal", "the same: IEEE 754"},
      Edge{"E3", "infinities", "ordered as numbers, each equal to itself", "the same: IEEE 754"},
      Edge{"E4", "subnormal numbers", "are not 0", "the same: IEEE 754; they are with CUDA's -ftz=true"},
      Edge{"E5", "integers that no float tells apart", "compared exactly, by their sign or without one", "the same: C; NumPy within one dtype"},
      Edge{"E6", "bool", "false below true", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct Le {
  static constexpr FnRow row{"le", 2, Takes::any, Gives::boolean, 0.5, "x <= y; false with NaN."};
  static constexpr std::array edges{
      Edge{"E1", "a NaN", "false", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "-0 and +0", "they are equal", "the same: IEEE 754"},
      Edge{"E3", "infinities", "ordered as numbers, each equal to itself", "the same: IEEE 754"},
      Edge{"E4", "subnormal numbers", "are not 0", "the same: IEEE 754; they are with CUDA's -ftz=true"},
      Edge{"E5", "integers that no float tells apart", "compared exactly, by their sign or without one", "the same: C; NumPy within one dtype"},
      Edge{"E6", "bool", "false below true", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct Gt {
  static constexpr FnRow row{"gt", 2, Takes::any, Gives::boolean, 0.5, "x > y; false with NaN."};
  static constexpr std::array edges{
      Edge{"E1", "a NaN", "false", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "-0 and +0", "they are equal", "the same: IEEE 754"},
      Edge{"E3", "infinities", "ordered as numbers, each equal to itself", "the same: IEEE 754"},
      Edge{"E4", "subnormal numbers", "are not 0", "the same: IEEE 754; they are with CUDA's -ftz=true"},
      Edge{"E5", "integers that no float tells apart", "compared exactly, by their sign or without one", "the same: C; NumPy within one dtype"},
      Edge{"E6", "bool", "false below true", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};
struct Ge {
  static constexpr FnRow row{"ge", 2, Takes::any, Gives::boolean, 0.5, "x >= y; false with NaN."};
  static constexpr std::array edges{
      Edge{"E1", "a NaN", "false", "the same: IEEE 754, C, NumPy, PyTorch"},
      Edge{"E2", "-0 and +0", "they are equal", "the same: IEEE 754"},
      Edge{"E3", "infinities", "ordered as numbers, each equal to itself", "the same: IEEE 754"},
      Edge{"E4", "subnormal numbers", "are not 0", "the same: IEEE 754; they are with CUDA's -ftz=true"},
      Edge{"E5", "integers that no float tells apart", "compared exactly, by their sign or without one", "the same: C; NumPy within one dtype"},
      Edge{"E6", "bool", "false below true", "the same: C, NumPy, PyTorch"}};
  static constexpr std::string_view no_derivative = no_slope_of_bool;
};

}  // namespace plumb::scalar
