// Reductions, arg-reductions, windows, sorts.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

template <class Fn> constexpr std::string_view reduce_name() {
  if constexpr (std::same_as<Fn, scalar::Add>) return "reduce_sum";
  else if constexpr (std::same_as<Fn, scalar::Mul>) return "reduce_prod";
  else if constexpr (std::same_as<Fn, scalar::Maximum>) return "reduce_max";
  else if constexpr (std::same_as<Fn, scalar::Minimum>) return "reduce_min";
  else if constexpr (std::same_as<Fn, scalar::And>) return "reduce_and";
  else if constexpr (std::same_as<Fn, scalar::Or>) return "reduce_or";
  else return "reduce_xor";
}

inline constexpr std::array combining_constraints{
    Constraint{"C1", "axes are distinct axes of x."},
    Constraint{"C2", "The function combined with takes x's dtype: reduce_sum and reduce_prod no bool, reduce_and, reduce_or and reduce_xor no floats."}};
template <class Fn> constexpr auto reduce_constraints() {
  return std::span<const Constraint>(combining_constraints).first(Fn::row.takes == Takes::any ? 1 : 2);
}
inline constexpr std::array sum_edges{
    Edge{"E1", "no elements", "+0", "the same: NumPy, PyTorch, JAX"},
    Edge{"E2", "only -0", "-0", "IEEE 754's sum of them; NumPy gives +0"},
    Edge{"E3", "+inf and -inf, or a NaN", "NaN", "the same: all"},
    Edge{"E4", "partial sums that leave the range", "what the canonical order gives: 3e38 + 3e38 - 3e38 - 3e38 is 0, as lanes 0 and 2, 1 and 3 meet first", "from left to right it is NaN or inf"},
    Edge{"E5", "narrow floats", "combined in f32, rounded once: 2048 + 1 + 1 is 2050 in f16", "the same: NumPy, PyTorch; an f16 accumulator gives 2048"},
    Edge{"E6", "a sum beyond a narrow float's range", "±inf; ±448 in f8e4m3fn, which saturates", "the same: IEEE 754"},
    Edge{"E7", "integers", "wrap in their own dtype", "NumPy and PyTorch widen to 64 bits first: convert does"},
    Edge{"E8", "axes = [], or one element", "the element, NaN and -0 too"},
    Edge{"E9", "subnormal terms", "kept"}};
inline constexpr std::array prod_edges{
    Edge{"E1", "no elements", "1", "the same: NumPy, PyTorch, JAX"},
    Edge{"E2", "0 and ±inf", "NaN", "the same: all"},
    Edge{"E3", "zeros and signs", "the product's sign: an odd number of minus signs gives -0", "the same: IEEE 754"},
    Edge{"E4", "integers", "wrap in their own dtype"},
    Edge{"E5", "narrow floats", "combined in f32, rounded once: 300 · 2^-4 · 300 is 5624 in f16, the nearest to 5625", "an f16 accumulator gives inf in this order"}};
inline constexpr std::array max_edges{
    Edge{"E1", "no elements", "-inf; the least number of integers and of f8e4m3fn; false", "the same: JAX; NumPy and PyTorch reject it"},
    Edge{"E2", "a NaN anywhere", "NaN", "the same: NumPy, PyTorch, JAX; fmax and SQL leave it out"},
    Edge{"E3", "-0 and +0 only", "+0", "the same: IEEE 754-2019 maximum; NumPy gives either"},
    Edge{"E4", "only -inf, or only negative numbers", "the greatest of them: nothing is mixed in"},
    Edge{"E5", "bool", "or"},
    Edge{"E6", "u64 beyond 2^63", "compared without a sign"}};
inline constexpr std::array min_edges{
    Edge{"E1", "no elements", "+inf; the greatest number of integers and of f8e4m3fn; true", "the same: JAX; NumPy and PyTorch reject it"},
    Edge{"E2", "a NaN anywhere", "NaN", "the same: NumPy, PyTorch, JAX; fmin leaves it out"},
    Edge{"E3", "-0 and +0 only", "-0", "the same: IEEE 754-2019 minimum; NumPy gives either"},
    Edge{"E4", "only +inf, or only positive numbers", "the least of them: nothing is mixed in"},
    Edge{"E5", "bool", "and"}};
inline constexpr std::array and_edges{
    Edge{"E1", "no elements", "true; integers: all bits set", "the same: NumPy's all, bitwise_and.reduce"},
    Edge{"E2", "integers", "bit by bit: 4 and 2 is 0, though neither is 0", "NumPy's all takes them as truth values: compare first"}};
inline constexpr std::array or_edges{
    Edge{"E1", "no elements", "false; integers: 0", "the same: NumPy's any, bitwise_or.reduce"},
    Edge{"E2", "integers", "bit by bit, in their own dtype", "NumPy's any takes them as truth values: compare first"}};
inline constexpr std::array xor_edges{
    Edge{"E1", "no elements", "false; integers: 0", "the same: NumPy's bitwise_xor.reduce"},
    Edge{"E2", "bool", "whether an odd number of elements holds", "the same: NumPy's logical_xor.reduce"},
    Edge{"E3", "integers", "bit by bit, in their own dtype"}};
template <class Fn> constexpr std::span<const Edge> reduce_edges() {
  if constexpr (std::same_as<Fn, scalar::Add>) return sum_edges;
  else if constexpr (std::same_as<Fn, scalar::Mul>) return prod_edges;
  else if constexpr (std::same_as<Fn, scalar::Maximum>) return max_edges;
  else if constexpr (std::same_as<Fn, scalar::Minimum>) return min_edges;
  else if constexpr (std::same_as<Fn, scalar::And>) return and_edges;
  else if constexpr (std::same_as<Fn, scalar::Or>) return or_edges;
  else return xor_edges;
}
template <class Fn> constexpr std::string_view reduce_derivative() {
  if constexpr (std::same_as<Fn, scalar::Add>) return "the same sum of x'.";
  else if constexpr (std::same_as<Fn, scalar::Mul>) return "the sum over k of x'[k] times the product of the other elements, which is right where some are 0.";
  else if constexpr (std::same_as<Fn, scalar::Maximum> || std::same_as<Fn, scalar::Minimum>) return "x' at the element that is the result; where several equal it (-0 and +0 are equal), the mean of their x', as in JAX and PyTorch's amax and amin. No elements: 0.";
  else return "";
}

/// Canonical order (strict). The reduced axes' elements, in row-major order, are cut into chunks of 4,096; in a chunk
/// element i belongs to lane i mod 256; a lane combines its elements serially; lanes combine by halving (l with l+128,
/// then l+64 … l+1), absent lanes skipped; chunk results form the next level's elements, by the same rule.
template <class Fn> struct Reduce {
  static constexpr OpRow row{reduce_name<Fn>(), "x", OpClass::reduce,
      "Combines the elements over the axes in the canonical order. Empty: sum +0, product 1, max -inf, or the least number where there is no infinity; min +inf or the greatest; and true (all bits set), or and xor false (0). "
      "Narrow floats (f16, bf16, f8) are combined in f32 and rounded once at the end. max and min: NaN if any is NaN. "
      "Complex: the sum of each part; the product by halving: element i with element i + ceil(n/2), until one is left.", "", fn_id<Fn>};
  static constexpr bool sums = std::same_as<Fn, scalar::Add>, combines_complex = sums || std::same_as<Fn, scalar::Mul>;
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static constexpr std::string_view equation = "r[i] = combine over k in the axes' indices: x[join(i, k, axes)]";
  static constexpr std::string_view derivative = reduce_derivative<Fn>();
  static constexpr auto constraints = reduce_constraints<Fn>();
  static constexpr auto edges = reduce_edges<Fn>();
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axes(a.ints("axes"), in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
    if (!takes(fn_id<Fn>, in[0].dtype) && !(combines_complex && is_complex(in[0].dtype))) return no("C2: " + std::string(row.name) + " does not take " + std::string(name(in[0].dtype)));
    return one({in[0].dtype, drop(in[0].shape, a.ints("axes"))});
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) requires(combines_complex) {
    return {sums ? part_by_part(b, row.name, in, a) : complex_product(b, in[0], a.ints("axes"))};
  }
};

template <class Cmp> struct ArgReduce {
  static constexpr bool greatest = std::same_as<Cmp, scalar::Gt>;
  static constexpr OpRow row{greatest ? "argmax" : "argmin", "x", OpClass::arg_reduce,
      greatest ? "Index (i64) of the greatest element along the axis; a NaN counts as greatest; among equals (-0 = +0) the first. The axis must not be empty."
               : "Index (i64) of the least element along the axis; a NaN counts as least; among equals (-0 = +0) the first. The axis must not be empty."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static constexpr std::string_view equation =
      greatest ? "r[i] = the least k for which x[join(i, k, axis)] is greatest, NaN above all numbers" : "r[i] = the least k for which x[join(i, k, axis)] is least, NaN below all numbers";
  static constexpr std::array constraints{
      Constraint{"C1", "axis is an axis of x."},
      Constraint{"C2", "The axis is not empty."}};
  static constexpr std::array edges{
      Edge{"E1", "NaN among the elements", "the first NaN's place", "the same: NumPy, PyTorch, JAX"},
      Edge{"E2", "several equal elements, -0 and +0 among them", "the first one's place", "the same: NumPy, JAX; PyTorch leaves it open"},
      Edge{"E3", "subnormal numbers", "compared as they are"},
      Edge{"E4", "bool", "false before true", "the same: NumPy; PyTorch rejects bool"},
      Edge{"E5", "another axis of size 0", "no elements", "the same: NumPy"},
      Edge{"E6", greatest ? "only -inf" : "only +inf", "0"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C1: " + e);
    const auto& n = in[0].shape[static_cast<std::size_t>(a.integer("axis"))];
    if (n == Dim(0)) return no("C2: the axis is empty: no element is the " + std::string(greatest ? "greatest" : "least"));
    const std::int64_t axes[] = {a.integer("axis")};
    return one({DType::i64, drop(in[0].shape, axes)});
  }
};

inline constexpr std::array window_constraints{
    Constraint{"C1", "window has one entry for each axis of x; so has each of stride, low, high and dilation, or none."},
    Constraint{"C2", "The function combined with takes x's dtype: reduce_window_sum and reduce_window_prod no bool."},
    Constraint{"C3", "Entries of window, stride and dilation are positive."},
    Constraint{"C4", "Entries of low and high are not negative."},
    Constraint{"C5", "Sizes fit 64 bits."}};
inline constexpr std::array window_sum_edges{
    Edge{"E1", "a window with nothing of x in it", "+0, or 0"},
    Edge{"E2", "padding", "takes no part: a window of -0 and padding sums to -0, of ±inf to ±inf", "ONNX's pooling and PyTorch's count or leave out the padding by a flag: their composites divide by what they mean"},
    Edge{"E3", "a stride that does not divide", "windows that would begin or end past the padded end are left out", "the same: floor mode of ONNX and PyTorch; ceil mode is more high padding, which the importer computes"},
    Edge{"E4", "a window longer than the padded axis", "no elements", "PyTorch rejects it"},
    Edge{"E5", "narrow floats", "combined in f32, rounded once"},
    Edge{"E6", "NaN", "in the windows that hold it only: no running sums"},
    Edge{"E7", "dilation", "the window's elements lie dilation apart"}};
inline constexpr std::array window_max_edges{
    Edge{"E1", "a window with nothing of x in it", "-inf; the least number of integers and of f8e4m3fn; false"},
    Edge{"E2", "padding", "takes no part: it is not 0", "the same: ONNX, PyTorch, which pad with -inf"},
    Edge{"E3", "NaN in a window", "NaN", "the same: PyTorch; ONNX leaves it open"},
    Edge{"E4", "-0 and +0 in a window", "+0"},
    Edge{"E5", "an axis of size 0 with padding", "only empty windows"},
    Edge{"E6", "a window longer than the padded axis", "no elements", "PyTorch rejects it"}};
inline constexpr std::array window_prod_edges{
    Edge{"E1", "a window with nothing of x in it", "1"},
    Edge{"E2", "padding", "takes no part: a window of an infinity and padding is that infinity"},
    Edge{"E3", "0 and an infinity in a window", "NaN", "the same: IEEE 754"},
    Edge{"E4", "integers", "wrap in their own dtype"}};
inline constexpr std::array window_min_edges{
    Edge{"E1", "a window with nothing of x in it", "+inf; the greatest number of integers and of f8e4m3fn; true"},
    Edge{"E2", "padding", "takes no part: it is not 0"},
    Edge{"E3", "NaN in a window", "NaN"},
    Edge{"E4", "-0 and +0 in a window", "-0"}};
template <class Fn> constexpr std::span<const Edge> window_edges() {
  if constexpr (std::same_as<Fn, scalar::Add>) return window_sum_edges;
  else if constexpr (std::same_as<Fn, scalar::Mul>) return window_prod_edges;
  else if constexpr (std::same_as<Fn, scalar::Maximum>) return window_max_edges;
  else return window_min_edges;
}
template <class Fn> constexpr std::string_view window_name() {
  if constexpr (std::same_as<Fn, scalar::Add>) return "reduce_window_sum";
  else if constexpr (std::same_as<Fn, scalar::Mul>) return "reduce_window_prod";
  else if constexpr (std::same_as<Fn, scalar::Maximum>) return "reduce_window_max";
  else return "reduce_window_min";
}

/// Windows over every axis (size 1 where an axis has none), as in pooling. Positions in the padding take no part.
template <class Fn> struct ReduceWindow {
  static constexpr OpRow row{window_name<Fn>(), "x", OpClass::window,
      "Combines each window's elements, in row-major order of the window by the canonical order; positions outside x take no part; a window without any gives the empty reduction's value.", "", fn_id<Fn>};
  static constexpr std::array attrs{AttrSpec{"window", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}, AttrSpec{"low", AttrKind::ints, "[]"},
                                    AttrSpec{"high", AttrKind::ints, "[]"}, AttrSpec{"dilation", AttrKind::ints, "[]"}};
  static constexpr std::string_view equation =
      "r[i] = combine over w in the window's indices, where j lies in x: x[j],\n"
      "       j[k] = i[k]·stride[k] + w[k]·dilation[k] - low[k]\n"
      "size(r, k) = ⌊(size(x, k) + low[k] + high[k] - (window[k] - 1)·dilation[k] - 1) / stride[k]⌋ + 1, 0 where that is negative\n"
      "[] stands for ones (stride, dilation) or zeros (low, high)";
  static constexpr std::string_view derivative = reduce_derivative<Fn>();
  static constexpr auto constraints = [] { if constexpr (Fn::row.takes == Takes::any) return std::array{window_constraints[0], window_constraints[2], window_constraints[3], window_constraints[4]}; else return window_constraints; }();
  static constexpr auto edges = window_edges<Fn>();
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const std::size_t rank = in[0].rank();
    for (const auto& spec : attrs) {
      const auto& v = a.ints(spec.name);
      if (v.size() != rank && !(v.empty() && spec.name != "window")) return no("C1: " + std::string(spec.name) + " needs an entry an axis (rank " + std::to_string(rank) + ")");
    }
    if (!takes(fn_id<Fn>, in[0].dtype)) return no("C2: " + std::string(row.name) + " does not take " + std::string(name(in[0].dtype)));
    auto entry = [&](const char* which, std::size_t d, std::int64_t fallback) { const auto& v = a.ints(which); return v.empty() ? fallback : v[d]; };
    Shape s;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t w = a.ints("window")[d], stride = entry("stride", d, 1), dil = entry("dilation", d, 1);
      if (w < 1 || stride < 1 || dil < 1) return no("C3: window, stride and dilation are positive");
      if (entry("low", d, 0) < 0 || entry("high", d, 0) < 0) return no("C4: padding is not negative");
      const Wide n = positions(Wide(in[0].shape[d].size()) + entry("low", d, 0) + entry("high", d, 0) - (Wide(w - 1) * dil + 1), stride);
      if (!fits(n)) return no("C5: axis " + std::to_string(d) + " would have a size beyond 64 bits");
      s.push_back(static_cast<std::int64_t>(n));
    }
    return one({in[0].dtype, s});
  }
};

template <bool Indices> struct SortOp {
  static constexpr OpRow row{Indices ? "argsort" : "sort", "x", OpClass::sort,
      "Stable order along the axis: ascending, -0 and +0 equal, NaN after all others; descending is the stable order by the reversed comparison, NaN first. argsort gives i64 indices."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}, AttrSpec{"descending", AttrKind::boolean, "false"}};
  static constexpr std::string_view equation =
      Indices ? "r[i] = p(i[axis]), p the stable order of the line x[i[axis <- *]]" : "r[i] = x[i[axis <- p(i[axis])]], p the stable order of the line x[i[axis <- *]]";
  static constexpr std::string_view derivative = Indices ? "" : "r'[i] = x' at the element that r[i] is: the stable order decides between equal ones.";
  static constexpr std::array constraints{
      Constraint{"C1", "axis is an axis of x."}};
  static constexpr std::array edges{
      Edge{"E1", "NaN", "after all numbers; descending: before all", "the same: PyTorch, JAX; NumPy ascending; ONNX's TopK leaves it open"},
      Edge{"E2", "-0 and +0", "equal: their order is kept", "the same: NumPy, PyTorch with stable=True"},
      Edge{"E3", "equal elements, descending", "their order is kept, not turned around", "the same: PyTorch with stable=True, JAX; reversing an ascending order turns it around"},
      Edge{"E4", "an axis of size 0 or 1", Indices ? "no elements, or 0" : "x"},
      Edge{"E5", "infinities and subnormal numbers", "at their places in the order"},
      Edge{"E6", "bool", "false before true"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C1: " + e);
    return one({Indices ? DType::i64 : in[0].dtype, in[0].shape});
  }
};

using ReduceOps = OpList<
    Reduce<scalar::Add>, Reduce<scalar::Mul>, Reduce<scalar::Maximum>, Reduce<scalar::Minimum>, Reduce<scalar::And>, Reduce<scalar::Or>, Reduce<scalar::Xor>,
    ArgReduce<scalar::Gt>, ArgReduce<scalar::Lt>, ReduceWindow<scalar::Add>, ReduceWindow<scalar::Mul>, ReduceWindow<scalar::Maximum>, ReduceWindow<scalar::Minimum>,
    SortOp<false>, SortOp<true>>;

}  // namespace plumb::ir::ops
