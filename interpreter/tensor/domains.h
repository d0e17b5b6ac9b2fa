// The two value domains at the level of tensors: what combining, choosing and looking up mean in each. The operations'
// definitions (dense.h) are written once over these words.
#pragma once
#include <algorithm>
#include <cmath>

#include "interpreter/tensor/evaluate.h"
#include "ir/tensor/op_table.h"

namespace plumb::interp {

/// Combines terms in the canonical order: chunks of 4,096, 256 lanes, halving.
template <class V, class F> V canonical_order(std::vector<V> x, F combine) {
  while (x.size() > 1) {
    std::vector<V> next;
    for (std::size_t start = 0; start < x.size(); start += 4096) {
      const std::size_t n = std::min<std::size_t>(4096, x.size() - start);
      std::vector<V> lane(x.begin() + static_cast<std::ptrdiff_t>(start), x.begin() + static_cast<std::ptrdiff_t>(start + std::min<std::size_t>(n, 256)));
      for (std::size_t i = 256; i < n; ++i) lane[i % 256] = combine(lane[i % 256], x[start + i]);
      for (std::size_t h = 128; h >= 1; h /= 2)
        for (std::size_t l = 0; l < h && l + h < lane.size(); ++l) {
          lane[l] = combine(lane[l], lane[l + h]);
          if (l + 1 == h || l + h + 1 == lane.size()) lane.resize(h);
        }
      next.push_back(lane[0]);
    }
    x = std::move(next);
  }
  return x[0];
}

Number reduction_identity(FnId fn, DType t);

struct Rounded {
  using Value = Number;
  Value from(DType, Number v) const { return v; }
  Value apply(FnId fn, DType t, std::span<const Value> args) const { return interp::apply(fn, t, args); }
  Value convert(Value v, DType from, DType to) const { return interp::convert(v, from, to); }
  Value select(Value c, Value a, Value b, DType) const { return c.u ? a : b; }
  bool decided(Value, DType) const { return true; }
  Number pick(Value v) const { return v; }

  /// Narrow floats combine in f32 and round once at the end.
  Value reduce(FnId fn, DType t, std::vector<Value> terms, const Accumulation&) const {
    if (terms.empty()) return reduction_identity(fn, t);
    const DType acc = accumulator(t);
    return convert(canonical_order(std::move(terms), [&](Value a, Value b) { const Value p[] = {a, b}; return apply(fn, acc, p); }), acc, t);
  }
  /// Running sums, each rounded to the dtype on its way out.
  void scan(DType t, std::vector<Value>& x, bool exclusive) const {
    const DType acc = accumulator(t);
    Value sum = number(acc, 0);
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Value term = x[k], p[] = {sum, term};
      const Value next = k == 0 && !exclusive ? term : k == 0 ? term : apply(fn_id<scalar::Add>, acc, p);
      x[k] = convert(exclusive ? sum : next, acc, t);
      sum = next;
    }
  }
};

struct Enclosure {
  using Value = Enclosed;
  Value from(DType t, Number v) const { return Enclosed::point(t, v); }
  Value apply(FnId fn, DType t, std::span<const Value> args) const { return enclose(fn, t, args); }
  Value convert(Value v, DType from, DType to) const { return enclose_convert(v, from, to); }
  Value select(Value c, Value a, Value b, DType t) const { return enclose_select(c, a, b, t); }
  bool decided(const Value& v, DType t) const { return v.is_point(t); }
  Number pick(const Value& v) const { return {.i = v.ilo}; }

  Value reduce(FnId fn, DType t, std::vector<Value> terms, const Accumulation& how) const {
    if (terms.empty()) return from(t, reduction_identity(fn, t));
    if (is_float(t) && fn == fn_id<scalar::Add> && terms.size() > 1) {
      SumFacts s;
      for (const auto& v : terms) s.add(v);
      return narrowed(finish_sum(s, accumulator(t, how), how, 0), t, accumulator(t, how));
    }
    const bool product = is_float(t) && fn == fn_id<scalar::Mul>;
    const DType acc = product ? accumulator(t, how) : t;
    if (product && may_leave_range(terms, acc)) return Enclosed::anything();
    Value r = terms[0];
    for (std::size_t k = 1; k < terms.size(); ++k) {
      const Value p[] = {r, terms[k]};
      r = apply(fn, acc, p);
    }
    if (product && terms.size() > 1 && !exactly(r)) r = product_slack(r, acc, static_cast<double>(terms.size()));
    return product && terms.size() > 1 ? narrowed(r, t, acc) : r;
  }
  void scan(DType t, std::vector<Value>& x, bool exclusive) const {
    SumFacts s;
    std::vector<Value> out;
    Value integer = from(t, number(t, 0));
    for (const auto& v : x) {
      const Value p[] = {integer, v};
      const Value before = is_float(t) ? (s.terms == 0 ? Enclosed::real(0, 0) : value(s, t)) : integer;
      if (is_float(t)) s.add(v);
      else integer = apply(fn_id<scalar::Add>, t, p);
      out.push_back(exclusive ? before : is_float(t) ? value(s, t) : integer);
    }
    x = std::move(out);
  }
  /// A sum in a wider accumulator seen as `t`: rounded to it or kept.
  static Value narrowed(const Value& v, DType t, DType acc) { return row(acc).precision > row(t).precision ? hull(v, stored(v, t), t) : v; }

 private:
  static bool exactly(const Value& v) { return v.lo == v.hi; }
  static Value value(const SumFacts& s, DType t) {
    if (s.terms == 1 && s.radius == 0 && !s.nan && !s.plus_inf && !s.minus_inf) return Enclosed::real(s.all_minus_zero ? -0.0 : s.centre, s.centre);
    return narrowed(finish_sum(s, accumulator(t), s.terms, 0), t, accumulator(t));
  }
  /// Whether some order of a product passes through overflow or underflow.
  static bool may_leave_range(const std::vector<Value>& terms, DType t) {
    double up = 0, down = 0;
    bool irregular = false;
    for (const auto& v : terms) {
      const double size = std::max(std::fabs(v.lo), std::fabs(v.hi)), least = v.lo <= 0 && v.hi >= 0 ? 0 : std::min(std::fabs(v.lo), std::fabs(v.hi));
      irregular = irregular || !std::isfinite(size);
      if (size > 1) up += std::log2(size);
      if (least > 0 && least < 1) down -= std::log2(least);
    }
    const bool zero = std::any_of(terms.begin(), terms.end(), [](const Value& v) { return v.lo <= 0 && v.hi >= 0; });
    if (irregular && zero) return true;
    return terms.size() > 1 && (up >= row(t).emax || down >= -row(t).emin);
  }
  /// Other orders of a product: each of n roundings may fall otherwise. Every order has n - 1, so no height enters.
  static Value product_slack(const Value& v, DType t, double n) {
    const double r = 2 * n * std::scalbn(1.0, -row(t).precision), size = std::max(std::fabs(v.lo), std::fabs(v.hi));
    if (!std::isfinite(size) || size < std::scalbn(1.0, row(t).emin + 2)) return Enclosed::anything();
    return Enclosed::real(v.lo - size * r, v.hi + size * r, v.nan);
  }
};

}  // namespace plumb::interp
