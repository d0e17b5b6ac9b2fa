// Cholesky factors, solutions of triangular systems, triangular factors by elimination.
#include "ir/tensor/op_table.h"
#include "verify/internal/residual.h"

namespace plumb::verify {
namespace {

/// Hermitian from one triangle.
template <class T> Rows<T> from_triangle(const Rows<T>& a, bool lower) {
  Rows<T> h = a;
  for (std::int64_t i = 0; i < a.m; ++i) {
    h.at(i, i) = real_part(a.at(i, i));
    for (std::int64_t j = 0; j < i; ++j) {
      if (lower) h.at(j, i) = conj_of(a.at(i, j));
      else h.at(i, j) = conj_of(a.at(j, i));
    }
  }
  return h;
}
template <class T> bool finite_triangle(const Rows<T>& a, bool lower, bool diagonal) {
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t j = lower ? 0 : i; j < (lower ? i + 1 : a.n); ++j)
      if ((i != j || diagonal) && !finite(a.at(i, j))) return false;
  return true;
}

/// Whether A less `part` of its diagonal still has a Cholesky factor, in long double.
template <class T> bool has_factor(Rows<T> a, Long part) {
  for (std::int64_t j = 0; j < a.m; ++j) {
    Long pivot = real_part(a.at(j, j)) * (1 - part);
    for (std::int64_t k = 0; k < j; ++k) pivot -= size(a.at(j, k)) * size(a.at(j, k));
    if (!(pivot > 0)) return false;
    a.at(j, j) = std::sqrt(pivot);
    for (std::int64_t i = j + 1; i < a.m; ++i) {
      Wide<T> sum = a.at(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= product(a.at(i, k), conj_of(a.at(j, k)));
      a.at(i, j) = sum / a.at(j, j);
    }
  }
  return true;
}

template <class T> void cholesky(const ir::Node& n, std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  const Batch<T> matrices(in[0]), factors(out[0]);
  const bool lower = n.attrs.flag("lower");
  for (std::int64_t k = 0; k < matrices.count; ++k) {
    f.see(k);
    const auto given = matrices.matrix(k);
    auto l = factors.matrix(k);
    const auto size_n = given.m;
    if (size_n == 0) continue;
    const bool finite_input = finite_triangle(given, lower, true);
    if (!finite_input || !l.is_finite()) {
      f.holds("all NaN or none", 0, 0, l.is_nan());
      if (!finite_input) continue;
      const auto a = from_triangle(given, lower);
      Long least_diagonal = HUGE_VALL;
      for (std::int64_t i = 0; i < size_n; ++i) least_diagonal = std::min(least_diagonal, real_part(a.at(i, i)));
      if (!Facts<T>::moderate(a.greatest()) || (least_diagonal > 0 && !Facts<T>::moderate(1 / least_diagonal))) f.undecided(size_n * size_n);
      else f.holds("NaN for a matrix that is positive definite", 0, 0, !has_factor(a, 2 * static_cast<Long>(size_n) * Facts<T>::gamma(size_n + 2)));
      continue;
    }
    const auto a = from_triangle(given, lower);
    if (!lower) l = l.adjoint();
    for (std::int64_t i = 0; i < size_n; ++i) {
      f.holds("a positive diagonal", i, i, real_part(l.at(i, i)) > 0 && imaginary_part(l.at(i, i)) == 0);
      for (std::int64_t j = i + 1; j < size_n; ++j) f.holds("zeros beside the triangle", i, j, l.at(i, j) == Wide<T>(0));
    }
    const Long slack = Facts<T>::least * static_cast<Long>(size_n + 2) * (1 + l.greatest());
    check_product<T>(f, "A - L L*", a, l, l.adjoint(), Facts<T>::gamma(size_n + 2), slack, [](std::int64_t i, std::int64_t j) { return std::pair{std::int64_t{0}, std::min(i, j) + 1}; });
  }
}

/// The system as M x = b, with M lower or upper triangular and one b a line.
template <class T> struct System {
  Rows<T> m;
  bool lower;
  Rows<T> b, x;
};
template <class T> System<T> system_of(const ir::Node& n, Rows<T> a, Rows<T> b, Rows<T> x) {
  const bool left = n.attrs.flag("left_side");
  const auto& form = n.attrs.get<std::string>("transpose");
  bool lower = n.attrs.flag("lower");
  const bool unit = n.attrs.flag("unit_diagonal");
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) {
      if (i == j && unit) a.at(i, j) = 1;
      if (lower ? j > i : j < i) a.at(i, j) = 0;
    }
  auto transposed = [](const Rows<T>& y) {
    Rows<T> r(y.n, y.m);
    for (std::int64_t i = 0; i < y.m; ++i)
      for (std::int64_t j = 0; j < y.n; ++j) r.at(j, i) = y.at(i, j);
    return r;
  };
  if (form == "transpose") a = transposed(a), lower = !lower;
  if (form == "conjugate") a = a.adjoint(), lower = !lower;
  if (left) return {a, lower, transposed(b), transposed(x)};
  return {transposed(a), !lower, b, x};
}

/// Whether long double finds a solution whose numbers stay well inside the dtype's range: then so must the dtype.
template <class T> bool stays_inside(const System<T>& s, std::int64_t line) {
  std::vector<Wide<T>> x(static_cast<std::size_t>(s.m.m));
  for (std::int64_t step = 0; step < s.m.m; ++step) {
    const auto i = s.lower ? step : s.m.m - 1 - step;
    Wide<T> sum = s.b.at(line, i);
    Long sizes = size(sum);
    for (std::int64_t before = 0; before < step; ++before) {
      const auto j = s.lower ? before : s.m.m - 1 - before;
      sum -= product(s.m.at(i, j), x[static_cast<std::size_t>(j)]);
      sizes += size(s.m.at(i, j)) * size(x[static_cast<std::size_t>(j)]);
    }
    x[static_cast<std::size_t>(i)] = sum / s.m.at(i, i);
    if (!Facts<T>::moderate(sizes) || !Facts<T>::moderate(sizes / size(s.m.at(i, i)))) return false;
  }
  return true;
}

template <class T> void triangular_solve(const ir::Node& n, std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  const Batch<T> triangles(in[0]), sides(in[1]), solutions(out[0]);
  const bool unit = n.attrs.flag("unit_diagonal");
  for (std::int64_t k = 0; k < triangles.count; ++k) {
    f.see(k);
    const auto a = triangles.matrix(k);
    const auto x = solutions.matrix(k);
    bool singular = false;
    Long pivots = 1;   // the greatest of them and of their reciprocals
    for (std::int64_t i = 0; i < a.m && !unit; ++i) {
      singular = singular || a.at(i, i) == Wide<T>(0);
      pivots = std::max({pivots, size(a.at(i, i)), 1 / size(a.at(i, i))});
    }
    if (singular || !finite_triangle(a, n.attrs.flag("lower"), !unit)) {
      if (!x.elements.empty()) f.holds("NaN where the triangle is singular or not finite", 0, 0, x.is_nan());
      continue;
    }
    const auto s = system_of(n, a, sides.matrix(k), x);
    const Long factor = Facts<T>::gamma(s.m.m + 2);
    const auto m_sizes = s.m.sizes(), x_sizes = s.x.sizes();
    for (std::int64_t line = 0; line < s.b.m; ++line) {
      bool given = true, solved = true, nan = true;
      for (std::int64_t i = 0; i < s.b.n; ++i) given = given && finite(s.b.at(line, i)), solved = solved && finite(s.x.at(line, i)), nan = nan && is_nan(s.x.at(line, i));
      if (!given) {
        f.holds("NaN for a right side that is not finite", line, 0, nan);
        continue;
      }
      if (!Facts<T>::moderate(pivots)) f.undecided(s.b.n);
      else if (!solved) stays_inside(s, line) ? f.holds("a finite solution", line, 0, false) : f.undecided(s.b.n);
      else
        for (std::int64_t i = 0; i < s.m.m; ++i) {
          Wide<T> sum = s.b.at(line, i);
          Long sizes = 0;
          for (std::int64_t j = s.lower ? 0 : i; j < (s.lower ? i + 1 : s.m.n); ++j) {
            sum -= product(s.m.at(i, j), s.x.at(line, j));
            sizes += m_sizes[s.m.place(i, j)] * x_sizes[s.x.place(line, j)];
          }
          const Long own = Facts<T>::own_error(s.m.n) * (sizes + size(s.b.at(line, i)));
          f.bounded("b - T x", line, i, size(sum), factor * sizes + own + Facts<T>::least * static_cast<Long>(s.m.n + 2) * (1 + pivots));
        }
    }
  }
}

template <class T> void lu(std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  const Batch<T> matrices(in[0]), factors(out[0]);
  for (std::int64_t k = 0; k < matrices.count; ++k) {
    f.see(k);
    const auto a = matrices.matrix(k), both = factors.matrix(k);
    const auto pivots = vector<std::int32_t>(out[1], k), order = vector<std::int32_t>(out[2], k);
    const auto inner = std::min(a.m, a.n);
    std::vector<std::int32_t> rows(order.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int32_t>(i);
    bool in_range = true;
    for (std::size_t i = 0; i < pivots.size(); ++i) {
      const auto p = pivots[i];
      in_range = in_range && p >= static_cast<std::int32_t>(i) && p < a.m;
      f.holds("a pivot below its row", static_cast<std::int64_t>(i), 0, in_range);
      if (in_range) std::swap(rows[i], rows[static_cast<std::size_t>(p)]);
    }
    if (!in_range) continue;
    f.holds("the order that the pivots make", 0, 0, std::equal(rows.begin(), rows.end(), order.begin()));
    if (!std::equal(rows.begin(), rows.end(), order.begin())) continue;
    if (!a.is_finite()) {
      f.holds("NaN for a matrix that is not finite", 0, 0, both.is_nan());
      continue;
    }
    Rows<T> l(a.m, inner), u(inner, a.n), moved(a.m, a.n);
    const Long limit = (complex_type<T> ? std::sqrt(2.0L) : 1) * (1 + 16 * Facts<T>::unit);
    // Elements may grow by 2 in each step of the elimination.
    if (!both.is_finite() || !Facts<T>::moderate(a.greatest())) {
      const Long growth = a.greatest() * std::exp2(static_cast<Long>(std::min<std::int64_t>(inner, 2000)));
      if (Facts<T>::moderate(growth)) f.holds("finite factors", 0, 0, both.is_finite());
      else f.undecided(a.m * a.n);
      continue;
    }
    for (std::int64_t i = 0; i < a.m; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) {
        moved.at(i, j) = a.at(rows[static_cast<std::size_t>(i)], j);
        if (j < i && j < inner) l.at(i, j) = both.at(i, j), f.holds("|L| within the pivots' choice", i, j, size(both.at(i, j)) <= limit);
        else u.at(i, j) = both.at(i, j);
      }
    for (std::int64_t i = 0; i < inner; ++i) l.at(i, i) = 1;
    const Long slack = Facts<T>::least * static_cast<Long>(inner + 2) * (1 + u.greatest());
    check_product<T>(f, "P A - L U", moved, l, u, Facts<T>::gamma(inner + 2), slack, [inner](std::int64_t i, std::int64_t j) { return std::pair{std::int64_t{0}, std::min({i + 1, j + 1, inner})}; });
  }
}

}  // namespace

template <class T> void judge_triangular(const ir::Node& n, std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  const auto op = ir::name(n);
  if (op == "cholesky") cholesky<T>(n, in, out, f);
  else if (op == "lu") lu<T>(in, out, f);
  else triangular_solve<T>(n, in, out, f);
}
template void judge_triangular<float>(const ir::Node&, std::span<const ir::Literal>, std::span<const ir::Literal>, Findings);
template void judge_triangular<double>(const ir::Node&, std::span<const ir::Literal>, std::span<const ir::Literal>, Findings);
template void judge_triangular<std::complex<float>>(const ir::Node&, std::span<const ir::Literal>, std::span<const ir::Literal>, Findings);
template void judge_triangular<std::complex<double>>(const ir::Node&, std::span<const ir::Literal>, std::span<const ir::Literal>, Findings);

}  // namespace plumb::verify
