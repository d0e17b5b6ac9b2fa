#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/scalar/storage.h"
#include "ir/tensor/text_literal.h"

namespace plumb::ir {
namespace {

constexpr std::int64_t longest_decimal = 64;  ///< elements; beyond it bytes are shorter and faster

std::uint64_t element_bits(DType dtype, const void* base, std::int64_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(base) + i * byte_size(dtype), static_cast<std::size_t>(byte_size(dtype)));
  return bits;
}

template <class T, class... Format> std::string digits(T value, Format... format) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format...).ptr;
  return std::string(buffer, end);
}

/// Whether the decimal form brings the same bits back: not so for unusual NaNs and for bools other than 0 and 1.
bool decimal_is_exact(DType dtype, std::uint64_t bits) {
  if (is_bool(dtype)) return bits <= 1;
  if (!is_float(dtype) || !std::isnan(decode_float(dtype, bits))) return true;
  return bits == encode_float(dtype, std::numeric_limits<double>::quiet_NaN());
}

/// The fewest significant digits that round to the same bits.
std::string print_narrow(DType dtype, double value, std::uint64_t bits) {
  for (int precision = 1; precision < 9; ++precision) {
    const std::string s = digits(value, std::chars_format::general, precision);
    double back = 0;
    std::from_chars(s.data(), s.data() + s.size(), back);
    if (encode_float(dtype, back) == bits) return s;
  }
  return digits(value);
}

/// Whether an element can be written in decimal.
bool element_is_exact(DType dtype, const void* base, std::int64_t i) {
  if (!is_complex(dtype)) return decimal_is_exact(dtype, element_bits(dtype, base, i));
  const DType part = part_dtype(dtype);
  return decimal_is_exact(part, element_bits(part, base, 2 * i)) && decimal_is_exact(part, element_bits(part, base, 2 * i + 1));
}

std::string hex(const void* data, std::int64_t bytes) {
  std::string s(static_cast<std::size_t>(2 * bytes), '\0');
  for (std::int64_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<const unsigned char*>(data)[i];
    s[static_cast<std::size_t>(2 * i)] = "0123456789abcdef"[byte >> 4];
    s[static_cast<std::size_t>(2 * i + 1)] = "0123456789abcdef"[byte & 15];
  }
  return "hex\"" + s + '"';
}

}  // namespace

std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return digits(value);
}

std::string print_element(DType dtype, const void* base, std::int64_t i) {
  if (is_complex(dtype)) return "(" + print_element(part_dtype(dtype), base, 2 * i) + ", " + print_element(part_dtype(dtype), base, 2 * i + 1) + ")";
  const std::uint64_t bits = element_bits(dtype, base, i);
  if (is_bool(dtype)) return bits ? "true" : "false";
  if (is_unsigned(dtype)) return digits(bits);
  if (is_signed(dtype)) {
    const int unused = 64 - 8 * byte_size(dtype);
    return digits(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  const double value = decode_float(dtype, bits);
  if (!std::isfinite(value) || dtype == DType::f64) return shortest(value);
  return dtype == DType::f32 ? digits(static_cast<float>(value)) : print_narrow(dtype, value, bits);
}

std::string print_elements(const Literal& l, std::int64_t& splats_left) {
  const DType dtype = l.dtype();
  const std::int64_t n = l.elements();
  const auto size = byte_size(dtype);
  auto exact = [&](std::int64_t i) { return element_is_exact(dtype, l.raw(), i); };
  const bool splat = n > 1 && l.bytes() <= splats_left && std::memcmp(l.raw(), l.data<char>() + size, static_cast<std::size_t>((n - 1) * size)) == 0;
  if (splat) {
    splats_left -= l.bytes();
    return "splat " + (exact(0) ? print_element(dtype, l.raw(), 0) : hex(l.raw(), size));
  }
  bool decimal = n <= longest_decimal;
  for (std::int64_t i = 0; decimal && i < n; ++i) decimal = exact(i);
  if (!decimal) return hex(l.raw(), l.bytes());
  if (l.type().rank() == 0) return print_element(dtype, l.raw(), 0);
  std::string s = "[";
  for (std::int64_t i = 0; i < n; ++i) (s += i ? ", " : "") += print_element(dtype, l.raw(), i);
  return s + "]";
}

}  // namespace plumb::ir
