// Linear algebra on matrices in the last two axes; the axes before them are a batch.
//
// The factorisations are library operations: their numbers are LAPACK's, judged by what the factors multiply to. Where
// mathematics leaves a factor's sign (or phase) open, it is fixed here, so that a factor is determined up to rounding.
// `complex` is the form that complex operands take in a compiled program: a last axis of 2 more, the parts.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

inline constexpr AttrSpec pairs_attr{"complex", AttrKind::boolean, "false"};

/// A batch of matrices: the batch's shape and the matrices' own.
struct MatrixShape {
  Shape batch;
  Dim rows, columns;
  bool pairs;
  DType element, real;
  Type matrices(Dim m, Dim n) const {
    Type t{element, batch};
    t.shape.push_back(m), t.shape.push_back(n);
    if (pairs) t.shape.push_back(2);
    return t;
  }
  Type vectors(DType dtype, Dim n) const {
    Type t{dtype, batch};
    t.shape.push_back(n);
    return t;
  }
};
inline constexpr Constraint matrix_constraint{"C1", "operands are matrices, in their last two axes, of f32, f64, c64 or c128"};
inline constexpr Constraint pairs_constraint{"C2", "with complex = true, operands are f32 or f64 and have a last axis of 2 more"};
inline constexpr Constraint square_constraint{"C3", "the matrices are square"};

/// The matrices of an operand, or which constraint it breaks.
inline std::variant<MatrixShape, std::string> matrix_shape(const Type& t, const AttrMap& a, bool square) {
  const bool pairs = a.flag("complex");
  Type m = t;
  if (pairs) {
    if (is_complex(t.dtype) || t.rank() == 0 || t.shape.back() != Dim(2)) return "C2: pairs of parts have a last axis of 2, not " + t.str();
    m.shape.pop_back();
  }
  if (m.rank() < 2 || (part_dtype(m.dtype) != DType::f32 && part_dtype(m.dtype) != DType::f64)) return "C1: takes matrices of f32, f64, c64 or c128, not " + t.str();
  const Dim columns = m.shape.back();
  m.shape.pop_back();
  const Dim rows = m.shape.back();
  m.shape.pop_back();
  if (square && rows != columns) return "C3: the matrices are not square: " + t.str();
  return MatrixShape{m.shape, rows, columns, pairs, m.dtype, part_dtype(m.dtype)};
}
inline Dim least(Dim m, Dim n) { return std::min(m.size(), n.size()); }

struct Cholesky {
  static constexpr OpRow row{"cholesky", "a", OpClass::library,
      "The triangular factor of a positive definite (symmetric or Hermitian) matrix, with a positive diagonal. Only the triangle that `lower` names is read, of its diagonal only the real part."};
  static constexpr std::string_view equation = "lower: A = L·Lᴴ, L lower triangular; else A = Uᴴ·U, U upper triangular";
  static constexpr std::array attrs{AttrSpec{"lower", AttrKind::boolean, "true"}, pairs_attr};
  static constexpr std::array constraints{matrix_constraint, pairs_constraint, square_constraint};
  static constexpr std::array edges{
      Edge{"E1", "a matrix that is not positive definite", "a matrix of NaN", "JAX; NumPy and PyTorch raise an error"},
      Edge{"E2", "NaN or an infinity in the triangle read", "a matrix of NaN", "JAX"},
      Edge{"E3", "the other triangle", "not read, +0 in the result", "NumPy, PyTorch; JAX symmetrises first unless told not to"},
      Edge{"E4", "matrices of size 0", "matrices of size 0", "NumPy, PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto m = matrix_shape(in[0], a, true);
    if (auto* why = std::get_if<std::string>(&m)) return no(*why);
    return one(in[0]);
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return complex_library(b, row.name, in, a, {true}); }
};

struct TriangularSolve {
  static constexpr OpRow row{"triangular_solve", "a, b", OpClass::library,
      "The solution x of op(a)·x = b (left_side) or x·op(a) = b, a triangular; op is the matrix itself (transpose = none), its transpose, or its conjugate transpose (conjugate). Only the triangle that `lower` names is read; not its diagonal where unit_diagonal says that it holds ones."};
  static constexpr std::string_view equation = "op(A)·X = B, or X·op(A) = B";
  static constexpr std::array attrs{AttrSpec{"left_side", AttrKind::boolean, "true"}, AttrSpec{"lower", AttrKind::boolean, "true"}, AttrSpec{"transpose", AttrKind::text, "none"}, AttrSpec{"unit_diagonal", AttrKind::boolean, "false"}, pairs_attr};
  static constexpr std::array constraints{matrix_constraint, pairs_constraint, square_constraint, Constraint{"C4", "a and b share dtype and batch, and a's size is that of the side of b that it stands at"},
                                          Constraint{"C5", "transpose is none, transpose or conjugate"}};
  static constexpr std::array edges{
      Edge{"E1", "a zero on the diagonal", "a matrix of NaN", "SciPy raises an error; PyTorch and JAX give infinities and NaN by the divisions"},
      Edge{"E2", "NaN or an infinity in the triangle read", "a matrix of NaN", "PyTorch and JAX spread them by the arithmetic"},
      Edge{"E3", "NaN or an infinity in a line of b (a column at the left, a row at the right)", "that line is NaN", "PyTorch and JAX spread them by the arithmetic"},
      Edge{"E4", "the other triangle, and the diagonal where it is one", "not read", "BLAS, SciPy, PyTorch, JAX"},
      Edge{"E5", "an empty b, or a of size 0", "as empty", "PyTorch, JAX"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto first = matrix_shape(in[0], a, true), second = matrix_shape(in[1], a, false);
    for (const auto* m : {&first, &second})
      if (auto* why = std::get_if<std::string>(m)) return no(*why);
    const auto &m = std::get<MatrixShape>(first), &s = std::get<MatrixShape>(second);
    const Dim side = a.flag("left_side") ? s.rows : s.columns;
    if (m.element != s.element || m.batch != s.batch || side != m.rows) return no("C4: " + in[0].str() + " cannot stand " + (a.flag("left_side") ? "left" : "right") + " of the unknown for " + in[1].str());
    const auto& form = a.get<std::string>("transpose");
    if (form != "none" && form != "transpose" && form != "conjugate") return no("C5: transpose is none, transpose or conjugate, not " + form);
    return one(in[1]);
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return complex_library(b, row.name, in, a, {true}); }
};

struct Lu {
  static constexpr OpRow row{"lu", "a", OpClass::library,
      "Triangular factors by elimination with the greatest pivot of each column (of complex numbers: greatest |re| + |im|), among equals the first: row perm[i] of a is row i of L·U. The first result holds U in its upper triangle and L, whose diagonal is ones, below; pivots[i] is the row that changed places with row i; both i32, from 0."};
  static constexpr std::string_view equation = "A[perm, :] = L·U, |L[i,j]| <= 1 (complex: <= sqrt 2), L[i,i] = 1";
  static constexpr std::array attrs{pairs_attr};
  static constexpr std::array constraints{matrix_constraint, pairs_constraint};
  static constexpr std::array edges{
      Edge{"E1", "a singular matrix", "factors as they come: U has a zero on its diagonal", "LAPACK, SciPy, PyTorch, JAX"},
      Edge{"E2", "NaN or an infinity in the matrix", "factors of NaN, rows in their order", "otherwise LAPACK's, where NaN decides pivots"},
      Edge{"E3", "equal candidates for a pivot", "the first", "LAPACK"},
      Edge{"E4", "an axis of size 0", "no pivots; perm in order", "JAX"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto shape = matrix_shape(in[0], a, false);
    if (auto* why = std::get_if<std::string>(&shape)) return no(*why);
    const auto& m = std::get<MatrixShape>(shape);
    return std::vector<Type>{in[0], m.vectors(DType::i32, least(m.rows, m.columns)), m.vectors(DType::i32, m.rows)};
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return complex_library(b, row.name, in, a, {true, false, false}); }
};

struct Qr {
  static constexpr OpRow row{"qr", "a", OpClass::library,
      "Q with orthonormal columns and R upper triangular with a real diagonal that is not negative. Reduced: Q is [m, min(m,n)], R [min(m,n), n]; complete: Q is [m, m], R [m, n]."};
  static constexpr std::string_view equation = "A = Q·R, Qᴴ·Q = I, R[i,i] >= 0";
  static constexpr std::array attrs{AttrSpec{"complete", AttrKind::boolean, "false"}, pairs_attr};
  static constexpr std::array constraints{matrix_constraint, pairs_constraint};
  static constexpr std::array edges{
      Edge{"E1", "the signs of R's diagonal", "not negative: so Q and R are unique where a has full rank", "otherwise NumPy, PyTorch and JAX: as LAPACK's reflectors leave them"},
      Edge{"E2", "NaN or an infinity in the matrix", "factors of NaN", "otherwise LAPACK's, which differ"},
      Edge{"E3", "an axis of size 0", "R of zeros; Q of the columns of the identity", "NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto shape = matrix_shape(in[0], a, false);
    if (auto* why = std::get_if<std::string>(&shape)) return no(*why);
    const auto& m = std::get<MatrixShape>(shape);
    const Dim inner = a.flag("complete") ? m.rows : least(m.rows, m.columns);
    return std::vector<Type>{m.matrices(m.rows, inner), m.matrices(inner, m.columns)};
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return complex_library(b, row.name, in, a, {true, true}); }
};

struct Eigh {
  static constexpr OpRow row{"eigh", "a", OpClass::library,
      "Eigenvalues, ascending, and orthonormal eigenvectors (columns) of a symmetric or Hermitian matrix. Only the triangle that `lower` names is read. Of each eigenvector the element of greatest size, among equals the first, is real and positive."};
  static constexpr std::string_view equation = "A·V = V·diag(w), Vᴴ·V = I, w[0] <= w[1] <= …";
  static constexpr std::array attrs{AttrSpec{"lower", AttrKind::boolean, "true"}, pairs_attr};
  static constexpr std::array constraints{matrix_constraint, pairs_constraint, square_constraint};
  static constexpr std::array edges{
      Edge{"E1", "an eigenvector's sign or phase", "its greatest element is real and positive", "otherwise NumPy, PyTorch and JAX: as LAPACK leaves it"},
      Edge{"E2", "NaN or an infinity in the triangle read; also, were it to happen, an iteration that does not converge", "values and vectors of NaN", "JAX; NumPy raises an error"},
      Edge{"E3", "matrices of size 0", "no values", "NumPy, PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto shape = matrix_shape(in[0], a, true);
    if (auto* why = std::get_if<std::string>(&shape)) return no(*why);
    const auto& m = std::get<MatrixShape>(shape);
    return std::vector<Type>{m.vectors(m.real, m.rows), in[0]};
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return complex_library(b, row.name, in, a, {false, true}); }
};

struct Svd {
  static constexpr OpRow row{"svd", "a", OpClass::library,
      "Singular values, descending and not negative, with orthonormal columns of u and rows of vh. Full: u is [m, m], vh [n, n]; else [m, min(m,n)] and [min(m,n), n]. Of each column of u (and each row of vh beyond these) the element of greatest size, among equals the first, is real and positive."};
  static constexpr std::string_view equation = "A = U·diag(s)·Vᴴ, Uᴴ·U = I, Vᴴ·V = I, s[0] >= s[1] >= … >= 0";
  static constexpr std::array attrs{AttrSpec{"full_matrices", AttrKind::boolean, "false"}, pairs_attr};
  static constexpr std::array constraints{matrix_constraint, pairs_constraint};
  static constexpr std::array edges{
      Edge{"E1", "a column's sign or phase", "the greatest element of u's column is real and positive", "otherwise NumPy, PyTorch and JAX: as LAPACK leaves it"},
      Edge{"E2", "NaN or an infinity in the matrix; also, were it to happen, an iteration that does not converge", "factors of NaN", "JAX; NumPy raises an error"},
      Edge{"E3", "an axis of size 0", "no singular values; u and vh of the identity's columns and rows", "NumPy"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto shape = matrix_shape(in[0], a, false);
    if (auto* why = std::get_if<std::string>(&shape)) return no(*why);
    const auto& m = std::get<MatrixShape>(shape);
    const Dim k = least(m.rows, m.columns);
    const bool full = a.flag("full_matrices");
    return std::vector<Type>{m.matrices(m.rows, full ? m.rows : k), m.vectors(m.real, k), m.matrices(full ? m.columns : k, m.columns)};
  }
  static std::vector<Parts> complex_parts(Builder& b, std::span<const Parts> in, const AttrMap& a) { return complex_library(b, row.name, in, a, {true, false, true}); }
};

using LinalgOps = OpList<Cholesky, TriangularSolve, Lu, Qr, Eigh, Svd>;

}  // namespace plumb::ir::ops
