// Random bits by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011).
//
// A key is u64[2], a seed and a stream. Element i of a result, counted row-major, takes the block whose counter is
// (low i, high i, low stream, high stream) and whose key is (low seed, high seed): a u32 is the block's word 0, a u64 its words
// 0 and 1, the low one first. So an element depends on its own place alone, whatever the shape, the order of work and the
// target; results of one key and different lengths begin alike; different streams have nothing in common.
#pragma once
#include <array>

#include "ir/tensor/builder.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

/// Ten rounds on four words and a key, u32 values of one shape.
struct PhiloxRounds {
  Builder& b;
  std::array<ValueId, 4> counter;
  std::array<ValueId, 2> key;

  std::array<ValueId, 4> run() {
    for (int round = 0; round < 10; ++round) {
      if (round > 0) key = {plus(key[0], 0x9E3779B9), plus(key[1], 0xBB67AE85)};
      const auto [high0, low0] = times(counter[0], 0xD2511F53);
      const auto [high1, low1] = times(counter[2], 0xCD9E8D57);
      counter = {mix(high1, counter[1], key[0]), low1, mix(high0, counter[3], key[1]), low0};
    }
    return counter;
  }

 private:
  ValueId plus(ValueId x, double c) { return b.op("add", {x, b.splat_like(x, c)}); }
  ValueId mix(ValueId x, ValueId y, ValueId k) { return b.op("xor", {b.op("xor", {x, y}), k}); }
  /// High and low half of the product.
  std::array<ValueId, 2> times(ValueId x, double c) {
    const auto wide = b.convert(x, DType::u64), product = b.op("mul", {wide, b.splat_like(wide, c)});
    return {b.convert(b.op("shift_right_logical", {product, b.splat_like(product, 32)}), DType::u32), b.convert(product, DType::u32)};
  }
};

inline ValueId low_word(Builder& b, ValueId x) { return b.convert(x, DType::u32); }
inline ValueId high_word(Builder& b, ValueId x) { return b.convert(b.op("shift_right_logical", {x, b.splat_like(x, 32)}), DType::u32); }
/// x[at] of a vector.
inline ValueId entry_of(Builder& b, ValueId x, std::int64_t at) {
  AttrMap a;
  a.set("start", Ints{at});
  a.set("limit", Ints{at + 1});
  return b.reshape(b.op("slice", {x}, std::move(a)), {});
}

/// count random words, u32 or u64, of a key u64[2].
inline ValueId random_words(Builder& b, ValueId key, DType dtype, std::int64_t count) {
  const Shape shape{count};
  AttrMap a;
  a.set("dtype", DType::u64);
  a.set("shape", shape);
  const auto number = b.op("iota", {}, std::move(a));
  const auto word = [&](std::int64_t at, bool high) {
    const auto x = entry_of(b, key, at);
    return b.broadcast_to(high ? high_word(b, x) : low_word(b, x), shape);
  };
  const auto words = PhiloxRounds{b, {low_word(b, number), high_word(b, number), word(1, false), word(1, true)}, {word(0, false), word(0, true)}}.run();
  if (dtype == DType::u32) return words[0];
  const auto high = b.convert(words[1], DType::u64);
  return b.op("or", {b.convert(words[0], DType::u64), b.op("shift_left", {high, b.splat_like(high, 32)})});
}

inline constexpr Constraint key_constraint{"C1", "key is u64[2]: a seed and a stream."};
inline std::string check_key(const Type& key) { return key == Type{DType::u64, {2}} ? "" : "C1: a key is u64[2], a seed and a stream, not " + key.str(); }
/// Elements of a shape that is to be filled; -1 when some size is not a number yet, or their product too large.
inline std::int64_t filled(const Shape& shape) {
  std::int64_t n = 1;
  for (const auto& d : shape)
    if (d.is_symbol() || d.size() < 0 || __builtin_mul_overflow(n, d.size(), &n)) return -1;
  return n;
}

struct Philox {
  static constexpr OpRow row{"philox4x32", "counter, key", OpClass::composite, "Philox4x32-10 of each counter, four words along the last axis (u32[.., 4]), under key, u32[2]."};
  static constexpr std::string_view equation = "ten times: (c0, c1, c2, c3) := (hi(0xCD9E8D57 c2) ^ c1 ^ k0, lo(0xCD9E8D57 c2), hi(0xD2511F53 c0) ^ c3 ^ k1, lo(0xD2511F53 c0)), and after each but the last k0 += 0x9E3779B9, k1 += 0xBB67AE85";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "counter is u32, its last axis of size 4."}, Constraint{"C2", "key is u32[2]."}};
  static constexpr std::array edges{Edge{"E1", "counters and keys of all zeros and all ones", "as every other: the published known answers", "Random123's kat_vectors"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in[0].dtype != DType::u32 || in[0].rank() == 0 || in[0].shape.back() != Dim(4)) return no("C1: counter must be u32[.., 4], not " + in[0].str());
    if (in[1] != Type{DType::u32, {2}}) return no("C2: key must be u32[2], not " + in[1].str());
    return one(in[0]);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    const Shape shape = b.type(in[0]).shape;
    Shape part = shape;
    part[part.size() - 1] = 1;
    std::array<ValueId, 4> words;
    for (std::size_t k = 0; k < 4; ++k) {
      Ints start(shape.size(), 0), limit;
      for (const auto& d : shape) limit.push_back(d.size());
      start.back() = static_cast<std::int64_t>(k);
      limit.back() = start.back() + 1;
      AttrMap a;
      a.set("start", std::move(start));
      a.set("limit", std::move(limit));
      words[k] = b.op("slice", {in[0]}, std::move(a));
    }
    const auto mixed = PhiloxRounds{b, words, {b.broadcast_to(entry_of(b, in[1], 0), part), b.broadcast_to(entry_of(b, in[1], 1), part)}}.run();
    AttrMap a;
    a.set("axis", static_cast<std::int64_t>(shape.size()) - 1);
    return {b.op("concat", std::span<const ValueId>(mixed), std::move(a))};
  }
};

struct RandomBits {
  static constexpr OpRow row{"random_bits", "key", OpClass::composite, "Random words by Philox4x32-10, key = (seed, stream): of element i, counted row-major, words 0 (u32) or 0 and 1 (u64) of the block with the counter (i, stream) under the key seed."};
  static constexpr std::string_view equation = "r[i] = word 0 (u64: + 2^32 word 1) of philox4x32((lo i, hi i, lo stream, hi stream), (lo seed, hi seed))";
  static constexpr std::array attrs{AttrSpec{"shape", AttrKind::shape}, AttrSpec{"dtype", AttrKind::dtype}};
  static constexpr std::array constraints{key_constraint, Constraint{"C2", "dtype is u32 or u64."}, Constraint{"C3", "shape has sizes, and fewer than 2^63 elements."}};
  static constexpr std::array edges{Edge{"E1", "another shape of as many elements", "the same words in row-major order", "JAX's differ by shape"}, Edge{"E2", "no elements", "an empty result"},
                                    Edge{"E3", "other draws before it, read or not", "change nothing: the words are the key's", "the same: JAX; the generators of PyTorch and NumPy are states that every draw advances"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_key(in[0]); !e.empty()) return no(e);
    const DType t = a.get<DType>("dtype");
    if (t != DType::u32 && t != DType::u64) return no("C2: random_bits gives u32 or u64, not " + std::string(name(t)));
    if (filled(a.get<Shape>("shape")) < 0) return no("C3: " + str(a.get<Shape>("shape")) + " cannot be filled");
    return one({t, a.get<Shape>("shape")});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto& shape = a.get<Shape>("shape");
    return {b.reshape(random_words(b, in[0], a.get<DType>("dtype"), filled(shape)), shape)};
  }
};

using RandomOps = OpList<Philox, RandomBits>;

}  // namespace plumb::ir::ops
