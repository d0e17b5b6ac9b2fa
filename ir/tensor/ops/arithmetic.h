// Arithmetic of several steps, and logic on numbers.
#pragma once
#include <cmath>

#include "ir/tensor/ops/composite.h"

namespace plumb::ir::ops {

/// Three operands of one type that is numeric.
inline Inferred three_alike(std::span<const Type> in) {
  if (in[1] != in[0] || in[2] != in[0]) return no("C1: operands differ: " + in[0].str() + ", " + in[1].str() + ", " + in[2].str());
  if (is_bool(in[0].dtype)) return no("C2: takes numbers, not bool");
  return one(in[0]);
}
inline constexpr std::array three_alike_constraints{Constraint{"C1", "the operands have one type."}, Constraint{"C2", "it is numeric."}};

struct Reciprocal {
  static constexpr bool complex = true;
  static constexpr OpRow row{"reciprocal", "x", OpClass::composite, "1 / x."};
  static constexpr std::string_view equation = "out[i] = 1 / x[i]";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "x is a tensor of floats or complex numbers."}};
  static constexpr std::array edges{Edge{"E1", "x = 0, -0, inf, -inf", "inf, -inf, 0, -0", "IEEE 754"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_float(in[0].dtype) && !is_complex(in[0].dtype)) return no("C1: takes floats or complex numbers, not " + std::string(name(in[0].dtype)));
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap&) { return {Words{b}.from("div", 1, in[0])}; }
};

/// Logic on any dtype: an element counts as true when it is not 0; NaN is true.
inline ValueId truth(Builder& b, ValueId x) { return b.convert(x, DType::boolean); }
template <class Fn> struct Logical {
  static constexpr bool complex = true;
  static constexpr bool is_and = std::same_as<Fn, scalar::And>, is_or = std::same_as<Fn, scalar::Or>;
  static constexpr OpRow row{is_and ? "logical_and" : is_or ? "logical_or" : "logical_xor", "x, y", OpClass::composite,
      is_and ? "True where both elements are not 0; NaN is not 0." : is_or ? "True where an element is not 0; NaN is not 0." : "True where just one of the elements is not 0; NaN is not 0."};
  static constexpr std::string_view equation = is_and ? "out[i] = x[i] != 0 and y[i] != 0" : is_or ? "out[i] = x[i] != 0 or y[i] != 0" : "out[i] = (x[i] != 0) != (y[i] != 0)";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "x and y have one shape."}};
  static constexpr std::array edges{Edge{"E1", "NaN, -0", "true, false", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in[0].shape != in[1].shape) return no("C1: shapes differ: " + in[0].str() + " and " + in[1].str());
    return one({DType::boolean, in[0].shape});
  }
  static Out decompose(Builder& b, In in, const AttrMap&) { return {b.op(Fn::row.name, {truth(b, in[0]), truth(b, in[1])})}; }
};
struct LogicalNot {
  static constexpr bool complex = true;
  static constexpr OpRow row{"logical_not", "x", OpClass::composite, "True where x is 0; NaN is not 0."};
  static constexpr std::string_view equation = "out[i] = x[i] == 0";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array edges{Edge{"E1", "NaN, -0", "false, true", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) { return one({DType::boolean, in[0].shape}); }
  static Out decompose(Builder& b, In in, const AttrMap&) { return {b.op("not", {truth(b, in[0])})}; }
};

struct Addmm {
  static constexpr bool complex = true;
  static constexpr OpRow row{"addmm", "c, lhs, rhs", OpClass::composite, "alpha * matmul(lhs, rhs) + beta * c, c broadcast. With beta = 0, c is not read; with alpha = 0, lhs and rhs are."};
  static constexpr std::string_view equation = "out[…, i, j] = alpha sum_k lhs[…, i, k] rhs[…, k, j] + (beta = 0 ? 0 : beta c[…, i, j])";
  static constexpr std::array attrs{AttrSpec{"alpha", AttrKind::real, "1"}, AttrSpec{"beta", AttrKind::real, "1"}};
  static constexpr std::array constraints{Constraint{"C1", "lhs and rhs are what matmul takes."}, Constraint{"C2", "c has their dtype and broadcasts to the product."}};
  static constexpr std::array edges{Edge{"E1", "beta = 0, c NaN", "the product: c is not read", "PyTorch's eager mode, BLAS and cuBLAS the same; torch.compile gave NaN"},
                                    Edge{"E2", "alpha = 0, lhs NaN", "NaN", "BLAS does not read lhs and rhs then"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    auto product = Matmul::infer(in.subspan(1), a);
    if (auto* why = std::get_if<std::string>(&product)) return no("C1: lhs and rhs do not multiply: " + *why);
    const Type t = std::get<std::vector<Type>>(product)[0];
    const auto s = broadcast_shapes(in[0].shape, t.shape);
    if (in[0].dtype != t.dtype || !std::holds_alternative<Shape>(s) || std::get<Shape>(s) != t.shape) return no("C2: c is " + in[0].str() + ", the product " + t.str());
    return one(t);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    auto r = w.scaled(b.op("matmul", {in[1], in[2]}), a.real("alpha"));
    if (a.real("beta") == 0) return {r};
    return {w("add", r, b.broadcast_to(w.scaled(in[0], a.real("beta")), w.type(r).shape))};
  }
};

template <bool Divide> struct Addc {
  static constexpr bool complex = true;
  static constexpr OpRow row{Divide ? "addcdiv" : "addcmul", "x, y, z", OpClass::composite, Divide ? "x + value * (y / z)." : "x + value * (y * z)."};
  static constexpr std::string_view equation = Divide ? "out[i] = x[i] + value (y[i] / z[i])" : "out[i] = x[i] + value (y[i] z[i])";
  static constexpr std::array attrs{AttrSpec{"value", AttrKind::real, "1"}};
  static constexpr std::span<const Constraint> constraints = three_alike_constraints;
  static constexpr std::array edges{Divide ? Edge{"E1", "y = 1, z = 0", "x + value inf", "the same: PyTorch"} : Edge{"E1", "value = 0, y = inf", "NaN: 0 times infinity", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) { return three_alike(in); }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      return {w("add", v[0], w.scaled(w(Divide ? "div" : "mul", v[1], v[2]), a.real("value")))};
    });
  }
};

struct Lerp {
  static constexpr OpRow row{"lerp", "x, y, weight", OpClass::composite, "x + weight * (y - x) where |weight| < 1/2, else y - (y - x) * (1 - weight): both ends are exact."};
  static constexpr std::string_view equation = "out[i] = x[i] + weight[i] (y[i] - x[i])";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{Constraint{"C1", "the operands have one type."}, Constraint{"C2", "it is a float type."}};
  static constexpr std::array edges{Edge{"E1", "weight = 1, 0", "y, x exactly, where y - x is finite", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_float(in[0].dtype)) return no("C2: takes floats, not " + std::string(name(in[0].dtype)));
    return three_alike(in);
  }
  static Out decompose(Builder& b, In in, const AttrMap&) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto way = w("sub", v[1], v[0]);
      const auto near_x = w("add", v[0], w("mul", v[2], way)), near_y = w("sub", v[1], w("mul", way, w.from("sub", 1, v[2])));
      return {w("select", w.with("lt", w("abs", v[2]), 0.5), near_x, near_y)};
    });
  }
};

struct RoundDecimals {
  static constexpr OpRow row{"round_decimals", "x", OpClass::composite, "x to the nearest multiple of 10^-decimals, ties to even: x scaled by a power of ten, rounded, scaled back; each of the steps rounds."};
  static constexpr std::string_view equation = "out[i] = round_even(x[i] 10^decimals) / 10^decimals; for decimals < 0, round_even(x[i] / 10^-decimals) 10^-decimals";
  static constexpr std::array attrs{AttrSpec{"decimals", AttrKind::integer}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}, Constraint{"C2", "decimals is in [-300, 300]."}};
  static constexpr std::array edges{Edge{"E1", "x 10^decimals overflows", "inf", "PyTorch the same; Python's round gives x"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (a.integer("decimals") < -300 || a.integer("decimals") > 300) return no("C2: decimals is " + std::to_string(a.integer("decimals")));
    if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    return in_f32(b, in, 0, [&](In v) -> Out {
      const Words w{b};
      const auto n = a.integer("decimals");
      const double ten = std::pow(10.0, static_cast<double>(n < 0 ? -n : n));
      return {w.with(n < 0 ? "mul" : "div", w("round_even", w.with(n < 0 ? "div" : "mul", v[0], ten)), ten)};
    });
  }
};

struct NanToNum {
  static constexpr OpRow row{"nan_to_num", "x", OpClass::composite, "x with NaN, inf and -inf replaced; a replacement rounds to the dtype."};
  static constexpr std::string_view equation = "out[i] = x[i] is NaN ? nan : x[i] = inf ? posinf : x[i] = -inf ? neginf : x[i]";
  static constexpr std::array attrs{AttrSpec{"nan", AttrKind::real, "0"}, AttrSpec{"posinf", AttrKind::real}, AttrSpec{"neginf", AttrKind::real}};
  static constexpr std::array constraints{Constraint{"C1", "x has a float dtype."}};
  static constexpr std::array edges{Edge{"E1", "x = -0", "-0", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (!is_float(in[0].dtype)) return no("C1: takes floats, not " + std::string(name(in[0].dtype)));
    return one(in[0]);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    const auto x = in[0], inf = w("select", w.with("gt", x, 0), b.splat_like(x, a.real("posinf")), b.splat_like(x, a.real("neginf")));
    return {w("select", w("is_nan", x), b.splat_like(x, a.real("nan")), w("select", w("is_inf", x), inf, x))};
  }
};

using ArithmeticOps = OpList<Reciprocal, Logical<scalar::And>, Logical<scalar::Or>, Logical<scalar::Xor>, LogicalNot, Addmm, Addc<false>, Addc<true>, Lerp, RoundDecimals, NanToNum>;

}  // namespace plumb::ir::ops
