// Discrete Fourier transforms of one or more axes.
#pragma once
#include <cmath>

#include "ir/tensor/fourier.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

inline constexpr AttrSpec norm_attr{"norm", AttrKind::text, "backward"};
inline constexpr std::array fft_constraints{
    Constraint{"C1", "x is complex (of rfft: f32 or f64)"}, Constraint{"C2", "axes are distinct axes of x, and at least one"}, Constraint{"C3", "no axis transformed has size 0"},
    Constraint{"C4", "norm is backward, ortho or forward"}};
inline constexpr std::array fft_edges{
    Edge{"E1", "an axis of size 1", "the elements as they are", "NumPy, PyTorch"},
    Edge{"E2", "NaN or an infinity", "reaches every element of its line: NaN in most", "NumPy, PyTorch, by the arithmetic"},
    Edge{"E3", "norm", "backward: the inverse is divided by the count n of elements transformed together; forward: the transform is; ortho: both by its root", "NumPy, PyTorch, JAX"},
    Edge{"E4", "other axes of size 0", "no elements", "NumPy, PyTorch"}};
inline std::string check_fft(const Type& x, const AttrMap& a, bool real) {
  if (real ? x.dtype != DType::f32 && x.dtype != DType::f64 : !is_complex(x.dtype)) return "C1: takes " + std::string(real ? "f32 or f64" : "complex numbers") + ", not " + x.str();
  const auto& axes = a.ints("axes");
  if (axes.empty()) return "C2: names no axis";
  if (auto e = check_axes(axes, x.rank(), "axis"); !e.empty()) return "C2: " + e;
  for (auto d : axes)
    if (x.shape[static_cast<std::size_t>(d)] == Dim(0)) return "C3: axis " + std::to_string(d) + " has size 0";
  const auto& norm = a.get<std::string>("norm");
  if (norm != "backward" && norm != "ortho" && norm != "forward") return "C4: norm is backward, ortho or forward, not " + norm;
  return {};
}
/// x divided as the norm says, n elements having been transformed together.
inline ValueId normalised(Builder& b, ValueId x, double n, const std::string& norm, bool inverse) {
  if (norm == "ortho") return divided(b, x, std::sqrt(n));
  return norm == (inverse ? "backward" : "forward") ? divided(b, x, n) : x;
}
inline double count_of(const Shape& s, std::span<const std::int64_t> axes) {
  double n = 1;
  for (auto d : axes) n *= static_cast<double>(s[static_cast<std::size_t>(d)].size());
  return n;
}

template <bool Inverse> struct Fft {
  static constexpr OpRow row{Inverse ? "ifft" : "fft", "x", OpClass::composite,
      Inverse ? "The inverse transform over the axes; with norm = backward divided by the number of elements transformed together." : "The discrete Fourier transform over the axes."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = Inverse ? "r[k] = 1/n sum_j x[j] e^(+2 pi i j k / n), axis by axis" : "r[k] = sum_j x[j] e^(-2 pi i j k / n), axis by axis";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}, norm_attr};
  static constexpr auto constraints = fft_constraints;
  static constexpr auto edges = fft_edges;
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_fft(in[0], a, false); !e.empty()) return no(e);
    return one(in[0]);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    ValueId x = in[0];
    for (auto d : a.ints("axes")) x = fourier(b, x, d, Inverse);
    return {normalised(b, x, count_of(b.type(x).shape, a.ints("axes")), a.get<std::string>("norm"), Inverse)};
  }
};

struct Rfft {
  static constexpr OpRow row{"rfft", "x", OpClass::composite, "The transform of real numbers: fft, of the last of the axes only the first n / 2 + 1 elements; the others are their conjugates."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "r[k] = sum_j x[j] e^(-2 pi i j k / n), 0 <= k <= n / 2";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}, norm_attr};
  static constexpr auto constraints = fft_constraints;
  static constexpr auto edges = fft_edges;
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_fft(in[0], a, true); !e.empty()) return no(e);
    Type t{complex_dtype(in[0].dtype), in[0].shape};
    auto& last = t.shape[static_cast<std::size_t>(a.ints("axes").back())];
    last = last.size() / 2 + 1;
    return one(t);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const Shape shape = b.type(in[0]).shape;
    const auto& axes = a.ints("axes");
    const auto last = static_cast<std::size_t>(axes.back());
    Ints start(shape.size(), 0), limit;
    for (const auto& d : shape) limit.push_back(d.size());
    limit[last] = shape[last].size() / 2 + 1;
    AttrMap half;
    half.set("start", start), half.set("limit", limit);
    ValueId x = b.op("slice", {fourier(b, b.op("complex", {in[0], b.splat_like(in[0], 0)}), axes.back(), false)}, std::move(half));
    for (std::size_t k = 0; k + 1 < axes.size(); ++k) x = fourier(b, x, axes[k], false);
    return {normalised(b, x, count_of(shape, axes), a.get<std::string>("norm"), false)};
  }
};

struct Irfft {
  static constexpr OpRow row{"irfft", "x", OpClass::composite, "The inverse of rfft: `length` real numbers along the last of the axes. The imaginary part of the first element, and for an even length of the last, has no effect."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "r[j] = 1/n Re sum_k X[k] e^(+2 pi i j k / n), X[n - k] = conj(x[k])";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}, AttrSpec{"length", AttrKind::integer}, norm_attr};
  static constexpr std::array constraints{fft_constraints[0], fft_constraints[1], fft_constraints[2], fft_constraints[3], Constraint{"C5", "the last of the axes has length / 2 + 1 elements, length at least 1"}};
  static constexpr auto edges = fft_edges;
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_fft(in[0], a, false); !e.empty()) return no(e);
    Type t{part_dtype(in[0].dtype), in[0].shape};
    auto& last = t.shape[static_cast<std::size_t>(a.ints("axes").back())];
    const auto length = a.integer("length");
    if (length < 1 || length / 2 + 1 != last.size()) return no("C5: " + std::to_string(length) + " real numbers have " + std::to_string(length / 2 + 1) + " elements, not the " + last.str() + " of " + in[0].str());
    last = length;
    return one(t);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto& axes = a.ints("axes");
    const auto length = a.integer("length");
    ValueId x = in[0];
    for (std::size_t k = 0; k + 1 < axes.size(); ++k) x = fourier(b, x, axes[k], true);
    x = b.op("real", {fourier(b, whole(b, x, axes.back(), length), axes.back(), true)});
    return {normalised(b, x, count_of(b.type(x).shape, axes), a.get<std::string>("norm"), true)};
  }

 private:
  /// x, and the conjugates of its elements from the middle back to the second.
  static ValueId whole(Builder& b, ValueId x, std::int64_t axis, std::int64_t length) {
    const auto d = static_cast<std::size_t>(axis);
    Ints start(b.type(x).rank(), 0), limit;
    for (const auto& s : b.type(x).shape) limit.push_back(s.size());
    const auto others = length - limit[d];
    if (others == 0) return x;
    start[d] = 1;
    limit[d] = 1 + others;
    AttrMap a, r, c;
    a.set("start", start), a.set("limit", limit);
    r.set("axes", Ints{axis});
    c.set("axis", axis);
    const auto back = b.op("conj", {b.op("reverse", {b.op("slice", {x}, std::move(a))}, std::move(r))});
    return b.op("concat", {x, back}, std::move(c));
  }
};

using FftOps = OpList<Fft<false>, Fft<true>, Rfft, Irfft>;

}  // namespace plumb::ir::ops
