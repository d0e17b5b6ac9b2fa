// The LAPACK and BLAS routines that library operations call, by element type. Matrices are stored by columns.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

namespace plumb::linalg {

using Size = int;   ///< LAPACK's own integer

/// A matrix stored by columns, as LAPACK has them.
template <class T> struct Matrix {
  Size rows = 0, columns = 0;
  std::vector<T> elements;
  Matrix(Size m, Size n) : rows(m), columns(n), elements(static_cast<std::size_t>(m) * static_cast<std::size_t>(n)) {}
  T& at(Size i, Size j) { return elements[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)]; }
  const T& at(Size i, Size j) const { return elements[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)]; }
  T* data() { return elements.data(); }
  const T* data() const { return elements.data(); }
};

template <class T> struct RealOf { using type = T; };
template <class T> struct RealOf<std::complex<T>> { using type = T; };
template <class T> using Real = typename RealOf<T>::type;
template <class T> inline constexpr bool is_complex_type = !std::is_same_v<T, Real<T>>;

// Each returns LAPACK's info: 0, or what went wrong; arguments are right by construction. No matrix is empty.

/// Cholesky factor of the lower or upper triangle, in its place; info > 0: not positive definite.
template <class T> int potrf(bool lower, Matrix<T>& a);
/// PA = LU in place; pivots count from 1. info > 0: U has a zero on its diagonal.
template <class T> int getrf(Matrix<T>& a, std::vector<Size>& pivots);
/// R above the diagonal and Householder vectors below it.
template <class T> int geqrf(Matrix<T>& a, std::vector<T>& tau);
/// The first `a.columns` columns of the product of the reflectors in a.
template <class T> int orgqr(Matrix<T>& a, const std::vector<T>& tau);
/// Eigenvalues, ascending, and eigenvectors in a's place; info > 0: no convergence.
template <class T> int heevd(bool lower, Matrix<T>& a, std::vector<Real<T>>& values);
/// Singular values, descending; u and vh have all their columns and rows or min(m, n). info > 0: no convergence.
template <class T> int gesdd(Matrix<T>& a, std::vector<Real<T>>& s, Matrix<T>& u, Matrix<T>& vh, bool full);
/// Solves op(a) x = b, or x op(a) = b, in b's place. op: 'N', 'T' or 'C'.
template <class T> void trsm(bool left, bool lower, char op, bool unit, const Matrix<T>& a, Matrix<T>& b);

}  // namespace plumb::linalg
