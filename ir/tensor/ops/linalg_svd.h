// What follows from singular values: pseudo-inverses, least squares, ranks, norms, condition numbers.
#pragma once
#include <cmath>
#include <limits>

#include "ir/tensor/ops/linalg_solve.h"

namespace plumb::ir::ops {

inline constexpr AttrSpec rtol_attr{"rtol", AttrKind::real, "-1"};

struct SingularValues {
  ValueId u, s, vh;
};
inline SingularValues singular(Builder& b, ValueId a) {
  const ValueId in[] = {a};
  const auto r = b.add("svd", in);
  return {r[0], r[1], r[2]};
}
/// Which singular values count: those above rtol (or, where that is negative, max(m, n) times the dtype's epsilon) of the greatest.
inline ValueId counts(Builder& b, ValueId s, const Type& a, double rtol) {
  const auto m = matrix_shape(a, false);
  const auto& shape = std::get<MatrixShape>(m);
  const double epsilon = shape.real == DType::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const double part = rtol >= 0 ? rtol : static_cast<double>(std::max(shape.rows.size(), shape.columns.size())) * epsilon;
  const Shape full = b.type(s).shape;
  if (full.back().size() == 0) return b.broadcast_to(b.scalar(DType::boolean, 0), full);
  return b.op("gt", {s, as_columns(b, times(b, at_last(b, s, 0), part), full)});
}
/// Singular vectors scaled by the reciprocals of the values that count: V·S⁺.
inline ValueId scaled_v(Builder& b, const SingularValues& d, ValueId counted) {
  const auto one = b.splat_like(d.s, 1);
  const auto reciprocal = b.op("select", {counted, b.op("div", {one, d.s}), b.splat_like(d.s, 0)});
  const auto v = matrix_adjoint(b, d.vh);
  const Type t = b.type(v);
  return b.op("mul", {v, as_rows(b, b.convert(reciprocal, t.dtype), t.shape)});
}
inline std::string not_a_matrix(const Type& t) {
  const auto m = matrix_shape(t, false);
  const auto* why = std::get_if<std::string>(&m);
  return why ? *why : std::string();
}

struct Pinv {
  static constexpr OpRow row{"pinv", "a", OpClass::composite, "The Moore-Penrose pseudo-inverse, by singular values: those up to rtol times the greatest count as zero. rtol < 0: max(m, n) times the dtype's epsilon."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "V·diag(s > rtol·s[0] ? 1/s : 0)·Uᴴ";
  static constexpr std::array attrs{rtol_attr};
  static constexpr std::array constraints{matrix_constraint};
  static constexpr std::array edges{Edge{"E1", "the default rtol", "max(m, n)·epsilon", "PyTorch; NumPy has 1e-15, JAX 10·max(m, n)·epsilon"}, Edge{"E2", "an axis of size 0", "empty", "NumPy, PyTorch"}, Edge{"E3", "a matrix of zeros", "zeros", "NumPy, PyTorch, JAX"},
                                    Edge{"E4", "NaN or an infinity in the matrix", "NaN", "NumPy raises an error"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (auto e = not_a_matrix(in[0]); !e.empty()) return no(e);
    Type t = in[0];
    std::swap(t.shape[t.rank() - 1], t.shape[t.rank() - 2]);
    return one(t);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto d = singular(b, in[0]);
    return {matrix_product(b, scaled_v(b, d, counts(b, d.s, b.type(in[0]), a.real("rtol"))), matrix_adjoint(b, d.u))};
  }
};

struct MatrixRank {
  static constexpr OpRow row{"matrix_rank", "a", OpClass::composite, "How many singular values (i64) are above rtol times the greatest. rtol < 0: max(m, n) times the dtype's epsilon."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "sum_i (s[i] > rtol·s[0])";
  static constexpr std::array attrs{rtol_attr};
  static constexpr std::array constraints{matrix_constraint};
  static constexpr std::array edges{Edge{"E1", "a matrix of zeros, or an axis of size 0", "0", "NumPy, PyTorch, JAX"}, Edge{"E2", "NaN or an infinity in the matrix", "0: no comparison with NaN holds", "JAX; NumPy raises an error"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const auto m = matrix_shape(in[0], false);
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    return one({DType::i64, std::get<MatrixShape>(m).batch});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto d = singular(b, in[0]);
    return {reduce_last(b, "reduce_sum", b.convert(counts(b, d.s, b.type(in[0]), a.real("rtol")), DType::i64))};
  }
};

struct Lstsq {
  static constexpr OpRow row{"lstsq", "a, b", OpClass::composite, "The x of least size among those that make |a·x - b| least, for each column of b, by singular values: those up to rtol times the greatest count as zero. Also the rank that this found (i64), and the singular values."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "X = V·diag(s > rtol·s[0] ? 1/s : 0)·(Uᴴ·B)";
  static constexpr std::array attrs{rtol_attr};
  static constexpr std::array constraints{matrix_constraint, Constraint{"C4", "a and b share dtype and batch, and b has as many rows as a"}};
  static constexpr std::array edges{Edge{"E1", "several x make the residual least", "the one of least size", "NumPy, JAX, LAPACK's gelsd"}, Edge{"E2", "a has no rows or no columns", "x of zeros, rank 0", "NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const auto first = matrix_shape(in[0], false), second = matrix_shape(in[1], false);
    for (const auto* m : {&first, &second})
      if (auto* why = std::get_if<std::string>(m)) return no(*why);
    const auto &m = std::get<MatrixShape>(first), &s = std::get<MatrixShape>(second);
    if (m.element != s.element || m.batch != s.batch || m.rows != s.rows) return no("C4: " + in[0].str() + " has no right side " + in[1].str());
    return std::vector<Type>{m.matrices(m.columns, s.columns), {DType::i64, m.batch}, m.vectors(m.real, least(m.rows, m.columns))};
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto d = singular(b, in[0]);
    const auto counted = counts(b, d.s, b.type(in[0]), a.real("rtol"));
    const auto x = matrix_product(b, scaled_v(b, d, counted), matrix_product(b, matrix_adjoint(b, d.u), in[1]));
    return {x, reduce_last(b, "reduce_sum", b.convert(counted, DType::i64)), d.s};
  }
};

/// A norm's order as NumPy writes it.
inline bool is_order(std::string_view ord) {
  static constexpr std::string_view orders[] = {"fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf"};
  return std::ranges::find(orders, ord) != std::end(orders);
}
inline ValueId norm_of(Builder& b, ValueId a, const std::string& ord) {
  const bool negative = ord.starts_with('-');
  const auto sizes = b.op("abs", {a});
  if (ord == "fro") return b.op("sqrt", {reduce_last(b, "reduce_sum", b.op("mul", {sizes, sizes}), 2)});
  const auto extreme = negative ? "reduce_min" : "reduce_max";
  if (ord.ends_with("1")) return reduce_last(b, extreme, reduce_last(b, "reduce_sum", matrix_transpose(b, sizes)));
  if (ord.ends_with("inf")) return reduce_last(b, extreme, reduce_last(b, "reduce_sum", sizes));
  const auto s = singular(b, a).s;
  return reduce_last(b, ord == "nuc" ? "reduce_sum" : extreme, s);
}

struct MatrixNorm {
  static constexpr OpRow row{"matrix_norm", "a", OpClass::composite, "A norm of each matrix: fro (the root of the sum of squares), nuc (the sum of singular values), 1 and -1 (the greatest and least column sum of sizes), inf and -inf (of row sums), 2 and -2 (the greatest and least singular value)."};
  static constexpr bool complex = true;
  static constexpr std::array attrs{AttrSpec{"ord", AttrKind::text, "fro"}};
  static constexpr std::array constraints{matrix_constraint, Constraint{"C4", "ord is fro, nuc, 1, -1, 2, -2, inf or -inf"}};
  static constexpr std::array edges{Edge{"E1", "an axis of size 0", "sums are 0; a greatest of nothing is -inf, a least inf", "NumPy and PyTorch raise an error for greatest and least"}, Edge{"E2", "NaN in the matrix", "NaN", "NumPy, PyTorch, JAX"},
                                    Edge{"E3", "squares that leave the range", "infinity or zero, by the formula", "NumPy, PyTorch, JAX"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto m = matrix_shape(in[0], false);
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    if (const auto& ord = a.get<std::string>("ord"); !is_order(ord)) return no("C4: there is no norm " + ord);
    const auto& s = std::get<MatrixShape>(m);
    return one({s.real, s.batch});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) { return {norm_of(b, in[0], a.get<std::string>("ord"))}; }
};

struct Cond {
  static constexpr OpRow row{"cond", "a", OpClass::composite, "The condition number: for 2 (and -2) the greatest singular value by the least (and the other way), for other orders norm(a)·norm(inverse(a))."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "norm(A)·norm(A⁻¹)";
  static constexpr std::array attrs{AttrSpec{"ord", AttrKind::text, "2"}};
  static constexpr std::array constraints{matrix_constraint, Constraint{"C3", "the matrices are square, for orders other than 2 and -2"}, Constraint{"C4", "ord is fro, nuc, 1, -1, 2, -2, inf or -inf"}, Constraint{"C5", "the matrices have elements"}};
  static constexpr std::array edges{Edge{"E1", "a singular matrix", "infinity where it shows exactly (a zero singular value, a zero pivot)", "NumPy, PyTorch"}, Edge{"E2", "NaN or an infinity in the matrix", "NaN", "NumPy, PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto& ord = a.get<std::string>("ord");
    const auto m = matrix_shape(in[0], ord != "2" && ord != "-2");
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    if (!is_order(ord)) return no("C4: there is no norm " + ord);
    const auto& s = std::get<MatrixShape>(m);
    if (s.rows == Dim(0) || s.columns == Dim(0)) return no("C5: " + in[0].str() + " has no singular value");
    return one({s.real, s.batch});
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap& a) {
    const auto& ord = a.get<std::string>("ord");
    if (ord == "2" || ord == "-2") {
      const auto s = singular(b, in[0]).s;
      const auto most = at_last(b, s, 0), fewest = at_last(b, s, b.type(s).shape.back().size() - 1);
      const auto zero = b.op("eq", {fewest, b.splat_like(fewest, 0)});
      const auto ratio = ord == "2" ? b.op("div", {most, fewest}) : b.op("div", {fewest, most});
      return {b.op("select", {zero, b.splat_like(ratio, ord == "2" ? HUGE_VAL : 0), ratio})};
    }
    const auto norm = norm_of(b, in[0], ord), other = norm_of(b, b.op("inverse", {in[0]}), ord);
    const auto lost = b.op("and", {b.op("is_finite", {norm}), b.op("is_nan", {other})});  // the inverse of a singular matrix
    return {b.op("select", {lost, b.splat_like(norm, HUGE_VAL), b.op("mul", {norm, other})})};
  }
};

/// Scaling and squaring with the Padé approximant of degree 13 (Higham, SIAM J. Matrix Anal. Appl. 26, 2005).
struct Expm {
  static constexpr OpRow row{"expm", "a", OpClass::composite, "The matrix exponential: the [13/13] Padé approximant of a/2^s, squared s times; s is the least that brings the 1-norm down to 5.37, at most 16."};
  static constexpr bool complex = true;
  static constexpr std::string_view equation = "sum_k A^k/k!";
  static constexpr auto attrs = no_attrs;
  static constexpr std::array constraints{matrix_constraint, square_constraint};
  static constexpr std::array edges{Edge{"E1", "a matrix of zeros", "the identity", "SciPy, PyTorch, JAX"}, Edge{"E2", "a 1-norm above 5.37·2^16, or NaN", "a matrix of NaN", "JAX; SciPy and PyTorch go on scaling"}, Edge{"E3", "matrices of size 0", "empty", "SciPy, PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    const auto m = matrix_shape(in[0], true);
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    return one(in[0]);
  }
  static std::vector<ValueId> decompose(Builder& b, std::span<const ValueId> in, const AttrMap&) {
    constexpr int most = 16;
    constexpr double radius = 5.371920351148152;
    const Type t = b.type(in[0]);
    if (t.shape.back().size() == 0) return {in[0]};
    const auto norm = norm_of(b, in[0], "1");
    auto everywhere = [&](ValueId per_matrix) {  // over a matrix's elements
      Ints dims;
      for (std::size_t d = 0; d + 2 < t.rank(); ++d) dims.push_back(static_cast<std::int64_t>(d));
      AttrMap a;
      a.set("shape", t.shape), a.set("dims", dims);
      return b.op("broadcast", {per_matrix}, std::move(a));
    };
    auto above = [&](int squarings) { return b.op("gt", {norm, b.splat_like(norm, std::ldexp(radius, squarings))}); };
    ValueId factor = b.splat_like(norm, 1);
    for (int s = 0; s < most; ++s) factor = b.op("select", {above(s), b.splat_like(norm, std::ldexp(1.0, -s - 1)), factor});
    const auto a = b.op("mul", {in[0], everywhere(b.convert(factor, t.dtype))});
    ValueId r = approximant(b, a);
    for (int s = 0; s < most; ++s) r = b.op("select", {everywhere(above(s)), matrix_product(b, r, r), r});
    const auto in_reach = b.op("le", {norm, b.splat_like(norm, std::ldexp(radius, most))});
    return {b.op("select", {everywhere(in_reach), r, nan_like(b, r)})};
  }

 private:
  static ValueId nan_like(Builder& b, ValueId x) {
    const auto zero = b.splat_like(x, 0);
    return b.op("div", {zero, zero});
  }
  /// Odd and even terms apart: (V - U) r = V + U.
  static ValueId approximant(Builder& b, ValueId a) {
    static constexpr double c[] = {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1};
    const auto one = identity_like(b, a), a2 = matrix_product(b, a, a), a4 = matrix_product(b, a2, a2), a6 = matrix_product(b, a4, a2);
    auto sum = [&](std::initializer_list<std::pair<ValueId, int>> terms) {
      ValueId total = -1;
      for (const auto& [m, k] : terms) {
        const auto term = times(b, m, c[k] / c[0]);  // all by the first, so that f32 stays in range
        total = total < 0 ? term : b.op("add", {total, term});
      }
      return total;
    };
    auto half = [&](int odd) {
      const auto high = matrix_product(b, a6, sum({{a6, 12 + odd}, {a4, 10 + odd}, {a2, 8 + odd}}));
      return b.op("add", {high, sum({{a6, 6 + odd}, {a4, 4 + odd}, {a2, 2 + odd}, {one, odd}})});
    };
    const auto u = matrix_product(b, a, half(1)), v = half(0);
    return b.op("solve", {b.op("sub", {v, u}), b.op("add", {v, u})});
  }
};

using LinalgSvdOps = OpList<Pinv, MatrixRank, Lstsq, MatrixNorm, Cond, Expm>;

}  // namespace plumb::ir::ops
