// Operations that only move elements: each output element is one input element (or the padding value).
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct Broadcast : PartByPart<Broadcast> {
  static constexpr OpRow row{"broadcast", "x", OpClass::view, "Operand axis k becomes result axis dims[k] (increasing); axes of size 1 stretch, the other result axes repeat."};
  static constexpr std::array attrs{AttrSpec{"shape", AttrKind::shape}, AttrSpec{"dims", AttrKind::ints}};
  static constexpr std::string_view equation =
      "r[i] = x[j],  j[k] = 0 if size(x, k) = 1, else i[dims[k]]";
  static constexpr std::string_view derivative = "r'[i] = x'[j].";
  static constexpr std::array constraints{
      Constraint{"C1", "dims has one entry for each axis of x."},
      Constraint{"C2", "dims names distinct axes of shape."},
      Constraint{"C3", "dims increases."},
      Constraint{"C4", "Each axis k of x has size 1 or the size of axis dims[k] of shape."}};
  static constexpr std::array edges{
      Edge{"E1", "an axis of size 1 to size 0", "no elements", "the same: NumPy, PyTorch"},
      Edge{"E2", "an operand of rank 0", "its element everywhere"},
      Edge{"E3", "NaN and -0", "copied"},
      Edge{"E4", "an update of one element of the result", "another value: its neighbours and x keep theirs", "the same: JAX; NumPy's is read-only; PyTorch's is a view, whose update writes all aliases"}};
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

struct Reshape : PartByPart<Reshape> {
  static constexpr OpRow row{"reshape", "x", OpClass::view, "The same elements in row-major order under another shape."};
  static constexpr std::array attrs{AttrSpec{"shape", AttrKind::shape}};
  static constexpr std::string_view equation =
      "r[i] = x[j],  place(j, x) = place(i, r)";
  static constexpr std::string_view derivative = "r'[i] = x'[j].";
  static constexpr std::array constraints{
      Constraint{"C1", "shape has as many elements as x. With symbols, each must appear as often on both sides."}};
  static constexpr std::array edges{
      Edge{"E1", "no elements", "no elements, whatever the other sizes", "the same: NumPy, PyTorch"},
      Edge{"E2", "rank 0", "one element: any shape of ones", "the same: NumPy, PyTorch"}};
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

struct Transpose : PartByPart<Transpose> {
  static constexpr OpRow row{"transpose", "x", OpClass::view, "Result axis k is operand axis perm[k]."};
  static constexpr std::array attrs{AttrSpec{"perm", AttrKind::ints}};
  static constexpr std::string_view equation =
      "r[i] = x[j],  j[perm[k]] = i[k]";
  static constexpr std::string_view derivative = "r'[i] = x'[j].";
  static constexpr std::array constraints{
      Constraint{"C1", "perm has one entry for each axis of x."},
      Constraint{"C2", "perm names each axis of x once."}};
  static constexpr std::array edges{
      Edge{"E1", "rank 0, perm = []", "x"},
      Edge{"E2", "a size of 0", "no elements"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto& perm = a.ints("perm");
    if (perm.size() != in[0].rank()) return no("C1: perm has " + std::to_string(perm.size()) + " entries for rank " + std::to_string(in[0].rank()));
    if (auto e = check_axes(perm, in[0].rank(), "perm entry"); !e.empty()) return no("C2: " + e);
    Shape s;
    for (auto p : perm) s.push_back(in[0].shape[static_cast<std::size_t>(p)]);
    return one({in[0].dtype, s});
  }
};

struct Slice : PartByPart<Slice> {
  static constexpr OpRow row{"slice", "x", OpClass::view, "Elements start, start+stride, … below limit on each axis."};
  static constexpr std::array attrs{AttrSpec{"start", AttrKind::ints}, AttrSpec{"limit", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}};
  static constexpr std::string_view equation =
      "r[i] = x[j],  j[k] = start[k] + i[k]·stride[k];  stride = [] is all ones\n"
      "size(r, k) = ⌈(limit[k] - start[k]) / stride[k]⌉";
  static constexpr std::string_view derivative = "r'[i] = x'[j].";
  static constexpr std::array constraints{
      Constraint{"C1", "start and limit have one entry for each axis of x; so has stride, or none."},
      Constraint{"C2", "Strides are positive."},
      Constraint{"C3", "0 <= start <= limit <= size on each axis. (NumPy and ONNX clamp bounds; the ONNX importer does that.)"}};
  static constexpr std::array edges{
      Edge{"E1", "start = limit", "no elements, start = size included", "the same: NumPy"},
      Edge{"E2", "a stride longer than the range", "the element at start", "the same: NumPy"},
      Edge{"E3", "a limit that the steps do not hit", "the last step below it", "the same: NumPy"}};
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

struct Pad : PartByPart<Pad> {
  static constexpr OpRow row{"pad", "x, value", OpClass::view, "low and high elements of value (rank 0) around each axis, interior ones between neighbours; negative low or high crops."};
  static constexpr std::array attrs{AttrSpec{"low", AttrKind::ints}, AttrSpec{"high", AttrKind::ints}, AttrSpec{"interior", AttrKind::ints, "[]"}};
  static constexpr std::string_view equation =
      "r[i] = x[j] where each i[k] - low[k] = j[k]·(interior[k] + 1) with 0 <= j[k] < size(x, k),\n"
      "       value[] where there is no such j";
  static constexpr std::string_view derivative = "r'[i] = x'[j], or value'.";
  static constexpr std::array constraints{
      Constraint{"C1", "low and high have one entry for each axis of x; so has interior, or none."},
      Constraint{"C2", "value is of rank 0 and of x's dtype."},
      Constraint{"C3", "interior is not negative."},
      Constraint{"C4", "No axis gets a negative size or one beyond 64 bits."}};
  static constexpr std::array edges{
      Edge{"E1", "negative low or high beside interior padding", "crops after the interior elements were put in"},
      Edge{"E2", "an axis of size 0", "low and high only: nothing lies between no elements"},
      Edge{"E3", "low + high crops all", "no elements"},
      Edge{"E4", "no padding", "x; value has no effect, NaN included"}};
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

struct Concat : PartByPart<Concat> {
  static constexpr OpRow row{"concat", "xs...", OpClass::view, "The operands one after another along an axis."};
  static constexpr std::array attrs{AttrSpec{"axis", AttrKind::integer}};
  static constexpr std::string_view equation =
      "r[i] = xs_m[i[axis <- i[axis] - s_m]],  s_m: the sizes along the axis of the operands before m, added up;\n"
      "       m: the one operand for which 0 <= i[axis] - s_m < size(xs_m, axis)";
  static constexpr std::string_view derivative = "r'[i] = xs_m' at the same place.";
  static constexpr std::array constraints{
      Constraint{"C1", "There is an operand."},
      Constraint{"C2", "axis is an axis of the operands."},
      Constraint{"C3", "The operands agree in dtype, in rank and in every size but the axis's."},
      Constraint{"C4", "The sizes along the axis add up to at most 64 bits."}};
  static constexpr std::array edges{
      Edge{"E1", "an operand without elements along the axis", "adds nothing", "the same: NumPy, PyTorch"},
      Edge{"E2", "one operand", "that operand"}};
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

struct Reverse : PartByPart<Reverse> {
  static constexpr OpRow row{"reverse", "x", OpClass::view, "The named axes in opposite order."};
  static constexpr std::array attrs{AttrSpec{"axes", AttrKind::ints}};
  static constexpr std::string_view equation =
      "r[i] = x[j],  j[a] = size(x, a) - 1 - i[a] for a in axes, else i[a]";
  static constexpr std::string_view derivative = "r'[i] = x'[j].";
  static constexpr std::array constraints{
      Constraint{"C1", "axes are distinct axes of x."}};
  static constexpr std::array edges{
      Edge{"E1", "axes = []", "x"},
      Edge{"E2", "a size of 0", "no elements"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto e = check_axes(a.ints("axes"), in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
    return one(in[0]);
  }
};

using ViewOps = OpList<Broadcast, Reshape, Transpose, Slice, Pad, Concat, Reverse>;

}  // namespace plumb::ir::ops
