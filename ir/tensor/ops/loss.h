// Losses. `reduction` is none, mean or sum; narrow floats run in f32.
#pragma once
#include "ir/tensor/ops/composite.h"

namespace plumb::ir::ops {

inline constexpr AttrSpec reduction_attr{"reduction", AttrKind::text, "mean"};
inline constexpr Constraint reduction_constraint{"C3", "reduction is none, mean or sum"};
inline bool known_reduction(const AttrMap& a) { return a.text("reduction") == "none" || a.text("reduction") == "mean" || a.text("reduction") == "sum"; }
inline Inferred no_reduction(const AttrMap& a) { return no("C3: reduction is '" + a.text("reduction") + "', not none, mean or sum"); }
/// The loss of an element each, reduced as asked over everything.
inline ValueId reduced_loss(const Words& w, ValueId loss, const AttrMap& a) {
  if (a.text("reduction") == "none") return loss;
  return w.reduce(a.text("reduction") == "sum" ? "reduce_sum" : "reduce_mean", loss, first_axes(w.rank(loss)));
}

/// Losses that compare two tensors of one float type element by element.
template <class Loss> struct PairLoss {
  static constexpr std::array constraints{Constraint{"C1", "x and target have one type."}, Constraint{"C2", "it is a float type."}, reduction_constraint};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (in[0] != in[1]) return no("C1: operands differ: " + in[0].str() + " and " + in[1].str());
    if (!is_float(in[0].dtype)) return no("C2: takes floats, not " + std::string(name(in[0].dtype)));
    if (!known_reduction(a)) return no_reduction(a);
    return one(a.text("reduction") == "none" ? in[0] : Type{in[0].dtype, {}});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out { return {reduced_loss({b}, Loss::each({b}, v[0], v[1], a), a)}; });
  }
};

struct MseLoss : PairLoss<MseLoss> {
  static constexpr OpRow row{"mse_loss", "x, target", OpClass::composite, "(x - target)^2, reduced."};
  static constexpr std::string_view equation = "out = mean_i (x[i] - target[i])^2";
  static constexpr std::array attrs{reduction_attr};
  static constexpr std::array edges{Edge{"E1", "no element, mean", "NaN: 0 / 0", "the same: PyTorch"}};
  static ValueId each(const Words& w, ValueId x, ValueId y, const AttrMap&) { return w.square(w("sub", x, y)); }
};
struct L1Loss : PairLoss<L1Loss> {
  static constexpr OpRow row{"l1_loss", "x, target", OpClass::composite, "|x - target|, reduced.", "slope 0 where x = target"};
  static constexpr std::string_view equation = "out = mean_i |x[i] - target[i]|";
  static constexpr std::array attrs{reduction_attr};
  static constexpr std::array edges{Edge{"E1", "x = target = inf", "NaN: inf - inf", "the same: PyTorch"}};
  static ValueId each(const Words& w, ValueId x, ValueId y, const AttrMap&) { return w("abs", w("sub", x, y)); }
};
/// Quadratic within `width` of the target, linear beyond; Huber's is the smooth L1's times the width.
template <bool Huber> struct QuadraticNear : PairLoss<QuadraticNear<Huber>> {
  static constexpr OpRow row{Huber ? "huber_loss" : "smooth_l1_loss", "x, target", OpClass::composite,
      Huber ? "d^2 / 2 where d = |x - target| < delta, else delta * (d - delta / 2), reduced." : "d^2 / (2 beta) where d = |x - target| < beta, else d - beta / 2, reduced; with beta = 0, d."};
  static constexpr std::string_view parameter = Huber ? "delta" : "beta";
  static constexpr std::string_view equation = Huber ? "out = mean_i (d < delta ? d^2 / 2 : delta (d - delta / 2)), d = |x[i] - target[i]|" : "out = mean_i (d < beta ? d^2 / (2 beta) : d - beta / 2), d = |x[i] - target[i]|";
  static constexpr std::array attrs{reduction_attr, AttrSpec{parameter, AttrKind::real, "1"}};
  static constexpr std::array edges{Edge{"E1", "d = inf", "inf", "the same: PyTorch"}};
  static ValueId each(const Words& w, ValueId x, ValueId y, const AttrMap& a) {
    const double width = a.real(parameter);
    const auto d = w("abs", w("sub", x, y));
    if (!Huber && width == 0) return d;
    const auto near = Huber ? w.with("mul", w.square(d), 0.5) : w.with("div", w.with("mul", w.square(d), 0.5), width);
    return w("select", w.with("lt", d, width), near, w.scaled(w.with("sub", d, width / 2), Huber ? width : 1));
  }
};

struct KlDiv : PairLoss<KlDiv> {
  static constexpr OpRow row{"kl_div", "x, target", OpClass::composite, "target * (log(target) - x), 0 where target is 0, reduced: x holds logarithms. With log_target, target does too: e^target * (target - x). mean divides by the number of elements."};
  static constexpr std::string_view equation = "out = mean_i target[i] (log(target[i]) - x[i])";
  static constexpr std::array attrs{reduction_attr, AttrSpec{"log_target", AttrKind::boolean, "false"}};
  static constexpr std::array edges{Edge{"E1", "target = 0, x finite", "0", "the same: PyTorch"}, Edge{"E2", "target = 0, x = -inf", "NaN: 0 - 0 times -inf", "the same: PyTorch"}};
  static ValueId each(const Words& w, ValueId x, ValueId y, const AttrMap& a) {
    if (a.flag("log_target")) return w("mul", w("exp", y), w("sub", y, x));
    const auto entropy = w("select", w.with("eq", y, 0), w.b.splat_like(y, 0), w("mul", y, w("log", y)));
    return w("sub", entropy, w("mul", y, x));
  }
};

/// A probability or logit against a target probability, with a weight an element where there is one.
template <bool Logits> struct BinaryCrossEntropy {
  static constexpr OpRow row{Logits ? "binary_cross_entropy_with_logits" : "binary_cross_entropy", Logits ? "x, target, weight_and_positive_weight..." : "x, target, weight...", OpClass::composite,
      Logits ? "The cross entropy of target against sigmoid(x) as (1 - target) x + (1 + (p - 1) target) (log1p(e^-|x|) + max(-x, 0)), times weight, reduced; p, the weight of positive targets, is 1 unless given."
             : "-(target * max(log(x), -100) + (1 - target) * max(log1p(-x), -100)), times weight, reduced: a logarithm is at least -100."};
  static constexpr std::string_view equation = Logits ? "out = mean_i -weight[i] (p[i] target[i] log(s) + (1 - target[i]) log(1 - s)), s = sigmoid(x[i])" : "out = mean_i -weight[i] (target[i] log(x[i]) + (1 - target[i]) log(1 - x[i])), logarithms at least -100";
  static constexpr std::array attrs{reduction_attr};
  static constexpr std::array constraints{Constraint{"C1", "the operands share a dtype; x and target have one shape, weights broadcast to it."}, Constraint{"C2", "it is a float dtype."}, reduction_constraint, Constraint{"C4", Logits ? "there are at most two weights." : "there is at most one weight."}};
  static constexpr std::array edges{Logits ? Edge{"E1", "x = 1000, target 0; x = -1000, target 0", "1000; 0: nothing overflows", "the same: PyTorch"} : Edge{"E1", "x = 0, target 1; x = 0, target 0", "100; 0", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (in.size() > (Logits ? 4 : 3)) return no("C4: too many weights");
    for (std::size_t k = 1; k < in.size(); ++k) {
      const auto s = broadcast_shapes(in[0].shape, in[k].shape);
      const bool fits = std::holds_alternative<Shape>(s) && std::get<Shape>(s) == in[0].shape && (k > 1 || in[k].shape == in[0].shape);
      if (in[k].dtype != in[0].dtype || !fits) return no("C1: " + in[k].str() + " does not go with x, " + in[0].str());
    }
    if (!is_float(in[0].dtype)) return no("C2: takes floats, not " + std::string(name(in[0].dtype)));
    if (!known_reduction(a)) return no_reduction(a);
    return one(a.text("reduction") == "none" ? in[0] : Type{in[0].dtype, {}});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      auto loss = each(w, v);
      if (v.size() > 2) loss = w("mul", loss, b.broadcast_to(v[2], w.type(loss).shape));
      return {reduced_loss(w, loss, a)};
    });
  }

 private:
  static ValueId each(const Words& w, In v) {
    const auto x = v[0], y = v[1], opposite = w.from("sub", 1, y);
    if (!Logits) {
      const auto yes = w.with("maximum", w("log", x), -100), nay = w.with("maximum", w("log1p", w("neg", x)), -100);
      return w("neg", w("add", w("mul", y, yes), w("mul", opposite, nay)));
    }
    auto tail = w("add", w("log1p", w("exp", w("neg", w("abs", x)))), w.with("maximum", w("neg", x), 0));
    if (v.size() > 3) tail = w("mul", tail, w.with("add", w("mul", w.with("sub", w.b.broadcast_to(v[3], w.type(x).shape), 1), y), 1));
    return w("add", w("mul", opposite, x), tail);
  }
};

/// [N, C, d…] and [N, d…]; or [C] and a scalar.
inline std::int64_t class_axis(const Type& x) { return x.rank() == 1 ? 0 : 1; }
inline std::string check_classes(std::span<const Type> in) {
  if (in[0].rank() == 0) return "C1: x needs a class axis";
  const std::int64_t axes[] = {class_axis(in[0])};
  if (!is_integer(in[1].dtype) || in[1].shape != drop(in[0].shape, axes)) return "C2: classes must be integers of shape " + str(drop(in[0].shape, axes)) + ", not " + in[1].str();
  return {};
}
inline std::string check_class_weights(std::span<const Type> in) {
  if (in.size() > 3) return "C5: there are more operands than weights";
  if (in.size() == 3 && in[2] != Type{in[0].dtype, {in[0].shape[static_cast<std::size_t>(class_axis(in[0]))]}}) return "C5: weights must be one a class, of x's dtype, not " + in[2].str();
  return {};
}

struct NllLoss {
  static constexpr OpRow row{"nll_loss", "x, classes, weight...", OpClass::composite,
      "-weight[c] * x[n, c, …] at each element's class c; elements of the class ignore_index count as 0 with weight 0. mean divides by the sum of the weights counted."};
  static constexpr std::string_view equation = "each[n, i] = classes[n, i] = ignore_index ? 0 : -weight[classes[n, i]] x[n, classes[n, i], i]; mean = sum each / sum weight[classes[n, i]]";
  static constexpr std::array attrs{reduction_attr, AttrSpec{"ignore_index", AttrKind::integer, "-100"}};
  static constexpr std::array constraints{Constraint{"C1", "x is [N, C, …] or [C]."}, Constraint{"C2", "classes are integers, of x's shape without the class axis."}, reduction_constraint, Constraint{"C4", "x has a float dtype."}, Constraint{"C5", "weight is [C], of x's dtype."}};
  static constexpr std::array edges{Edge{"E1", "every element ignored, mean", "NaN: 0 / 0", "the same: PyTorch"}, Edge{"E2", "an ignored element whose scores are NaN", "0: they are not read", "the same: PyTorch"},
                                    Edge{"E3", "a class outside [0, C) that is not ignored", "an error where a result needs the element", "PyTorch an error on CPU, an assertion on GPU"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_classes(in); !e.empty()) return no(e);
    if (!known_reduction(a)) return no_reduction(a);
    if (!is_float(in[0].dtype)) return no("C4: takes floats, not " + std::string(name(in[0].dtype)));
    if (auto e = check_class_weights(in); !e.empty()) return no(e);
    return one({in[0].dtype, a.text("reduction") == "none" ? in[1].shape : Shape{}});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out { return {of({b}, v, a, a.text("reduction"))}; });
  }
  /// Each element's term, or their sum, or that over the weights' sum.
  static ValueId of(const Words& w, In v, const AttrMap& a, const std::string& reduction) {
    const auto axis = class_axis(w.type(v[0]));
    const auto classes = w.b.convert(v[1], DType::i64);
    const auto ignored = w.with("eq", classes, static_cast<double>(a.integer("ignore_index")));
    const auto safe = w("select", ignored, w.b.splat_like(classes, 0), classes);
    Shape kept = w.type(v[0]).shape;
    kept[static_cast<std::size_t>(axis)] = 1;
    const auto score = w.b.reshape(w.b.op("gather_elements", {v[0], w.b.reshape(safe, kept)}, attr_list({{"axis", axis}})), w.type(classes).shape);
    const auto nothing = w.b.splat_like(score, 0);
    const auto weight = w("select", ignored, nothing, v.size() > 2 ? w.gather(v[2], safe, 0) : w.b.splat_like(score, 1));
    const auto each = w("select", ignored, nothing, w("neg", v.size() > 2 ? w("mul", score, weight) : score));
    if (reduction == "none") return each;
    const Ints all = first_axes(w.rank(each));
    const auto total = w.reduce("reduce_sum", each, all);
    return reduction == "sum" ? total : w("div", total, w.reduce("reduce_sum", weight, all));
  }
};

struct CrossEntropy {
  static constexpr OpRow row{"cross_entropy", "x, target, weight...", OpClass::composite,
      "nll_loss of log_softmax(x) over the class axis. target holds classes, or, in x's type, a probability a class: -sum_c weight[c] target[c] log_softmax(x)[c], whose mean divides by the number of elements. "
      "label_smoothing s moves s of each target evenly to all classes."};
  static constexpr std::string_view equation = "each = -sum_c weight[c] q[c] log(exp(x[c]) / sum_k exp(x[k])), q[c] = (1 - s) target[c] + s / C; mean = sum each / sum weight[target], or over the elements' number";
  static constexpr std::array attrs{reduction_attr, AttrSpec{"ignore_index", AttrKind::integer, "-100"}, AttrSpec{"label_smoothing", AttrKind::real, "0"}};
  static constexpr std::array constraints{Constraint{"C1", "x is [N, C, …] or [C]."}, Constraint{"C2", "target holds integers, in x's shape without the class axis, or has x's type."}, reduction_constraint, Constraint{"C4", "x has a float dtype."}, Constraint{"C5", "weight is [C], of x's dtype."},
                                          Constraint{"C6", "label_smoothing is in [0, 1]."}};
  static constexpr std::array edges{Edge{"E1", "every element ignored, mean", "NaN: 0 / 0", "the same: PyTorch"}, Edge{"E2", "scores 1000 and 0, class 1", "1000: nothing overflows", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const bool probabilities = in[1] == in[0] && in[0].rank() > 0;
    if (!probabilities)
      if (auto e = check_classes(in); !e.empty()) return no(e);
    if (!known_reduction(a)) return no_reduction(a);
    if (!is_float(in[0].dtype)) return no("C4: takes floats, not " + std::string(name(in[0].dtype)));
    if (auto e = check_class_weights(in); !e.empty()) return no(e);
    if (const double s = a.real("label_smoothing"); !(s >= 0 && s <= 1)) return no("C6: label_smoothing is not in [0, 1]");
    const std::int64_t axes[] = {class_axis(in[0])};
    return one({in[0].dtype, a.text("reduction") == "none" ? drop(in[0].shape, axes) : Shape{}});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto axis = class_axis(w.type(v[0]));
      std::vector<ValueId> logs(v.begin(), v.end());
      logs[0] = b.op("log_softmax", {v[0]}, attr_list({{"axis", axis}}));
      return {is_integer(w.type(v[1]).dtype) ? of_classes(w, logs, axis, a) : of_probabilities(w, logs, axis, a)};
    });
  }

 private:
  /// logs times the weights a class.
  static ValueId weighted(const Words& w, In v, std::int64_t axis) {
    return v.size() > 2 ? w("mul", v[0], w.broadcast(v[2], w.type(v[0]).shape, {axis})) : v[0];
  }
  static ValueId of_classes(const Words& w, In v, std::int64_t axis, const AttrMap& a) {
    const double s = a.real("label_smoothing"), classes = static_cast<double>(w.size(v[0], static_cast<std::size_t>(axis)));
    const auto& how = a.text("reduction");
    const auto hit = NllLoss::of(w, v, a, how);
    if (s == 0) return hit;
    const auto even = w("neg", w.reduce("reduce_sum", weighted(w, v, axis), {axis}));
    const auto ignored = w.with("eq", v[1], static_cast<double>(a.integer("ignore_index")));
    auto spread = w("select", ignored, w.b.splat_like(even, 0), even);
    const Ints all = first_axes(w.rank(spread));
    if (how != "none") spread = w.reduce("reduce_sum", spread, all);
    if (how == "mean") {  // over the same sum of weights as the hits
      const auto ones = w.b.splat_like(v[0], -1);
      std::vector<ValueId> u(v.begin(), v.end());
      u[0] = ones;
      spread = w("div", spread, NllLoss::of(w, u, a, "sum"));
    }
    return w("add", w.with("mul", hit, 1 - s), w.with("mul", spread, s / classes));
  }
  static ValueId of_probabilities(const Words& w, In v, std::int64_t axis, const AttrMap& a) {
    const double s = a.real("label_smoothing"), classes = static_cast<double>(w.size(v[0], static_cast<std::size_t>(axis)));
    const auto q = s == 0 ? v[1] : w.with("add", w.with("mul", v[1], 1 - s), s / classes);
    return reduced_loss(w, w("neg", w.reduce("reduce_sum", w("mul", weighted(w, v, axis), q), {axis})), a);
  }
};

using LossOps = OpList<MseLoss, L1Loss, QuadraticNear<false>, QuadraticNear<true>, KlDiv, BinaryCrossEntropy<false>, BinaryCrossEntropy<true>, NllLoss, CrossEntropy>;

}  // namespace plumb::ir::ops
