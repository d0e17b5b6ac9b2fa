// Complex numbers made of and taken apart into their parts.
#pragma once
#include "ir/tensor/builder.h"
#include "ir/tensor/complex_functions.h"
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

/// Each record's rule for its one operand; "" or the sentence.
inline std::string needs_complex(const Type& t, std::string_view label) {
  return is_complex(t.dtype) ? std::string() : std::string(label) + ": takes complex numbers, not " + t.str();
}

struct ComplexOf {
  static constexpr OpRow row{"complex", "re, im", OpClass::complex, "The complex numbers with these parts: c64 of f32, c128 of f64."};
  static constexpr std::string_view equation = "result[i] = re[i] + i·im[i], each part as it is";
  static constexpr std::array constraints{Constraint{"C1", "the parts have one type"}, Constraint{"C2", "the parts are f32 or f64"}};
  static constexpr std::array edges{Edge{"E1", "a part is -0, an infinity or NaN", "kept as it is: nothing is added or multiplied", "torch.complex; re + 1j*im in NumPy would lose the sign of -0 and make NaN of infinities"}};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in[0] != in[1]) return no("C1: the parts differ: " + in[0].str() + " and " + in[1].str());
    if (in[0].dtype != DType::f32 && in[0].dtype != DType::f64) return no("C2: the parts are f32 or f64, not " + in[0].str());
    return one({complex_dtype(in[0].dtype), in[0].shape});
  }
  static std::vector<Parts> complex_parts(Builder&, std::span<const Parts> in, const AttrMap&) { return {{in[0].re, in[1].re}}; }
};

template <bool Imaginary> struct PartOf {
  static constexpr OpRow row{Imaginary ? "imag" : "real", "x", OpClass::complex, Imaginary ? "The imaginary part." : "The real part."};
  static constexpr std::string_view equation = Imaginary ? "result[i] = Im x[i]" : "result[i] = Re x[i]";
  static constexpr std::array constraints{Constraint{"C1", "x is complex"}};
  static constexpr std::array edges{Edge{"E1", "the part is -0, or the other part is NaN", "the part as it is", "NumPy, PyTorch, JAX"}};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (auto e = needs_complex(in[0], "C1"); !e.empty()) return no(e);
    return one({part_dtype(in[0].dtype), in[0].shape});
  }
  static std::vector<Parts> complex_parts(Builder&, std::span<const Parts> in, const AttrMap&) { return {{Imaginary ? in[0].im : in[0].re}}; }
};

struct Conj {
  static constexpr OpRow row{"conj", "x", OpClass::composite, "The complex conjugate: the imaginary part's sign flipped. A real number is its own."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "result[i] = Re x[i] - i·Im x[i]";
  static constexpr std::array constraints{Constraint{"C1", "x is not bool"}};
  static constexpr std::array edges{Edge{"E1", "the imaginary part is ±0", "∓0", "C's conj, NumPy, PyTorch"}};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (is_bool(in[0].dtype)) return no("C1: takes numbers, not bool");
    return one(in[0]);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    if (!is_complex(b.type(in[0]).dtype)) return {in[0]};
    const auto re = b.op("real", {in[0]});
    return {b.op("complex", {re, b.op("neg", {b.op("imag", {in[0]})})})};
  }
};

struct Angle {
  static constexpr OpRow row{"angle", "x", OpClass::composite, "The angle of the number in the plane, in (-pi, pi]: atan2 of its parts. A real number has the imaginary part +0."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "result[i] = atan2(Im x[i], Re x[i])";
  static constexpr std::array constraints{Constraint{"C1", "x is complex or a float"}};
  static constexpr std::array edges{
      Edge{"E1", "negative real axis", "pi where the imaginary part is +0, -pi where it is -0", "C's carg, NumPy, PyTorch"},
      Edge{"E2", "the parts are zeros", "±0 for a real part of +0, ±pi for -0, by the imaginary part's sign", "C's carg, NumPy"},
      Edge{"E3", "a real operand", "0 where it is +0 or more, pi where it is -0 or less, NaN for NaN", "NumPy; PyTorch gives 0 for -0"}};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_complex(in[0].dtype) && !is_float(in[0].dtype)) return no("C1: takes complex numbers or floats, not " + in[0].str());
    return one({part_dtype(in[0].dtype), in[0].shape});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    const bool real = !is_complex(b.type(in[0]).dtype);
    const auto re = real ? in[0] : b.op("real", {in[0]}), im = real ? b.splat_like(re, 0) : b.op("imag", {in[0]});
    return {b.op("atan2", {im, re})};
  }
};

using ComplexOps = OpList<ComplexOf, PartOf<false>, PartOf<true>, Conj, Angle>;

}  // namespace plumb::ir::ops
