// Contractions: dot_general and convolution.
//
// Canonical order (strict), for the terms in row-major order of the contracted index k: a step is one fused
// multiply-add; a chain of 128 steps runs serially from +0; chain sums add serially to a sum of up to 4,096 terms;
// those sums add serially. Narrow floats accumulate in f32, rounded once at the end. Integers wrap.
//
// Complex operands: four contractions of the parts; re = (re, re) - (im, im), im = (re, im) + (im, re).
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct DotGeneral {
  static constexpr OpRow row{"dot_general", "lhs, rhs", OpClass::contract, "Sum over the contracted axes of lhs times rhs. Result axes: batch, lhs free, rhs free, each in operand order. The empty sum is +0."};
  static constexpr std::array attrs{AttrSpec{"lhs_contract", AttrKind::ints, "[]"}, AttrSpec{"rhs_contract", AttrKind::ints, "[]"},
                                    AttrSpec{"lhs_batch", AttrKind::ints, "[]"}, AttrSpec{"rhs_batch", AttrKind::ints, "[]"}};
  static constexpr std::string_view equation =
      "r[(b, m, n)] = dot over k in the contracted axes' indices: lhs[b, m, k], rhs[b, k, n]\n"
      "b: an index of the batch axes, m: of lhs's other axes, n: of rhs's other axes";
  static constexpr std::string_view derivative = "r' = dot_general(lhs', rhs) + dot_general(lhs, rhs').";
  static constexpr std::array constraints{
      Constraint{"C1", "lhs_batch and lhs_contract together are distinct axes of lhs; likewise rhs_batch and rhs_contract of rhs."},
      Constraint{"C2", "lhs_contract and rhs_contract have the same length."},
      Constraint{"C3", "lhs_batch and rhs_batch have the same length."},
      Constraint{"C4", "Contracted axes agree in size, pair by pair."},
      Constraint{"C5", "Batch axes agree in size, pair by pair."},
      Constraint{"C6", "The operands have the same dtype, which is not bool."}};
  static constexpr std::array edges{
      Edge{"E1", "contracted axes without elements", "+0", "the same: NumPy, PyTorch, JAX"},
      Edge{"E2", "0 times ±inf, or a NaN", "NaN: no factor is skipped", "the same: NumPy; BLAS with alpha or beta 0 skips"},
      Edge{"E3", "no contracted axes", "one step from +0 each: -0 · 1 gives +0", "NumPy's outer gives -0; under relaxed either zero is right"},
      Edge{"E4", "narrow floats", "accumulated in f32, rounded once: 2048·1 + 1·1 + 1·1 is 2050 in f16", "the same: PyTorch's and cuBLAS's default"},
      Edge{"E5", "integers", "wrap in their own dtype: i8 by i8 gives i8", "ONNX's MatMulInteger gives i32: convert first"},
      Edge{"E6", "a product that would round", "enters the sum unrounded (strict)", "a rounded product first: also right under relaxed"},
      Edge{"E7", "a product beyond the range, then its negative", "the first is rounded to inf, the second then changes nothing: inf (strict)", "a rounded product first gives NaN; relaxed allows any"},
      Edge{"E8", "a free axis of size 0", "no elements"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto &lc = a.ints("lhs_contract"), &rc = a.ints("rhs_contract"), &lb = a.ints("lhs_batch"), &rb = a.ints("rhs_batch");
    Ints l = lb, r = rb;
    l.insert(l.end(), lc.begin(), lc.end());
    r.insert(r.end(), rc.begin(), rc.end());
    if (auto e = check_axes(l, in[0].rank(), "lhs axis"); !e.empty()) return no("C1: " + e);
    if (auto e = check_axes(r, in[1].rank(), "rhs axis"); !e.empty()) return no("C1: " + e);
    if (lc.size() != rc.size()) return no("C2: lhs_contract and rhs_contract differ in length");
    if (lb.size() != rb.size()) return no("C3: lhs_batch and rhs_batch differ in length");
    for (std::size_t k = 0; k < lc.size(); ++k)
      if (in[0].shape[static_cast<std::size_t>(lc[k])] != in[1].shape[static_cast<std::size_t>(rc[k])])
        return no("C4: contracted axes differ in size: lhs axis " + std::to_string(lc[k]) + " has " + in[0].shape[static_cast<std::size_t>(lc[k])].str() + ", rhs axis " +
                  std::to_string(rc[k]) + " has " + in[1].shape[static_cast<std::size_t>(rc[k])].str());
    Shape s;
    for (std::size_t k = 0; k < lb.size(); ++k) {
      const Dim x = in[0].shape[static_cast<std::size_t>(lb[k])], y = in[1].shape[static_cast<std::size_t>(rb[k])];
      if (x != y) return no("C5: batch axes differ in size: " + x.str() + " and " + y.str());
      s.push_back(x);
    }
    if (in[0].dtype != in[1].dtype || is_bool(in[0].dtype)) return no("C6: operands must share a numeric dtype, not " + in[0].str() + " and " + in[1].str());
    for (const auto& d : drop(in[0].shape, l)) s.push_back(d);
    for (const auto& d : drop(in[1].shape, r)) s.push_back(d);
    return one({in[0].dtype, s});
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return {complex_bilinear(b, row.name, in[0], in[1], a)}; }
};

/// x: [N, C, spatial…]; w: [O, C/groups, window…]; result: [N, O, spatial'…] (cross-correlation, as in ONNX's Conv).
/// k runs over (C/groups, window…) row-major; positions in the padding or between dilated elements read +0.
struct Convolution {
  static constexpr OpRow row{"convolution", "x, w", OpClass::contract, "Cross-correlation over the spatial axes. x is dilated by lhs_dilation, padded by low and high zeros, and read by the window, dilated by rhs_dilation, at each stride. "
      "Channels are cut into groups. A zero of the padding is multiplied like any element."};
  static constexpr std::array attrs{AttrSpec{"stride", AttrKind::ints, "[]"}, AttrSpec{"low", AttrKind::ints, "[]"}, AttrSpec{"high", AttrKind::ints, "[]"},
                                    AttrSpec{"lhs_dilation", AttrKind::ints, "[]"}, AttrSpec{"rhs_dilation", AttrKind::ints, "[]"}, AttrSpec{"groups", AttrKind::integer, "1"}};
  static constexpr std::string_view equation =
      "r[(b, o, i)] = dot over (c, t) in w's indices without the first axis: xp[(b, g·(C/groups) + c, j)], w[(o, c, t)],\n"
      "       j[k] = i[k]·stride[k] + t[k]·rhs_dilation[k] - low[k],  g = ⌊o / (O/groups)⌋,  C = size(x, 1),  O = size(w, 0)\n"
      "xp[(b, c, j)] = x[(b, c, j / lhs_dilation)] where each j[k] is a multiple of lhs_dilation[k] and the quotient lies in x, else +0\n"
      "size(r, k + 2) = ⌊(d + low[k] + high[k] - (size(w, k + 2) - 1)·rhs_dilation[k] - 1) / stride[k]⌋ + 1, 0 where that is negative;\n"
      "       d = (size(x, k + 2) - 1)·lhs_dilation[k] + 1, 0 for no elements\n"
      "[] stands for ones (stride, dilations) or zeros (low, high)";
  static constexpr std::string_view derivative = "r' = convolution(x', w) + convolution(x, w').";
  static constexpr std::array constraints{
      Constraint{"C1", "x and w have the same rank, at least 2."},
      Constraint{"C2", "Each list has one entry for each spatial axis, or none."},
      Constraint{"C3", "The operands have the same dtype, which is not bool."},
      Constraint{"C4", "x has groups times as many channels as w reads; groups is positive."},
      Constraint{"C5", "groups divides the number of output channels."},
      Constraint{"C6", "Strides and dilations are positive."},
      Constraint{"C7", "Sizes fit 64 bits."}};
  static constexpr std::array edges{
      Edge{"E1", "more padding than data: windows in the padding only", "+0"},
      Edge{"E2", "padding under an infinite or NaN weight", "NaN: a zero of the padding is a factor like others", "the same: im2col with a product; libraries that skip the padding give 0"},
      Edge{"E3", "negative padding", "crops x", "the same: XLA; ONNX and PyTorch reject it"},
      Edge{"E4", "a window longer than the padded axis", "no elements"},
      Edge{"E5", "no channels to read", "+0"},
      Edge{"E6", "an axis of size 0 with padding", "+0 at each place"},
      Edge{"E7", "lhs_dilation", "zeros between x's elements: a transposed convolution"},
      Edge{"E8", "groups = channels", "each channel by itself (depthwise)"},
      Edge{"E9", "a batch of size 0", "no elements"},
      Edge{"E10", "no spatial axes", "a product of matrices"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto &x = in[0], &w = in[1];
    if (x.rank() < 2 || w.rank() != x.rank()) return no("C1: x and w need the same rank, at least 2");
    const std::size_t spatial = x.rank() - 2;
    for (const auto& spec : attrs)
      if (spec.kind == AttrKind::ints && !a.ints(spec.name).empty() && a.ints(spec.name).size() != spatial)
        return no("C2: " + std::string(spec.name) + " needs an entry a spatial axis (" + std::to_string(spatial) + ")");
    if (x.dtype != w.dtype || is_bool(x.dtype)) return no("C3: operands must share a numeric dtype, not " + x.str() + " and " + w.str());
    const auto groups = a.integer("groups");
    const std::int64_t channels = x.shape[1].size(), per_group = w.shape[1].size(), out = w.shape[0].size();
    if (groups < 1 || Wide(channels) != Wide(per_group) * groups) return no("C4: x has " + std::to_string(channels) + " channels; w reads " + std::to_string(per_group) + " in each of " + std::to_string(groups) + " groups");
    if (out % groups != 0) return no("C5: " + std::to_string(out) + " output channels do not divide into " + std::to_string(groups) + " groups");
    auto entry = [&](const char* which, std::size_t d, std::int64_t fallback) { const auto& v = a.ints(which); return v.empty() ? fallback : v[d]; };
    Shape s{x.shape[0], w.shape[0]};
    for (std::size_t d = 0; d < spatial; ++d) {
      const std::int64_t stride = entry("stride", d, 1), ld = entry("lhs_dilation", d, 1), rd = entry("rhs_dilation", d, 1);
      if (stride < 1 || ld < 1 || rd < 1) return no("C6: stride and dilations are positive");
      const std::int64_t size = x.shape[d + 2].size(), window = w.shape[d + 2].size();
      const Wide dilated = size == 0 ? 0 : Wide(size - 1) * ld + 1;
      const Wide count = positions(dilated + entry("low", d, 0) + entry("high", d, 0) - (window == 0 ? 0 : Wide(window - 1) * rd + 1), stride);
      if (!fits(count)) return no("C7: spatial axis " + std::to_string(d) + " would have a size beyond 64 bits");
      s.push_back(static_cast<std::int64_t>(count));
    }
    return one({x.dtype, s});
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return {complex_bilinear(b, row.name, in[0], in[1], a)}; }
};

using ContractOps = OpList<DotGeneral, Convolution>;

}  // namespace plumb::ir::ops
