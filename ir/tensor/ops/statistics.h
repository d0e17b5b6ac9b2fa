// Reductions of several steps: variance, norms, log-sum-exp, truth, counts, extremes with their places.
#pragma once
#include <cmath>

#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

inline Inferred reduced_floats(std::span<const Type> in, const AttrMap& a) {
  if (auto e = check_axes(a.ints("axes"), in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
  if (!is_float(in[0].dtype)) return no("C2: takes floats, not " + std::string(name(in[0].dtype)));
  return one({in[0].dtype, drop(in[0].shape, a.ints("axes"))});
}
inline constexpr std::array reduced_floats_constraints{Constraint{"C1", "axes are distinct and lie in x's rank."}, Constraint{"C2", "x has a float dtype."}};

struct Moments { ValueId mean, variance, centred; };
/// Two passes: the mean, then the sum of squares of what is left, over n - correction (0 where that is negative).
inline Moments moments(const Words& w, ValueId x, const Ints& axes, double correction = 0) {
  double n = 1;
  for (auto d : axes) n *= static_cast<double>(w.size(x, static_cast<std::size_t>(d)));
  const auto mean = w.reduce("reduce_mean", x, axes);
  const auto centred = w("sub", x, w.spread(mean, axes, x));
  const auto squares = w.reduce("reduce_sum", w.square(centred), axes);
  return {mean, w.with("div", squares, std::fmax(n - correction, 0)), centred};
}

template <bool Mean> struct Var {
  static constexpr OpRow row{Mean ? "var_mean" : "var", "x", OpClass::composite,
      Mean ? "The variance (as var) and the mean (as reduce_mean) over the axes." : "The sum of squares of x - mean over the axes, divided by max(n - correction, 0). correction 1 is the unbiased estimate, 0 the mean square."};
  static constexpr std::string_view equation = "out[i] = sum_r (x[i, r] - mean[i])^2 / max(n - correction, 0), mean[i] = sum_r x[i, r] / n";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}, AttrSpec{"correction", AttrKind::real, "1"}};
  static constexpr std::span<const Constraint> constraints = reduced_floats_constraints;
  static constexpr std::array edges{Edge{"E1", "one element, correction 1; no element", "NaN: 0 / 0", "the same: PyTorch, NumPy"},
                                    Edge{"E2", "a large mean with small deviations", "two passes: no cancellation of large squares", "PyTorch (Welford) alike"},
                                    Edge{"E3", "squares beyond the accumulator's range, or below it", "inf; 0: nothing is widened silently", "the same: NumPy, JAX; PyTorch's CPU sums f32 in f64: convert to f64 around it"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    auto r = reduced_floats(in, a);
    if (auto* types = std::get_if<std::vector<Type>>(&r); types && Mean) types->push_back(types->front());
    return r;
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const auto m = moments({b}, v[0], a.ints("axes"), a.real("correction"));
      if (Mean) return {m.variance, m.mean};
      return {m.variance};
    });
  }
};

struct Logsumexp {
  static constexpr OpRow row{"logsumexp", "x", OpClass::composite, "m + log(sum(exp(x - m))) over the axes, m the maximum where that is finite, else 0: neither overflow nor inf - inf."};
  static constexpr std::string_view equation = "out[i] = log(sum_r exp(x[i, r]))";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static constexpr std::span<const Constraint> constraints = reduced_floats_constraints;
  static constexpr std::array edges{Edge{"E1", "all -inf, or no element", "-inf", "the same: PyTorch, SciPy"}, Edge{"E2", "an inf and no NaN", "inf", "the same: PyTorch, SciPy"},
                                    Edge{"E3", "1000, 1000", "1000 + log 2", "the same: PyTorch, SciPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) { return reduced_floats(in, a); }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto& axes = a.ints("axes");
      const auto greatest = w.reduce("reduce_max", v[0], axes);
      const auto m = w("select", w("is_finite", greatest), greatest, b.splat_like(greatest, 0));
      const auto shifted = w("sub", v[0], w.spread(m, axes, v[0]));
      return {w("add", w("log", w.reduce("reduce_sum", w("exp", shifted), axes)), m)};
    });
  }
};

/// The p-norm of x over the axes.
inline ValueId norm_of(const Words& w, ValueId x, const Ints& axes, double p) {
  const auto magnitude = w("abs", x);
  if (std::isinf(p)) return w.reduce(p > 0 ? "reduce_max" : "reduce_min", magnitude, axes);
  if (p == 0) return w.reduce("reduce_sum", w.b.convert(w.with("ne", x, 0), w.type(x).dtype), axes);
  if (p == 1) return w.reduce("reduce_sum", magnitude, axes);
  if (p == 2) return w("sqrt", w.reduce("reduce_sum", w.square(x), axes));
  return w.with("pow", w.reduce("reduce_sum", w.with("pow", magnitude, p), axes), 1 / p);
}

struct Norm {
  static constexpr OpRow row{"norm", "x", OpClass::composite, "The p-norm of the elements over the axes: (sum of |x|^p)^(1/p); p = inf the greatest |x|, -inf the least, 0 the number of elements that are not 0.", "slope 0 where the norm is 0"};
  static constexpr std::string_view equation = "out[i] = (sum_r |x[i, r]|^p)^(1/p)";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}, AttrSpec{"p", AttrKind::real, "2"}};
  static constexpr std::array constraints{Constraint{"C1", "axes are distinct and lie in x's rank."}, Constraint{"C2", "x has a float dtype."}, Constraint{"C3", "p is not NaN; p is at least 0 where no element is reduced."}};
  static constexpr std::array edges{Edge{"E1", "p = 2, elements whose square overflows", "inf: elements are not scaled", "the same: PyTorch"}, Edge{"E2", "p = inf and p = -inf, a NaN", "NaN", "the same: PyTorch"},
                                    Edge{"E3", "p = 0, a NaN", "it counts as one", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    auto r = reduced_floats(in, a);
    if (std::holds_alternative<std::string>(r)) return r;
    bool empty = false;
    for (auto d : a.ints("axes")) empty = empty || in[0].shape[static_cast<std::size_t>(d)] == Dim(0);
    if (std::isnan(a.real("p")) || (a.real("p") < 0 && empty)) return no("C3: there is no such norm of " + in[0].str());
    return r;
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out { return {norm_of({b}, v[0], a.ints("axes"), a.real("p"))}; });
  }
};

template <class Fn> struct Truth {
  static constexpr bool complex = true;
  static constexpr bool all = std::same_as<Fn, scalar::And>;
  static constexpr OpRow row{all ? "all" : "any", "x", OpClass::composite, all ? "Whether every element over the axes is not 0; NaN is not 0; true of none." : "Whether some element over the axes is not 0; NaN is not 0; false of none."};
  static constexpr std::string_view equation = all ? "out[i] = and_r x[i, r] != 0" : "out[i] = or_r x[i, r] != 0";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "axes are distinct and lie in x's rank."}};
  static constexpr std::array edges{Edge{"E1", "NaN; no element", all ? "counts as true; true" : "counts as true; false", "the same: PyTorch, NumPy"},
                                    Edge{"E2", "u8", "bool; convert gives the byte", "the same: NumPy, JAX; PyTorch gives u8"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axes(a.ints("axes"), in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
    return one({DType::boolean, drop(in[0].shape, a.ints("axes"))});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) { return {Words{b}.reduce(all ? "reduce_and" : "reduce_or", b.convert(in[0], DType::boolean), a.ints("axes"))}; }
};

struct CountNonzero {
  static constexpr bool complex = true;
  static constexpr OpRow row{"count_nonzero", "x", OpClass::composite, "How many elements over the axes are not 0 (i64); NaN is not 0."};
  static constexpr std::string_view equation = "out[i] = sum_r (x[i, r] != 0 ? 1 : 0)";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "axes are distinct and lie in x's rank."}};
  static constexpr std::array edges{Edge{"E1", "NaN, -0", "counts, does not", "the same: PyTorch, NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axes(a.ints("axes"), in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
    return one({DType::i64, drop(in[0].shape, a.ints("axes"))});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) { return {Words{b}.reduce("reduce_sum", b.convert(b.convert(in[0], DType::boolean), DType::i64), a.ints("axes"))}; }
};

template <bool Greatest> struct Extreme {
  static constexpr OpRow row{Greatest ? "max_with_index" : "min_with_index", "x", OpClass::composite,
      Greatest ? "The greatest element along the axis, and where it stands (argmax): the first of equals, the first NaN." : "The least element along the axis, and where it stands (argmin): the first of equals, the first NaN."};
  static constexpr std::string_view equation = Greatest ? "at[i] = argmax_k x[i, k]; out[i] = x[i, at[i]]" : "at[i] = argmin_k x[i, k]; out[i] = x[i, at[i]]";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "axis lies in x's rank."}, Constraint{"C2", "the axis is not empty."}};
  static constexpr std::array edges{Edge{"E1", "a NaN", "NaN, and the first NaN's index", "the same: PyTorch"}, Edge{"E2", "-0 and +0 tie", "the first index, and the element that stands there", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const std::int64_t axes[] = {a.integer("axis")};
    if (auto e = check_axes(axes, in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
    if (in[0].shape[static_cast<std::size_t>(axes[0])] == Dim(0)) return no("C2: the axis is empty");
    const Shape s = drop(in[0].shape, axes);
    return std::vector<Type>{{in[0].dtype, s}, {DType::i64, s}};
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const auto axis = a.integer("axis");
    const auto at = b.op(Greatest ? "argmax" : "argmin", {in[0]}, attr_list({{"axis", axis}}));
    Shape kept = b.type(in[0]).shape;
    kept[static_cast<std::size_t>(axis)] = 1;
    const auto value = b.op("gather_elements", {in[0], b.reshape(at, kept)}, attr_list({{"axis", axis}}));
    return {b.reshape(value, b.type(at).shape), at};
  }
};

using StatisticsOps = OpList<Var<false>, Var<true>, Logsumexp, Norm, Truth<scalar::And>, Truth<scalar::Or>, CountNonzero, Extreme<true>, Extreme<false>>;

}  // namespace plumb::ir::ops
