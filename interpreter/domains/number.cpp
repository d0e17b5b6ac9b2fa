#include "interpreter/domains/number.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/scalar/storage.h"

namespace plumb::interp {
namespace {

using namespace scalar;

int bits_of(DType t) { return byte_size(t) * 8; }

/// Brings a 64-bit pattern into the dtype's range: integers wrap modulo 2^bits.
Number wrap(DType t, std::uint64_t v) {
  Number r;
  const int spare = 64 - bits_of(t);
  if (is_signed(t)) r.i = static_cast<std::int64_t>(v << spare) >> spare;
  else r.u = (v << spare) >> spare;
  return r;
}
Number boolean(bool b) { return {.u = b}; }

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q * b != a && ((a < 0) != (b < 0)) ? q - 1 : q;
}

Number integer_power(DType t, Number x, Number y) {
  const bool negative = is_signed(t) && y.i < 0;
  if (negative) {
    if (x.i == 1) return wrap(t, 1);
    if (x.i == -1) return wrap(t, (y.i & 1) ? ~std::uint64_t{0} : 1);
    return wrap(t, 0);
  }
  std::uint64_t base = x.u, result = 1;
  for (std::uint64_t e = y.u; e; e >>= 1, base *= base)
    if (e & 1) result *= base;
  return wrap(t, result);
}

Number shift(FnId fn, DType t, Number x, Number y) {
  const int width = bits_of(t);
  const bool past = is_signed(t) ? y.i < 0 || y.i >= width : y.u >= static_cast<std::uint64_t>(width);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if (fn == fn_id<ShiftLeft>) return wrap(t, past ? 0 : x.u << y.u);
  if (fn == fn_id<ShiftRightLogical> || !is_signed(t)) return wrap(t, past ? 0 : (x.u & mask) >> y.u);
  return wrap(t, static_cast<std::uint64_t>(x.i >> (past ? 63 : y.i)));
}

Number apply_integer(FnId fn, DType t, std::span<const Number> a) {
  const bool s = is_signed(t);
  const Number x = a[0], y = a.size() > 1 ? a[1] : Number{.u = 0};
  const bool less = s ? x.i < y.i : x.u < y.u, equal = x.u == y.u;
  const bool minus_one = s && y.i == -1;
  switch (fn) {
    case fn_id<Add>: return wrap(t, x.u + y.u);
    case fn_id<Sub>: return wrap(t, x.u - y.u);
    case fn_id<Mul>: return wrap(t, x.u * y.u);
    case fn_id<Fma>: return wrap(t, x.u * y.u + a[2].u);
    case fn_id<Div>: return y.u == 0 ? wrap(t, 0) : minus_one ? wrap(t, 0 - x.u) : s ? wrap(t, static_cast<std::uint64_t>(x.i / y.i)) : wrap(t, x.u / y.u);
    case fn_id<FloorDiv>: return y.u == 0 ? wrap(t, 0) : minus_one ? wrap(t, 0 - x.u) : s ? wrap(t, static_cast<std::uint64_t>(floor_quotient(x.i, y.i))) : wrap(t, x.u / y.u);
    case fn_id<Remainder>: return y.u == 0 ? x : minus_one ? wrap(t, 0) : s ? wrap(t, static_cast<std::uint64_t>(x.i - y.i * floor_quotient(x.i, y.i))) : wrap(t, x.u % y.u);
    case fn_id<Fmod>: return y.u == 0 ? x : minus_one ? wrap(t, 0) : s ? wrap(t, static_cast<std::uint64_t>(x.i % y.i)) : wrap(t, x.u % y.u);
    case fn_id<Pow>: return integer_power(t, x, y);
    case fn_id<Minimum>: return less ? x : y;
    case fn_id<Maximum>: return less ? y : x;
    case fn_id<Neg>: return wrap(t, 0 - x.u);
    case fn_id<Abs>: return s && x.i < 0 ? wrap(t, 0 - x.u) : x;
    case fn_id<Sign>: return wrap(t, x.u == 0 ? 0 : s && x.i < 0 ? ~std::uint64_t{0} : 1);
    case fn_id<Floor>:
    case fn_id<Ceil>:
    case fn_id<Trunc>:
    case fn_id<RoundEven>: return x;
    case fn_id<SignBit>: return boolean(s && x.i < 0);
    case fn_id<Eq>: return boolean(equal);
    case fn_id<Ne>: return boolean(!equal);
    case fn_id<Lt>: return boolean(less);
    case fn_id<Le>: return boolean(less || equal);
    case fn_id<Gt>: return boolean(!less && !equal);
    case fn_id<Ge>: return boolean(!less);
    case fn_id<And>: return wrap(t, x.u & y.u);
    case fn_id<Or>: return wrap(t, x.u | y.u);
    case fn_id<Xor>: return wrap(t, x.u ^ y.u);
    case fn_id<Not>: return is_bool(t) ? boolean(!x.u) : wrap(t, ~x.u);
    case fn_id<ShiftLeft>:
    case fn_id<ShiftRight>:
    case fn_id<ShiftRightLogical>: return shift(fn, t, x, y);
    case fn_id<Popcount>: return wrap(t, static_cast<std::uint64_t>(std::popcount(x.u & (~std::uint64_t{0} >> (64 - bits_of(t))))));
    case fn_id<CountLeadingZeros>: return wrap(t, static_cast<std::uint64_t>(std::countl_zero(x.u << (64 - bits_of(t)) | (bits_of(t) < 64 ? std::uint64_t{1} << (63 - bits_of(t)) : 0))));
    default: fail_internal("not a function of integers: " + std::string(row(fn).name));
  }
}

/// x + y as a double rounded to odd: exact information for one more rounding to a narrower format.
double add_to_odd(double x, double y) {
  const double s = x + y;
  if (!std::isfinite(s)) return s;
  const double v = s - x, error = (x - (s - v)) + (y - v);
  if (error == 0) return s;
  auto bits = std::bit_cast<std::uint64_t>(s);
  if (bits & 1) return s;
  const bool away = (error > 0) == (s > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

double fused(DType t, double x, double y, double z) {
  if (t == DType::f64) return std::fma(x, y, z);
  if (t == DType::f32) return static_cast<double>(std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)));
  return round_to(t, add_to_odd(x * y, z));  // the product of narrow floats is exact in a double
}

/// Below 2^50 two roundings leave the quotient of the exact multiple x - fmod(x, y) nearest to the integer that it is.
double floor_division(DType t, double x, double y) {
  const double plain = x / y;
  if (y == 0 || !std::isfinite(x) || std::isnan(y)) return round_to(t, plain);  // NaN where there is no infinity
  const bool opposite = (x < 0) != (y < 0);
  if (std::isinf(y)) return x != 0 && opposite ? -1 : std::copysign(0.0, plain);
  if (std::fabs(plain) >= 0x1p50) return exact_floor_quotient(t, x, y);
  const double r = std::fmod(x, y);  // exact
  const double q = std::nearbyint((x - r) / y) - (r != 0 && opposite ? 1 : 0);
  return q == 0 ? std::copysign(0.0, plain) : round_to(t, q);
}

double remainder_of(DType t, double x, double y) {
  if (y == 0 || std::isinf(x) || std::isnan(x) || std::isnan(y)) return std::nan("");
  if (std::isinf(y)) return x == 0 || (x < 0) == (y < 0) ? (x == 0 ? std::copysign(0.0, y) : x) : y;
  const double r = std::fmod(x, y);
  if (r == 0) return std::copysign(0.0, y);
  if ((r < 0) == (y < 0)) return r;
  return t == DType::f64 ? r + y : round_to(t, add_to_odd(r, y));
}

double least(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::nan("");
  if (x == 0 && y == 0) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}
double greatest(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::nan("");
  if (x == 0 && y == 0) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

Number real(double v) { return {.f = v}; }

Number apply_float(FnId fn, DType t, std::span<const Number> a) {
  const double x = a[0].f, y = a.size() > 1 ? a[1].f : 0;
  switch (fn) {
    // One double operation then one rounding is a single rounding for f32 and narrower (53 >= 2·24 + 2).
    case fn_id<Add>: return real(round_to(t, x + y));
    case fn_id<Sub>: return real(round_to(t, x - y));
    case fn_id<Mul>: return real(round_to(t, x * y));
    case fn_id<Div>: return real(round_to(t, x / y));
    case fn_id<Sqrt>: return real(round_to(t, std::sqrt(x)));
    case fn_id<Fma>: return real(fused(t, x, y, a[2].f));
    case fn_id<FloorDiv>: return real(floor_division(t, x, y));
    case fn_id<Remainder>: return real(remainder_of(t, x, y));
    case fn_id<Fmod>: return real(std::fmod(x, y));
    case fn_id<Minimum>: return real(least(x, y));
    case fn_id<Maximum>: return real(greatest(x, y));
    case fn_id<Neg>: return real(-x);
    case fn_id<Abs>: return real(std::fabs(x));
    case fn_id<Sign>: return real(std::isnan(x) || x == 0 ? x : std::copysign(1.0, x));
    case fn_id<Floor>: return real(std::floor(x));
    case fn_id<Ceil>: return real(std::ceil(x));
    case fn_id<Trunc>: return real(std::trunc(x));
    case fn_id<RoundEven>: return real(std::nearbyint(x));
    case fn_id<IsNan>: return boolean(std::isnan(x));
    case fn_id<IsInf>: return boolean(std::isinf(x));
    case fn_id<IsFinite>: return boolean(std::isfinite(x));
    case fn_id<SignBit>: return boolean(!std::isnan(x) && std::signbit(x));
    case fn_id<Eq>: return boolean(x == y);
    case fn_id<Ne>: return boolean(x != y);
    case fn_id<Lt>: return boolean(x < y);
    case fn_id<Le>: return boolean(x <= y);
    case fn_id<Gt>: return boolean(x > y);
    case fn_id<Ge>: return boolean(x >= y);
    default: return real(elementary(fn, t, x, y, nullptr));
  }
}

}  // namespace

double elementary(FnId fn, DType t, double x, double y, double* near) {
  const bool takes_nan = fn == fn_id<Pow> || fn == fn_id<Hypot>;  // a number may come of it
  if (std::isnan(x) && !takes_nan) {
    if (near) *near = x;
    return x;
  }
  const double v = t != DType::f64 || near ? approximate(fn, x, y) : 0;
  if (near) *near = v;
  if (t == DType::f64) return exact_elementary(fn, t, x, y);
  if (std::isnan(v) || std::isinf(v) || v == 0) {
    // f32's range lies well inside the double's, where C's Annex F says what the function gives at zeros, infinities and NaN.
    return t == DType::f32 && row(fn).arity == 2 ? v : exact_elementary(fn, t, x, y);
  }
  const double low = round_to(t, v * (1 - 0x1p-46)), high = round_to(t, v * (1 + 0x1p-46));
  return low == high ? low : exact_elementary(fn, t, x, y);
}

double round_to(DType t, double v) {
  if (t == DType::f64 || !is_float(t)) return v;
  if (t == DType::f32) return static_cast<double>(static_cast<float>(v));
  return decode_float(t, encode_float(t, v));
}

Number load(DType t, const void* base, std::int64_t index) {
  const auto* p = static_cast<const std::uint8_t*>(base) + index * byte_size(t);
  if (t == DType::f32) {
    float v;
    std::memcpy(&v, p, 4);
    return {.f = static_cast<double>(v)};
  }
  if (is_float(t)) return {.f = load_element(t, base, index)};
  std::uint64_t bits = 0;
  std::memcpy(&bits, p, static_cast<std::size_t>(byte_size(t)));
  return is_bool(t) ? boolean(bits != 0) : wrap(t, bits);
}

void store(DType t, void* base, std::int64_t index, Number v) {
  if (is_float(t)) return store_element(t, base, index, v.f);
  std::memcpy(static_cast<std::uint8_t*>(base) + index * byte_size(t), &v.u, static_cast<std::size_t>(byte_size(t)));
}

Number number(DType t, double v) {
  if (is_float(t)) return {.f = round_to(t, v)};
  std::uint64_t bits = 0;
  store_element(t, &bits, 0, v);
  return load(t, &bits, 0);
}

Number apply(FnId fn, DType t, std::span<const Number> args) { return is_float(t) ? apply_float(fn, t, args) : apply_integer(fn, t, args); }

Number convert(Number v, DType from, DType to) {
  if (is_float(from)) {
    if (is_float(to)) return {.f = round_to(to, v.f)};
    if (is_bool(to)) return boolean(v.f != 0);
    if (std::isnan(v.f)) return {.u = 0};
    const double w = std::trunc(v.f);
    const double low = is_signed(to) ? -std::ldexp(1.0, row(to).precision) : 0, end = std::ldexp(1.0, row(to).precision);
    if (w < low) return is_signed(to) ? Number{.i = static_cast<std::int64_t>(low)} : Number{.u = 0};
    if (w >= end) return is_signed(to) ? Number{.i = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits_of(to)))} : Number{.u = ~std::uint64_t{0} >> (64 - bits_of(to))};
    return is_signed(to) ? Number{.i = static_cast<std::int64_t>(w)} : Number{.u = static_cast<std::uint64_t>(w)};
  }
  if (is_bool(to)) return boolean(v.u != 0);
  if (!is_float(to)) return wrap(to, v.u);
  if (to == DType::f64) return {.f = is_signed(from) ? static_cast<double>(v.i) : static_cast<double>(v.u)};
  if (to == DType::f32) return {.f = static_cast<double>(is_signed(from) ? static_cast<float>(v.i) : static_cast<float>(v.u))};
  // Narrow: through a double rounded to odd, so that the second rounding is the only one.
  const bool negative = is_signed(from) && v.i < 0;
  const std::uint64_t magnitude = negative ? 0 - v.u : v.u;
  const double high = static_cast<double>(magnitude >> 32) * 0x1p32, low = static_cast<double>(magnitude & 0xffffffff);
  const double m = add_to_odd(high, low);
  return {.f = round_to(to, negative ? -m : m)};
}

Number bitcast(Number v, DType from, DType to) {
  if (is_float(from) && std::isnan(v.f)) v.f = std::nan("");
  std::uint64_t bits = 0;
  store(from, &bits, 0, v);
  return load(to, &bits, 0);
}

bool same(DType t, Number a, Number b) {
  if (!is_float(t)) return a.u == b.u;
  return (std::isnan(a.f) && std::isnan(b.f)) || std::bit_cast<std::uint64_t>(a.f) == std::bit_cast<std::uint64_t>(b.f);
}

}  // namespace plumb::interp
