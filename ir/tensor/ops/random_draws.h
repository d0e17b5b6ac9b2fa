// Random decisions: coins, dropout, integers, permutations, choices by weight.
#pragma once
#include "ir/tensor/ops/random_distributions.h"

namespace plumb::ir::ops {

struct Bernoulli {
  static constexpr OpRow row{"bernoulli", "p, key", OpClass::composite, "bool: true where u < p, u uniform in [0, 1) with 53 bits (random_uniform of f64), p converted to f64."};
  static constexpr std::string_view equation = "r[i] = (bits[i] >> 11) 2^-53 < p[i]";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "key is u64[2]: a seed and a stream."}, Constraint{"C2", "p is a float."}};
  static constexpr std::array edges{Edge{"E1", "p <= 0, or NaN", "false, always", "PyTorch raises an error outside [0, 1]"}, Edge{"E2", "p >= 1", "true, always", "PyTorch raises an error outside [0, 1]"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (auto e = check_key(in[1]); !e.empty()) return no(e);
    if (!is_float(in[0].dtype)) return no("C2: probabilities are floats, not " + std::string(name(in[0].dtype)));
    return one({DType::boolean, in[0].shape});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    const Shape shape = b.type(in[0]).shape;
    return {b.op("lt", {b.reshape(unit_uniform(b, in[1], DType::f64, b.type(in[0]).elements()), shape), b.convert(in[0], DType::f64)})};
  }
};

struct Dropout {
  static constexpr OpRow row{"dropout", "x, key", OpClass::composite, "Two results: x / (1 - p) where the mask holds, else +0; and the mask, bool. The mask holds where random_bits (u32) is at least p 2^32, rounded to an integer. The factor 1 / (1 - p) is rounded to x's dtype."};
  static constexpr std::string_view equation = "mask[i] = bits[i] >= round(p 2^32); y[i] = mask[i] ? x[i] (1 / (1 - p)) : 0";
  static constexpr std::array attrs{AttrSpec{"p", AttrKind::real, "0.5"}};
  static constexpr std::array constraints{Constraint{"C1", "key is u64[2]: a seed and a stream."}, Constraint{"C2", "x is a float."}, Constraint{"C3", "p lies in [0, 1]."}};
  static constexpr std::array edges{Edge{"E1", "p = 0", "x itself, and a mask of all true", "PyTorch and ONNX do the same"}, Edge{"E2", "p = 1", "+0 everywhere, and a mask of all false", "PyTorch does the same"},
                                    Edge{"E3", "a NaN or infinity that is dropped", "+0", "PyTorch multiplies by 0 and gives NaN in some kernels"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_key(in[1]); !e.empty()) return no(e);
    if (!is_float(in[0].dtype)) return no("C2: dropout takes floats, not " + std::string(name(in[0].dtype)));
    if (!(a.real("p") >= 0 && a.real("p") <= 1)) return no("C3: p is " + std::to_string(a.real("p")));
    return std::vector<Type>{in[0], Type{DType::boolean, in[0].shape}};
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto x = in[0];
    const Shape shape = b.type(x).shape;
    const double p = a.real("p"), threshold = std::round(p * 0x1p32);
    const auto constant = [&](double v) { return b.broadcast_to(b.scalar(DType::boolean, v), shape); };
    if (threshold == 0) return {x, constant(1)};
    if (threshold == 0x1p32) return {b.splat_like(x, 0), constant(0)};
    const auto bits = random_words(b, in[1], DType::u32, b.type(x).elements());
    const auto mask = b.reshape(b.op("ge", {bits, b.splat_like(bits, threshold)}), shape);
    return {b.op("select", {mask, b.op("mul", {x, b.splat_like(x, 1 / (1 - p))}), b.splat_like(x, 0)}), mask};
  }
};

struct RandomIntegers {
  static constexpr OpRow row{"randint", "key", OpClass::composite, "Integers from [low, high): low plus the upper 64 bits of the product of random_bits (u64) and high - low. None is likelier than another by more than (high - low) 2^-64."};
  static constexpr std::string_view equation = "r[i] = low + floor(bits[i] (high - low) / 2^64)";
  static constexpr std::array attrs{shape_attr, AttrSpec{"dtype", AttrKind::dtype}, AttrSpec{"low", AttrKind::integer, "0"}, AttrSpec{"high", AttrKind::integer}};
  static constexpr std::array constraints{key_constraint, filled_constraint, Constraint{"C3", "dtype is an integer dtype that holds low and high - 1."}, Constraint{"C4", "low < high."}};
  static constexpr std::array edges{Edge{"E1", "high = low + 1", "low, always", "PyTorch and NumPy do the same"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_random(in, a); !e.empty()) return no(e);
    const DType t = a.get<DType>("dtype");
    const auto low = a.integer("low"), high = a.integer("high");
    if (low >= high) return no("C4: [" + std::to_string(low) + ", " + std::to_string(high) + ") is empty");
    const Wide most = (Wide(1) << (is_bool(t) || is_float(t) ? 0 : plumb::row(t).precision)) - 1;
    if (!is_integer(t) || low < (is_signed(t) ? -most - 1 : 0) || high - 1 > most) return no("C3: " + std::string(name(t)) + " does not hold the integers of [" + std::to_string(low) + ", " + std::to_string(high) + ")");
    return one({t, a.get<Shape>("shape")});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto& shape = a.get<Shape>("shape");
    const auto low = static_cast<std::uint64_t>(a.integer("low")), range = static_cast<std::uint64_t>(a.integer("high")) - low;
    const auto bits = random_words(b, in[0], DType::u64, filled(shape));
    const auto half = [&](ValueId x, bool high) { return high ? shifted_right(b, x, 32) : b.op("and", {x, b.splat_like(x, 0xffffffff)}); };
    const auto times = [&](ValueId x, std::uint64_t c) { return b.op("mul", {x, b.splat_like(x, static_cast<double>(c))}); };
    const std::uint64_t upper = range >> 32, lower = range & 0xffffffff;
    // Of the four products of halves the middle ones pass their carries up; none of these sums wraps.
    const auto first = b.op("add", {times(half(bits, true), lower), half(times(half(bits, false), lower), true)});
    const auto second = b.op("add", {times(half(bits, false), upper), half(first, false)});
    const auto product = b.op("add", {times(half(bits, true), upper), b.op("add", {half(first, true), half(second, true)})});
    const DType t = a.get<DType>("dtype");
    Literal start(Type{DType::i64, {}});
    *start.mutable_data<std::int64_t>() = static_cast<std::int64_t>(low);
    const auto offset = b.convert(b.constant(std::move(start)), t);
    return {b.reshape(b.binary("add", b.convert(product, t), offset), shape)};
  }
};

struct RandomPermutation {
  static constexpr OpRow row{"randperm", "key", OpClass::composite, "A permutation of 0 to n - 1 (i64[n]): the stable order of random_bits (u64[n])."};
  static constexpr std::string_view equation = "r = argsort(bits)";
  static constexpr std::array attrs{AttrSpec{"n", AttrKind::integer}};
  static constexpr std::array constraints{key_constraint, Constraint{"C2", "n is not negative."}};
  static constexpr std::array edges{Edge{"E1", "n = 0", "an empty result", "PyTorch does the same"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_key(in[0]); !e.empty()) return no(e);
    if (a.integer("n") < 0) return no("C2: n is " + std::to_string(a.integer("n")));
    return one({DType::i64, {a.integer("n")}});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    AttrMap axis;
    axis.set("axis", std::int64_t{0});
    return {b.op("argsort", {random_words(b, in[0], DType::u64, a.integer("n"))}, std::move(axis))};
  }
};

struct Multinomial {
  static constexpr OpRow row{"multinomial", "weights, key", OpClass::composite,
      "samples classes (i64) for each row of weights (along the last axis), each drawn by itself: the class in whose part of the weights' running sum (cumsum, in f64) u times the total lies, u uniform in [0, 1) with 53 bits. "
      "A relaxed lowering may sum in another order, so that a u on the border of two parts may give either."};
  static constexpr std::string_view equation = "r[.., s] = min(number of k with c[.., k] <= u[.., s] c[.., K-1], K - 1), c = cumsum(weights)";
  static constexpr std::array attrs{AttrSpec{"samples", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "key is u64[2]: a seed and a stream."}, Constraint{"C2", "weights are floats with a last axis that is not empty."}, Constraint{"C3", "samples is not negative."}};
  static constexpr std::array edges{Edge{"E1", "a weight of 0", "its class is never drawn, as long as another weight is positive", "PyTorch does the same"},
                                    Edge{"E2", "all weights 0", "the last class", "PyTorch raises an error"}, Edge{"E3", "a weight that is NaN", "class 0, as no comparison holds from it on", "PyTorch raises an error"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_key(in[1]); !e.empty()) return no(e);
    if (!is_float(in[0].dtype) || in[0].rank() == 0 || in[0].shape.back() == Dim(0)) return no("C2: weights must be floats with a last axis that is not empty, not " + in[0].str());
    if (a.integer("samples") < 0) return no("C3: samples is " + std::to_string(a.integer("samples")));
    Shape s = in[0].shape;
    s[s.size() - 1] = a.integer("samples");
    return one({DType::i64, s});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const Shape shape = b.type(in[0]).shape;
    const auto rank = shape.size(), last = rank - 1;
    const auto samples = a.integer("samples"), classes = shape[last].size();
    Shape drawn = shape, all = shape;
    drawn[last] = samples;
    all[last] = samples;
    all.push_back(classes);
    AttrMap axis, end, row_wise, class_wise, over;
    axis.set("axis", static_cast<std::int64_t>(last));
    const auto sums = b.op("cumsum", {b.convert(in[0], DType::f64)}, std::move(axis));
    Ints start(rank, 0), limit, leading, both;
    for (const auto& d : shape) limit.push_back(d.size());
    start[last] = classes - 1;
    end.set("start", start);
    end.set("limit", limit);
    const auto total = b.broadcast_to(b.op("slice", {sums}, std::move(end)), drawn);
    const auto u = b.reshape(unit_uniform(b, in[1], DType::f64, Type{DType::f64, drawn}.elements()), drawn);
    for (std::size_t d = 0; d < rank; ++d) both.push_back(static_cast<std::int64_t>(d));
    leading = both;
    leading[last] = static_cast<std::int64_t>(rank);
    row_wise.set("shape", all);
    row_wise.set("dims", both);
    class_wise.set("shape", all);
    class_wise.set("dims", leading);
    const auto passed = b.op("le", {b.op("broadcast", {sums}, std::move(class_wise)), b.op("broadcast", {b.op("mul", {u, total})}, std::move(row_wise))});
    over.set("axes", Ints{static_cast<std::int64_t>(rank)});
    const auto count = b.op("reduce_sum", {b.convert(passed, DType::i64)}, std::move(over));
    return {b.op("minimum", {count, b.splat_like(count, static_cast<double>(classes - 1))})};
  }
};

using DrawOps = OpList<Bernoulli, Dropout, RandomIntegers, RandomPermutation, Multinomial>;

}  // namespace plumb::ir::ops
