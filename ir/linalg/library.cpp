#include "ir/linalg/library.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "ir/linalg/lapack.h"

namespace plumb::linalg {
namespace {

using ir::AttrMap;
using ir::Literal;

template <class T> bool finite(T x) {
  if constexpr (is_complex_type<T>) return std::isfinite(x.real()) && std::isfinite(x.imag());
  else return std::isfinite(x);
}
template <class T> T conjugate(T x) {
  if constexpr (is_complex_type<T>) return std::conj(x);
  else return x;
}
template <class T> T not_a_number() {
  const auto nan = std::numeric_limits<Real<T>>::quiet_NaN();
  if constexpr (is_complex_type<T>) return {nan, nan};
  else return nan;
}
template <class T> bool finite(const Matrix<T>& a) { return std::all_of(a.elements.begin(), a.elements.end(), [](T x) { return finite(x); }); }
template <class T> bool finite_triangle(const Matrix<T>& a, bool lower, bool diagonal = true) {
  for (Size j = 0; j < a.columns; ++j)
    for (Size i = lower ? j : 0; i < (lower ? a.rows : j + 1); ++i)
      if ((i != j || diagonal) && !finite(a.at(i, j))) return false;
  return true;
}
template <class T> void fill(Matrix<T>& a, T value) { std::fill(a.elements.begin(), a.elements.end(), value); }
template <class T> Matrix<T> identity(Size rows, Size columns) {
  Matrix<T> q(rows, columns);
  for (Size k = 0; k < std::min(rows, columns); ++k) q.at(k, k) = 1;
  return q;
}

/// One operand or result, cut into matrices (or vectors: columns of one). Complex numbers are pairs in memory.
template <class T> struct Batch {
  Literal literal;
  Size rows, columns;
  std::int64_t count;
  Batch(Literal l, bool pairs, bool vectors) : literal(std::move(l)) {
    auto e = literal.extents();
    if (pairs) e.pop_back();
    columns = vectors ? 1 : size(e.back());
    if (!vectors) e.pop_back();
    rows = size(e.back());
    e.pop_back();
    count = element_count(e);
  }
  static Size size(std::int64_t n) {
    if (n > std::numeric_limits<Size>::max()) fail_unsupported("a matrix with an axis of " + std::to_string(n));
    return static_cast<Size>(n);
  }
  std::int64_t place(std::int64_t k, Size i, Size j) const { return (k * rows + i) * columns + j; }
  Matrix<T> matrix(std::int64_t k) const {
    Matrix<T> a(rows, columns);
    for (Size i = 0; i < rows; ++i)
      for (Size j = 0; j < columns; ++j) a.at(i, j) = literal.data<T>()[place(k, i, j)];
    return a;
  }
  void store(std::int64_t k, const Matrix<T>& a) {
    for (Size i = 0; i < rows; ++i)
      for (Size j = 0; j < columns; ++j) literal.mutable_data<T>()[place(k, i, j)] = a.at(i, j);
  }
  template <class V> void store(std::int64_t k, const std::vector<V>& v) {
    for (Size i = 0; i < rows; ++i) literal.mutable_data<T>()[place(k, i, 0)] = static_cast<T>(v[static_cast<std::size_t>(i)]);
  }
};

/// What a call works on. Results are made first, then filled matrix by matrix.
struct Call {
  const AttrMap& attrs;
  std::span<const Literal> operands;
  std::vector<Literal>& results;
  bool pairs() const { return attrs.flag("complex"); }
  template <class T> Batch<T> operand(std::size_t k) const { return {operands[k], is_complex_type<T>, false}; }
  template <class T> Batch<T> matrices(std::size_t k) const { return {results[k], is_complex_type<T>, false}; }
  template <class V> Batch<V> vectors(std::size_t k) const { return {results[k], false, true}; }
};

template <class T> void cholesky(const Call& c) {
  const auto in = c.operand<T>(0);
  auto out = c.matrices<T>(0);
  const bool lower = c.attrs.flag("lower");
  for (std::int64_t k = 0; k < in.count; ++k) {
    auto a = in.matrix(k);
    const bool good = a.rows == 0 || (finite_triangle(a, lower) && potrf(lower, a) == 0);
    if (!good) fill(a, not_a_number<T>());
    else
      for (Size j = 0; j < a.columns; ++j)
        for (Size i = lower ? 0 : j + 1; i < (lower ? j : a.rows); ++i) a.at(i, j) = 0;
    out.store(k, a);
  }
}

/// Whether the triangle may be divided by.
template <class T> bool usable(const Matrix<T>& a, bool lower, bool unit) {
  if (!finite_triangle(a, lower, !unit)) return false;
  for (Size k = 0; k < a.rows && !unit; ++k)
    if (a.at(k, k) == T(0)) return false;
  return true;
}

template <class T> void triangular_solve(const Call& c) {
  const auto triangles = c.operand<T>(0), sides = c.operand<T>(1);
  auto out = c.matrices<T>(0);
  const bool left = c.attrs.flag("left_side"), lower = c.attrs.flag("lower"), unit = c.attrs.flag("unit_diagonal");
  const auto& form = c.attrs.get<std::string>("transpose");
  const char op = form == "none" ? 'N' : form == "transpose" ? 'T' : 'C';
  for (std::int64_t k = 0; k < sides.count; ++k) {
    const auto a = triangles.matrix(k);
    auto b = sides.matrix(k);
    if (b.elements.empty()) continue;
    if (!usable(a, lower, unit)) {
      fill(b, not_a_number<T>());
      out.store(k, b);
      continue;
    }
    const auto given = b;
    trsm(left, lower, op, unit, a, b);
    // A line of the right side is solved apart from the others: one that is not finite has no solution.
    for (Size line = 0; line < (left ? b.columns : b.rows); ++line) {
      auto each = [&](auto f) {
        for (Size i = 0; i < (left ? b.rows : b.columns); ++i) f(left ? i : line, left ? line : i);
      };
      bool good = true;
      each([&](Size i, Size j) { good = good && finite(given.at(i, j)); });
      if (!good) each([&](Size i, Size j) { b.at(i, j) = not_a_number<T>(); });
    }
    out.store(k, b);
  }
}

template <class T> void lu(const Call& c) {
  const auto in = c.operand<T>(0);
  auto out = c.matrices<T>(0);
  auto pivots = c.vectors<std::int32_t>(1), order = c.vectors<std::int32_t>(2);
  for (std::int64_t k = 0; k < in.count; ++k) {
    auto a = in.matrix(k);
    std::vector<Size> swaps;
    if (!finite(a) || a.elements.empty()) {
      swaps.resize(static_cast<std::size_t>(pivots.rows));
      std::iota(swaps.begin(), swaps.end(), 1);
      fill(a, not_a_number<T>());
    } else {
      getrf(a, swaps);
    }
    std::vector<Size> rows(static_cast<std::size_t>(order.rows));
    std::iota(rows.begin(), rows.end(), 0);
    for (std::size_t i = 0; i < swaps.size(); ++i) std::swap(rows[i], rows[static_cast<std::size_t>(--swaps[i])]);
    out.store(k, a);
    pivots.store(k, swaps);
    order.store(k, rows);
  }
}

/// x times the number of size 1 that makes `lead` real and not negative; `lead` itself then is its size.
template <class T> struct Turn {
  T factor = 1;
  bool needed = false;
  explicit Turn(T lead) {
    if constexpr (is_complex_type<T>) {
      if (lead.imag() != 0) {
        needed = true;
        factor = std::conj(lead) / std::abs(lead);
        return;
      }
      if (lead.real() < 0) factor = -1, needed = true;
    } else if (lead < 0) {
      factor = -1, needed = true;
    }
  }
  T operator()(T x) const { return factor == T(-1) ? -x : x * factor; }
  /// x times the conjugate: what the other factor of a product takes.
  T back(T x) const { return conjugate((*this)(conjugate(x))); }
  static T size(T lead) { return T(std::abs(lead)); }
};

template <class T> void qr(const Call& c) {
  const auto in = c.operand<T>(0);
  auto qs = c.matrices<T>(0), rs = c.matrices<T>(1);
  for (std::int64_t k = 0; k < in.count; ++k) {
    auto a = in.matrix(k);
    Matrix<T> r(rs.rows, rs.columns);
    if (!finite(a)) {
      auto q = Matrix<T>(qs.rows, qs.columns);
      fill(q, not_a_number<T>());
      fill(r, not_a_number<T>());
      qs.store(k, q), rs.store(k, r);
      continue;
    }
    if (a.elements.empty()) {
      qs.store(k, identity<T>(qs.rows, qs.columns)), rs.store(k, r);
      continue;
    }
    std::vector<T> tau;
    geqrf(a, tau);
    for (Size j = 0; j < r.columns; ++j)
      for (Size i = 0; i <= std::min(j, r.rows - 1); ++i) r.at(i, j) = a.at(i, j);
    Matrix<T> q(qs.rows, qs.columns);
    for (Size j = 0; j < std::min(a.columns, q.columns); ++j)
      for (Size i = 0; i < q.rows; ++i) q.at(i, j) = a.at(i, j);
    orgqr(q, tau);
    for (Size i = 0; i < std::min(a.rows, a.columns); ++i) {
      const Turn<T> turn(r.at(i, i));
      if (!turn.needed) continue;
      const T lead = r.at(i, i);
      for (Size j = i; j < r.columns; ++j) r.at(i, j) = turn(r.at(i, j));
      r.at(i, i) = turn.size(lead);
      for (Size l = 0; l < q.rows; ++l) q.at(l, i) = turn.back(q.at(l, i));
    }
    qs.store(k, q), rs.store(k, r);
  }
}

/// Where a column's greatest element is: the first of them.
template <class T> Size greatest(const Matrix<T>& a, Size column) {
  Size best = 0;
  for (Size i = 1; i < a.rows; ++i)
    if (std::abs(a.at(i, column)) > std::abs(a.at(best, column))) best = i;
  return best;
}
/// Turns a column so that its greatest element is real and positive; gives the turn.
template <class T> Turn<T> settle(Matrix<T>& a, Size column) {
  const Size lead = greatest(a, column);
  const Turn<T> turn(a.at(lead, column));
  if (!turn.needed) return turn;
  const T size = turn.size(a.at(lead, column));
  for (Size i = 0; i < a.rows; ++i) a.at(i, column) = turn(a.at(i, column));
  a.at(lead, column) = size;
  return turn;
}

template <class T> void eigh(const Call& c) {
  const auto in = c.operand<T>(0);
  auto values = c.vectors<Real<T>>(0);
  auto vectors = c.matrices<T>(1);
  const bool lower = c.attrs.flag("lower");
  for (std::int64_t k = 0; k < in.count; ++k) {
    auto a = in.matrix(k);
    std::vector<Real<T>> w(static_cast<std::size_t>(a.rows));
    if (a.rows > 0 && (!finite_triangle(a, lower) || heevd(lower, a, w) != 0)) {
      fill(a, not_a_number<T>());
      std::fill(w.begin(), w.end(), not_a_number<Real<T>>());
    } else {
      for (Size j = 0; j < a.columns; ++j) settle(a, j);
    }
    values.store(k, w);
    vectors.store(k, a);
  }
}

template <class T> void svd(const Call& c) {
  const auto in = c.operand<T>(0);
  auto us = c.matrices<T>(0), vhs = c.matrices<T>(2);
  auto values = c.vectors<Real<T>>(1);
  for (std::int64_t k = 0; k < in.count; ++k) {
    auto a = in.matrix(k);
    const bool empty = a.elements.empty();
    auto u = identity<T>(us.rows, us.columns), vh = identity<T>(vhs.rows, vhs.columns);
    std::vector<Real<T>> s(static_cast<std::size_t>(values.rows));
    if (!finite(a) || (!empty && gesdd(a, s, u, vh, c.attrs.flag("full_matrices")) != 0)) {
      fill(u, not_a_number<T>());
      fill(vh, not_a_number<T>());
      std::fill(s.begin(), s.end(), not_a_number<Real<T>>());
    } else if (!empty) {
      for (Size j = 0; j < u.columns; ++j) {
        const auto turn = settle(u, j);
        for (Size l = 0; j < values.rows && l < vh.columns && turn.needed; ++l) vh.at(j, l) = turn.back(vh.at(j, l));
      }
      // Rows of vh beyond the singular values belong to no column of u.
      Matrix<T> rest(vh.columns, 1);
      for (Size j = values.rows; j < vh.rows; ++j) {
        for (Size l = 0; l < vh.columns; ++l) rest.at(l, 0) = vh.at(j, l);
        settle(rest, 0);
        for (Size l = 0; l < vh.columns; ++l) vh.at(j, l) = rest.at(l, 0);
      }
    }
    us.store(k, u), vhs.store(k, vh), values.store(k, s);
  }
}

template <class T> void run(std::string_view op, const Call& c) {
  if (op == "cholesky") return cholesky<T>(c);
  if (op == "triangular_solve") return triangular_solve<T>(c);
  if (op == "lu") return lu<T>(c);
  if (op == "qr") return qr<T>(c);
  if (op == "eigh") return eigh<T>(c);
  if (op == "svd") return svd<T>(c);
  fail_internal("no library call " + std::string(op));
}

}  // namespace

std::vector<Literal> run_library(std::string_view op, const AttrMap& attrs, std::span<const Literal> operands, std::span<const ir::Type> types) {
  std::vector<Literal> results;
  for (const auto& t : types) results.emplace_back(t);
  const Call c{attrs, operands, results};
  const bool wide = operands[0].dtype() == DType::f64;
  if (c.pairs()) wide ? run<std::complex<double>>(op, c) : run<std::complex<float>>(op, c);
  else wide ? run<double>(op, c) : run<float>(op, c);
  return results;
}

}  // namespace plumb::linalg
