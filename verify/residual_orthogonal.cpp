// Orthogonal factors: QR, eigenvectors, singular vectors.
#include "ir/tensor/op_table.h"
#include "verify/internal/residual.h"

namespace plumb::verify {
namespace {

/// Each element of Q*Q - I.
template <class T> void orthonormal_columns(Findings& f, const char* what, const Rows<T>& q, Long bound) {
  const auto own = Facts<T>::own_error(q.m);
  for (std::int64_t i = 0; i < q.n; ++i)
    for (std::int64_t j = i; j < q.n; ++j) {
      Wide<T> sum = i == j ? -1 : 0;
      for (std::int64_t k = 0; k < q.m; ++k) sum += product(conj_of(q.at(k, i)), q.at(k, j));
      f.bounded(what, i, j, size(sum), bound + 2 * own);
    }
}

/// The element of greatest size in a column is real and positive.
template <class T> void settled_column(Findings& f, const char* what, const Rows<T>& v, std::int64_t column) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < v.m; ++i)
    if (size(v.at(i, column)) > size(v.at(best, column))) best = i;
  // Sizes of complex numbers are rounded where the column is turned, so neighbours within rounding of the greatest may lead.
  const Long bar = size(v.at(best, column)) * (1 - 16 * Facts<T>::unit);
  bool leads = false;
  for (std::int64_t i = 0; i < v.m; ++i) leads = leads || (size(v.at(i, column)) >= bar && real_part(v.at(i, column)) > 0 && imaginary_part(v.at(i, column)) == 0);
  if (v.m > 0) f.holds(what, best, column, leads);
}

/// The size of each column of A - B C against `part` of `scale(column)`.
template <class T, class Scale> void product_columns(Findings& f, const char* what, const Rows<T>& a, const Rows<T>& b, const Rows<T>& c, Long part, Scale scale) {
  const auto b_sizes = b.sizes(), c_sizes = c.sizes();
  for (std::int64_t j = 0; j < a.n; ++j) {
    Long off = 0, own = 0;
    for (std::int64_t i = 0; i < a.m; ++i) {
      Wide<T> sum = a.at(i, j);
      Long sizes = size(sum);
      for (std::int64_t k = 0; k < b.n; ++k) {
        sum -= product(b.at(i, k), c.at(k, j));
        sizes += b_sizes[b.place(i, k)] * c_sizes[c.place(k, j)];
      }
      off += size(sum) * size(sum);
      own += sizes * sizes;
    }
    f.bounded(what, 0, j, std::sqrt(off), part * scale(j) + Facts<T>::own_error(b.n) * std::sqrt(own) + Facts<T>::least * static_cast<Long>(a.m + b.n + 4));
  }
}
template <class T> Long column_norm(const Rows<T>& a, std::int64_t j) {
  Long sum = 0;
  for (std::int64_t i = 0; i < a.m; ++i) sum += size(a.at(i, j)) * size(a.at(i, j));
  return std::sqrt(sum);
}

/// Whether the call's own numbers can be judged: else what is left to say of them has been said.
template <class T> bool judged(Findings& f, const Rows<T>& a, bool given, bool nan, bool solved) {
  if (!given || nan) {
    if (!given) f.holds("NaN for a matrix that is not finite", 0, 0, nan);
    else f.undecided(a.m * a.n);  // the iteration is allowed not to converge
    return false;
  }
  if (Facts<T>::moderate(a.greatest())) {
    f.holds("finite factors", 0, 0, solved);
    return solved;
  }
  f.undecided(a.m * a.n);
  return false;
}

template <class T> void qr(std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  const Batch<T> matrices(in[0]), qs(out[0]), rs(out[1]);
  for (std::int64_t k = 0; k < matrices.count; ++k) {
    f.see(k);
    const auto a = matrices.matrix(k), q = qs.matrix(k), r = rs.matrix(k);
    const bool nan = q.is_nan() && r.is_nan() && !a.elements.empty();
    if (nan && a.is_finite()) {
      f.holds("factors of a finite matrix", 0, 0, false);
      continue;
    }
    if (!judged(f, a, a.is_finite(), nan, q.is_finite() && r.is_finite())) continue;
    for (std::int64_t i = 0; i < r.m; ++i)
      for (std::int64_t j = 0; j <= std::min(i, r.n - 1); ++j) {
        if (i != j) f.holds("zeros below R's diagonal", i, j, r.at(i, j) == Wide<T>(0));
        else f.holds("R's diagonal, real and not negative", i, j, real_part(r.at(i, j)) >= 0 && imaginary_part(r.at(i, j)) == 0);
      }
    const Long part = 30 * static_cast<Long>(std::max(a.m, a.n)) * Facts<T>::unit;
    product_columns(f, "A - Q R", a, q, r, part, [&](std::int64_t j) { return column_norm(a, j); });
    orthonormal_columns(f, "Q*Q - I", q, 30 * static_cast<Long>(a.m) * Facts<T>::unit);
  }
}

/// Hermitian from the triangle that was read.
template <class T> Rows<T> hermitian(const Rows<T>& a, bool lower) {
  Rows<T> h = a;
  for (std::int64_t i = 0; i < a.m; ++i) {
    h.at(i, i) = real_part(a.at(i, i));
    for (std::int64_t j = 0; j < i; ++j) (lower ? h.at(j, i) : h.at(i, j)) = conj_of(lower ? a.at(i, j) : a.at(j, i));
  }
  return h;
}

template <class T> void eigh(const ir::Node& n, std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  using R = RealPart<T>;
  const Batch<T> matrices(in[0]), vectors(out[1]);
  for (std::int64_t k = 0; k < matrices.count; ++k) {
    f.see(k);
    const auto given = matrices.matrix(k), v = vectors.matrix(k);
    const auto w = vector<R>(out[0], k);
    bool triangle = true;
    for (std::int64_t i = 0; i < given.m; ++i)
      for (std::int64_t j = 0; j <= i; ++j) triangle = triangle && finite(n.attrs.flag("lower") ? given.at(i, j) : given.at(j, i));
    const bool nan = !w.empty() && v.is_nan() && std::all_of(w.begin(), w.end(), [](R x) { return std::isnan(x); });
    const auto a = hermitian(given, n.attrs.flag("lower"));
    if (!judged(f, a, triangle, nan, v.is_finite() && std::all_of(w.begin(), w.end(), [](R x) { return std::isfinite(x); }))) continue;
    Rows<T> values(a.m, a.m), product_of_values(a.m, a.m);
    for (std::int64_t j = 0; j < a.m; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (j > 0) f.holds("ascending eigenvalues", j, 0, w[at - 1] <= w[at]);
      settled_column(f, "an eigenvector's greatest element", v, j);
      for (std::int64_t i = 0; i < a.m; ++i) product_of_values.at(i, j) = v.at(i, j) * Long(w[at]);
    }
    const Long part = 60 * static_cast<Long>(a.m) * 2 * Facts<T>::unit, scale = a.norm();
    product_columns(f, "A V - V diag(w)", product_of_values, a, v, part, [&](std::int64_t) { return scale; });
    orthonormal_columns(f, "V*V - I", v, part);
  }
}

template <class T> void svd(std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  using R = RealPart<T>;
  const Batch<T> matrices(in[0]), us(out[0]), vhs(out[2]);
  for (std::int64_t k = 0; k < matrices.count; ++k) {
    f.see(k);
    const auto a = matrices.matrix(k), u = us.matrix(k), vh = vhs.matrix(k);
    const auto s = vector<R>(out[1], k);
    const bool nan = !s.empty() && u.is_nan() && vh.is_nan() && std::all_of(s.begin(), s.end(), [](R x) { return std::isnan(x); });
    if (!judged(f, a, a.is_finite(), nan, u.is_finite() && vh.is_finite() && std::all_of(s.begin(), s.end(), [](R x) { return std::isfinite(x); }))) continue;
    const auto count = static_cast<std::int64_t>(s.size());
    Rows<T> left(a.m, count), right(count, a.n);
    for (std::int64_t j = 0; j < count; ++j) {
      const auto at = static_cast<std::size_t>(j);
      f.holds("singular values, descending and not negative", j, 0, s[at] >= 0 && (j == 0 || s[at - 1] >= s[at]));
      for (std::int64_t i = 0; i < a.m; ++i) left.at(i, j) = u.at(i, j) * Long(s[at]);
      for (std::int64_t i = 0; i < a.n; ++i) right.at(j, i) = vh.at(j, i);
    }
    const auto v = vh.adjoint();
    const Long part = 35 * static_cast<Long>(std::max(a.m, a.n)) * 2 * Facts<T>::unit, scale = a.norm();
    product_columns(f, "A - U diag(s) V*", a, left, right, part, [&](std::int64_t) { return scale; });
    orthonormal_columns(f, "U*U - I", u, part);
    orthonormal_columns(f, "V*V - I", v, part);
    if (a.elements.empty()) continue;
    for (std::int64_t j = 0; j < u.n; ++j) settled_column(f, "the greatest element of u's column", u, j);
    for (std::int64_t j = count; j < v.n; ++j) settled_column(f, "the greatest element of vh's row", v, j);
  }
}

}  // namespace

template <class T> void judge_orthogonal(const ir::Node& n, std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  const auto op = ir::name(n);
  if (op == "qr") qr<T>(in, out, f);
  else if (op == "eigh") eigh<T>(n, in, out, f);
  else svd<T>(in, out, f);
}
template void judge_orthogonal<float>(const ir::Node&, std::span<const ir::Literal>, std::span<const ir::Literal>, Findings);
template void judge_orthogonal<double>(const ir::Node&, std::span<const ir::Literal>, std::span<const ir::Literal>, Findings);
template void judge_orthogonal<std::complex<float>>(const ir::Node&, std::span<const ir::Literal>, std::span<const ir::Literal>, Findings);
template void judge_orthogonal<std::complex<double>>(const ir::Node&, std::span<const ir::Literal>, std::span<const ir::Literal>, Findings);

}  // namespace plumb::verify
