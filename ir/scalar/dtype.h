// Element types. Facts about each stand in one table row.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plumb {

enum class DType : std::uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f8e4m3fn, f8e5m2, bf16, f16, f32, f64, c64, c128 };

enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating, complex };

struct DTypeRow {
  DType dtype;
  std::string_view name;  ///< as in the text format
  Kind kind;
  int bytes;
  int precision;  ///< floats: significand bits, the hidden one counted; integers: value bits; complex: its parts' facts, as for emin, emax, has_inf
  int emin, emax; ///< floats: exponent of the least normal and of the greatest finite number (1.x × 2^e)
  bool has_inf;
};

inline constexpr std::array<DTypeRow, 17> dtype_rows{{
    {DType::boolean, "bool", Kind::boolean, 1, 1, 0, 0, false},
    {DType::i8, "i8", Kind::signed_integer, 1, 7, 0, 0, false},
    {DType::i16, "i16", Kind::signed_integer, 2, 15, 0, 0, false},
    {DType::i32, "i32", Kind::signed_integer, 4, 31, 0, 0, false},
    {DType::i64, "i64", Kind::signed_integer, 8, 63, 0, 0, false},
    {DType::u8, "u8", Kind::unsigned_integer, 1, 8, 0, 0, false},
    {DType::u16, "u16", Kind::unsigned_integer, 2, 16, 0, 0, false},
    {DType::u32, "u32", Kind::unsigned_integer, 4, 32, 0, 0, false},
    {DType::u64, "u64", Kind::unsigned_integer, 8, 64, 0, 0, false},
    {DType::f8e4m3fn, "f8e4m3fn", Kind::floating, 1, 4, -6, 8, false},
    {DType::f8e5m2, "f8e5m2", Kind::floating, 1, 3, -14, 15, true},
    {DType::bf16, "bf16", Kind::floating, 2, 8, -126, 127, true},
    {DType::f16, "f16", Kind::floating, 2, 11, -14, 15, true},
    {DType::f32, "f32", Kind::floating, 4, 24, -126, 127, true},
    {DType::f64, "f64", Kind::floating, 8, 53, -1022, 1023, true},
    {DType::c64, "c64", Kind::complex, 8, 24, -126, 127, true},
    {DType::c128, "c128", Kind::complex, 16, 53, -1022, 1023, true},
}};

constexpr const DTypeRow& row(DType t) { return dtype_rows[static_cast<std::size_t>(t)]; }
constexpr std::string_view name(DType t) { return row(t).name; }
constexpr int byte_size(DType t) { return row(t).bytes; }
constexpr bool is_float(DType t) { return row(t).kind == Kind::floating; }
constexpr bool is_signed(DType t) { return row(t).kind == Kind::signed_integer; }
constexpr bool is_unsigned(DType t) { return row(t).kind == Kind::unsigned_integer; }
constexpr bool is_integer(DType t) { return is_signed(t) || is_unsigned(t); }
/// Complex numbers: the real part, then the imaginary one. They exist in types, texts and files; what computes sees their
/// parts alone (ir/tensor/split_complex.h).
constexpr bool is_complex(DType t) { return row(t).kind == Kind::complex; }
/// The dtype of a complex dtype's parts; any other dtype itself.
constexpr DType part_dtype(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }
/// The complex dtype whose parts are f32 or f64.
constexpr DType complex_dtype(DType part) { return part == DType::f64 ? DType::c128 : DType::c64; }
constexpr bool is_bool(DType t) { return t == DType::boolean; }
/// Floats narrower than f32: stored as such, and summed in f32 (see reduce_sum, dot_general).
constexpr bool is_narrow_float(DType t) { return is_float(t) && byte_size(t) < 4; }
/// The dtype in which sums and products of `t` accumulate: f32 for narrow floats, else `t` itself.
constexpr DType accumulator(DType t) { return is_narrow_float(t) ? DType::f32 : t; }

constexpr std::optional<DType> dtype_from_name(std::string_view s) {
  for (const auto& r : dtype_rows)
    if (r.name == s) return r.dtype;
  return std::nullopt;
}

}  // namespace plumb
