// Composites: each means its decomposition into primitives; a lowering may replace it by a template.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

inline constexpr std::array floats_with_axis{Constraint{"C1", "x is a tensor of floats."}, Constraint{"C2", "axis is an axis of x."}};
inline constexpr std::array floats_only{Constraint{"C1", "x is a tensor of floats."}};
inline Inferred float_like(std::span<const Type> in) {
  if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
  return one(in[0]);
}
inline Inferred float_like_with_axis(std::span<const Type> in, const AttrMap& a) {
  if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C2: " + e);
  return float_like(in);
}
/// x minus its maximum along the axis: where every shifted exponential is at most 1.
inline ValueId shifted(Builder& b, ValueId x, std::int64_t axis) {
  const std::int64_t axes[] = {axis};
  const auto peak = b.op("reduce_max", {x}, axes_attr({axis}));
  return b.op("sub", {x, b.keep_dims(peak, axes, b.type(x).shape, x)});
}

struct Softmax {
  static constexpr OpRow row{"softmax", "x", OpClass::composite, "exp(x - m) / sum(exp(x - m)) along the axis, m its maximum. A row of -inf, or with +inf or NaN, gives NaN."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static constexpr auto constraints = floats_with_axis;
  static constexpr std::array edges{
      Edge{"E1", "a row of -inf", "NaN: -inf - -inf", "the same: PyTorch, JAX, NumPy's formula; attention kernels that give 0 instead say so in their own record"},
      Edge{"E2", "+inf in a row", "NaN in the whole row: inf - inf", "the same: PyTorch, JAX"},
      Edge{"E3", "NaN in a row", "NaN in the whole row"},
      Edge{"E4", "-inf beside finite elements", "0 there", "the same: all"},
      Edge{"E5", "one element", "1, unless it is NaN or infinite"},
      Edge{"E6", "large finite elements", "no overflow: the greatest is subtracted first"},
      Edge{"E7", "an axis of size 0", "no elements"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) { return float_like_with_axis(in, a); }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const std::int64_t axes[] = {a.integer("axis")};
    const auto e = b.op("exp", {shifted(b, in[0], axes[0])});
    const auto total = b.op("reduce_sum", {e}, axes_attr({axes[0]}));
    return {b.op("div", {e, b.keep_dims(total, axes, b.type(e).shape, e)})};
  }
};

struct LogSoftmax {
  static constexpr OpRow row{"log_softmax", "x", OpClass::composite, "(x - m) - log(sum(exp(x - m))) along the axis, m its maximum."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static constexpr std::array edges{
      Edge{"E1", "-inf beside finite elements", "-inf there", "the same: PyTorch, JAX"},
      Edge{"E2", "a row of -inf, or with +inf or NaN", "NaN in the whole row", "the same: PyTorch, JAX"},
      Edge{"E3", "an element far below the greatest", "its distance: no logarithm of 0", "log(softmax(x)) gives -inf"},
      Edge{"E4", "one element", "0"},
      Edge{"E5", "an axis of size 0", "no elements"}};
  static constexpr auto constraints = floats_with_axis;
  static Inferred infer(std::span<const Type> in, const AttrMap& a) { return float_like_with_axis(in, a); }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const std::int64_t axes[] = {a.integer("axis")};
    const auto s = shifted(b, in[0], axes[0]);
    const auto total = b.op("log", {b.op("reduce_sum", {b.op("exp", {s})}, axes_attr({axes[0]}))});
    return {b.op("sub", {s, b.keep_dims(total, axes, b.type(s).shape, s)})};
  }
};

struct ReduceMean : PartByPart<ReduceMean> {
  static constexpr OpRow row{"reduce_mean", "x", OpClass::composite, "The sum in the accumulator's dtype divided by the number of elements reduced, rounded to x's dtype; of complex numbers, of each part."};
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static constexpr std::string_view equation =
      "r[i] = round(reduce_sum(x in acc(t))[i] / n, t),  n the number of elements reduced";
  static constexpr std::array constraints{
      Constraint{"C1", "axes are distinct axes of x."},
      Constraint{"C2", "x is a tensor of floats or complex numbers."}};
  static constexpr std::array edges{
      Edge{"E1", "no elements", "NaN: 0/0", "the same: NumPy, PyTorch"},
      Edge{"E2", "f32, bf16 or f64 whose sum leaves the accumulator's range", "±inf, even where the mean would be finite", "the same: NumPy, JAX; PyTorch's layer_norm keeps a running mean. Convert to f64 around it for another answer"},
      Edge{"E3", "f16 and f8 whose sum leaves their range", "the mean: it is divided before it is rounded", "the same: NumPy, PyTorch"},
      Edge{"E4", "more elements than the narrow float can count", "the mean: the count is taken in f32", "the same: NumPy, PyTorch"},
      Edge{"E5", "one element, or axes = []", "the element: -0 stays -0"},
      Edge{"E6", "NaN, or both infinities", "NaN"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axes(a.ints("axes"), in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
    if (!is_float(in[0].dtype) && !is_complex(in[0].dtype)) return no("C2: takes floats or complex numbers, not " + std::string(name(in[0].dtype)));
    return one({in[0].dtype, drop(in[0].shape, a.ints("axes"))});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    double n = 1;
    for (auto d : a.ints("axes")) n *= static_cast<double>(b.type(in[0]).shape[static_cast<std::size_t>(d)].size());
    // Narrow floats are divided before they are rounded: the sum, and the count, may lie beyond their range.
    const DType t = b.type(in[0]).dtype;
    const auto total = b.op("reduce_sum", {b.convert(in[0], accumulator(t))}, axes_attr(a.ints("axes")));
    return {b.convert(b.op("div", {total, b.splat_like(total, n)}), t)};
  }
};

struct LayerNorm {
  static constexpr OpRow row{"layer_norm", "x, scale, bias", OpClass::composite, "(x - mean) / sqrt(var + epsilon) * scale + bias over the axes from `axis` on; var is the mean square of x - mean. scale and bias have those axes' shape."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}, AttrSpec{"epsilon", AttrKind::real, "1e-05"}};
  static constexpr std::string_view equation =
      "r = (x - mean) / sqrt(var + epsilon) · scale + bias,  mean and var over the axes from `axis` on; var = mean of (x - mean)²";
  static constexpr std::array constraints{
      Constraint{"C1", "x is a tensor of floats."},
      Constraint{"C2", "axis is an axis of x."},
      Constraint{"C3", "scale and bias have x's dtype and the shape of the axes from `axis` on."}};
  static constexpr std::array edges{
      Edge{"E1", "a row of equal elements whose mean is exact", "bias", "the same: PyTorch, ONNX"},
      Edge{"E2", "the same with epsilon = 0", "NaN: 0/0", "the same: PyTorch, ONNX"},
      Edge{"E3", "NaN or an infinity in a row", "NaN in the whole row", "the same: PyTorch, ONNX"},
      Edge{"E4", "a row whose sum leaves the range", "NaN: the mean is infinite", "the same: JAX, ONNX's decomposition; PyTorch keeps a running mean. Convert to f64 around it"},
      Edge{"E5", "the same in f64 around it", "bias"},
      Edge{"E6", "normalised axes of size 0", "no elements"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C2: " + e);
    Shape tail;
    for (auto d = static_cast<std::size_t>(a.integer("axis")); d < in[0].rank(); ++d) tail.push_back(in[0].shape[d]);
    for (std::size_t k = 1; k < 3; ++k)
      if (in[k] != Type{in[0].dtype, tail}) return no("C3: scale and bias must be " + Type{in[0].dtype, tail}.str() + ", not " + in[k].str());
    return float_like(in);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const auto x = in[0];
    const Shape shape = b.type(x).shape;
    Ints axes;
    for (auto d = a.integer("axis"); d < static_cast<std::int64_t>(shape.size()); ++d) axes.push_back(d);
    const auto mean = b.op("reduce_mean", {x}, axes_attr(axes));
    const auto centred = b.op("sub", {x, b.keep_dims(mean, axes, shape, x)});
    const auto var = b.op("reduce_mean", {b.op("mul", {centred, centred})}, axes_attr(axes));
    const auto deviation = b.op("sqrt", {b.op("add", {var, b.splat_like(var, a.real("epsilon"))})});
    const auto normal = b.op("div", {centred, b.keep_dims(deviation, axes, shape, x)});
    return {b.op("add", {b.op("mul", {normal, b.broadcast_to(in[1], shape)}), b.broadcast_to(in[2], shape)})};
  }
};

struct BatchNorm {
  static constexpr OpRow row{"batch_norm", "x, scale, bias, mean, var", OpClass::composite, "Inference: (x - mean) * (scale / sqrt(var + epsilon)) + bias, one of each a channel (axis 1)."};
  static constexpr std::array attrs{AttrSpec{"epsilon", AttrKind::real, "1e-05"}};
  static constexpr std::string_view equation =
      "r = (x - mean) · (scale / sqrt(var + epsilon)) + bias,  one of each a channel (axis 1)";
  static constexpr std::array constraints{
      Constraint{"C1", "x is a tensor of floats."},
      Constraint{"C2", "x has a channel axis, axis 1."},
      Constraint{"C3", "scale, bias, mean and var have x's dtype and one element a channel."}};
  static constexpr std::array edges{
      Edge{"E1", "var + epsilon = 0", "±inf; NaN where x is the mean", "the same: PyTorch, ONNX"},
      Edge{"E2", "var + epsilon below 0", "NaN", "the same: PyTorch, ONNX"},
      Edge{"E3", "a batch of size 0", "no elements"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in[0].rank() < 2) return no("C2: x needs a channel axis (axis 1)");
    for (std::size_t k = 1; k < 5; ++k)
      if (in[k] != Type{in[0].dtype, {in[0].shape[1]}}) return no("C3: scale, bias, mean and var must be " + Type{in[0].dtype, {in[0].shape[1]}}.str() + ", not " + in[k].str());
    return float_like(in);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const auto x = in[0];
    auto per_channel = [&](ValueId v) {
      AttrMap m;
      m.set("shape", b.type(x).shape);
      m.set("dims", Ints{1});
      return b.op("broadcast", {v}, std::move(m));
    };
    const auto deviation = b.op("sqrt", {b.op("add", {in[4], b.splat_like(in[4], a.real("epsilon"))})});
    const auto factor = b.op("div", {in[1], deviation});
    const auto centred = b.op("sub", {x, per_channel(in[3])});
    return {b.op("add", {b.op("mul", {centred, per_channel(factor)}), per_channel(in[2])})};
  }
};

struct Relu {
  static constexpr OpRow row{"relu", "x", OpClass::composite, "maximum(x, 0): NaN stays NaN, -0 gives +0.", "slope 0 at 0"};
  static constexpr auto attrs = no_attrs;
  static constexpr std::string_view equation =
      "r[i] = maximum(x[i], 0)";
  static constexpr std::array constraints{
      Constraint{"C1", "x is not bool."}};
  static constexpr std::array edges{
      Edge{"E1", "NaN", "NaN", "the same: PyTorch, JAX, ONNX"},
      Edge{"E2", "-0", "+0", "the same: IEEE 754-2019 maximum; PyTorch gives either"},
      Edge{"E3", "±inf", "+inf, 0"},
      Edge{"E4", "unsigned integers", "x"},
      Edge{"E5", "signed integers", "the least number gives 0"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (is_bool(in[0].dtype)) return no("C1: takes numbers, not bool");
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap&) { return {b.op("maximum", {in[0], b.splat_like(in[0], 0)})}; }
};

struct Gelu {
  static constexpr OpRow row{"gelu", "x", OpClass::composite, "x/2 * (1 + erf(x/sqrt 2)); approximate: x/2 * (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))."};
  static constexpr std::array attrs{AttrSpec{"approximate", AttrKind::boolean, "false"}};
  static constexpr std::array constraints{
      Constraint{"C1", "x is a tensor of floats."}};
  static constexpr std::array edges{
      Edge{"E1", "±inf", "+inf, and NaN at -inf: -inf · 0", "the same: PyTorch, JAX"},
      Edge{"E2", "far below 0", "-0", "the same: PyTorch, JAX"},
      Edge{"E3", "-0", "-0"},
      Edge{"E4", "NaN", "NaN"},
      Edge{"E5", "approximate, far from 0", "x or -0: the cube's overflow does no harm"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) { return float_like(in); }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const auto x = in[0];
    auto times = [&](ValueId v, double c) { return b.op("mul", {v, b.splat_like(v, c)}); };
    ValueId inner;
    if (a.flag("approximate")) {
      const auto cube = b.op("mul", {b.op("mul", {x, x}), x});
      inner = b.op("tanh", {times(b.op("add", {x, times(cube, 0.044715)}), 0.7978845608028654)});
    } else {
      inner = b.op("erf", {times(x, 0.7071067811865476)});
    }
    return {b.op("mul", {times(x, 0.5), b.op("add", {inner, b.splat_like(inner, 1)})})};
  }
};

struct Silu {
  static constexpr OpRow row{"silu", "x", OpClass::composite, "x * sigmoid(x)."};
  static constexpr auto attrs = no_attrs;
  static constexpr std::string_view equation =
      "r[i] = x[i] · sigmoid(x[i])";
  static constexpr std::array constraints{
      Constraint{"C1", "x is a tensor of floats."}};
  static constexpr std::array edges{
      Edge{"E1", "±inf", "+inf, and NaN at -inf: -inf · 0", "the same: PyTorch, JAX"},
      Edge{"E2", "far below 0", "-0"},
      Edge{"E3", "-0", "-0"},
      Edge{"E4", "NaN", "NaN"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) { return float_like(in); }
  static Out decompose(Builder& b, In in, const AttrMap&) { return {b.op("mul", {in[0], b.op("sigmoid", {in[0]})})}; }
};

struct Clamp {
  static constexpr OpRow row{"clamp", "x, low, high", OpClass::composite, "minimum(maximum(x, low), high): NaN in any operand gives NaN; where low > high, high wins."};
  static constexpr auto attrs = no_attrs;
  static constexpr std::string_view equation =
      "r[i] = minimum(maximum(x[i], low[i]), high[i])";
  static constexpr std::array constraints{
      Constraint{"C1", "The operands have the same type."}};
  static constexpr std::array edges{
      Edge{"E1", "NaN in any operand", "NaN", "the same: PyTorch, NumPy"},
      Edge{"E2", "low > high", "high", "the same: PyTorch, NumPy; undefined in C++"},
      Edge{"E3", "zeros", "-0 between +0 and 1 gives +0", "C++ and NumPy keep -0"},
      Edge{"E4", "integers and bool", "the same, by their order"},
      Edge{"E5", "infinite bounds", "x"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in[1] != in[0] || in[2] != in[0]) return no("C1: operands differ: " + in[0].str() + ", " + in[1].str() + ", " + in[2].str());
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap&) { return {b.op("minimum", {b.op("maximum", {in[0], in[1]}), in[2]})}; }
};

/// NumPy's matmul: ranks of 1 are promoted, leading axes broadcast.
struct Matmul {
  static constexpr OpRow row{"matmul", "lhs, rhs", OpClass::composite, "Matrix product over the last two axes, leading axes broadcast; a vector is a row on the left, a column on the right."};
  static constexpr bool complex = true;
  static constexpr auto attrs = no_attrs;
  static constexpr std::string_view equation =
      "r = dot over the inner axis, for each index of the leading axes; see the decomposition";
  static constexpr std::array constraints{
      Constraint{"C1", "Neither operand is of rank 0."},
      Constraint{"C2", "The operands have the same dtype, which is not bool."},
      Constraint{"C3", "lhs's last size is rhs's last but one (its only one, of a vector)."},
      Constraint{"C4", "The leading axes broadcast by NumPy's rule."}};
  static constexpr std::array edges{
      Edge{"E1", "an inner size of 0", "+0", "the same: NumPy, PyTorch"},
      Edge{"E2", "two vectors", "a tensor of rank 0", "the same: NumPy, PyTorch"},
      Edge{"E3", "a vector beside a batch", "a row on the left, a column on the right, of each matrix", "the same: NumPy, PyTorch"},
      Edge{"E4", "batch axes of size 1", "stretch", "the same: NumPy, PyTorch"},
      Edge{"E5", "a batch of size 0", "no elements"},
      Edge{"E6", "0 times ±inf, or a NaN", "NaN"},
      Edge{"E7", "integers", "wrap in their own dtype", "the same: NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const Shape &x = in[0].shape, &y = in[1].shape;
    if (x.empty() || y.empty()) return no("C1: matmul takes no scalars; use mul");
    if (in[0].dtype != in[1].dtype || is_bool(in[0].dtype)) return no("C2: operands must share a numeric dtype, not " + in[0].str() + " and " + in[1].str());
    if (x.back() != (y.size() == 1 ? y[0] : y[y.size() - 2])) return no("C3: inner sizes differ: " + in[0].str() + " and " + in[1].str());
    auto batch = broadcast_shapes(lead(x), lead(y));
    if (auto* why = std::get_if<std::string>(&batch)) return no("C4: " + *why);
    Shape s = std::get<Shape>(batch);
    if (x.size() > 1) s.push_back(x[x.size() - 2]);
    if (y.size() > 1) s.push_back(y.back());
    return one({in[0].dtype, s});
  }
  static Out decompose(Builder& b, In in, const AttrMap&) {
    const Shape x = b.type(in[0]).shape, y = b.type(in[1]).shape;
    const auto batch = std::get<Shape>(broadcast_shapes(lead(x), lead(y)));
    const auto nb = static_cast<std::int64_t>(batch.size());
    AttrMap a;
    // A right operand without a batch keeps the left's rows whole: one product, not one a batch element.
    if (y.size() <= 2) {
      a.set("lhs_contract", Ints{static_cast<std::int64_t>(x.size()) - 1});
      a.set("rhs_contract", Ints{0});
      return {b.op("dot_general", {in[0], in[1]}, std::move(a))};
    }
    auto widen = [&](ValueId v, const Shape& s) {
      Shape full = batch;
      for (std::size_t k = s.size() - std::min<std::size_t>(s.size(), 2); k < s.size(); ++k) full.push_back(s[k]);
      return b.broadcast_to(v, full);
    };
    Ints axes;
    for (std::int64_t k = 0; k < nb; ++k) axes.push_back(k);
    a.set("lhs_batch", axes);
    a.set("rhs_batch", axes);
    a.set("lhs_contract", Ints{nb + (x.size() > 1 ? 1 : 0)});
    a.set("rhs_contract", Ints{nb});
    return {b.op("dot_general", {widen(in[0], x), widen(in[1], y)}, std::move(a))};
  }

 private:
  static Shape lead(const Shape& s) { return Shape(s.begin(), s.begin() + (s.size() > 2 ? static_cast<std::ptrdiff_t>(s.size() - 2) : 0)); }
};

using CompositeOps = OpList<Softmax, LogSoftmax, ReduceMean, LayerNorm, BatchNorm, Relu, Gelu, Silu, Clamp, Matmul>;

}  // namespace plumb::ir::ops
