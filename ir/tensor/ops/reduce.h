// Reductions, arg-reductions, windows, scans, sorts.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

template <class Fn> constexpr std::string_view reduce_name() {
  if constexpr (std::same_as<Fn, scalar::Add>) return "reduce_sum";
  else if constexpr (std::same_as<Fn, scalar::Mul>) return "reduce_prod";
  else if constexpr (std::same_as<Fn, scalar::Maximum>) return "reduce_max";
  else if constexpr (std::same_as<Fn, scalar::Minimum>) return "reduce_min";
  else if constexpr (std::same_as<Fn, scalar::And>) return "reduce_and";
  else return "reduce_or";
}

/// Canonical order (strict). The reduced axes' elements, in row-major order, are cut into chunks of 4,096; in a chunk
/// element i belongs to lane i mod 256; a lane combines its elements serially; lanes combine by halving (l with l+128,
/// then l+64 … l+1), absent lanes skipped; chunk results form the next level's elements, by the same rule.
template <class Fn> struct Reduce {
  static constexpr OpRow row{reduce_name<Fn>(), "x", OpClass::reduce,
      "Combines the elements over the axes in the canonical order. Empty: sum +0, product 1, max -inf, or the least number where there is no infinity; min +inf or the greatest; and true, or false. "
      "Narrow floats (f16, bf16, f8) are combined in f32 and rounded once at the end. max and min: NaN if any is NaN.", "", fn_id<Fn>};
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axes(a.ints("axes"), in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
    if (!takes(fn_id<Fn>, in[0].dtype)) return no("C2: " + std::string(row.name) + " does not take " + std::string(name(in[0].dtype)));
    return one({in[0].dtype, drop(in[0].shape, a.ints("axes"))});
  }
};

template <class Cmp> struct ArgReduce {
  static constexpr bool greatest = std::same_as<Cmp, scalar::Gt>;
  static constexpr OpRow row{greatest ? "argmax" : "argmin", "x", OpClass::arg_reduce,
      greatest ? "Index (i64) of the greatest element along the axis; a NaN counts as greatest; among equals (-0 = +0) the first. The axis must not be empty."
               : "Index (i64) of the least element along the axis; a NaN counts as least; among equals (-0 = +0) the first. The axis must not be empty."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C1: " + e);
    const auto& n = in[0].shape[static_cast<std::size_t>(a.integer("axis"))];
    if (n == Dim(0)) return no("C2: the axis is empty: no element is the " + std::string(greatest ? "greatest" : "least"));
    const std::int64_t axes[] = {a.integer("axis")};
    return one({DType::i64, drop(in[0].shape, axes)});
  }
};

/// Windows over every axis (size 1 where an axis has none), as in pooling. Positions in the padding take no part.
template <class Fn> struct ReduceWindow {
  static constexpr OpRow row{std::same_as<Fn, scalar::Add> ? "reduce_window_sum" : "reduce_window_max", "x", OpClass::window,
      "Combines each window's elements, in row-major order of the window by the canonical order; positions outside x take no part; a window without any gives the empty reduction's value.", "", fn_id<Fn>};
  static constexpr std::array attrs{AttrSpec{"window", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}, AttrSpec{"low", AttrKind::ints, "[]"},
                                    AttrSpec{"high", AttrKind::ints, "[]"}, AttrSpec{"dilation", AttrKind::ints, "[]"}};
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

struct Cumsum {
  static constexpr OpRow row{"cumsum", "x", OpClass::scan, "Running sums along the axis, in index order (from the end when reverse); exclusive leaves the element itself out and starts at +0. "
      "Narrow floats run in f32 and round each output once."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}, AttrSpec{"exclusive", AttrKind::boolean, "false"}, AttrSpec{"reverse", AttrKind::boolean, "false"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C1: " + e);
    if (is_bool(in[0].dtype)) return no("C2: cumsum takes numbers");
    return one(in[0]);
  }
};

template <bool Indices> struct SortOp {
  static constexpr OpRow row{Indices ? "argsort" : "sort", "x", OpClass::sort,
      "Stable order along the axis: ascending, -0 and +0 equal, NaN after all others; descending is the stable order by the reversed comparison, NaN first. argsort gives i64 indices."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}, AttrSpec{"descending", AttrKind::boolean, "false"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C1: " + e);
    return one({Indices ? DType::i64 : in[0].dtype, in[0].shape});
  }
};

using ReduceOps = OpList<
    Reduce<scalar::Add>, Reduce<scalar::Mul>, Reduce<scalar::Maximum>, Reduce<scalar::Minimum>, Reduce<scalar::And>, Reduce<scalar::Or>,
    ArgReduce<scalar::Gt>, ArgReduce<scalar::Lt>, ReduceWindow<scalar::Add>, ReduceWindow<scalar::Maximum>, Cumsum, SortOp<false>, SortOp<true>>;

}  // namespace plumb::ir::ops
