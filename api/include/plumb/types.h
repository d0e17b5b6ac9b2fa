// The words that every part of the interface uses: dtypes, sizes, the caller's place.
#pragma once
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace plumb {

/// The type of a tensor's elements. The constants below are its values; names that LibTorch has are LibTorch's.
enum class DType : std::uint8_t;

inline constexpr DType kBool{0}, kInt8{1}, kInt16{2}, kInt32{3}, kInt64{4}, kUInt8{5}, kUInt16{6}, kUInt32{7}, kUInt64{8};
inline constexpr DType kFloat8_e4m3fn{9}, kFloat8_e5m2{10}, kBFloat16{11}, kFloat16{12}, kFloat32{13}, kFloat64{14};
inline constexpr DType kComplexFloat{15}, kComplexDouble{16};
inline constexpr DType kChar = kInt8, kShort = kInt16, kInt = kInt32, kLong = kInt64, kByte = kUInt8;
inline constexpr DType kHalf = kFloat16, kFloat = kFloat32, kDouble = kFloat64;

using Sizes = std::vector<std::int64_t>;
/// Where the caller wrote a line; every error names it. Functions take it as a default argument.
using Here = std::source_location;

std::string dtype_name(DType dtype);   ///< as Plumb's text format has it: "f32"
std::int64_t itemsize(DType dtype);    ///< bytes of an element

/// The dtype in which operands of these dtypes meet, both of rank 1 or more. bool < integers < floats < complex numbers. Of two
/// integers the least that holds both; u64 with a signed one, f64; of two floats the wider, f32 for two different ones of at
/// most 16 bits; an integer with a float, the float; a float with a complex dtype, the complex one that holds both.
DType promote_types(DType a, DType b);

/// The dtype of an element type of C++.
template <class T> constexpr DType dtype_of();
template <> constexpr DType dtype_of<bool>() { return kBool; }
template <> constexpr DType dtype_of<signed char>() { return kInt8; }
template <> constexpr DType dtype_of<short>() { return kInt16; }
template <> constexpr DType dtype_of<int>() { return kInt32; }
template <> constexpr DType dtype_of<long>() { return kInt64; }
template <> constexpr DType dtype_of<long long>() { return kInt64; }
template <> constexpr DType dtype_of<unsigned char>() { return kUInt8; }
template <> constexpr DType dtype_of<unsigned short>() { return kUInt16; }
template <> constexpr DType dtype_of<unsigned>() { return kUInt32; }
template <> constexpr DType dtype_of<unsigned long>() { return kUInt64; }
template <> constexpr DType dtype_of<unsigned long long>() { return kUInt64; }
template <> constexpr DType dtype_of<float>() { return kFloat32; }
template <> constexpr DType dtype_of<double>() { return kFloat64; }

/// What a factory makes: `dtype(kFloat64).requires_grad(true)`, or `requires_grad(true)` alone.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype_(dtype) {}  // NOLINT: a dtype says enough
  TensorOptions dtype(DType d) const { auto o = *this; o.dtype_ = d; return o; }
  TensorOptions requires_grad(bool r) const { auto o = *this; o.requires_grad_ = r; return o; }
  std::optional<DType> dtype() const { return dtype_; }
  bool requires_grad() const { return requires_grad_; }
  friend bool operator==(const TensorOptions&, const TensorOptions&) = default;

 private:
  std::optional<DType> dtype_;
  bool requires_grad_ = false;
};
inline TensorOptions dtype(DType d) { return TensorOptions(d); }
inline TensorOptions requires_grad(bool r = true) { return TensorOptions().requires_grad(r); }

}  // namespace plumb
