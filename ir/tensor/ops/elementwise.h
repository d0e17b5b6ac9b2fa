// Element-wise operations: one for each scalar function, and convert, select, constant, iota.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

template <class Fn> struct Elementwise {
  static constexpr OpRow row{Fn::row.name, Fn::row.arity == 1 ? "x" : Fn::row.arity == 2 ? "x, y" : "x, y, z", OpClass::elementwise, Fn::row.doc, "", fn_id<Fn>};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    for (const auto& t : in)
      if (t != in[0]) return no("C1: operands differ: " + in[0].str() + " and " + t.str() + "; broadcast and convert are operations of their own");
    if (!takes(fn_id<Fn>, in[0].dtype)) return no("C2: " + std::string(row.name) + " does not take " + std::string(name(in[0].dtype)));
    return one({result_dtype(fn_id<Fn>, in[0].dtype), in[0].shape});
  }
};

struct Convert {
  static constexpr OpRow row{"convert", "x", OpClass::convert,
      "Value conversion. Float to float rounds once to nearest even; f8e4m3fn saturates finite overflow. Float to integer truncates toward zero, "
      "saturates out of range, NaN gives 0. Integer to integer wraps. To bool: x is not 0 (NaN is true). From bool: 0 or 1."};
  static constexpr std::array attrs{AttrSpec{"dtype", AttrKind::dtype}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) { return one({a.get<DType>("dtype"), in[0].shape}); }
};

struct Select {
  static constexpr OpRow row{"select", "condition, on_true, on_false", OpClass::select, "on_true where condition holds, else on_false; the other side's value, NaN included, has no effect."};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_bool(in[0].dtype)) return no("C1: the condition must be bool, not " + std::string(name(in[0].dtype)));
    if (in[1] != in[2]) return no("C2: the two sides differ: " + in[1].str() + " and " + in[2].str());
    if (in[0].shape != in[1].shape) return no("C3: condition " + in[0].str() + " and sides " + in[1].str() + " differ in shape");
    return one(in[1]);
  }
};

struct Constant {
  static constexpr OpRow row{"constant", "", OpClass::source, "A literal."};
  static constexpr std::array attrs{AttrSpec{"value", AttrKind::literal}};
  static Inferred infer(std::span<const Type>, const AttrMap& a) { return one(a.get<Literal>("value").type()); }
};

struct Iota {
  static constexpr OpRow row{"iota", "", OpClass::source, "The index along an axis, converted to the dtype (integers wrap, floats round)."};
  static constexpr std::array attrs{AttrSpec{"dtype", AttrKind::dtype}, AttrSpec{"shape", AttrKind::shape}, AttrSpec{"axis", AttrKind::integer, "0"}};
  static Inferred infer(std::span<const Type>, const AttrMap& a) {
    const auto& shape = a.get<Shape>("shape");
    if (auto e = check_axis(a.integer("axis"), shape.size()); !e.empty()) return no("C1: " + e);
    if (is_bool(a.get<DType>("dtype"))) return no("C2: iota gives numbers, not bool");
    return one({a.get<DType>("dtype"), shape});
  }
};

template <class Functions> struct ElementwiseOf;
template <class... Fns> struct ElementwiseOf<FnList<Fns...>> { using type = OpList<Elementwise<Fns>...>; };
using ElementwiseOps = JoinLists<ElementwiseOf<AllFns>::type, OpList<Convert, Select, Constant, Iota>>;

}  // namespace plumb::ir::ops
