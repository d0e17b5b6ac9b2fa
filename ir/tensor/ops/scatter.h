// Elements updated by index. One form serves all: a vector of indices along one axis. Coordinates along several axes
// (ONNX's ScatterND, an index for each element as in ScatterElements) become positions in the flattened axes first.
#pragma once
#include "ir/tensor/builder.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

inline constexpr std::array scatter_constraints{
    Constraint{"C1", "axis is an axis of x."},
    Constraint{"C2", "indices is a vector of integers."},
    Constraint{"C3", "updates has x's dtype and x's shape, with the number of indices along the axis."},
    Constraint{"C4", "x is not bool."}};

inline Inferred infer_scatter(std::span<const Type> in, const AttrMap& a) {
  const auto axis = a.integer("axis");
  if (auto e = check_axis(axis, in[0].rank()); !e.empty()) return no("C1: " + e);
  if (!is_integer(in[1].dtype) || in[1].rank() != 1) return no("C2: indices must be a vector of integers, not " + in[1].str());
  Shape want = in[0].shape;
  want[static_cast<std::size_t>(axis)] = in[1].shape[0];
  if (in[2].dtype != in[0].dtype || in[2].shape != want) return no("C3: updates must be " + Type{in[0].dtype, want}.str() + ", not " + in[2].str());
  return one(in[0]);
}

template <class Fn> constexpr std::string_view scatter_name() {
  if constexpr (std::same_as<Fn, scalar::Add>) return "scatter_add";
  else if constexpr (std::same_as<Fn, scalar::Mul>) return "scatter_mul";
  else if constexpr (std::same_as<Fn, scalar::Maximum>) return "scatter_max";
  else return "scatter_min";
}

inline constexpr std::array scatter_add_edges{
    Edge{"E1", "one index more than once", "the updates add up, in the order of the indices", "the same sum: PyTorch's index_add, JAX; NumPy's x[i] += u keeps the last only"},
    Edge{"E2", "floats whose sum depends on the order", "x first, then the updates in order", "PyTorch's CUDA version leaves the order open"},
    Edge{"E3", "an index outside [0, size), negative ones too", "an error where a result needs the element", "PyTorch's index_add the same; JAX drops the update"},
    Edge{"E4", "no indices", "x, the sign of its zeros too"},
    Edge{"E5", "NaN in an update", "at its destination only"},
    Edge{"E6", "integers", "wrap"},
    Edge{"E7", "narrow floats", "run in f32 and round once"}};
inline constexpr std::array scatter_mul_edges{
    Edge{"E1", "one index more than once", "every update takes part, in the order of the indices", "the same product: ONNX, PyTorch's scatter_reduce"},
    Edge{"E2", "0 and ±inf", "NaN"},
    Edge{"E3", "an index outside [0, size), negative ones too", "an error where a result needs the element", "PyTorch's CPU the same; JAX drops the update"},
    Edge{"E4", "no indices", "x, the sign of its zeros too"},
    Edge{"E5", "narrow floats", "run in f32 and round once"}};
inline constexpr std::array scatter_extremum_edges{
    Edge{"E1", "one index more than once", "every update takes part", "the same: ONNX, PyTorch's scatter_reduce"},
    Edge{"E2", "NaN in x or in an update", "NaN at that place only", "the same: PyTorch; ONNX leaves it open"},
    Edge{"E3", "an index outside [0, size), negative ones too", "an error where a result needs the element", "PyTorch's CPU the same; JAX drops the update"},
    Edge{"E4", "no indices", "x"},
    Edge{"E5", "zeros of both signs", "scatter_max +0, scatter_min -0"}};
template <class Fn> constexpr std::span<const Edge> scatter_edges() {
  if constexpr (std::same_as<Fn, scalar::Add>) return scatter_add_edges;
  else if constexpr (std::same_as<Fn, scalar::Mul>) return scatter_mul_edges;
  else return scatter_extremum_edges;
}

/// Canonical order (strict): x's element, then its updates in the order of the indices, serially.
template <class Fn> struct ScatterCombine {
  static constexpr bool extremum = Fn::row.takes == Takes::any, sum = std::same_as<Fn, scalar::Add>;
  static constexpr OpRow row{scatter_name<Fn>(), "x, indices, updates", OpClass::scatter,
      sum ? "x plus, at each index along the axis, the updates' slices, added in the order of the indices (duplicates add up; x first). "
            "An index outside [0, size) is an error where a result needs the element; a lowering may leave out what none needs."
          : "x's slices along the axis, each combined with the updates' slices whose index names it, in the order of the indices (duplicates all take part; x first). "
            "An index outside [0, size) is an error where a result needs the element; a lowering may leave out what none needs.", "", fn_id<Fn>};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "0"}};
  static constexpr std::string_view equation = sum ? "r[i] = the running sum, in this order, of x[i] and of updates[i[axis <- u]] for each u with indices[u] = i[axis], u increasing"
                                                   : "r[i] = combine, in this order, x[i] and updates[i[axis <- u]] for each u with indices[u] = i[axis], u increasing";
  static constexpr std::string_view derivative = sum ? "r' = scatter_add(x', indices, updates')." : "";
  static constexpr auto constraints = std::span<const Constraint>(scatter_constraints).first(extremum ? 3 : 4);
  static constexpr auto edges = scatter_edges<Fn>();
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    auto r = infer_scatter(in, a);
    if (std::holds_alternative<std::vector<Type>>(r) && !takes(fn_id<Fn>, in[0].dtype) && !(sum && is_complex(in[0].dtype))) return no("C4: " + std::string(row.name) + " takes numbers");
    return r;
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) requires(sum) { return {part_by_part(b, row.name, in, a)}; }
};

/// Replacement is a matter of numbers alone: the last update of each place is found first, then read.
struct Scatter {
  static constexpr bool complex = true;
  static constexpr OpRow row{"scatter", "x, indices, updates", OpClass::composite,
      "x's slices along the axis, each replaced by the last slice of updates (in the order of the indices) whose index names it. An index outside [0, size) is an error where a result needs the element."};
  static constexpr std::string_view equation = "r[i] = updates[i[axis <- u]] for the greatest u with indices[u] = i[axis]; x[i] where there is none";
  static constexpr std::string_view derivative = "r' = scatter(x', indices, updates').";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "0"}};
  static constexpr auto constraints = std::span<const Constraint>(scatter_constraints).first(3);
  static constexpr std::array edges{
      Edge{"E1", "no indices", "x"},
      Edge{"E2", "one index more than once", "the last update", "ONNX, PyTorch and StableHLO leave it open; NumPy the same"},
      Edge{"E3", "an index outside [0, size), negative ones too", "an error where a result needs the element", "JAX drops the update"},
      Edge{"E4", "an update of NaN or -0", "is taken as it is"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) { return infer_scatter(in, a); }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto x = in[0];
    const Shape shape = b.type(x).shape;
    const auto axis = a.integer("axis");
    const Dim updates = b.type(in[1]).shape[0];
    if (updates == Dim(0)) return {x};
    AttrMap numbers, along, spread;
    numbers.set("dtype", DType::i64);
    numbers.set("shape", Shape{updates});
    const auto number = b.op("iota", {}, std::move(numbers));
    const auto none = b.broadcast_to(b.scalar(DType::i64, -1), Shape{shape[static_cast<std::size_t>(axis)]});
    const auto last = b.op("scatter_max", {none, in[1], number});
    along.set("axis", axis);
    const auto update = b.op("gather", {in[2], b.op("maximum", {last, b.splat_like(last, 0)})}, std::move(along));
    spread.set("shape", shape);
    spread.set("dims", Ints{axis});
    const auto named = b.op("broadcast", {b.op("ge", {last, b.splat_like(last, 0)})}, std::move(spread));
    return {b.op("select", {named, update, x})};
  }
};

using ScatterOps = OpList<ScatterCombine<scalar::Add>, ScatterCombine<scalar::Mul>, ScatterCombine<scalar::Maximum>, ScatterCombine<scalar::Minimum>, Scatter>;

}  // namespace plumb::ir::ops
