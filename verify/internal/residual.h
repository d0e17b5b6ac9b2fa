// What the judges of library operations share: matrices in long double, and the tally of what is wrong.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "ir/tensor/literal.h"
#include "verify/residual.h"

namespace plumb::verify {

using Long = long double;
template <class T> inline constexpr bool complex_type = !std::is_floating_point_v<T>;
template <class T> struct Parted { using real = T; using wide = Long; };
template <class T> struct Parted<std::complex<T>> { using real = T; using wide = std::complex<Long>; };
template <class T> using RealPart = typename Parted<T>::real;
template <class T> using Wide = typename Parted<T>::wide;

inline Long conj_of(Long x) { return x; }
inline std::complex<Long> conj_of(std::complex<Long> x) { return std::conj(x); }
inline Long product(Long x, Long y) { return x * y; }
/// Without the recovery of infinities that makes operator* slow.
inline std::complex<Long> product(std::complex<Long> x, std::complex<Long> y) { return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()}; }
inline Long size(Long x) { return std::fabs(x); }
inline Long size(std::complex<Long> x) { return std::hypot(x.real(), x.imag()); }
inline bool finite(Long x) { return std::isfinite(x); }
inline bool finite(std::complex<Long> x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }
inline bool is_nan(Long x) { return std::isnan(x); }
inline bool is_nan(std::complex<Long> x) { return std::isnan(x.real()) && std::isnan(x.imag()); }
inline Long real_part(Long x) { return x; }
inline Long real_part(std::complex<Long> x) { return x.real(); }
inline Long imaginary_part(Long) { return 0; }
inline Long imaginary_part(std::complex<Long> x) { return x.imag(); }

/// A matrix by rows.
template <class T> struct Rows {
  std::int64_t m = 0, n = 0;
  std::vector<Wide<T>> elements;
  Rows(std::int64_t rows, std::int64_t columns) : m(rows), n(columns), elements(static_cast<std::size_t>(rows * columns)) {}
  Wide<T>& at(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i * n + j)]; }
  const Wide<T>& at(std::int64_t i, std::int64_t j) const { return elements[static_cast<std::size_t>(i * n + j)]; }
  bool all(auto holds) const { return std::all_of(elements.begin(), elements.end(), holds); }
  bool is_finite() const { return all([](auto x) { return finite(x); }); }
  bool is_nan() const { return all([](auto x) { return verify::is_nan(x); }); }
  Rows adjoint() const {
    Rows r(n, m);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) r.at(j, i) = conj_of(at(i, j));
    return r;
  }
  /// The elements' sizes: a product's bound wants each of them many times.
  std::vector<Long> sizes() const {
    std::vector<Long> r;
    for (auto x : elements) r.push_back(size(x));
    return r;
  }
  std::size_t place(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(i * n + j); }
  Long norm() const {
    Long sum = 0;
    for (auto x : elements) sum += size(x) * size(x);
    return std::sqrt(sum);
  }
  Long greatest() const {
    Long g = 0;
    for (auto x : elements) g = std::max(g, size(x));
    return g;
  }
};

/// A literal as a batch of matrices.
template <class T> struct Batch {
  const ir::Literal& literal;
  std::int64_t rows, columns, count;
  explicit Batch(const ir::Literal& l) : literal(l) {
    auto e = l.extents();
    if (complex_type<T>) e.pop_back();
    columns = e.back();
    e.pop_back();
    rows = e.back();
    e.pop_back();
    count = element_count(e);
  }
  Rows<T> matrix(std::int64_t k) const {
    Rows<T> r(rows, columns);
    const auto* from = literal.data<T>() + k * rows * columns;
    for (std::size_t i = 0; i < r.elements.size(); ++i) r.elements[i] = Wide<T>(from[i]);
    return r;
  }
};
/// The k-th of a batch of vectors.
template <class V> std::span<const V> vector(const ir::Literal& l, std::int64_t k) {
  const auto n = l.extents().back();
  return {l.data<V>() + k * n, static_cast<std::size_t>(n)};
}

template <class T> struct Facts {
  static constexpr Long unit = std::numeric_limits<RealPart<T>>::epsilon() / 2;
  static constexpr Long least = std::numeric_limits<RealPart<T>>::denorm_min();
  static constexpr Long most = std::numeric_limits<RealPart<T>>::max();
  static Long gamma(std::int64_t steps) {
    const Long k = static_cast<Long>(steps + (complex_type<T> ? 8 : 0)) * unit;
    return k < 0.5L ? k / (1 - k) : HUGE_VALL;
  }
  /// What a sum of this many products in long double may be off by, as a part of the sum of their sizes.
  static Long own_error(std::int64_t steps) { return static_cast<Long>(steps + 8) * std::numeric_limits<Long>::epsilon(); }
  /// Whether reciprocals and products of numbers up to this size stay clear of the ends of the range.
  static bool moderate(Long greatest) { return greatest < std::sqrt(most); }
};

/// Elements looked at, and the first that is wrong.
class Findings {
 public:
  explicit Findings(Residual& r) : r_(r) {}
  void see(std::int64_t matrix) { matrix_ = matrix; }
  void bounded(const char* what, std::int64_t i, std::int64_t j, Long residual, Long bound) {
    ++r_.elements;
    if (!(bound < HUGE_VALL)) {
      ++r_.inconclusive;
      return;
    }
    if (!(residual <= bound)) return wrong(what, i, j, fmt::format("{:.3g}", static_cast<double>(residual)), fmt::format("at most {:.3g}", static_cast<double>(bound)));
    if (bound > 0) r_.worst = std::max(r_.worst, static_cast<double>(residual / bound));
  }
  void holds(const char* what, std::int64_t i, std::int64_t j, bool good) {
    ++r_.elements;
    if (!good) wrong(what, i, j, "not so", "a must");
  }
  void undecided(std::int64_t count) { r_.elements += count, r_.inconclusive += count; }

 private:
  void wrong(const char* what, std::int64_t i, std::int64_t j, std::string got, std::string allowed) {
    if (r_.wrong++ > 0) return;
    r_.index = fmt::format("{} of matrix {} at [{},{}]", what, matrix_, i, j);
    r_.got = std::move(got);
    r_.allowed = std::move(allowed);
  }
  Residual& r_;
  std::int64_t matrix_ = 0;
};

/// |A - B C| element by element against `factor` times |B||C|, and `slack` more. `terms` gives the first and the last term of (i, j).
template <class T, class Terms> void check_product(Findings& f, const char* what, const Rows<T>& a, const Rows<T>& b, const Rows<T>& c, Long factor, Long slack, Terms terms) {
  const auto b_sizes = b.sizes(), c_sizes = c.sizes();
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) {
      const auto [first, last] = terms(i, j);
      Wide<T> sum = a.at(i, j);
      Long sizes = 0;
      for (std::int64_t k = first; k < last; ++k) {
        sum -= product(b.at(i, k), c.at(k, j));
        sizes += b_sizes[b.place(i, k)] * c_sizes[c.place(k, j)];
      }
      f.bounded(what, i, j, size(sum), (factor + Facts<T>::own_error(last - first)) * sizes + Facts<T>::own_error(1) * size(a.at(i, j)) + slack);
    }
}

template <class T> void judge_triangular(const ir::Node& n, std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f);
template <class T> void judge_orthogonal(const ir::Node& n, std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f);

}  // namespace plumb::verify
