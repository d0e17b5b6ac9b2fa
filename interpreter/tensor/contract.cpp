// dot_general and convolution: C[b, m, n] = Σ_k A[b, m, k]·B[b, k, n] over index maps, in blocks of columns.
#include "interpreter/tensor/contract_block.h"
#include "interpreter/tensor/dense.h"
#include "interpreter/tensor/parallel.h"

namespace plumb::interp {
namespace {

/// Where each factor of each term stands in its operand; -1: a zero of the padding.
struct Problem {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  std::function<std::int64_t(std::int64_t b, std::int64_t m, std::int64_t k)> a;
  std::function<std::int64_t(std::int64_t b, std::int64_t k, std::int64_t n)> b;
  std::function<std::int64_t(std::int64_t b, std::int64_t m, std::int64_t n)> out;
};

/// Offsets of all combinations of some axes, in row-major order of the axes as listed.
std::vector<std::int64_t> offsets(const Extents& extents, std::span<const std::int64_t> axes) {
  const auto strides = row_major_strides(extents);
  Extents sizes;
  for (auto d : axes) sizes.push_back(extents[static_cast<std::size_t>(d)]);
  std::vector<std::int64_t> r;
  for_each_index(sizes, [&](std::int64_t, const Index& i) {
    std::int64_t o = 0;
    for (std::size_t d = 0; d < i.size(); ++d) o += i[d] * strides[static_cast<std::size_t>(axes[d])];
    r.push_back(o);
  });
  return r;
}
ir::Ints others(std::size_t rank, const ir::Ints& x, const ir::Ints& y) {
  ir::Ints r;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d)
    if (std::find(x.begin(), x.end(), d) == x.end() && std::find(y.begin(), y.end(), d) == y.end()) r.push_back(d);
  return r;
}

Problem dot_problem(const ir::Node& n, const Extents& x, const Extents& y) {
  const auto &lb = n.attrs.ints("lhs_batch"), &rb = n.attrs.ints("rhs_batch"), &lc = n.attrs.ints("lhs_contract"), &rc = n.attrs.ints("rhs_contract");
  auto xb = offsets(x, lb), yb = offsets(y, rb), xk = offsets(x, lc), yk = offsets(y, rc);
  auto xm = offsets(x, others(x.size(), lb, lc)), yn = offsets(y, others(y.size(), rb, rc));
  Problem p;
  p.batch = static_cast<std::int64_t>(xb.size()), p.m = static_cast<std::int64_t>(xm.size()), p.n = static_cast<std::int64_t>(yn.size()), p.k = static_cast<std::int64_t>(xk.size());
  p.out = [m = p.m, cols = p.n](auto b, auto i, auto j) { return (b * m + i) * cols + j; };
  p.a = [xb, xm, xk](auto b, auto i, auto k) { return xb[static_cast<std::size_t>(b)] + xm[static_cast<std::size_t>(i)] + xk[static_cast<std::size_t>(k)]; };
  p.b = [yb, yk, yn](auto b, auto k, auto j) { return yb[static_cast<std::size_t>(b)] + yk[static_cast<std::size_t>(k)] + yn[static_cast<std::size_t>(j)]; };
  return p;
}

Problem convolution_problem(const ir::Node& n, const Extents& x, const Extents& w, const Extents& out) {
  const std::int64_t groups = n.attrs.integer("groups"), per_out = w[0] / groups, per_in = w[1];
  Extents space(out.begin() + 2, out.end()), taps(w.begin() + 1, w.end());
  Problem p;
  p.batch = x[0] * groups, p.m = per_out, p.n = element_count(space), p.k = element_count(taps);
  p.out = [=, cols = p.n](auto b, auto i, auto j) { return ((b / groups) * groups * per_out + (b % groups) * per_out + i) * cols + j; };
  p.a = [=, k_count = p.k](auto b, auto i, auto k) { return ((b % groups) * per_out + i) * k_count + k; };
  std::vector<Index> at_space, at_tap;
  for_each_index(space, [&](std::int64_t, const Index& i) { at_space.push_back(i); });
  for_each_index(taps, [&](std::int64_t, const Index& i) { at_tap.push_back(i); });
  auto attr = [&](const char* which, std::size_t d, std::int64_t fallback) { const auto& v = n.attrs.ints(which); return v.empty() ? fallback : v[d]; };
  std::vector<std::array<std::int64_t, 4>> rule;
  for (std::size_t d = 0; d < space.size(); ++d) rule.push_back({attr("stride", d, 1), attr("rhs_dilation", d, 1), attr("low", d, 0), attr("lhs_dilation", d, 1)});
  p.b = [=](auto b, auto k, auto j) {
    const auto& tap = at_tap[static_cast<std::size_t>(k)];
    const auto& s = at_space[static_cast<std::size_t>(j)];
    std::int64_t o = (b / groups) * x[1] + (b % groups) * per_in + tap[0];
    for (std::size_t d = 0; d < rule.size(); ++d) {
      const std::int64_t at = s[d] * rule[d][0] + tap[d + 1] * rule[d][1] - rule[d][2];
      if (at < 0 || at % rule[d][3] != 0 || at / rule[d][3] >= x[d + 2]) return std::int64_t{-1};
      o = o * x[d + 2] + at / rule[d][3];
    }
    return o;
  };
  return p;
}

/// All the work between gathering factors and storing sums is `Columns`: one block of columns against one row.
template <class T> std::vector<T> gather_rows(const Problem& p, std::int64_t b, const std::function<T(std::int64_t)>& at) {
  std::vector<T> rows(static_cast<std::size_t>(p.m * p.k));
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t k = 0; k < p.k; ++k) rows[static_cast<std::size_t>(i * p.k + k)] = at(p.a(b, i, k));
  return rows;
}
template <class T> std::vector<T> gather_block(const Problem& p, std::int64_t b, std::int64_t first, T zero, const std::function<T(std::int64_t)>& at) {
  std::vector<T> block(static_cast<std::size_t>(p.k * block_columns), zero);
  for (std::int64_t k = 0; k < p.k; ++k)
    for (std::int64_t j = 0; j < std::min(block_columns, p.n - first); ++j)
      if (const auto o = p.b(b, k, first + j); o >= 0) block[static_cast<std::size_t>(k * block_columns + j)] = at(o);
  return block;
}

template <class T> void rounded_floats(const Problem& p, DType t, const std::vector<Number>& x, const std::vector<Number>& w, std::vector<Number>& out) {
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const auto rows = gather_rows<T>(p, b, [&](std::int64_t o) { return static_cast<T>(x[static_cast<std::size_t>(o)].f); });
    parallel((p.n + block_columns - 1) / block_columns, [&](std::int64_t number) {
      const std::int64_t first = number * block_columns;
      const auto block = gather_block<T>(p, b, first, T(0), [&](std::int64_t o) { return static_cast<T>(w[static_cast<std::size_t>(o)].f); });
      T sums[block_columns];
      for (std::int64_t i = 0; i < p.m; ++i) {
        canonical_dot(&rows[static_cast<std::size_t>(i * p.k)], block.data(), p.k, sums);
        for (std::int64_t j = 0; j < std::min(block_columns, p.n - first); ++j)
          out[static_cast<std::size_t>(p.out(b, i, first + j))] = {.f = round_to(t, static_cast<double>(sums[j]))};
      }
    });
  }
}

/// Integers: exact modulo 2^bits, so any order will do.
template <class D> void in_order(const D& d, const Problem& p, DType t, const std::vector<typename D::Value>& x, const std::vector<typename D::Value>& w, std::vector<typename D::Value>& out) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        auto sum = d.from(t, number(t, 0));
        for (std::int64_t k = 0; k < p.k; ++k) {
          const auto o = p.b(b, k, j);
          const typename D::Value args[] = {x[static_cast<std::size_t>(p.a(b, i, k))], o < 0 ? d.from(t, number(t, 0)) : w[static_cast<std::size_t>(o)], sum};
          sum = d.apply(fn_id<scalar::Fma>, t, args);
        }
        out[static_cast<std::size_t>(p.out(b, i, j))] = sum;
      }
}

/// One factor as centre and radius; not plain when it is infinite or NaN, or may be.
struct Factor {
  std::vector<double> centre, radius;
  std::vector<char> plain;          ///< a row's or column's
  std::vector<double> quantum;      ///< least over a row or column; 0: not all exact
  bool exact = true;
};
void take(Factor& f, std::size_t at, std::size_t line, const Enclosed& e) {
  if (e.nan || !std::isfinite(e.lo) || !std::isfinite(e.hi)) f.plain[line] = 0;
  const double mid = e.lo == e.hi ? e.lo : e.lo / 2 + e.hi / 2;
  f.centre[at] = std::isfinite(mid) ? mid : 0;
  f.radius[at] = e.lo == e.hi ? 0 : std::nextafter(std::max(e.hi - mid, mid - e.lo), HUGE_VAL);
  if (f.radius[at] > 0 || std::isnan(f.radius[at])) f.exact = false, f.quantum[line] = 0;
  else f.quantum[line] = std::min(f.quantum[line], quantum(mid));
}
Factor factor(std::size_t lines, std::int64_t k) {
  const auto size = lines * static_cast<std::size_t>(k);
  return {std::vector<double>(size, 0), std::vector<double>(size, 0), std::vector<char>(lines, 1), std::vector<double>(lines, HUGE_VAL), true};
}

Enclosed slow_sum(const Problem& p, DType t, std::int64_t b, std::int64_t i, std::int64_t j, const std::vector<Enclosed>& x, const std::vector<Enclosed>& w, const Accumulation& how) {
  SumFacts s;
  s.add(Enclosed::real(0, 0));
  for (std::int64_t k = 0; k < p.k; ++k) {
    const auto o = p.b(b, k, j);
    s.add(exact_product(x[static_cast<std::size_t>(p.a(b, i, k))], o < 0 ? Enclosed::real(0, 0) : w[static_cast<std::size_t>(o)]));
  }
  return finish_sum(s, accumulator(t, how), how, 1);
}

void enclosed_floats(const Problem& p, DType t, const std::vector<Enclosed>& x, const std::vector<Enclosed>& w, std::vector<Enclosed>& out, const Accumulation& how) {
  const DType acc = accumulator(t, how);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    Factor rows = factor(static_cast<std::size_t>(p.m), p.k);
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t k = 0; k < p.k; ++k) take(rows, static_cast<std::size_t>(i * p.k + k), static_cast<std::size_t>(i), x[static_cast<std::size_t>(p.a(b, i, k))]);
    parallel((p.n + block_columns - 1) / block_columns, [&](std::int64_t number) {
      const std::int64_t first = number * block_columns, width = std::min(block_columns, p.n - first);
      Factor cols = factor(block_columns, p.k);
      for (std::int64_t k = 0; k < p.k; ++k)
        for (std::int64_t j = 0; j < width; ++j)
          if (const auto o = p.b(b, k, first + j); o >= 0) take(cols, static_cast<std::size_t>(k * block_columns + j), static_cast<std::size_t>(j), w[static_cast<std::size_t>(o)]);
      double centre[block_columns], magnitude[block_columns], radius[block_columns] = {};
      for (std::int64_t i = 0; i < p.m; ++i) {
        const auto row = static_cast<std::size_t>(i * p.k);
        enclosed_dot(&rows.centre[row], cols.centre.data(), p.k, centre, magnitude);
        if (!rows.exact || !cols.exact) enclosed_radius(&rows.centre[row], &rows.radius[row], cols.centre.data(), cols.radius.data(), p.k, radius);
        for (std::int64_t j = 0; j < width; ++j) {
          const auto col = static_cast<std::size_t>(j);
          Enclosed e;
          if (!rows.plain[static_cast<std::size_t>(i)] || !cols.plain[col]) e = slow_sum(p, t, b, i, first + j, x, w, how);
          else {
            const double qa = rows.quantum[static_cast<std::size_t>(i)], qb = cols.quantum[col], q = qa == 0 || qb == 0 ? -1 : std::isinf(qa) || std::isinf(qb) ? 0 : qa * qb;
            e = sum_interval(centre[j], radius[j], magnitude[j], q, p.k, acc, how, 1);
          }
          if (e.lo <= 0 && e.hi >= 0) {  // which zero depends on how the chain starts
            if (e.lo == 0) e.lo = -0.0;
            if (e.hi == 0) e.hi = 0.0;
          }
          out[static_cast<std::size_t>(p.out(b, i, first + j))] = Enclosure::narrowed(e, t, acc);
        }
      }
    });
  }
}

void run(const Rounded& d, const Problem& p, DType t, const std::vector<Number>& a, const std::vector<Number>& b, std::vector<Number>& out, const Accumulation&) {
  if (t == DType::f64) rounded_floats<double>(p, t, a, b, out);
  else if (is_float(t)) rounded_floats<float>(p, t, a, b, out);
  else in_order(d, p, t, a, b, out);
}
void run(const Enclosure& d, const Problem& p, DType t, const std::vector<Enclosed>& a, const std::vector<Enclosed>& b, std::vector<Enclosed>& out, const Accumulation& how) {
  if (!is_float(t)) return in_order(d, p, t, a, b, out);
  if (!d.allow.any()) return enclosed_floats(p, t, a, b, out, how);
  auto factors = [&](const std::vector<Enclosed>& x) {
    std::vector<Enclosed> r;
    for (const auto& v : x) r.push_back(d.factor(v, t));
    return r;
  };
  enclosed_floats(p, t, factors(a), factors(b), out, d.granted(how, t, true));
}

}  // namespace

template <class D> Tensor<D> contract(const D& d, const ir::Node& n, const Tensor<D>& x, const Tensor<D>& w, const ir::Type& out, const Accumulation& how) {
  Tensor<D> r{out, std::vector<typename D::Value>(static_cast<std::size_t>(out.elements()))};
  const bool convolution = ir::name(n) == "convolution";
  const auto p = convolution ? convolution_problem(n, x.type.extents(), w.type.extents(), out.extents()) : dot_problem(n, x.type.extents(), w.type.extents());
  if (out.elements() == 0) return r;
  run(d, p, out.dtype, convolution ? w.elements : x.elements, convolution ? x.elements : w.elements, r.elements, how);
  return r;
}
template Tensor<Rounded> contract(const Rounded&, const ir::Node&, const Tensor<Rounded>&, const Tensor<Rounded>&, const ir::Type&, const Accumulation&);
template Tensor<Enclosure> contract(const Enclosure&, const ir::Node&, const Tensor<Enclosure>&, const Tensor<Enclosure>&, const ir::Type&, const Accumulation&);

}  // namespace plumb::interp
