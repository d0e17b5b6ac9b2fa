// Elements by position: fixed patterns (diagonals, triangles, rolls, patches) and positions that tensors hold. The longer
// decompositions stand in indexing.cpp.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

template <bool Upper> struct Triangle {
  static constexpr bool complex = true;
  static constexpr OpRow row{Upper ? "triu" : "tril", "x", OpClass::composite,
      Upper ? "The elements of the last two axes on the diagonal of that offset and above it, 0 elsewhere." : "The elements of the last two axes on the diagonal of that offset and below it, 0 elsewhere."};
  static constexpr std::string_view equation = Upper ? "out[…, i, j] = j - i >= diagonal ? x[…, i, j] : 0" : "out[…, i, j] = j - i <= diagonal ? x[…, i, j] : 0";
  static constexpr std::array attrs{AttrSpec{"diagonal", AttrKind::integer, "0"}};
  static constexpr std::array constraints{Constraint{"C1", "x has at least 2 axes."}};
  static constexpr std::array edges{Edge{"E1", "a NaN or inf outside the triangle", "0", "the same: PyTorch, NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in[0].rank() < 2) return no("C1: takes matrices, not " + in[0].str());
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    const Type t = b.type(in[0]);
    const Shape matrix(t.shape.end() - 2, t.shape.end());
    const auto limit = std::clamp<std::int64_t>(a.integer("diagonal"), -(std::int64_t{1} << 50), std::int64_t{1} << 50);
    const auto offset = w("sub", w.iota(DType::i64, matrix, 1), w.iota(DType::i64, matrix, 0));
    const auto inside = b.broadcast_to(w.with(Upper ? "ge" : "le", offset, static_cast<double>(limit)), t.shape);
    return {w("select", inside, in[0], b.splat_like(in[0], 0))};
  }
};

struct Diagonal {
  static constexpr bool complex = true;
  static constexpr OpRow row{"diagonal", "x", OpClass::composite, "The elements whose index along axis2 is that along axis1 plus offset; both axes leave, the diagonal comes last."};
  static constexpr std::string_view equation = "out[…, k] = x[…, k + max(-offset, 0), …, k + max(offset, 0), …]";
  static constexpr std::array attrs{AttrSpec{"offset", AttrKind::integer, "0"}, AttrSpec{"axis1", AttrKind::integer, "0"}, AttrSpec{"axis2", AttrKind::integer, "1"}};
  static constexpr std::array constraints{Constraint{"C1", "axis1 and axis2 are distinct and lie in x's rank."}, Constraint{"C2", "the two sizes multiply within 64 bits."}};
  static constexpr std::array edges{Edge{"E1", "offset beyond the matrix", "an empty axis", "the same: PyTorch, NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct Roll {
  static constexpr bool complex = true;
  static constexpr OpRow row{"roll", "x", OpClass::composite, "Elements move by the shifts along the axes; what leaves at one end enters at the other."};
  static constexpr std::string_view equation = "out[…, i, …] = x[…, (i - shift) mod n, …]";
  static constexpr std::array attrs{AttrSpec{"shifts", AttrKind::ints}, AttrSpec{"axes", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "axes lie in x's rank; one may come again."}, Constraint{"C2", "there are as many shifts as axes."}};
  static constexpr std::array edges{Edge{"E1", "a negative shift; one beyond the size", "modulo the size", "the same: PyTorch, NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    for (auto d : a.ints("axes"))
      if (auto e = check_axis(d, in[0].rank()); !e.empty()) return no("C1: " + e);
    if (a.ints("shifts").size() != a.ints("axes").size()) return no("C2: shifts and axes differ in length");
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    auto x = in[0];
    for (std::size_t k = 0; k < a.ints("axes").size(); ++k) {
      const auto axis = static_cast<std::size_t>(a.ints("axes")[k]);
      const auto n = w.size(x, axis);
      const auto shift = n == 0 ? 0 : (a.ints("shifts")[k] % n + n) % n;
      if (shift != 0) x = w.concat(std::array{w.slice(x, axis, n - shift, n), w.slice(x, axis, 0, n - shift)}, a.ints("axes")[k]);
    }
    return {x};
  }
};

struct Repeat {
  static constexpr bool complex = true;
  static constexpr OpRow row{"repeat", "x", OpClass::composite, "x laid end to end, as often as repeats says, along each axis; repeats may have more entries than x has axes, which come before."};
  static constexpr std::string_view equation = "out[i] = x[i mod x's sizes, last axes against last]";
  static constexpr std::array attrs{AttrSpec{"repeats", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "repeats has at least an entry an axis, and with x at most 12 in all."}, Constraint{"C2", "repeats are not negative, and no size goes beyond 64 bits."}};
  static constexpr std::array edges{Edge{"E1", "a repeat of 0", "an empty axis", "the same: PyTorch, NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct OneHot {
  static constexpr OpRow row{"one_hot", "indices", OpClass::composite, "A last axis of `classes` that holds 1 at the index and 0 elsewhere (i64); an index outside [0, classes) has 0 everywhere."};
  static constexpr std::string_view equation = "out[…, c] = indices[…] = c ? 1 : 0";
  static constexpr std::array attrs{AttrSpec{"classes", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "indices are integers, and have fewer than 12 axes."}, Constraint{"C2", "classes is not negative."}};
  static constexpr std::array edges{Edge{"E1", "an index of -1, or of classes", "a row of 0", "PyTorch an error; JAX the same"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (!is_integer(in[0].dtype) || in[0].rank() >= max_rank) return no("C1: takes integers, not " + in[0].str());
    if (a.integer("classes") < 0) return no("C2: classes is " + std::to_string(a.integer("classes")));
    Shape s = in[0].shape;
    s.push_back(a.integer("classes"));
    return one({DType::i64, s});
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    const auto rank = w.rank(in[0]);
    Shape s = w.type(in[0]).shape;
    s.push_back(a.integer("classes"));
    const auto index = w.broadcast(b.convert(in[0], DType::i64), s, first_axes(rank));
    return {b.convert(w("eq", index, w.iota(DType::i64, s, static_cast<std::int64_t>(rank))), DType::i64)};
  }
};

struct AsStrided {
  static constexpr bool complex = true;
  static constexpr OpRow row{"as_strided", "x", OpClass::composite, "x's elements, row-major, read at offset plus the index times the strides."};
  static constexpr std::string_view equation = "out[i] = flat(x)[offset + sum_d i[d] strides[d]]";
  static constexpr std::array attrs{AttrSpec{"size", AttrKind::ints}, AttrSpec{"strides", AttrKind::ints}, AttrSpec{"offset", AttrKind::integer, "0"}};
  static constexpr std::array constraints{Constraint{"C1", "size and strides have as many entries, at most 12; sizes are not negative."}, Constraint{"C2", "every position lies in x."}};
  static constexpr std::array edges{Edge{"E1", "strides of 0, and those by which positions overlap", "the element each time", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

/// x with a region exchanged: what ATen's slice_scatter and select_scatter do.
struct SliceScatter {
  static constexpr bool complex = true;
  static constexpr OpRow row{"slice_scatter", "x, source", OpClass::composite, "x, whose elements start, start + stride, … below limit on each axis are source's."};
  static constexpr std::string_view equation = "out[start + k stride] = source[k], elsewhere x";
  static constexpr std::array attrs{AttrSpec{"start", AttrKind::ints}, AttrSpec{"limit", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}};
  static constexpr std::array constraints{Constraint{"C1", "start, limit and stride are those of a slice of x."}, Constraint{"C2", "source has that slice's type."}};
  static constexpr std::array edges{Edge{"E1", "an empty region", "x", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct MaskedScatter {
  static constexpr bool complex = true;
  static constexpr OpRow row{"masked_scatter", "x, mask, source", OpClass::composite, "x, whose elements where mask holds are source's first, second, … element, both in row-major order."};
  static constexpr std::string_view equation = "out[i] = mask[i] ? flat(source)[number of true elements of mask before i] : x[i]";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "mask is bool, and has x's shape."}, Constraint{"C2", "source has x's dtype, and elements unless x has none."}};
  static constexpr std::array edges{Edge{"E1", "more true elements than source has", "an error where a result needs the element", "PyTorch an error"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&);
  static Out decompose(Builder& b, In in, const AttrMap&);
};

struct AdvancedIndex {
  static constexpr bool complex = true;
  static constexpr OpRow row{"advanced_index", "x, indices...", OpClass::composite,
      "x's elements at positions that tensors hold, one an axis named; the indices broadcast together, and their axes stand where the named ones stood when these are neighbours in order, else first. Negative indices count from the end."};
  static constexpr std::string_view equation = "out[…, i, …] = x[…, indices_0[i], indices_1[i], …]";
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "axes are distinct, increase, and lie in x's rank; there is one for each of indices, and at least one."}, Constraint{"C2", "indices are integers that broadcast together."}, Constraint{"C3", "the result has at most 12 axes."}};
  static constexpr std::array edges{Edge{"E1", "index -1", "the last element", "the same: PyTorch, NumPy"}, Edge{"E2", "an index outside [-n, n)", "an error where a result needs the element", "PyTorch, NumPy an error"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct EmbeddingBag {
  static constexpr OpRow row{"embedding_bag", "table, indices, offsets, weight...", OpClass::composite,
      "Rows of table at the indices, combined bag by bag: bag k holds the indices from offsets[k] up to offsets[k + 1], the last one up to the end. mode is sum (each row times its weight, where there is one), mean or max; an empty bag gives 0. "
      "Rows at padding_index, where it is not -1, count in no bag."};
  static constexpr std::string_view equation = "out[k] = sum_{offsets[k] <= j < offsets[k + 1]} weight[j] table[indices[j]]; or their mean, or maximum";
  static constexpr std::array attrs{AttrSpec{"mode", AttrKind::text, "sum"}, AttrSpec{"padding_index", AttrKind::integer, "-1"}};
  static constexpr std::array constraints{Constraint{"C1", "table is a matrix of floats with a row; indices and offsets are vectors of integers."}, Constraint{"C2", "mode is sum, mean or max."}, Constraint{"C3", "weight, for mode sum alone, has indices' shape and table's dtype."}, Constraint{"C4", "there is a bag."}};
  static constexpr std::array edges{Edge{"E1", "an empty bag", "0 in every mode", "the same: PyTorch"}, Edge{"E2", "an index outside the table", "an error where a result needs the element", "PyTorch an error"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

using IndexingOps = OpList<Triangle<false>, Triangle<true>, Diagonal, Roll, Repeat, OneHot, AsStrided, SliceScatter, MaskedScatter, AdvancedIndex, EmbeddingBag>;

}  // namespace plumb::ir::ops
