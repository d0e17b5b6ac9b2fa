#include "ir/scalar/storage.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "ir/support/error.h"

namespace plumb {
namespace {

struct Layout { int exponent_bits, mantissa_bits, bias; };
Layout layout(DType t) {
  const auto& r = row(t);
  const int mantissa = r.precision - 1;
  return {r.bytes * 8 - 1 - mantissa, mantissa, 1 - r.emin};
}

std::uint64_t nan_bits(DType t) {
  const auto [e, m, bias] = layout(t);
  if (t == DType::f8e4m3fn) return 0x7f;
  return (((std::uint64_t{1} << e) - 1) << m) | (std::uint64_t{1} << (m - 1));
}

}  // namespace

std::uint64_t encode_float(DType t, double value) {
  if (t == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (t == DType::f32 && !std::isnan(value)) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return nan_bits(t);
  const auto& r = row(t);
  const auto [ebits, mbits, bias] = layout(t);
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (ebits + mbits) : 0;
  const std::uint64_t inf = ((std::uint64_t{1} << ebits) - 1) << mbits;
  const double a = std::fabs(value);
  if (std::isinf(a)) return r.has_inf ? sign | inf : nan_bits(t);
  if (a == 0) return sign;
  // The quantum of a's binade (or of the subnormals); a/quantum is exact, and rounds to an integer of `precision` bits.
  int e = std::max(std::ilogb(a), r.emin);
  const double scaled = std::scalbn(a, mbits - e);
  double q = std::nearbyint(scaled);
  if (q == std::scalbn(1.0, mbits + 1)) { q = std::scalbn(1.0, mbits); ++e; }
  const auto integer = static_cast<std::uint64_t>(q);
  const bool subnormal = integer < (std::uint64_t{1} << mbits);
  const std::uint64_t bits = subnormal ? integer : ((static_cast<std::uint64_t>(e + bias)) << mbits) | (integer & ((std::uint64_t{1} << mbits) - 1));
  const std::uint64_t largest = t == DType::f8e4m3fn ? 0x7e : inf - 1;
  if (e > r.emax || bits > largest) return sign | (r.has_inf ? inf : largest);
  return sign | bits;
}

double decode_float(DType t, std::uint64_t bits) {
  if (t == DType::f64) return std::bit_cast<double>(bits);
  if (t == DType::f32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  const auto [ebits, mbits, bias] = layout(t);
  const bool negative = (bits >> (ebits + mbits)) & 1;
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << mbits) - 1);
  const auto exponent = static_cast<int>((bits >> mbits) & ((std::uint64_t{1} << ebits) - 1));
  const bool top = exponent == (1 << ebits) - 1;
  double v;
  if (t == DType::f8e4m3fn && top && mantissa == 7) v = std::nan("");
  else if (t != DType::f8e4m3fn && top) v = mantissa ? std::nan("") : HUGE_VAL;
  else if (exponent == 0) v = std::scalbn(static_cast<double>(mantissa), 1 - bias - mbits);
  else v = std::scalbn(static_cast<double>(mantissa | (std::uint64_t{1} << mbits)), exponent - bias - mbits);
  return negative ? -v : v;
}

double load_element(DType t, const void* base, std::int64_t i) {
  const auto* bytes = static_cast<const std::uint8_t*>(base) + i * byte_size(t);
  auto as = [&]<class T>(T v) { std::memcpy(&v, bytes, sizeof(T)); return v; };
  switch (t) {
    case DType::boolean: return *bytes != 0;
    case DType::i8: return as(std::int8_t{});
    case DType::i16: return as(std::int16_t{});
    case DType::i32: return as(std::int32_t{});
    case DType::i64: return static_cast<double>(as(std::int64_t{}));
    case DType::u8: return *bytes;
    case DType::u16: return as(std::uint16_t{});
    case DType::u32: return as(std::uint32_t{});
    case DType::u64: return static_cast<double>(as(std::uint64_t{}));
    case DType::f8e4m3fn:
    case DType::f8e5m2: return decode_float(t, *bytes);
    case DType::bf16:
    case DType::f16: return decode_float(t, as(std::uint16_t{}));
    case DType::f32: return static_cast<double>(as(float{}));
    case DType::f64: return as(double{});
    case DType::c64:
    case DType::c128: break;
  }
  fail_internal("a complex element has no value as a real");
}

void store_element(DType t, void* base, std::int64_t i, double value) {
  if (is_complex(t)) {
    store_element(part_dtype(t), base, 2 * i, value);
    return store_element(part_dtype(t), base, 2 * i + 1, 0);
  }
  auto* bytes = static_cast<std::uint8_t*>(base) + i * byte_size(t);
  std::uint64_t bits = 0;
  if (is_bool(t)) bits = value != 0;
  else if (is_float(t)) bits = encode_float(t, value);
  else if (!std::isnan(value) && std::fabs(value) < 0x1p64) {
    const double whole = std::trunc(value);
    bits = whole < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(-whole) : static_cast<std::uint64_t>(whole);
  }
  std::memcpy(bytes, &bits, static_cast<std::size_t>(byte_size(t)));
}

}  // namespace plumb
