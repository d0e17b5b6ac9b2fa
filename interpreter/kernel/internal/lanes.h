// How elements of each dtype stand in memory and in a scalar's lanes: f64 as double, every other float as the float that
// it is exactly, integers and bools as 64-bit words in their dtype's range (u64 by its bits).
#pragma once
#include <type_traits>

#include "interpreter/domains/number.h"
#include "interpreter/kernel/internal/machine.h"

namespace plumb::interp::kernel {

template <DType D> struct Stored;
template <class Memory, class Lane> struct Plain {
  using lane = Lane;
  static constexpr bool native = std::is_same_v<Memory, Lane>;
  static Lane load(const std::byte* data, std::int64_t i) {
    Memory v;
    std::memcpy(&v, data + static_cast<std::size_t>(i) * sizeof v, sizeof v);
    return static_cast<Lane>(v);
  }
  static void store(std::byte* data, std::int64_t i, Lane x) {
    const auto v = static_cast<Memory>(x);
    std::memcpy(data + static_cast<std::size_t>(i) * sizeof v, &v, sizeof v);
  }
};
template <DType D> struct Narrow {
  using lane = float;
  static constexpr bool native = false;
  static float load(const std::byte* data, std::int64_t i) { return static_cast<float>(interp::load(D, data, i).f); }
  static void store(std::byte* data, std::int64_t i, float x) { interp::store(D, data, i, {.f = static_cast<double>(x)}); }
};
struct Bool {
  using lane = std::int64_t;
  static constexpr bool native = false;
  static std::int64_t load(const std::byte* data, std::int64_t i) { return data[i] != std::byte{0}; }
  static void store(std::byte* data, std::int64_t i, std::int64_t x) { data[i] = static_cast<std::byte>(x); }
};
template <> struct Stored<DType::boolean> : Bool {};
template <> struct Stored<DType::i8> : Plain<std::int8_t, std::int64_t> {};
template <> struct Stored<DType::i16> : Plain<std::int16_t, std::int64_t> {};
template <> struct Stored<DType::i32> : Plain<std::int32_t, std::int64_t> {};
template <> struct Stored<DType::i64> : Plain<std::int64_t, std::int64_t> {};
template <> struct Stored<DType::u8> : Plain<std::uint8_t, std::int64_t> {};
template <> struct Stored<DType::u16> : Plain<std::uint16_t, std::int64_t> {};
template <> struct Stored<DType::u32> : Plain<std::uint32_t, std::int64_t> {};
template <> struct Stored<DType::u64> : Plain<std::uint64_t, std::int64_t> {};
template <> struct Stored<DType::f8e4m3fn> : Narrow<DType::f8e4m3fn> {};
template <> struct Stored<DType::f8e5m2> : Narrow<DType::f8e5m2> {};
template <> struct Stored<DType::bf16> : Narrow<DType::bf16> {};
template <> struct Stored<DType::f16> : Narrow<DType::f16> {};
template <> struct Stored<DType::f32> : Plain<float, float> {};
template <> struct Stored<DType::f64> : Plain<double, double> {};

/// Calls f with the dtype as a constant.
template <class F> auto with_dtype(DType t, F f) {
#define PLUMB_CASE(D) case DType::D: return f(std::integral_constant<DType, DType::D>{});
  switch (t) {
    PLUMB_CASE(boolean) PLUMB_CASE(i8) PLUMB_CASE(i16) PLUMB_CASE(i32) PLUMB_CASE(i64) PLUMB_CASE(u8) PLUMB_CASE(u16) PLUMB_CASE(u32)
    PLUMB_CASE(u64) PLUMB_CASE(f8e4m3fn) PLUMB_CASE(f8e5m2) PLUMB_CASE(bf16) PLUMB_CASE(f16) PLUMB_CASE(f32) PLUMB_CASE(f64)
    case DType::c64:
    case DType::c128: break;  // kernels compute on the parts
  }
#undef PLUMB_CASE
  fail_internal("a dtype without a row");
}

/// Calls f with the type of a lane: float, double or std::int64_t.
template <class F> auto with_lane(DType t, F f) {
  if (t == DType::f64) return f(double{});
  if (is_float(t)) return f(float{});
  return f(std::int64_t{});
}

inline Number to_number(float x) { return {.f = static_cast<double>(x)}; }
inline Number to_number(double x) { return {.f = x}; }
inline Number to_number(std::int64_t x) { return {.i = x}; }
template <class L> L from_number(Number n) {
  if constexpr (std::is_same_v<L, std::int64_t>) return n.i;
  else return static_cast<L>(n.f);
}

}  // namespace plumb::interp::kernel
