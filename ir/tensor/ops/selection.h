// Elements chosen by their values. How many there are depends on the data: such a result has its greatest size, is filled
// up with a value that the record states, and a count (i64[]) stands beside it. The decompositions stand in selection.cpp.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

/// Where a vector of n bools holds.
struct Chosen {
  ValueId positions;  ///< i64[n]: in order; 0 after the last
  ValueId exists;     ///< bool[n]: whether positions has the entry
  ValueId count;      ///< i64[]
};
Chosen chosen(const Words& w, ValueId mask);
/// x's slices at the chosen positions along the axis, 0 after the last.
ValueId taken(const Words& w, ValueId x, const Chosen& c, std::int64_t axis);

struct TopK {
  static constexpr OpRow row{"top_k", "x", OpClass::composite, "The first k elements of each line along the axis in the stable order, descending where largest holds, else ascending; and their places in the line (i64)."};
  static constexpr std::string_view equation = "values[i] = x[i[axis <- indices[i]]], indices = the first k of argsort(x)";
  static constexpr std::array attrs{AttrSpec{"k", AttrKind::integer}, AttrSpec{"axis", AttrKind::integer}, AttrSpec{"largest", AttrKind::boolean, "true"}};
  static constexpr std::array constraints{Constraint{"C1", "axis is an axis of x."}, Constraint{"C2", "k lies in [0, size(x, axis)]."}};
  static constexpr std::array edges{
      Edge{"E1", "NaN", "is greater than all numbers: first when largest, else last", "the same: PyTorch, JAX; ONNX leaves it open"},
      Edge{"E2", "equal elements", "in the order of their places, for largest and smallest alike", "the same: ONNX, JAX; PyTorch leaves it open"},
      Edge{"E3", "k = 0", "no elements", "the same: PyTorch"},
      Edge{"E4", "-0 and +0", "equal", "the same: PyTorch; JAX holds +0 greater"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C1: " + e);
    Shape s = in[0].shape;
    auto& size = s[static_cast<std::size_t>(a.integer("axis"))];
    if (a.integer("k") < 0 || a.integer("k") > size.size()) return no("C2: k is " + std::to_string(a.integer("k")) + " for an axis of size " + size.str());
    size = a.integer("k");
    return std::vector<Type>{{in[0].dtype, s}, {DType::i64, s}};
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    const auto axis = a.integer("axis");
    const auto order = b.op("argsort", {in[0]}, attr_list({{"axis", axis}, {"descending", a.flag("largest")}}));
    const auto first = w.slice(order, static_cast<std::size_t>(axis), 0, a.integer("k"));
    return {b.op("gather_elements", {in[0], first}, attr_list({{"axis", axis}})), first};
  }
};

struct NonZero {
  static constexpr OpRow row{"nonzero", "x", OpClass::composite,
      "The indices of the elements that are not 0 (true ones, of bools), in row-major order: a column each of an i64[rank, elements], and how many (i64[]). Columns after the last hold -1."};
  static constexpr std::string_view equation = "indices[d, k] = coordinate d of the k-th index i with x[i] != 0, for k < count; -1 elsewhere";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array edges{
      Edge{"E1", "NaN", "is not 0", "the same: NumPy, PyTorch, ONNX"},
      Edge{"E2", "-0", "is 0", "the same: NumPy, PyTorch, ONNX"},
      Edge{"E3", "a tensor of rank 0", "no rows, and a column if it is not 0", "the same: PyTorch, turned; NumPy an error"},
      Edge{"E4", "nothing but zeros", "-1 everywhere, and a count of 0", "PyTorch's nonzero_static fills with -1 too; nonzero gives no columns"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    return std::vector<Type>{{DType::i64, {static_cast<std::int64_t>(in[0].rank()), in[0].elements()}}, {DType::i64, {}}};
  }
  static Out decompose(Builder& b, In in, const AttrMap&);
};

struct MaskedSelect {
  static constexpr OpRow row{"masked_select", "x, mask", OpClass::composite, "x's elements where mask holds, in row-major order: a vector of as many elements as x has, 0 after the last; and how many (i64[])."};
  static constexpr std::string_view equation = "values[k] = x at the k-th index where mask holds, for k < count; 0 elsewhere";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "mask is bool, and has x's shape."}};
  static constexpr std::array edges{
      Edge{"E1", "a mask that holds nowhere", "0 everywhere, and a count of 0", "PyTorch gives no elements"},
      Edge{"E2", "NaN or -0 where the mask holds", "is taken as it is", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_bool(in[1].dtype) || in[1].shape != in[0].shape) return no("C1: mask must be bool" + str(in[0].shape) + ", not " + in[1].str());
    return std::vector<Type>{{in[0].dtype, {in[0].elements()}}, {DType::i64, {}}};
  }
  static Out decompose(Builder& b, In in, const AttrMap&) {
    const Words w{b};
    const Shape flat{b.type(in[0]).elements()};
    const Chosen c = chosen(w, b.reshape(in[1], flat));
    return {taken(w, b.reshape(in[0], flat), c, 0), c.count};
  }
};

struct Compress {
  static constexpr OpRow row{"compress", "x, condition", OpClass::composite, "x's slices along the axis where condition (a vector of bools) holds, in order: as many as condition has entries, 0 after the last; and how many (i64[])."};
  static constexpr std::string_view equation = "values[i] = x[i[axis <- the place of condition's i[axis]-th true entry]] for i[axis] < count; 0 elsewhere";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "axis is an axis of x."}, Constraint{"C2", "condition is a vector of bools, not longer than x along the axis."}};
  static constexpr std::array edges{
      Edge{"E1", "a condition shorter than the axis", "the slices beyond it are not taken", "the same: NumPy, ONNX"},
      Edge{"E2", "a condition that holds nowhere", "0 everywhere, and a count of 0", "NumPy and ONNX give no slices"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axis(a.integer("axis"), in[0].rank()); !e.empty()) return no("C1: " + e);
    Shape s = in[0].shape;
    auto& size = s[static_cast<std::size_t>(a.integer("axis"))];
    if (!is_bool(in[1].dtype) || in[1].rank() != 1 || in[1].shape[0].size() > size.size()) return no("C2: condition must be a vector of at most " + size.str() + " bools, not " + in[1].str());
    size = in[1].shape[0];
    return std::vector<Type>{{in[0].dtype, s}, {DType::i64, {}}};
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    const Chosen c = chosen(w, in[1]);
    return {taken(w, in[0], c, a.integer("axis")), c.count};
  }
};

struct Unique {
  static constexpr OpRow row{"unique", "x", OpClass::composite,
      "The distinct slices of x along the axis (for axis -1: its distinct elements), ascending, or in the order of their first appearance where sorted does not hold. Five results: values, 0 after the last; for each the place of its first appearance (-1 after the last); "
      "for each slice of x its place among the values (inverse); for each value how often it comes (0 after the last); and how many values there are (i64[])."};
  static constexpr std::string_view equation =
      "values[.., k, ..] = x[.., first[k], ..] for k < count, 0 elsewhere;  first[k] = the least p with inverse[p] = k;  counts[k] = the number of p with inverse[p] = k\n"
      "inverse[p] = inverse[q] where the slices at p and q are equal, element by element; else they compare as the slices do, by their first elements that differ";
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer, "-1"}, AttrSpec{"sorted", AttrKind::boolean, "true"}};
  static constexpr std::array constraints{Constraint{"C1", "axis is -1 or an axis of x."}};
  static constexpr std::array edges{
      Edge{"E1", "NaN", "all NaNs are one value, the greatest", "the same: NumPy without an axis; PyTorch, and NumPy with an axis, hold each distinct"},
      Edge{"E2", "-0 and +0", "one value, with the sign of its first appearance", "the same: NumPy and PyTorch but for the sign, which they leave open"},
      Edge{"E3", "no slices", "no values, and a count of 0", "the same: NumPy, PyTorch"},
      Edge{"E4", "slices without elements", "are all equal: one value", "the same: NumPy"},
      Edge{"E5", "slices along an axis", "compare by their first elements that differ", "the same: NumPy, PyTorch, ONNX"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

using SelectionOps = OpList<TopK, NonZero, MaskedSelect, Compress, Unique>;

}  // namespace plumb::ir::ops
