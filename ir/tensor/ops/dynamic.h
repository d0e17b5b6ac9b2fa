// Slices whose start is a value of the program. A start is clamped so that the slice lies inside, as in StableHLO.
#pragma once
#include "ir/tensor/builder.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

inline AttrMap axis_attr(std::int64_t axis) {
  AttrMap a;
  a.set("axis", axis);
  return a;
}
/// start[axis] as an i64, clamped to [0, most].
inline ValueId clamped_start(Builder& b, ValueId start, std::int64_t axis, std::int64_t most) {
  AttrMap a;
  a.set("start", Ints{axis});
  a.set("limit", Ints{axis + 1});
  auto s = b.reshape(b.op("slice", {start}, std::move(a)), {});
  if (b.type(s).dtype == DType::u64) s = b.op("minimum", {s, b.scalar(DType::u64, static_cast<double>(most))});
  s = b.convert(s, DType::i64);
  return b.op("maximum", {b.op("minimum", {s, b.scalar(DType::i64, static_cast<double>(most))}), b.scalar(DType::i64, 0)});
}
inline ValueId places(Builder& b, std::int64_t count) {
  AttrMap a;
  a.set("dtype", DType::i64);
  a.set("shape", Shape{count});
  return b.op("iota", {}, std::move(a));
}

struct DynamicSlice {
  static constexpr bool complex = true;
  static constexpr OpRow row{"dynamic_slice", "x, start", OpClass::composite, "sizes elements a axis from start on, a vector of integers. A start outside [0, size(x) - sizes] is moved to the nearer end."};
  static constexpr std::string_view equation = "r[i] = x[clamp(start, 0, shape(x) - sizes) + i]";
  static constexpr std::array attrs{AttrSpec{"sizes", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "start is a vector of integers, one an axis of x."}, Constraint{"C2", "sizes has an entry an axis, each in [0, that axis's size]."}};
  static constexpr std::array edges{Edge{"E1", "a start below 0", "0: it does not count from the end", "StableHLO and JAX's lax do the same; NumPy's slices count from the end"},
                                    Edge{"E2", "a start beyond size(x) - sizes", "size(x) - sizes: the slice keeps its size", "StableHLO and JAX's lax do the same; NumPy's slices are cut short"},
                                    Edge{"E3", "a size of 0", "an empty result", "StableHLO does the same"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto& sizes = a.ints("sizes");
    if (!is_integer(in[1].dtype) || in[1].shape != Shape{static_cast<std::int64_t>(in[0].rank())}) return no("C1: start must be a vector of " + std::to_string(in[0].rank()) + " integers, not " + in[1].str());
    if (sizes.size() != in[0].rank()) return no("C2: sizes has " + std::to_string(sizes.size()) + " entries for rank " + std::to_string(in[0].rank()));
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] < 0 || sizes[d] > in[0].shape[d].size()) return no("C2: size " + std::to_string(sizes[d]) + " does not lie in axis " + std::to_string(d) + " of size " + in[0].shape[d].str());
    return one({in[0].dtype, to_shape(sizes)});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    auto x = in[0];
    const auto& sizes = a.ints("sizes");
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const auto axis = static_cast<std::int64_t>(d), size = b.type(x).shape[d].size();
      if (sizes[d] == size) continue;
      x = b.op("gather", {x, b.binary("add", places(b, sizes[d]), clamped_start(b, in[1], axis, size - sizes[d]))}, axis_attr(axis));
    }
    return {x};
  }
};

struct DynamicUpdateSlice {
  static constexpr bool complex = true;
  static constexpr OpRow row{"dynamic_update_slice", "x, update, start", OpClass::composite, "x with update in the place that begins at start, a vector of integers. A start outside [0, size(x) - size(update)] is moved to the nearer end."};
  static constexpr std::string_view equation = "r[i] = update[i - s] where s <= i < s + shape(update) on every axis, s = clamp(start, 0, shape(x) - shape(update)); else x[i]";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "start is a vector of integers, one an axis of x."}, Constraint{"C2", "update has x's dtype and rank, and is no longer than x on any axis."}};
  static constexpr std::array edges{Edge{"E1", "a start below 0", "0: it does not count from the end", "StableHLO and JAX's lax do the same"},
                                    Edge{"E2", "a start beyond size(x) - size(update)", "size(x) - size(update): all of update has a place", "StableHLO and JAX's lax do the same"},
                                    Edge{"E3", "an empty update", "x", "StableHLO does the same"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const auto &x = in[0], &update = in[1];
    if (!is_integer(in[2].dtype) || in[2].shape != Shape{static_cast<std::int64_t>(x.rank())}) return no("C1: start must be a vector of " + std::to_string(x.rank()) + " integers, not " + in[2].str());
    bool fits = update.dtype == x.dtype && update.rank() == x.rank();
    for (std::size_t d = 0; fits && d < x.rank(); ++d) fits = update.shape[d].size() <= x.shape[d].size();
    if (!fits) return no("C2: " + update.str() + " does not fit into " + x.str());
    return one(x);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    const Shape shape = b.type(in[0]).shape, part = b.type(in[1]).shape;
    if (b.type(in[1]).elements() == 0) return {in[0]};
    auto update = in[1];
    ValueId inside = -1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (part[d] == shape[d]) continue;
      const auto axis = static_cast<std::int64_t>(d), size = shape[d].size(), length = part[d].size();
      const auto from = b.binary("sub", places(b, size), clamped_start(b, in[2], axis, size - length));
      const auto zero = b.splat_like(from, 0), last = b.splat_like(from, static_cast<double>(length - 1));
      const auto here = b.op("and", {b.op("ge", {from, zero}), b.op("le", {from, last})});
      update = b.op("gather", {update, b.op("maximum", {b.op("minimum", {from, last}), zero})}, axis_attr(axis));
      AttrMap spread;
      spread.set("shape", shape);
      spread.set("dims", Ints{axis});
      const auto all = b.op("broadcast", {here}, std::move(spread));
      inside = inside < 0 ? all : b.op("and", {inside, all});
    }
    return {inside < 0 ? update : b.op("select", {inside, update, in[0]})};
  }
};

using DynamicOps = OpList<DynamicSlice, DynamicUpdateSlice>;

}  // namespace plumb::ir::ops
