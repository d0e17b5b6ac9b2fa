// Normalisations: by the statistics of a group, an instance, a batch, a neighbourhood. Narrow floats run in f32.
#pragma once
#include "ir/tensor/ops/statistics.h"

namespace plumb::ir::ops {

/// operands 1 and 2, where there are any, are a scale and a bias of that type.
inline std::string check_affine(std::span<const Type> in, const Type& want) {
  if (in.size() != 1 && in.size() != 3) return "takes x, or x, scale and bias";
  for (std::size_t k = 1; k < in.size(); ++k)
    if (in[k] != want) return "scale and bias must be " + want.str() + ", not " + in[k].str();
  return {};
}
/// centred / sqrt(variance + epsilon), then scale and bias a channel where v has them.
inline ValueId normalised(const Words& w, const Moments& m, const Ints& axes, double epsilon) {
  return w("div", m.centred, w.spread(w("sqrt", w.with("add", m.variance, epsilon)), axes, m.centred));
}
inline ValueId affine_by_channel(const Words& w, ValueId y, In v) {
  return v.size() < 3 ? y : w("add", w("mul", y, w.per_channel(v[1], y)), w.per_channel(v[2], y));
}

struct GroupNorm {
  static constexpr OpRow row{"group_norm", "x, scale_and_bias...", OpClass::composite,
      "x is [N, C, …]; each image's channels, cut into groups, are normalised a group: (x - mean) / sqrt(var + epsilon), var the mean square of x - mean; then scaled and moved a channel. "
      "Also gives each group's mean and 1 / sqrt(var + epsilon), [N, groups]."};
  static constexpr std::string_view equation = "out[n, c, i] = (x[n, c, i] - mean[n, g]) / sqrt(var[n, g] + epsilon) scale[c] + bias[c], g = floor(c groups / C)";
  static constexpr std::array attrs{AttrSpec{"groups", AttrKind::integer}, AttrSpec{"epsilon", AttrKind::real, "1e-05"}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "x's rank is at least 2."}, Constraint{"C3", "there are no further operands, or scale and bias, of x's dtype, [C]."}, Constraint{"C4", "groups divides C."}};
  static constexpr std::array edges{Edge{"E1", "a constant group", "its bias: 0 / sqrt(epsilon) scaled", "the same: PyTorch"}, Edge{"E2", "epsilon = 0, a constant group", "NaN: 0 / 0", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
    if (in[0].rank() < 2) return no("C2: x needs a channel axis (axis 1)");
    if (auto e = check_affine(in, {in[0].dtype, {in[0].shape[1]}}); !e.empty()) return no("C3: " + e);
    const auto groups = a.integer("groups");
    if (groups < 1 || in[0].shape[1].size() % groups != 0) return no("C4: " + in[0].shape[1].str() + " channels do not divide into " + std::to_string(groups) + " groups");
    const Type statistic{in[0].dtype, {in[0].shape[0], groups}};
    return std::vector<Type>{in[0], statistic, statistic};
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const Type t = w.type(v[0]);
      const std::int64_t batch = t.shape[0].size(), groups = a.integer("groups");
      const Extents e = t.extents();
      const auto inner = t.shape[1].size() / groups * element_count({e.begin() + 2, e.size() - 2});
      const auto m = moments(w, b.reshape(v[0], {batch, groups, inner}), {2});
      const auto deviation = w("sqrt", w.with("add", m.variance, a.real("epsilon")));
      const auto y = b.reshape(w("div", m.centred, w.spread(deviation, {2}, m.centred)), t.shape);
      return {affine_by_channel(w, y, v), m.mean, w("reciprocal", deviation)};
    });
  }
};

struct InstanceNorm {
  static constexpr OpRow row{"instance_norm", "x, scale_and_bias...", OpClass::composite, "x is [N, C, …]; each channel of each image: (x - mean) / sqrt(var + epsilon) * scale + bias, var the mean square of x - mean."};
  static constexpr std::string_view equation = "out[n, c, i] = (x[n, c, i] - mean[n, c]) / sqrt(var[n, c] + epsilon) scale[c] + bias[c]";
  static constexpr std::array attrs{AttrSpec{"epsilon", AttrKind::real, "1e-05"}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "x's rank is at least 3."}, Constraint{"C3", "there are no further operands, or scale and bias, of x's dtype, [C]."}};
  static constexpr std::array edges{Edge{"E1", "one element a channel", "its bias: 0 / sqrt(epsilon) scaled", "ONNX Runtime the same; PyTorch rejects it in training"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
    if (in[0].rank() < 3) return no("C2: x needs batch, channel and other axes");
    if (auto e = check_affine(in, {in[0].dtype, {in[0].shape[1]}}); !e.empty()) return no("C3: " + e);
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const Ints axes = first_axes(w.rank(v[0]), 2);
      return {affine_by_channel(w, normalised(w, moments(w, v[0], axes), axes, a.real("epsilon")), v)};
    });
  }
};

struct RmsNorm {
  static constexpr OpRow row{"rms_norm", "x, scale...", OpClass::composite, "x / sqrt(mean(x^2) + epsilon), over the axes from `axis` on, times scale, where there is one, of those axes' shape."};
  static constexpr std::string_view equation = "out[i, r] = x[i, r] / sqrt(sum_r x[i, r]^2 / n + epsilon) scale[r]";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}, AttrSpec{"epsilon", AttrKind::real, "1e-05"}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "axis lies in x's rank."}, Constraint{"C3", "scale has x's dtype and the shape of the axes from axis on."}};
  static constexpr std::array edges{Edge{"E1", "a row of 0, epsilon = 0", "NaN: 0 / 0", "PyTorch the same: 0 times 1 / 0"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C2: " + e);
    const Type tail{in[0].dtype, Shape(in[0].shape.begin() + a.integer("axis"), in[0].shape.end())};
    if (in.size() > 2 || (in.size() == 2 && in[1] != tail)) return no("C3: scale must be " + tail.str());
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const Ints axes = first_axes(w.rank(v[0]), static_cast<std::size_t>(a.integer("axis")));
      const auto size = w("sqrt", w.with("add", w.reduce("reduce_mean", w.square(v[0]), axes), a.real("epsilon")));
      const auto y = w("div", v[0], w.spread(size, axes, v[0]));
      return {v.size() == 1 ? y : w("mul", y, b.broadcast_to(v[1], w.type(y).shape))};
    });
  }
};

struct BatchNormTraining {
  static constexpr OpRow row{"batch_norm_training", "x, scale_and_bias...", OpClass::composite,
      "x is [N, C, …]; each channel over the whole batch: (x - mean) / sqrt(var + epsilon) * scale + bias. Also gives each channel's mean and var, the mean square of x - mean, for the running statistics."};
  static constexpr std::string_view equation = "out[n, c, i] = (x[n, c, i] - mean[c]) / sqrt(var[c] + epsilon) scale[c] + bias[c]";
  static constexpr std::array attrs{AttrSpec{"epsilon", AttrKind::real, "1e-05"}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "x's rank is at least 2."}, Constraint{"C3", "there are no further operands, or scale and bias, of x's dtype, [C]."}};
  static constexpr std::array edges{Edge{"E1", "one element a channel", "its bias; var 0", "PyTorch rejects it"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
    if (in[0].rank() < 2) return no("C2: x needs a channel axis (axis 1)");
    const Type channel{in[0].dtype, {in[0].shape[1]}};
    if (auto e = check_affine(in, channel); !e.empty()) return no("C3: " + e);
    return std::vector<Type>{in[0], channel, channel};
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      Ints axes = first_axes(w.rank(v[0]), 1);
      axes[0] = 0;
      const auto m = moments(w, v[0], axes);
      return {affine_by_channel(w, normalised(w, m, axes, a.real("epsilon")), v), m.mean, m.variance};
    });
  }
};

struct LocalResponseNorm {
  static constexpr OpRow row{"local_response_norm", "x", OpClass::composite,
      "x / (k + alpha / size * s)^beta, s the sum of squares over `size` channels (axis 1) around: (size - 1) / 2, rounded down, before, or after when low_side is false; channels beyond the ends count as 0."};
  static constexpr std::string_view equation = "out[n, c, i] = x[n, c, i] / (k + alpha / size sum_{d = c - l}^{c - l + size - 1} x[n, d, i]^2)^beta, l = floor((size - 1) / 2), or ceil";
  static constexpr std::array attrs{AttrSpec{"size", AttrKind::integer}, AttrSpec{"alpha", AttrKind::real, "0.0001"}, AttrSpec{"beta", AttrKind::real, "0.75"}, AttrSpec{"k", AttrKind::real, "1"},
                                    AttrSpec{"low_side", AttrKind::boolean, "true"}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "x's rank is at least 2."}, Constraint{"C3", "size is in [1, 2^20]."}};
  static constexpr std::array edges{Edge{"E1", "size even", "the odd channel is after; before with low_side = false", "ONNX has it after, PyTorch before"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
    if (in[0].rank() < 2) return no("C2: x needs a channel axis (axis 1)");
    if (a.integer("size") < 1 || a.integer("size") > (1 << 20)) return no("C3: size is " + std::to_string(a.integer("size")));
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto size = a.integer("size");
      Ints window(w.rank(v[0]), 1), low(w.rank(v[0]), 0), high = low;
      window[1] = size;
      low[1] = a.flag("low_side") ? (size - 1) / 2 : size / 2;
      high[1] = size - 1 - low[1];
      const auto squares = b.op("reduce_window_sum", {w.square(v[0])}, attr_list({{"window", window}, {"low", low}, {"high", high}}));
      const auto base = w.with("add", w.with("mul", squares, a.real("alpha") / static_cast<double>(size)), a.real("k"));
      return {w("div", v[0], w.with("pow", base, a.real("beta")))};
    });
  }
};

struct Normalize {
  static constexpr OpRow row{"normalize", "x", OpClass::composite, "x / max(norm, epsilon), the p-norm along the axis.", "slope of the norm 0 where it is 0"};
  static constexpr std::string_view equation = "out[i, k] = x[i, k] / max((sum_k |x[i, k]|^p)^(1/p), epsilon)";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}, AttrSpec{"p", AttrKind::real, "2"}, AttrSpec{"epsilon", AttrKind::real, "1e-12"}};
  static constexpr std::array constraints{Constraint{"C1", "axis lies in x's rank."}, Constraint{"C2", "x has a float dtype."}, Constraint{"C3", "p is not NaN; p is at least 0 where the axis is empty."}};
  static constexpr std::array edges{Edge{"E1", "a vector of 0", "0", "the same: PyTorch"}, Edge{"E2", "a vector with an inf", "NaN there, 0 elsewhere", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    auto norm = Norm::infer(in, attr_list({{"axes", Ints{a.integer("axis")}}, {"p", a.real("p")}}));
    return std::holds_alternative<std::string>(norm) ? norm : one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const Ints axes{a.integer("axis")};
      return {w("div", v[0], w.spread(w.with("maximum", norm_of(w, v[0], axes, a.real("p")), a.real("epsilon")), axes, v[0]))};
    });
  }
};

using NormalizationOps = OpList<GroupNorm, InstanceNorm, RmsNorm, BatchNormTraining, LocalResponseNorm, Normalize>;

}  // namespace plumb::ir::ops
