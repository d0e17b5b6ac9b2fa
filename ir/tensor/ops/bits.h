// Elements' bits read as another dtype.
#pragma once
#include "ir/tensor/builder.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct Bitcast {
  static constexpr OpRow row{"bitcast", "x", OpClass::convert, "The same bits as another dtype of the same width. Reading a NaN as an integer gives the bits of the positive quiet NaN without payload."};
  static constexpr std::string_view equation = "r[i] = the number of dtype whose bits are those of x[i]";
  static constexpr std::array attrs{AttrSpec{"dtype", AttrKind::dtype}};
  static constexpr std::array constraints{Constraint{"C1", "Neither x's dtype nor dtype is bool."}, Constraint{"C2", "Both are equally wide."}};
  static constexpr std::array edges{
      Edge{"E1", "a NaN read as an integer", "0x7e (f8e5m2), 0x7f (f8e4m3fn), 0x7e00 (f16), 0x7fc0 (bf16), 0x7fc00000 (f32), 0x7ff8000000000000 (f64)", "a NaN's sign and payload are not kept by the operations here, so they are no result either; NumPy and StableHLO show the bits in memory"},
      Edge{"E2", "-0, subnormals, infinities", "their own bits", "NumPy and StableHLO do the same"},
      Edge{"E3", "an integer with a NaN's bits", "NaN", "NumPy and StableHLO do the same"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const DType from = in[0].dtype, to = a.get<DType>("dtype");
    if (is_bool(from) || is_bool(to)) return no("C1: bitcast takes and gives no bool");
    if (byte_size(from) != byte_size(to)) return no("C2: " + std::string(name(from)) + " and " + std::string(name(to)) + " differ in width; bitcast_convert takes these");
    return one({to, in[0].shape});
  }
};

/// Where widths differ, a last axis holds the parts of one element, the least significant first.
struct BitcastConvert {
  static constexpr OpRow row{"bitcast_convert", "x", OpClass::composite,
      "The same bits as another dtype. To a narrower one: a last axis is added that holds an element's parts, the least significant first. To a wider one: the last axis, as long as an element has parts, is removed."};
  static constexpr std::array attrs{AttrSpec{"dtype", AttrKind::dtype}};
  static constexpr std::array constraints{Constraint{"C1", "Neither x's dtype nor dtype is bool."}, Constraint{"C2", "To a wider dtype: x's last axis is as long as an element of dtype has parts."}};
  static constexpr std::array edges{Edge{"E1", "a part that is a NaN", "as bitcast: the positive quiet NaN without payload", "NumPy and StableHLO show the bits in memory"},
                                    Edge{"E2", "the order of an element's parts", "the least significant first", "NumPy's view on a little-endian machine; StableHLO leaves it to the implementation"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const DType from = in[0].dtype, to = a.get<DType>("dtype");
    if (is_bool(from) || is_bool(to)) return no("C1: bitcast_convert takes and gives no bool");
    Shape s = in[0].shape;
    const int have = byte_size(from), want = byte_size(to);
    if (want < have) s.push_back(have / want);
    if (want > have) {
      if (s.empty() || s.back() != Dim(want / have)) return no("C2: " + in[0].str() + " has no last axis of size " + std::to_string(want / have) + ", the parts of one " + std::string(name(to)));
      s = Shape(s.begin(), s.end() - 1);
    }
    return one({to, s});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const DType from = b.type(in[0]).dtype, to = a.get<DType>("dtype");
    const int have = byte_size(from), want = byte_size(to);
    if (have == want) return {bits(b, in[0], to)};
    const Shape shape = b.type(in[0]).shape;
    const bool splits = want < have;
    Shape parts = shape;
    if (splits) parts.push_back(have / want);
    const DType wide = unsigned_of(std::max(have, want));
    const auto words = bits(b, in[0], unsigned_of(have));
    AttrMap numbers, spread, axes;
    numbers.set("dtype", wide);
    numbers.set("shape", parts);
    numbers.set("axis", static_cast<std::int64_t>(parts.size()) - 1);
    const auto number = b.op("iota", {}, std::move(numbers));
    const auto shift = b.op("mul", {number, b.splat_like(number, 8 * std::min(have, want))});
    if (splits) {
      Ints dims;
      for (std::size_t d = 0; d < shape.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
      spread.set("shape", parts);
      spread.set("dims", std::move(dims));
      return {bits(b, b.convert(b.op("shift_right_logical", {b.op("broadcast", {words}, std::move(spread)), shift}), unsigned_of(want)), to)};
    }
    axes.set("axes", Ints{static_cast<std::int64_t>(shape.size()) - 1});
    return {bits(b, b.op("reduce_or", {b.op("shift_left", {b.convert(words, wide), shift})}, std::move(axes)), to)};
  }

 private:
  static DType unsigned_of(int bytes) { return bytes == 1 ? DType::u8 : bytes == 2 ? DType::u16 : bytes == 4 ? DType::u32 : DType::u64; }
  static ValueId bits(Builder& b, ValueId x, DType to) {
    if (b.type(x).dtype == to) return x;
    AttrMap a;
    a.set("dtype", to);
    return b.op("bitcast", {x}, std::move(a));
  }
};

using BitsOps = OpList<Bitcast, BitcastConvert>;

}  // namespace plumb::ir::ops
