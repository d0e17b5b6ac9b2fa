// Operations that only move elements: each output element is one input element (or the padding value).
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct Broadcast {
  static constexpr OpRow row{"broadcast", "x", OpClass::view, "Operand axis k becomes result axis dims[k] (increasing); axes of size 1 stretch, the other result axes repeat."};
  static constexpr std::array attrs{AttrSpec{"shape", AttrKind::shape}, AttrSpec{"dims", AttrKind::ints}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto& shape = a.get<Shape>("shape");
    const auto& dims = a.ints("dims");
    if (dims.size() != in[0].rank()) return no("C1: dims has " + std::to_string(dims.size()) + " entries for an operand of rank " + std::to_string(in[0].rank()));
    if (auto e = check_axes(dims, shape.size(), "dims entry"); !e.empty()) return no("C2: " + e);
    if (!std::is_sorted(dims.begin(), dims.end())) return no("C3: dims must increase; transpose is an operation of its own");
    for (std::size_t k = 0; k < dims.size(); ++k)
      if (in[0].shape[k] != Dim(1) && in[0].shape[k] != shape[static_cast<std::size_t>(dims[k])])
        return no("C4: operand axis " + std::to_string(k) + " of size " + in[0].shape[k].str() + " cannot become size " + shape[static_cast<std::size_t>(dims[k])].str());
    return one({in[0].dtype, shape});
  }
};

struct Reshape {
  static constexpr OpRow row{"reshape", "x", OpClass::view, "The same elements in row-major order under another shape."};
  static constexpr std::array attrs{AttrSpec{"shape", AttrKind::shape}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto& shape = a.get<Shape>("shape");
    Type out{in[0].dtype, shape};
    if (in[0].is_concrete() && out.is_concrete()) {
      if (in[0].elements() != out.elements()) return no("C1: " + in[0].str() + " has " + std::to_string(in[0].elements()) + " elements, " + str(shape) + " would have " + std::to_string(out.elements()));
      return one(out);
    }
    // Symbols must appear as often on both sides, and the sizes' products agree.
    auto split = [](const Shape& s, std::vector<Symbol>& names) {
      std::int64_t n = 1;
      for (const auto& d : s)
        if (d.is_symbol()) names.push_back(d.symbol());
        else if (__builtin_mul_overflow(n, d.size(), &n)) n = -1;
      std::sort(names.begin(), names.end());
      return n;
    };
    std::vector<Symbol> from, to;
    if (const auto n = split(in[0].shape, from); n < 0 || n != split(shape, to) || from != to) return no("C1: " + in[0].str() + " and " + str(shape) + " cannot be shown to have as many elements; bind the symbols first");
    return one(out);
  }
};

struct Transpose {
  static constexpr OpRow row{"transpose", "x", OpClass::view, "Result axis k is operand axis perm[k]."};
  static constexpr std::array attrs{AttrSpec{"perm", AttrKind::ints}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto& perm = a.ints("perm");
    if (perm.size() != in[0].rank()) return no("C1: perm has " + std::to_string(perm.size()) + " entries for rank " + std::to_string(in[0].rank()));
    if (auto e = check_axes(perm, in[0].rank(), "perm entry"); !e.empty()) return no("C2: " + e);
    Shape s;
    for (auto p : perm) s.push_back(in[0].shape[static_cast<std::size_t>(p)]);
    return one({in[0].dtype, s});
  }
};

struct Slice {
  static constexpr OpRow row{"slice", "x", OpClass::view, "Elements start, start+stride, … below limit on each axis."};
  static constexpr std::array attrs{AttrSpec{"start", AttrKind::ints}, AttrSpec{"limit", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto &start = a.ints("start"), &limit = a.ints("limit"), &stride = a.ints("stride");
    const std::size_t rank = in[0].rank();
    if (start.size() != rank || limit.size() != rank || (!stride.empty() && stride.size() != rank)) return no("C1: start, limit and stride need an entry an axis (rank " + std::to_string(rank) + ")");
    Shape s;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t step = stride.empty() ? 1 : stride[d], size = in[0].shape[d].size();
      if (step < 1) return no("C2: stride " + std::to_string(step) + " is not positive; reverse is an operation of its own");
      if (start[d] < 0 || limit[d] > size || start[d] > limit[d]) return no("C3: [" + std::to_string(start[d]) + ", " + std::to_string(limit[d]) + ") does not lie in axis " + std::to_string(d) + " of size " + std::to_string(size));
      s.push_back(limit[d] == start[d] ? 0 : (limit[d] - start[d] - 1) / step + 1);
    }
    return one({in[0].dtype, s});
  }
};

struct Pad {
  static constexpr OpRow row{"pad", "x, value", OpClass::view, "low and high elements of value (rank 0) around each axis, interior ones between neighbours; negative low or high crops."};
  static constexpr std::array attrs{AttrSpec{"low", AttrKind::ints}, AttrSpec{"high", AttrKind::ints}, AttrSpec{"interior", AttrKind::ints, "[]"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto &low = a.ints("low"), &high = a.ints("high"), &interior = a.ints("interior");
    const std::size_t rank = in[0].rank();
    if (low.size() != rank || high.size() != rank || (!interior.empty() && interior.size() != rank)) return no("C1: low, high and interior need an entry an axis (rank " + std::to_string(rank) + ")");
    if (in[1].rank() != 0 || in[1].dtype != in[0].dtype) return no("C2: the padding value must be " + std::string(name(in[0].dtype)) + "[], not " + in[1].str());
    Shape s;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t gap = interior.empty() ? 0 : interior[d], size = in[0].shape[d].size();
      if (gap < 0) return no("C3: interior padding is not negative");
      const Wide padded = Wide(low[d]) + high[d] + size + (size > 0 ? Wide(size - 1) * gap : 0);
      if (!fits(padded)) return no("C4: axis " + std::to_string(d) + " would have a size that is negative or beyond 64 bits");
      s.push_back(static_cast<std::int64_t>(padded));
    }
    return one({in[0].dtype, s});
  }
};

struct Concat {
  static constexpr OpRow row{"concat", "xs...", OpClass::view, "The operands one after another along an axis."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (in.empty()) return no("C1: concat needs an operand");
    const auto axis = a.integer("axis");
    if (auto e = check_axis(axis, in[0].rank()); !e.empty()) return no("C2: " + e);
    Type out = in[0];
    std::int64_t total = 0;
    const std::int64_t axes[] = {axis};
    for (const auto& t : in) {
      if (t.dtype != out.dtype || t.rank() != out.rank() || drop(t.shape, axes) != drop(out.shape, axes)) return no("C3: " + t.str() + " does not continue " + in[0].str() + " along axis " + std::to_string(axis));
      if (in.size() > 1 && __builtin_add_overflow(total, t.shape[static_cast<std::size_t>(axis)].size(), &total)) return no("C4: the size overflows");
    }
    if (in.size() > 1) out.shape[static_cast<std::size_t>(axis)] = total;
    return one(out);
  }
};

struct Reverse {
  static constexpr OpRow row{"reverse", "x", OpClass::view, "The named axes in opposite order."};
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axes(a.ints("axes"), in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
    return one(in[0]);
  }
};

using ViewOps = OpList<Broadcast, Reshape, Transpose, Slice, Pad, Concat, Reverse>;

}  // namespace plumb::ir::ops
