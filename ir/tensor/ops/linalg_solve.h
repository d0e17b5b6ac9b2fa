// What follows from triangular factors: solutions, inverses, determinants, powers.
#pragma once
#include "ir/tensor/matrix_words.h"
#include "ir/tensor/ops/linalg.h"

namespace plumb::ir::ops {

/// Attributes of a composite over library operations: none of its own concern the complex form.
inline const AttrMap& no_pairs() {
  static const AttrMap a = [] {
    AttrMap m;
    m.set("complex", false);
    return m;
  }();
  return a;
}
inline std::variant<MatrixShape, std::string> matrix_shape(const Type& t, bool square) { return matrix_shape(t, no_pairs(), square); }

/// Results of lu, and the sign of its order of rows as numbers of the real dtype.
struct Eliminated {
  ValueId factors, pivots, order;
};
inline Eliminated eliminated(Builder& b, ValueId a) {
  const ValueId in[] = {a};
  const auto r = b.add("lu", in);
  return {r[0], r[1], r[2]};
}
inline ValueId parity(Builder& b, ValueId pivots, DType real) {
  const Type t = b.type(pivots);
  AttrMap a;
  a.set("dtype", t.dtype), a.set("shape", t.shape), a.set("axis", static_cast<std::int64_t>(t.rank()) - 1);
  const auto moved = b.op("ne", {pivots, b.op("iota", {}, std::move(a))});
  const auto one = b.broadcast_to(b.scalar(real, 1), t.shape);
  return reduce_last(b, "reduce_prod", b.op("select", {moved, b.op("neg", {one}), one}));
}
inline ValueId solved_triangle(Builder& b, ValueId a, ValueId rhs, bool lower) {
  AttrMap attrs;
  attrs.set("lower", lower), attrs.set("unit_diagonal", lower);
  return b.op("triangular_solve", {a, rhs}, std::move(attrs));
}

struct Solve {
  static constexpr OpRow row{"solve", "a, b", OpClass::composite, "The solution x of a·x = b, by elimination with the greatest pivot of each column (lu) and two triangular systems. b is a batch of matrices, its columns the right sides."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "A·X = B";
  static constexpr std::array constraints{matrix_constraint, square_constraint, Constraint{"C4", "a and b share dtype and batch, and b has as many rows as a"}};
  static constexpr std::array edges{
      Edge{"E1", "elimination meets a zero pivot: a is singular", "a matrix of NaN", "NumPy and PyTorch raise an error; JAX gives infinities and NaN"},
      Edge{"E2", "NaN or an infinity in a", "a matrix of NaN", "NumPy and JAX spread them by the arithmetic"},
      Edge{"E3", "matrices of size 0", "empty", "NumPy, PyTorch"}};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const auto first = matrix_shape(in[0], true), second = matrix_shape(in[1], false);
    for (const auto* m : {&first, &second})
      if (auto* why = std::get_if<std::string>(m)) return no(*why);
    const auto &m = std::get<MatrixShape>(first), &s = std::get<MatrixShape>(second);
    if (m.element != s.element || m.batch != s.batch || m.rows != s.rows) return no("C4: " + in[0].str() + " has no right side " + in[1].str());
    return one(in[1]);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    const auto e = eliminated(b, in[0]);
    const Shape shape = b.type(in[1]).shape;
    AttrMap a;
    a.set("axis", static_cast<std::int64_t>(shape.size()) - 2);
    const auto ordered = b.op("gather_elements", {in[1], as_columns(b, e.order, shape)}, std::move(a));
    return {solved_triangle(b, e.factors, solved_triangle(b, e.factors, ordered, true), false)};
  }
};

struct Inverse {
  static constexpr OpRow row{"inverse", "a", OpClass::composite, "The inverse of square matrices: solve(a, identity)."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "A·X = I";
  static constexpr std::array constraints{matrix_constraint, square_constraint};
  static constexpr std::array edges{Edge{"E1", "a singular matrix", "a matrix of NaN", "NumPy and PyTorch raise an error; JAX gives infinities and NaN"}, Edge{"E2", "matrices of size 0", "empty", "NumPy, PyTorch"}};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const auto m = matrix_shape(in[0], true);
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    return one(in[0]);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) { return {b.op("solve", {in[0], identity_like(b, in[0])})}; }
};

struct Det {
  static constexpr OpRow row{"det", "a", OpClass::composite, "The determinant: the product of U's diagonal (lu), with the sign of the order of rows."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "det A = sign(perm)·prod_i U[i,i]";
  static constexpr std::array constraints{matrix_constraint, square_constraint};
  static constexpr std::array edges{
      Edge{"E1", "elimination meets a zero pivot", "zero, of either sign", "NumPy, PyTorch, JAX"},
      Edge{"E2", "matrices of size 0", "1", "NumPy, PyTorch, JAX"},
      Edge{"E3", "a determinant beyond the dtype's range", "an infinity or zero; slogdet stays in range", "NumPy, PyTorch, JAX"},
      Edge{"E4", "NaN or an infinity in the matrix", "NaN", "NumPy and JAX by the arithmetic"}};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const auto m = matrix_shape(in[0], true);
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    return one({in[0].dtype, std::get<MatrixShape>(m).batch});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    const auto e = eliminated(b, in[0]);
    const auto product = reduce_last(b, "reduce_prod", matrix_diagonal(b, e.factors));
    return {b.op("mul", {product, b.convert(parity(b, e.pivots, part_dtype(b.type(in[0]).dtype)), b.type(in[0]).dtype)})};
  }
};

struct Slogdet {
  static constexpr OpRow row{"slogdet", "a", OpClass::composite, "The determinant as a number of size 1 (or 0), of a's dtype, and the natural logarithm of its size: det = sign·exp(logabs)."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "sign = sign(perm)·prod_i U[i,i]/|U[i,i]|, logabs = sum_i log|U[i,i]|";
  static constexpr std::array constraints{matrix_constraint, square_constraint};
  static constexpr std::array edges{Edge{"E1", "elimination meets a zero pivot", "sign +0, logabs -inf", "NumPy, PyTorch, JAX"}, Edge{"E2", "matrices of size 0", "sign 1, logabs 0", "NumPy, PyTorch, JAX"}};
  static constexpr auto attrs = no_attrs;
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const auto m = matrix_shape(in[0], true);
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    const auto& s = std::get<MatrixShape>(m);
    return std::vector<Type>{{in[0].dtype, s.batch}, {s.real, s.batch}};
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    const auto e = eliminated(b, in[0]);
    const auto diagonal = matrix_diagonal(b, e.factors), sizes = b.op("abs", {diagonal});
    ValueId signs;
    if (is_complex(b.type(in[0]).dtype)) {
      const auto zero = b.op("eq", {sizes, b.splat_like(sizes, 0)});
      signs = b.op("select", {zero, b.splat_like(diagonal, 0), b.op("div", {diagonal, b.convert(sizes, b.type(diagonal).dtype)})});
    } else {
      signs = b.op("sign", {diagonal});
    }
    const auto order = b.convert(parity(b, e.pivots, b.type(sizes).dtype), b.type(in[0]).dtype);
    const auto sign = b.op("mul", {reduce_last(b, "reduce_prod", signs), order});
    return {b.op("add", {sign, b.splat_like(sign, 0)}), reduce_last(b, "reduce_sum", b.op("log", {sizes}))};
  }
};

struct MatrixPower {
  static constexpr OpRow row{"matrix_power", "a", OpClass::composite, "a times itself `n` times, by repeated squaring; the identity for n = 0, the inverse's power for negative n."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "A·A·…·A, n times";
  static constexpr std::array attrs{AttrSpec{"n", AttrKind::integer}};
  static constexpr std::array constraints{matrix_constraint, square_constraint, Constraint{"C4", "|n| is at most 65,536"}};
  static constexpr std::array edges{Edge{"E1", "n = 0", "the identity, whatever the matrix holds", "NumPy, PyTorch, JAX"}, Edge{"E2", "n < 0 and a singular matrix", "a matrix of NaN", "NumPy and PyTorch raise an error"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto m = matrix_shape(in[0], true);
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    if (const auto n = a.integer("n"); n < -65536 || n > 65536) return no("C4: a power of " + std::to_string(n));
    return one(in[0]);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    auto n = a.integer("n");
    if (n == 0) return {identity_like(b, in[0])};
    ValueId square = n < 0 ? b.op("inverse", {in[0]}) : in[0], product = -1;
    for (n = n < 0 ? -n : n;; square = matrix_product(b, square, square)) {
      if (n % 2 == 1) product = product < 0 ? square : matrix_product(b, product, square);
      if ((n /= 2) == 0) return {product};
    }
  }
};

using LinalgSolveOps = OpList<Solve, Inverse, Det, Slogdet, MatrixPower>;

}  // namespace plumb::ir::ops
