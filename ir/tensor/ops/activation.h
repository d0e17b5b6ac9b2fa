// Activations: element by element, each by its formula where that is sound, else by one that neither overflows nor
// cancels. Those of floats compute narrow floats in f32 and round once.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

/// What one float gives one float.
struct FloatMap {
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
    return one(in[0]);
  }
};

/// log(1 + e^x): no exponential overflows.
inline ValueId softplus_of(const Words& w, ValueId x) { return w("add", w.with("maximum", x, 0), w("log1p", w("exp", w("neg", w("abs", x))))); }

struct Elu : FloatMap {
  static constexpr OpRow row{"elu", "x", OpClass::composite, "scale * x above 0, else scale * alpha * (e^(input_scale x) - 1), without cancellation near 0.", "slope of the side below at 0"};
  static constexpr std::string_view equation = "out[i] = x[i] > 0 or NaN ? scale x[i] : scale alpha expm1(input_scale x[i])";
  static constexpr std::array attrs{AttrSpec{"alpha", AttrKind::real, "1"}, AttrSpec{"scale", AttrKind::real, "1"}, AttrSpec{"input_scale", AttrKind::real, "1"}};
  static constexpr std::array edges{Edge{"E1", "x = -inf, -0, NaN", "-alpha scale, -0, NaN", "the same: PyTorch"}};
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto below = w.scaled(w("expm1", w.scaled(v[0], a.real("input_scale"))), a.real("alpha") * a.real("scale"));
      return {w("select", w.with("le", v[0], 0), below, w.scaled(v[0], a.real("scale")))};
    });
  }
};

struct Selu : FloatMap {
  static constexpr OpRow row{"selu", "x", OpClass::composite, "gamma * x above 0, else gamma * (alpha * (e^x - 1)), without cancellation near 0.", "slope of the side below at 0"};
  static constexpr std::string_view equation = "out[i] = gamma (x[i] > 0 ? x[i] : alpha expm1(x[i]))";
  static constexpr std::array attrs{AttrSpec{"alpha", AttrKind::real, "1.6732632423543772"}, AttrSpec{"gamma", AttrKind::real, "1.0507009873554805"}};
  static constexpr std::array edges{Edge{"E1", "x = -inf", "-gamma alpha, each product rounded", "the same: PyTorch, ONNX Runtime"}};
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      return {w.scaled(w("select", w.with("gt", v[0], 0), v[0], w.scaled(w("expm1", v[0]), a.real("alpha"))), a.real("gamma"))};
    });
  }
};

struct Celu : FloatMap {
  static constexpr OpRow row{"celu", "x", OpClass::composite, "x above 0, else alpha * (e^(x / alpha) - 1), without cancellation near 0.", "slope 1 at 0"};
  static constexpr std::string_view equation = "out[i] = x[i] > 0 ? x[i] : alpha expm1(x[i] / alpha)";
  static constexpr std::array attrs{AttrSpec{"alpha", AttrKind::real, "1"}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "alpha is not 0."}};
  static constexpr std::array edges{Edge{"E1", "x = -inf, -0, inf", "-alpha, -0, inf", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (a.real("alpha") == 0) return no("C2: alpha is 0");
    return FloatMap::infer(in, a);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const double alpha = a.real("alpha");
      return {w("select", w.with("gt", v[0], 0), v[0], w.scaled(w("expm1", alpha == 1 ? v[0] : w.with("div", v[0], alpha)), alpha))};
    });
  }
};

struct LeakyRelu : FloatMap {
  static constexpr OpRow row{"leaky_relu", "x", OpClass::composite, "x, times the slope where x is below 0.", "slope 1 at 0"};
  static constexpr std::string_view equation = "out[i] = x[i] < 0 ? slope x[i] : x[i]";
  static constexpr std::array attrs{AttrSpec{"slope", AttrKind::real, "0.01"}};
  static constexpr std::array edges{Edge{"E1", "slope = 0, x = -inf", "NaN: 0 times infinity", "the same: PyTorch"}};
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    return {w("select", w.with("lt", in[0], 0), w.with("mul", in[0], a.real("slope")), in[0])};
  }
};

struct Prelu {
  static constexpr OpRow row{"prelu", "x, slope", OpClass::composite, "x, times the slope where x is below 0; slope broadcasts to x by NumPy's rule.", "slope 1 at 0"};
  static constexpr std::string_view equation = "out[i] = x[i] < 0 ? slope[i] x[i] : x[i]";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "x and slope share a numeric dtype."}, Constraint{"C2", "slope broadcasts to x."}};
  static constexpr std::array edges{Edge{"E1", "slope NaN where x is not below 0", "x: the slope is not read", "the same: ONNX and PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in[0].dtype != in[1].dtype || is_bool(in[0].dtype)) return no("C1: operands must share a numeric dtype, not " + in[0].str() + " and " + in[1].str());
    const auto s = broadcast_shapes(in[0].shape, in[1].shape);
    if (!std::holds_alternative<Shape>(s) || std::get<Shape>(s) != in[0].shape) return no("C2: " + in[1].str() + " does not broadcast to " + in[0].str());
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap&) {
    const Words w{b};
    const auto slope = b.broadcast_to(in[1], w.type(in[0]).shape);
    return {w("select", w.with("lt", in[0], 0), w("mul", in[0], slope), in[0])};
  }
};

struct Threshold {
  static constexpr OpRow row{"threshold", "x", OpClass::composite, "x where it is above the threshold or NaN, else value.", "slope 0 at the threshold"};
  static constexpr std::string_view equation = "out[i] = x[i] <= threshold ? value : x[i]";
  static constexpr std::array attrs{AttrSpec{"threshold", AttrKind::real}, AttrSpec{"value", AttrKind::real}};
  static constexpr std::array constraints{Constraint{"C1", "x is numeric."}};
  static constexpr std::array edges{Edge{"E1", "x = threshold, NaN", "value, NaN", "PyTorch the same; ONNX's ThresholdedRelu gives 0 for NaN"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (is_bool(in[0].dtype)) return no("C1: takes numbers, not bool");
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    return {w("select", w.with("le", in[0], a.real("threshold")), b.splat_like(in[0], a.real("value")), in[0])};
  }
};

/// relu6 is low = 0, high = 6.
struct Hardtanh {
  static constexpr OpRow row{"hardtanh", "x", OpClass::composite, "minimum(maximum(x, low), high): NaN stays NaN; where low > high, high.", "slope 0 at low and at high"};
  static constexpr std::string_view equation = "out[i] = min(max(x[i], low), high)";
  static constexpr std::array attrs{AttrSpec{"low", AttrKind::real, "-1"}, AttrSpec{"high", AttrKind::real, "1"}};
  static constexpr std::array constraints{Constraint{"C1", "x is numeric."}};
  static constexpr std::array edges{Edge{"E1", "x = NaN, inf, -0 with low = 0", "NaN, high, +0", "PyTorch keeps -0"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) { return Threshold::infer(in, a); }
  static Out decompose(Builder& b, In in, const AttrMap& a) { return {Words{b}.clamp(in[0], a.real("low"), a.real("high"))}; }
};

struct HardSigmoid : FloatMap {
  static constexpr OpRow row{"hard_sigmoid", "x", OpClass::composite, "alpha * x + beta, cut to [0, 1].", "slope 0 at both ends"};
  static constexpr std::string_view equation = "out[i] = min(max(alpha x[i] + beta, 0), 1)";
  static constexpr std::array attrs{AttrSpec{"alpha", AttrKind::real, "0.16666666666666666"}, AttrSpec{"beta", AttrKind::real, "0.5"}};
  static constexpr std::array edges{Edge{"E1", "x = NaN, inf, -inf", "NaN, 1, 0", "the same: PyTorch, ONNX Runtime"}};
  static ValueId of(const Words& w, ValueId x, double alpha, double beta) { return w.clamp(w.with("add", w.scaled(x, alpha), beta), 0, 1); }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out { return {of({b}, v[0], a.real("alpha"), a.real("beta"))}; });
  }
};

struct HardSwish : FloatMap {
  static constexpr OpRow row{"hard_swish", "x", OpClass::composite, "x * min(max(x + 3, 0), 6) / 6.", "slope 0 at -3, 1 at 3"};
  static constexpr std::string_view equation = "out[i] = x[i] min(max(x[i] + 3, 0), 6) / 6";
  static constexpr std::array edges{Edge{"E1", "x = -inf, inf", "NaN: -inf times 0; inf", "the same: PyTorch"}};
  static Out decompose(Builder& b, In in, const AttrMap&) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      return {w.with("div", w("mul", v[0], w.clamp(w.with("add", v[0], 3), 0, 6)), 6)};
    });
  }
};

struct Softplus : FloatMap {
  static constexpr OpRow row{"softplus", "x", OpClass::composite, "log(1 + e^(beta x)) / beta as (max(beta x, 0) + log1p(e^-|beta x|)) / beta; x itself where beta x is above the threshold."};
  static constexpr std::string_view equation = "out[i] = beta x[i] > threshold ? x[i] : log(1 + exp(beta x[i])) / beta";
  static constexpr std::array attrs{AttrSpec{"beta", AttrKind::real, "1"}, AttrSpec{"threshold", AttrKind::real, "inf"}};
  static constexpr std::array edges{Edge{"E1", "x = 1000, -1000, -inf, inf", "1000, 0, 0, inf: no exponential overflows", "PyTorch the same, above its threshold of 20 by x itself"}};
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const double beta = a.real("beta"), threshold = a.real("threshold");
      const auto z = w.scaled(v[0], beta);
      const auto y = softplus_of(w, z), r = beta == 1 ? y : w.with("div", y, beta);
      return {threshold == std::numeric_limits<double>::infinity() ? r : w("select", w.with("gt", z, threshold), v[0], r)};
    });
  }
};

struct LogSigmoid : FloatMap {
  static constexpr OpRow row{"log_sigmoid", "x", OpClass::composite, "log(1 / (1 + e^-x)) as min(x, 0) - log1p(e^-|x|)."};
  static constexpr std::string_view equation = "out[i] = -log(1 + exp(-x[i]))";
  static constexpr std::array edges{Edge{"E1", "x = -1000, -inf, inf", "-1000, -inf, -0 or 0 by the subtraction 0 - 0 = 0", "PyTorch gives -0 at inf"}};
  static Out decompose(Builder& b, In in, const AttrMap&) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      return {w("sub", w.with("minimum", v[0], 0), w("log1p", w("exp", w("neg", w("abs", v[0])))))};
    });
  }
};

struct Softsign : FloatMap {
  static constexpr OpRow row{"softsign", "x", OpClass::composite, "x / (1 + |x|)."};
  static constexpr std::string_view equation = "out[i] = x[i] / (1 + |x[i]|)";
  static constexpr std::array edges{Edge{"E1", "x = inf, -0", "NaN: inf / inf; -0", "the same: PyTorch"}};
  static Out decompose(Builder& b, In in, const AttrMap&) {
    return in_f32(b, in, 0, [&](In v) -> Out { return {b.op("div", {v[0], Words{b}.with("add", b.op("abs", {v[0]}), 1)})}; });
  }
};

struct Mish : FloatMap {
  static constexpr OpRow row{"mish", "x", OpClass::composite, "x * tanh(log(1 + e^x))."};
  static constexpr std::string_view equation = "out[i] = x[i] tanh(log(1 + exp(x[i])))";
  static constexpr std::array edges{Edge{"E1", "x = 1000, -inf", "1000, NaN: -inf times 0", "the same: PyTorch"}};
  static Out decompose(Builder& b, In in, const AttrMap&) {
    return in_f32(b, in, 0, [&](In v) -> Out { return {b.op("mul", {v[0], b.op("tanh", {softplus_of({b}, v[0])})})}; });
  }
};

/// softshrink is bias = lambda, hardshrink bias = 0.
struct Shrink : FloatMap {
  static constexpr OpRow row{"shrink", "x", OpClass::composite, "x - bias above lambda, x + bias below -lambda, 0 between; NaN stays NaN.", "slope 0 at -lambda and lambda"};
  static constexpr std::string_view equation = "out[i] = x[i] > lambda ? x[i] - bias : x[i] < -lambda ? x[i] + bias : 0";
  static constexpr std::array attrs{AttrSpec{"lambda", AttrKind::real, "0.5"}, AttrSpec{"bias", AttrKind::real, "0"}};
  static constexpr std::array edges{Edge{"E1", "x = NaN, lambda", "NaN, 0", "PyTorch the same; ONNX's Shrink gives 0 for NaN"}};
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto x = v[0], bias = b.splat_like(x, a.real("bias"));
      const auto moved = a.real("bias") == 0 ? x : w("select", w.with("gt", x, 0), w("sub", x, bias), w("add", x, bias));
      return {w("select", w.with("le", w("abs", x), a.real("lambda")), b.splat_like(x, 0), moved)};
    });
  }
};

struct Glu : FloatMap {
  static constexpr OpRow row{"glu", "x", OpClass::composite, "The first half of the axis times the sigmoid of the second."};
  static constexpr std::string_view equation = "out[…, k, …] = x[…, k, …] sigmoid(x[…, k + n/2, …]), n the axis' size";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "axis lies in x's rank."}, Constraint{"C3", "the axis' size is even."}};
  static constexpr std::array edges{Edge{"E1", "a gate of -inf and a value of inf", "NaN: inf times 0", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C2: " + e);
    Type t = in[0];
    auto& d = t.shape[static_cast<std::size_t>(a.integer("axis"))];
    if (d.size() % 2 != 0) return no("C3: the axis' size " + d.str() + " is odd");
    d = d.size() / 2;
    return FloatMap::infer(std::span(&t, 1), a);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto axis = static_cast<std::size_t>(a.integer("axis"));
      const auto half = w.size(v[0], axis) / 2;
      return {w("mul", w.slice(v[0], axis, 0, half), w("sigmoid", w.slice(v[0], axis, half, 2 * half)))};
    });
  }
};

using ActivationOps = OpList<Elu, Selu, Celu, LeakyRelu, Prelu, Threshold, Hardtanh, HardSigmoid, HardSwish, Softplus, LogSigmoid, Softsign, Mish, Shrink, Glu>;

}  // namespace plumb::ir::ops
