// The two value domains at the level of tensors: what combining, choosing and looking up mean in each. The operations'
// definitions (dense.h) are written once over these words.
#pragma once
#include <algorithm>
#include <cmath>

#include "interpreter/domains/allowances.h"
#include "interpreter/tensor/evaluate.h"
#include "interpreter/tensor/scan.h"
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
  Value bitcast(Value v, DType from, DType to) const { return interp::bitcast(v, from, to); }
  Value select(Value c, Value a, Value b, DType) const { return c.u ? a : b; }
  bool decided(Value, DType) const { return true; }
  Number pick(Value v) const { return v; }

  /// Narrow floats combine in f32 and round once at the end.
  Value reduce(FnId fn, DType t, std::vector<Value> terms, const Accumulation&) const {
    if (terms.empty()) return reduction_identity(fn, t);
    const DType acc = accumulator(t);
    return convert(canonical_order(std::move(terms), [&](Value a, Value b) { return step(fn, acc, a, b); }), acc, t);
  }
  /// One after another, rounded once at the end.
  Value fold(FnId fn, DType t, const std::vector<Value>& terms) const {
    const DType acc = accumulator(t);
    Value r = terms[0];
    for (std::size_t k = 1; k < terms.size(); ++k) r = step(fn, acc, r, terms[k]);
    return convert(r, acc, t);
  }
  /// Running combinations, each rounded to the dtype on its way out.
  void scan(FnId fn, DType t, std::vector<Value>& x, bool exclusive) const {
    const DType acc = accumulator(t);
    scan_in_order(x, exclusive, reduction_identity(fn, t), [&](Value a, Value b) { return step(fn, acc, a, b); });
    for (auto& v : x) v = convert(v, acc, t);
  }

 private:
  Value step(FnId fn, DType t, Value a, Value b) const {
    const Value p[] = {a, b};
    return apply(fn, t, p);
  }
};

/// Running facts of a product of floats whose order a lowering may choose.
struct ProductFacts {
  double up = 0, down = 0, terms = 0;   ///< log2 of all factors above 1, and below; how many factors
  bool irregular = false, zero = false;
  void add(const Enclosed& v) {
    const double size = std::max(std::fabs(v.lo), std::fabs(v.hi)), least = v.lo <= 0 && v.hi >= 0 ? 0 : std::min(std::fabs(v.lo), std::fabs(v.hi));
    irregular = irregular || !std::isfinite(size);
    zero = zero || (v.lo <= 0 && v.hi >= 0);
    if (size > 1) up += std::log2(size);
    if (least > 0 && least < 1) down -= std::log2(least);
    ++terms;
  }
  /// The product in one order, widened to every order: each of the roundings may fall otherwise; an order that passes
  /// through overflow or underflow may give anything. Every order has n - 1 roundings, so no height enters.
  Enclosed slackened(const Enclosed& v, DType t) const {
    if ((irregular && zero) || (terms > 1 && (up >= row(t).emax || down >= -row(t).emin))) return Enclosed::anything();
    if (v.lo == v.hi) return v;
    const double r = 2 * terms * std::scalbn(1.0, -row(t).precision), size = std::max(std::fabs(v.lo), std::fabs(v.hi));
    if (!std::isfinite(size) || size < std::scalbn(1.0, row(t).emin + 2)) return Enclosed::anything();
    return Enclosed::real(v.lo - size * r, v.hi + size * r, v.nan);
  }
};

struct Enclosure {
  using Value = Enclosed;
  Allowances allow = {};   ///< fast: what is granted on top of relaxed
  Value from(DType t, Number v) const { return Enclosed::point(t, v); }
  Value apply(FnId fn, DType t, std::span<const Value> args) const { return allow.any() ? enclose_allowed(allow, fn, t, args) : enclose(fn, t, args); }
  Value factor(const Value& v, DType t) const { return allow.any() ? allowed_factor(allow, t, v) : v; }
  Accumulation granted(const Accumulation& how, DType t, bool contraction) const { return allow.any() ? allowed_accumulation(allow, t, how, contraction) : how; }
  Value convert(Value v, DType from, DType to) const { return enclose_convert(v, from, to); }
  Value bitcast(Value v, DType from, DType to) const { return enclose_bitcast(v, from, to); }
  Value select(Value c, Value a, Value b, DType t) const { return enclose_select(c, a, b, t); }
  bool decided(const Value& v, DType t) const { return v.is_point(t); }
  Number pick(const Value& v) const { return {.i = v.ilo}; }

  Value reduce(FnId fn, DType t, std::vector<Value> terms, const Accumulation& how) const {
    if (terms.empty()) return from(t, reduction_identity(fn, t));
    if (is_float(t) && fn == fn_id<scalar::Add> && terms.size() > 1) {
      SumFacts s;
      for (const auto& v : terms) s.add(v);
      return narrowed(finish_sum(s, accumulator(t, how), granted(how, t, false), 0), t, accumulator(t, how));
    }
    const bool product = is_float(t) && fn == fn_id<scalar::Mul> && terms.size() > 1;
    const DType acc = product ? accumulator(t, how) : t;
    Value r = terms[0];
    for (std::size_t k = 1; k < terms.size(); ++k) {
      const Value p[] = {r, terms[k]};
      r = apply(fn, acc, p);
    }
    if (!product) return r;
    ProductFacts facts;
    for (const auto& v : terms) facts.add(v);
    return narrowed(facts.slackened(r, acc), t, acc);
  }
  Value fold(FnId fn, DType t, const std::vector<Value>& terms) const { return terms.size() == 1 ? terms[0] : reduce(fn, t, terms, static_cast<std::int64_t>(terms.size()) - 1); }
  void scan(FnId fn, DType t, std::vector<Value>& x, bool exclusive) const {
    const bool sums = is_float(t) && fn == fn_id<scalar::Add>, products = is_float(t) && fn == fn_id<scalar::Mul>;
    const DType acc = products ? accumulator(t) : t;
    SumFacts s;
    ProductFacts facts;
    std::vector<Value> out;
    Value next = from(t, reduction_identity(fn, t)), before = next, running = next;
    for (std::size_t k = 0; k < x.size(); ++k, before = next) {
      const Value p[] = {running, x[k]};
      if (sums) s.add(x[k]);
      if (products) facts.add(x[k]);
      running = k == 0 ? x[k] : apply(fn, acc, p);
      next = sums ? value(s, t) : products && k > 0 ? narrowed(facts.slackened(running, acc), t, acc) : running;
      out.push_back(exclusive ? before : next);
    }
    x = std::move(out);
  }
  /// A sum in a wider accumulator seen as `t`: rounded to it or kept.
  static Value narrowed(const Value& v, DType t, DType acc) { return row(acc).precision > row(t).precision ? hull(v, stored(v, t), t) : v; }

 private:
  Value value(const SumFacts& s, DType t) const {
    if (s.terms == 1 && s.radius == 0 && !s.nan && !s.plus_inf && !s.minus_inf) return Enclosed::real(s.all_minus_zero ? -0.0 : s.centre, s.centre);
    return narrowed(finish_sum(s, accumulator(t), granted(scan_height(s.terms), t, false), 0), t, accumulator(t));
  }
};

}  // namespace plumb::interp
