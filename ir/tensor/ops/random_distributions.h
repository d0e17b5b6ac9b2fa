// Random numbers made of random_bits: uniform and normal ones, coins, integers, permutations, choices.
//
// The same bits on every target, under every contract: between the bits and an element stand integer operations, exact
// conversions, comparisons, and f64 steps that are correctly rounded everywhere (add, mul, div, sqrt, fma, none of them a
// product that feeds a sum, so nothing is left to contract, and no target holds anything wider than f64); the step from f64
// to the result is an explicit convert, which always rounds.
#pragma once
#include <cmath>

#include "ir/scalar/storage.h"
#include "ir/tensor/ops/random.h"

namespace plumb::ir::ops {

inline constexpr AttrSpec shape_attr{"shape", AttrKind::shape};

inline std::string check_random(std::span<const Type> in, const AttrMap& a) {
  if (auto e = check_key(in[0]); !e.empty()) return e;
  if (filled(a.get<Shape>("shape")) < 0) return "C2: " + str(a.get<Shape>("shape")) + " cannot be filled";
  return {};
}
inline constexpr Constraint filled_constraint{"C2", "shape has sizes, and fewer than 2^63 elements."};
inline double rounded_to(DType t, double v) { return decode_float(t, encode_float(t, v)); }
/// The number of the dtype next below a finite one.
inline double next_below(DType t, double v) {
  double step = std::fabs(v), low = v;
  for (step = step == 0 ? 1 : step; rounded_to(t, v - step) < v; step /= 2) low = rounded_to(t, v - step);
  return low;
}
inline ValueId shifted_right(Builder& b, ValueId x, int by) { return b.op("shift_right_logical", {x, b.splat_like(x, by)}); }

/// count uniform numbers from [0, 1): as many bits as the dtype's significand has, over 2 to that power.
inline ValueId unit_uniform(Builder& b, ValueId key, DType t, std::int64_t count) {
  const bool wide = t == DType::f64;
  const int bits = plumb::row(t).precision;
  const auto integer = shifted_right(b, random_words(b, key, wide ? DType::u64 : DType::u32, count), (wide ? 64 : 32) - bits);
  const auto x = b.convert(integer, t);
  return b.op("mul", {x, b.splat_like(x, std::ldexp(1.0, -bits))});
}

struct RandomUniform {
  static constexpr OpRow row{"random_uniform", "key", OpClass::composite,
      "Uniform numbers from [low, high), both first rounded to the dtype. With p the dtype's significand bits (f32: 24), u is the upper p bits of random_bits (u64 for f64, else u32) over 2^p; the result is low + u (high - low), rounded to f64, then to the dtype, and at most the dtype's next number below high."};
  static constexpr std::string_view equation = "r[i] = min(convert(fma(u[i], high - low, low)), below(high)), u[i] = (bits[i] >> (w - p)) 2^-p";
  static constexpr std::array attrs{shape_attr, AttrSpec{"dtype", AttrKind::dtype}, AttrSpec{"low", AttrKind::real, "0"}, AttrSpec{"high", AttrKind::real, "1"}};
  static constexpr std::array constraints{key_constraint, filled_constraint, Constraint{"C3", "dtype is a float."}, Constraint{"C4", "low < high, both and their difference finite, in the dtype."}};
  static constexpr std::array edges{Edge{"E1", "low + u (high - low) rounds to high", "the next number below high", "PyTorch draws again; NumPy may give high"},
                                    Edge{"E2", "low and high are neighbours", "low, always"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_random(in, a); !e.empty()) return no(e);
    const DType t = a.get<DType>("dtype");
    if (!is_float(t)) return no("C3: random_uniform gives floats, not " + std::string(name(t)));
    const double low = rounded_to(t, a.real("low")), high = rounded_to(t, a.real("high"));
    if (!(low < high) || !std::isfinite(high - low)) return no("C4: [" + std::to_string(a.real("low")) + ", " + std::to_string(a.real("high")) + ") is no range of " + std::string(name(t)));
    return one({t, a.get<Shape>("shape")});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const DType t = a.get<DType>("dtype");
    const auto& shape = a.get<Shape>("shape");
    const double low = rounded_to(t, a.real("low")), high = rounded_to(t, a.real("high"));
    auto u = unit_uniform(b, in[0], t, filled(shape));
    if (low != 0 || high != 1) {
      const auto wide = b.convert(u, DType::f64);
      const auto y = b.op("fma", {wide, b.splat_like(wide, high - low), b.splat_like(wide, low)});
      u = b.convert(y, t);
      u = b.op("minimum", {u, b.splat_like(u, next_below(t, high))});
    }
    return {b.reshape(u, shape)};
  }
};

/// The inverse of the normal distribution function in f64: Wichura's algorithm AS 241 (Applied Statistics 37, 1988), its
/// polynomials by fma; the logarithm in its tails by the series of 2 artanh((f - 1) / (f + 1)).
struct NormalQuantile {
  Builder& b;

  /// Of p = 1/2 + centred: |centred| < 1/2; tail = 1/2 - |centred|, exact.
  ValueId of(ValueId centred, ValueId tail) {
    const auto size = b.op("abs", {centred});
    const auto middle = b.op("mul", {centred, rational(b.op("fma", {b.op("neg", {centred}), centred, c(centred, 0.180625)}), middle_over, middle_under)});
    const auto r = b.op("sqrt", {b.op("neg", {log(tail)})});
    const auto near = rational(b.op("sub", {r, c(r, 1.6)}), near_over, near_under), far = rational(b.op("sub", {r, c(r, 5)}), far_over, far_under);
    const auto out = b.op("select", {b.op("le", {r, c(r, 5)}), near, far});
    const auto signed_out = b.op("select", {b.op("lt", {centred, c(centred, 0)}), b.op("neg", {out}), out});
    return b.op("select", {b.op("le", {size, c(size, 0.425)}), middle, signed_out});
  }

 private:
  using Polynomial = std::array<double, 8>;   ///< from the constant term up
  static constexpr Polynomial middle_over{3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727},
      middle_under{1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610},
      near_over{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4},
      near_under{1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9},
      far_over{6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
      far_under{1, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525, 7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};

  ValueId c(ValueId like, double v) { return b.splat_like(like, v); }
  template <std::size_t N> ValueId polynomial(ValueId x, const std::array<double, N>& p) {
    auto sum = c(x, p[N - 1]);
    for (std::size_t k = N - 1; k-- > 0;) sum = b.op("fma", {sum, x, c(x, p[k])});
    return sum;
  }
  ValueId rational(ValueId x, const Polynomial& over, const Polynomial& under) { return b.op("div", {polynomial(x, over), polynomial(x, under)}); }

  /// log x of a normal positive x = f 2^e, f from 0.707 to 1.414.
  ValueId log(ValueId x) {
    const auto as = [&](ValueId v, DType t) {
      AttrMap a;
      a.set("dtype", t);
      return b.op("bitcast", {v}, std::move(a));
    };
    const auto bits = as(x, DType::i64);
    const auto above = b.op("sub", {bits, c(bits, 0x3fe6a09e * 0x1p32)});
    const auto e = b.op("shift_right", {above, c(above, 52)});
    const auto f = as(b.op("sub", {bits, b.op("shift_left", {e, c(e, 52)})}), DType::f64);
    const auto s = b.op("div", {b.op("sub", {f, c(f, 1)}), b.op("add", {f, c(f, 1)})});
    std::array<double, 12> series{};
    for (std::size_t k = 0; k < series.size(); ++k) series[k] = 2.0 / static_cast<double>(2 * k + 1);
    const auto fraction = b.op("mul", {s, polynomial(b.op("mul", {s, s}), series)});
    return b.op("fma", {b.convert(e, DType::f64), c(x, 0x1.62e42fefa39efp-1), fraction});
  }
};

struct RandomNormal {
  static constexpr OpRow row{"random_normal", "key", OpClass::composite,
      "Normal numbers: the quantile of p = (k + 1/2) 2^-52, k the upper 52 bits of random_bits (u64), in f64 with a relative error below 2^-50; then times stddev plus mean (one fma), rounded to the dtype. At most 8.21 standard deviations from the mean."};
  static constexpr std::string_view equation = "r[i] = convert(fma(quantile((k[i] + 1/2) 2^-52), stddev, mean)), k[i] = bits[i] >> 12";
  static constexpr std::array attrs{shape_attr, AttrSpec{"dtype", AttrKind::dtype}, AttrSpec{"mean", AttrKind::real, "0"}, AttrSpec{"stddev", AttrKind::real, "1"}};
  static constexpr std::array constraints{key_constraint, filled_constraint, Constraint{"C3", "dtype is a float."}, Constraint{"C4", "mean and stddev are finite, stddev not negative."}};
  static constexpr std::array edges{Edge{"E1", "stddev = 0", "mean, always", "PyTorch and NumPy do the same"}, Edge{"E2", "a result beyond the dtype's range", "as convert from f64: an infinity, or the greatest f8e4m3fn"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_random(in, a); !e.empty()) return no(e);
    const DType t = a.get<DType>("dtype");
    if (!is_float(t)) return no("C3: random_normal gives floats, not " + std::string(name(t)));
    if (!std::isfinite(a.real("mean")) || !std::isfinite(a.real("stddev")) || a.real("stddev") < 0) return no("C4: mean " + std::to_string(a.real("mean")) + " and stddev " + std::to_string(a.real("stddev")) + " give no distribution");
    return one({t, a.get<Shape>("shape")});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto& shape = a.get<Shape>("shape");
    const auto k = shifted_right(b, random_words(b, in[0], DType::u64, filled(shape)), 12);
    // In units of 2^-53: p - 1/2 is 2k + 1 - 2^52, and what is left of 1/2 is 2^52 minus its size. Both are exact.
    const auto twice = b.convert(b.op("add", {b.op("shift_left", {k, b.splat_like(k, 1)}), b.splat_like(k, 1)}), DType::i64);
    const auto units = b.op("sub", {twice, b.splat_like(twice, 0x1p52)});
    const auto rest = b.op("sub", {b.splat_like(units, 0x1p52), b.op("abs", {units})});
    const auto real = [&](ValueId v) {
      const auto x = b.convert(v, DType::f64);
      return b.op("mul", {x, b.splat_like(x, 0x1p-53)});
    };
    auto z = NormalQuantile{b}.of(real(units), real(rest));
    if (a.real("mean") != 0 || a.real("stddev") != 1) z = b.op("fma", {z, b.splat_like(z, a.real("stddev")), b.splat_like(z, a.real("mean"))});
    return {b.reshape(b.convert(z, a.get<DType>("dtype")), shape)};
  }
};

using DistributionOps = OpList<RandomUniform, RandomNormal>;

}  // namespace plumb::ir::ops
