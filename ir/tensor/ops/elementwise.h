// Element-wise operations: one for each scalar function, and convert, select, constant, iota.
#pragma once
#include "ir/tensor/complex_functions.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

inline constexpr std::array elementwise_constraints{
    Constraint{"C1", "The operands have the same type."},
    Constraint{"C2", "The function takes the operands' dtype."}};

template <class Fn> consteval std::string_view kink_of() {
  if constexpr (requires { Fn::kink; }) return Fn::kink;
  else return "";
}

template <class Fn> struct Elementwise {
  static constexpr OpRow row{Fn::row.name, Fn::row.arguments(), OpClass::elementwise, Fn::row.doc, kink_of<Fn>(), fn_id<Fn>};
  static constexpr auto attrs = no_attrs;
  static constexpr std::string_view equation = Fn::row.arity == 1 ? "r[i] = f(x[i])" : Fn::row.arity == 2 ? "r[i] = f(x[i], y[i])" : "r[i] = f(x[i], y[i], z[i])";
  static constexpr auto constraints = elementwise_constraints;
  static constexpr const auto& edges = Fn::edges;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    for (const auto& t : in)
      if (t != in[0]) return no("C1: operands differ: " + in[0].str() + " and " + t.str() + "; broadcast and convert are operations of their own");
    if (is_complex(in[0].dtype) && takes_complex(fn_id<Fn>)) return one({complex_result_dtype(fn_id<Fn>, in[0].dtype), in[0].shape});
    if (!takes(fn_id<Fn>, in[0].dtype)) return no("C2: " + std::string(row.name) + " does not take " + std::string(name(in[0].dtype)));
    return one({result_dtype(fn_id<Fn>, in[0].dtype), in[0].shape});
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap&) requires(takes_complex(fn_id<Fn>)) { return {complex_function(b, fn_id<Fn>, in)}; }
};

struct Convert {
  static constexpr OpRow row{"convert", "x", OpClass::convert,
      "Value conversion. Float to float rounds once to nearest even; f8e4m3fn saturates finite overflow. Float to integer truncates toward zero, "
      "saturates out of range, NaN gives 0. Integer to integer wraps. To bool: x is not 0 (NaN is true). From bool: 0 or 1. "
      "Complex to complex converts each part; a real number becomes the real part, with +0 beside it; complex to bool: either part is not 0. Complex to another real dtype is an error: real, imag and abs say which number is meant."};
  static constexpr std::array attrs{AttrSpec{"dtype", AttrKind::dtype}};
  static constexpr std::string_view equation =
      "r[i] = to a float:                 the number nearest to x[i], ties to even, beyond the range as in Rounding; bool is 0 or 1\n"
      "       to an integer from a float: x[i] without its fraction, or the end of the range that it lies beyond; 0 for NaN\n"
      "       to an integer from others:  x[i] modulo 2^bits; bool is 0 or 1\n"
      "       to bool:                    x[i] is not 0";
  static constexpr std::string_view derivative = "r' = x' in the dtype, between floats; none from or to integers and bool.";
  static constexpr std::array constraints{Constraint{"C1", "A complex x becomes complex or bool."}};
  static constexpr std::array edges{
      Edge{"E1", "NaN to an integer", "0", "the same: Rust, WebAssembly's saturating forms; undefined in C and C++; NumPy and PyTorch: whatever the processor gives"},
      Edge{"E2", "a float beyond an integer's range, ±inf included", "the nearer end of the range, also for i8, i16, u8 and u16", "the same: Rust, WebAssembly's saturating forms; undefined in C and C++; NumPy and PyTorch: whatever the processor gives"},
      Edge{"E3", "an integer beyond an integer's range", "wraps: its low bits", "the same: C++20, NumPy, PyTorch, JAX"},
      Edge{"E4", "a float beyond a float's range", "±inf from half a unit above the greatest number on, below that the greatest number", "the same: IEEE 754"},
      Edge{"E5", "beyond f8e4m3fn, which has no infinity", "finite numbers saturate to ±448, ±inf becomes NaN", "PyTorch from 2.12 saturates finite numbers too, and gave NaN before; ONNX with saturate=1 takes ±inf to ±448 (its importer clamps first), with saturate=0 all to NaN, like ml_dtypes"},
      Edge{"E6", "half way between two numbers", "the one with an even significand", "the same: IEEE 754"},
      Edge{"E7", "f64 to f16, where rounding to f32 first would differ", "rounded once", "the same: IEEE 754"},
      Edge{"E8", "a result below the least normal number", "subnormal numbers are kept", "the same: IEEE 754"},
      Edge{"E9", "-0", "-0 as a float, 0 as an integer, false as a bool", "the same: IEEE 754, NumPy, PyTorch"},
      Edge{"E10", "NaN to bool", "true: NaN is not 0", "the same: C++, NumPy, PyTorch"},
      Edge{"E11", "an integer that the float does not hold", "rounded once, to nearest even", "the same: IEEE 754"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const DType to = a.get<DType>("dtype");
    if (is_complex(in[0].dtype) && !is_complex(to) && !is_bool(to)) return no("C1: " + in[0].str() + " does not convert to " + std::string(name(to)) + "; real, imag and abs say which number is meant");
    return one({to, in[0].shape});
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return {complex_convert(b, in[0], a.get<DType>("dtype"))}; }
};

struct Select : PartByPart<Select> {
  static constexpr OpRow row{"select", "condition, on_true, on_false", OpClass::select, "on_true where condition holds, else on_false; the other side's value, NaN included, has no effect."};
  static constexpr auto attrs = no_attrs;
  static constexpr std::string_view equation =
      "r[i] = condition[i] ? on_true[i] : on_false[i]";
  static constexpr std::string_view derivative = "r' = condition ? on_true' : on_false'; the side not taken has no part, whatever its tangent.";
  static constexpr std::array constraints{
      Constraint{"C1", "condition is bool."},
      Constraint{"C2", "on_true and on_false have the same type."},
      Constraint{"C3", "condition has their shape."}};
  static constexpr std::array edges{
      Edge{"E1", "NaN or an infinity on the side not taken", "no effect", "the same: NumPy, PyTorch, JAX; a product with the condition would give NaN"},
      Edge{"E2", "-0 on the side taken", "-0", "the same: NumPy, PyTorch, JAX"}};
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
  static constexpr std::string_view equation =
      "r[i] = value[i]";
  static constexpr std::string_view derivative = "0.";
  static constexpr std::array edges{
      Edge{"E1", "nan", "the dtype's one NaN"},
      Edge{"E2", "a decimal between two numbers", "the nearest, ties to even"},
      Edge{"E3", "a literal without elements", "a tensor without elements"}};
  static Inferred infer(std::span<const Type>, const AttrMap& a) { return one(a.get<Literal>("value").type()); }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts>, const AttrMap& a) { return {complex_constant(b, a.get<Literal>("value"))}; }
};

struct Iota {
  static constexpr OpRow row{"iota", "", OpClass::source, "The index along an axis, converted to the dtype (integers wrap, floats round)."};
  static constexpr std::array attrs{AttrSpec{"dtype", AttrKind::dtype}, AttrSpec{"shape", AttrKind::shape}, AttrSpec{"axis", AttrKind::integer, "0"}};
  static constexpr std::string_view equation =
      "r[i] = i[axis] in the dtype";
  static constexpr std::string_view derivative = "0.";
  static constexpr std::array constraints{
      Constraint{"C1", "axis is an axis of shape."},
      Constraint{"C2", "dtype is not bool."}};
  static constexpr std::array edges{
      Edge{"E1", "an index beyond an integer dtype", "wraps", "the same: NumPy's arange converted"},
      Edge{"E2", "an index that a float dtype does not hold", "rounded to nearest even", "the same: NumPy's arange converted"},
      Edge{"E3", "an index beyond f8e4m3fn", "448"},
      Edge{"E4", "a size of 0", "no elements", "the same: NumPy"}};
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
