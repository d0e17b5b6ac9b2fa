// Running reductions along an axis.
//
// Canonical order (strict). A line of n elements is a tree of radix 16. Entries of level 0 are the elements; an entry of
// level k+1 is the total of 16 neighbouring entries of level k (the last one of fewer), combined serially in order. The prefix
// of an entry is what precedes it: the prefix of its group (nothing for the first group), then the group's entries before
// it, combined serially onto that. An element's result is its prefix combined with the element, prefix on the left; without
// a prefix it is the element itself. So a line of up to 16 elements is one serial chain; chunks of a long line need only the
// totals before them; and a line may be read once, as a stream, with one running prefix and one running total a level.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

template <class Fn> constexpr std::string_view scan_name() {
  if constexpr (std::same_as<Fn, scalar::Add>) return "cumsum";
  else if constexpr (std::same_as<Fn, scalar::Mul>) return "cumprod";
  else if constexpr (std::same_as<Fn, scalar::Maximum>) return "cummax";
  else return "cummin";
}

inline constexpr std::array cumsum_edges{
    Edge{"E1", "the first element", "itself: -0 stays -0; exclusive gives +0", "the same: NumPy"},
    Edge{"E2", "+inf, then -inf", "NaN from there on", "the same: NumPy, PyTorch on the CPU; schemes that subtract may give NaN earlier"},
    Edge{"E3", "many +inf", "+inf at each: nothing is subtracted"},
    Edge{"E4", "narrow floats", "the running sum stays in f32, each output is rounded once: 2048, 1, 1 gives 2048, 2048, 2050 in f16", "an f16 running sum gives 2048 at the end"},
    Edge{"E5", "integers", "wrap in their own dtype", "NumPy and PyTorch widen to 64 bits first: convert does"},
    Edge{"E6", "an axis of size 0", "no elements"},
    Edge{"E7", "reverse and exclusive", "sums of what follows"}};
inline constexpr std::array cumprod_edges{
    Edge{"E1", "the first element", "itself; exclusive gives 1", "the same: NumPy"},
    Edge{"E2", "0, then ±inf, or the other way round", "NaN from there on", "the same: NumPy, PyTorch"},
    Edge{"E3", "narrow floats", "the running product stays in f32, each output is rounded once"},
    Edge{"E4", "integers", "wrap in their own dtype", "NumPy and PyTorch widen to 64 bits first: convert does"},
    Edge{"E5", "an axis of size 0", "no elements"},
    Edge{"E6", "a NaN", "NaN from there on; earlier results are not touched", "the same: NumPy, PyTorch"}};
inline constexpr std::array cummax_edges{
    Edge{"E1", "the first element", "itself; exclusive gives -inf; the least number of integers and of f8e4m3fn; false"},
    Edge{"E2", "a NaN", "NaN from there on", "the same: PyTorch, NumPy's maximum.accumulate"},
    Edge{"E3", "-0, then +0", "+0 from there on; +0, then -0: +0", "PyTorch holds zeros equal"},
    Edge{"E4", "an axis of size 0", "no elements"}};
inline constexpr std::array cummin_edges{
    Edge{"E1", "the first element", "itself; exclusive gives +inf; the greatest number of integers and of f8e4m3fn; true"},
    Edge{"E2", "a NaN", "NaN from there on", "the same: PyTorch, NumPy's minimum.accumulate"},
    Edge{"E3", "+0, then -0", "-0 from there on; -0, then +0: -0", "PyTorch holds zeros equal"},
    Edge{"E4", "an axis of size 0", "no elements"}};
template <class Fn> constexpr std::span<const Edge> scan_edges() {
  if constexpr (std::same_as<Fn, scalar::Add>) return cumsum_edges;
  else if constexpr (std::same_as<Fn, scalar::Mul>) return cumprod_edges;
  else if constexpr (std::same_as<Fn, scalar::Maximum>) return cummax_edges;
  else return cummin_edges;
}
inline constexpr std::array scan_constraints{
    Constraint{"C1", "axis is an axis of x. (A tensor of rank 0 has none: reshape it to one element.)"},
    Constraint{"C2", "x is not bool."}};

template <class Fn> struct Scan {
  static constexpr bool extremum = Fn::row.takes == Takes::any, sum = std::same_as<Fn, scalar::Add>;
  static constexpr OpRow row{scan_name<Fn>(), "x", OpClass::scan,
      extremum ? "Running extremum along the axis (from its end when reverse); exclusive leaves the element itself out and starts at the empty reduction's value. NaN if any so far is NaN."
      : sum    ? "Running sums along the axis, in the canonical order of scans (from the end when reverse); exclusive leaves the element itself out and starts at +0. Narrow floats run in f32 and round each output once."
               : "Running products along the axis, in the canonical order of scans (from the end when reverse); exclusive leaves the element itself out and starts at 1. Narrow floats run in f32 and round each output once.",
      "", fn_id<Fn>};
  static constexpr std::string_view equation =
      "r[i] = combine over k = 0 … i[axis], in the canonical order of scans: x[i[axis <- k]]\n"
      "exclusive: k = 0 … i[axis] - 1, and the empty reduction's value for the first;  reverse: from the end of the axis";
  static constexpr std::string_view derivative = sum ? "r' = cumsum(x') with the same attributes." : "";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}, AttrSpec{"exclusive", AttrKind::boolean, "false"}, AttrSpec{"reverse", AttrKind::boolean, "false"}};
  static constexpr auto constraints = std::span<const Constraint>(scan_constraints).first(extremum ? 1 : 2);
  static constexpr auto edges = scan_edges<Fn>();
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C1: " + e);
    if (!takes(fn_id<Fn>, in[0].dtype) && !(sum && is_complex(in[0].dtype))) return no("C2: " + std::string(row.name) + " takes numbers");
    return one(in[0]);
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) requires(sum) { return {part_by_part(b, row.name, in, a)}; }
};

using ScanOps = OpList<Scan<scalar::Add>, Scan<scalar::Mul>, Scan<scalar::Maximum>, Scan<scalar::Minimum>>;

}  // namespace plumb::ir::ops
