#include "interpreter/domains/enclosure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "interpreter/domains/enclosure_elementary.h"

namespace plumb::interp {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using namespace scalar;

bool empty(const Enclosed& e) { return !(e.lo <= e.hi); }
/// Order with -0 below +0.
bool below(double a, double b) { return a < b || (a == 0 && b == 0 && std::signbit(a) && !std::signbit(b)); }
double least(double a, double b) { return below(a, b) ? a : b; }
double greatest(double a, double b) { return below(a, b) ? b : a; }

Enclosed binary_add(DType t, const Enclosed& x, const Enclosed& y) {
  if (empty(x) || empty(y)) return Enclosed::not_a_number();
  const bool nan = x.nan || y.nan || (x.hi == inf && y.lo == -inf) || (x.lo == -inf && y.hi == inf);
  auto end = [&](double a, double b, double direction) {
    const double s = a + b;
    if (std::isnan(s)) return direction;
    const double v = s - a, error = std::isfinite(s) ? (a - (s - v)) + (b - v) : 0;
    if (std::isinf(s) && std::isfinite(a) && std::isfinite(b)) return direction < 0 ? (s > 0 ? std::numeric_limits<double>::max() : s) : (s < 0 ? std::numeric_limits<double>::lowest() : s);
    return error == 0 || (error > 0) == (direction < 0) ? s : std::nextafter(s, direction);
  };
  const bool definite_nan = std::isnan(x.lo + y.lo) && std::isnan(x.hi + y.hi) && x.lo == x.hi && y.lo == y.hi;
  if (definite_nan) return Enclosed::not_a_number();
  return rounded_hull(t, end(x.lo, y.lo, -inf), end(x.hi, y.hi, inf), nan);
}

Enclosed corners(DType t, const Enclosed& x, const Enclosed& y, double (*f)(double, double), bool exact) {
  if (empty(x) || empty(y)) return Enclosed::not_a_number();
  double lo = inf, hi = -inf;
  bool nan = x.nan || y.nan, any = false;
  for (double a : {x.lo, x.hi})
    for (double b : {y.lo, y.hi}) {
      double v = f(a, b);
      if (std::isnan(v)) {
        nan = true;
        if (x.lo == x.hi && y.lo == y.hi) continue;
        v = 0;
      }
      any = true;
      const double low = exact || std::isinf(v) ? v : std::nextafter(v, -inf), high = exact || std::isinf(v) ? v : std::nextafter(v, inf);
      lo = least(lo, low);
      hi = greatest(hi, high);
    }
  if (!any) return Enclosed::not_a_number();
  if (below(lo, hi) && lo <= 0 && hi >= 0) {  // a zero of either sign may come from the inside
    if (lo == 0) lo = -0.0;
    if (hi == 0) hi = +0.0;
  }
  return rounded_hull(t, lo, hi, nan);
}

bool double_product_exact(const Enclosed& x, const Enclosed& y) {
  if (x.lo != x.hi || y.lo != y.hi) return false;
  const double p = x.lo * y.lo;
  return !std::isfinite(p) || (std::fma(x.lo, y.lo, -p) == 0 && (p != 0 || x.lo == 0 || y.lo == 0));
}
bool double_quotient_exact(const Enclosed& x, const Enclosed& y) {
  if (x.lo != x.hi || y.lo != y.hi) return false;
  const double q = x.lo / y.lo;
  return !std::isfinite(q) || (std::fma(q, y.lo, -x.lo) == 0 && (q != 0 || x.lo == 0 || std::isinf(y.lo)));
}

/// 0 · inf may come from inside the factors, where no corner shows it.
Enclosed multiply(DType t, const Enclosed& x, const Enclosed& y) {
  Enclosed r = corners(t, x, y, [](double a, double b) { return a * b; }, double_product_exact(x, y));
  auto zero = [](const Enclosed& e) { return e.lo <= 0 && e.hi >= 0; };
  auto infinite = [](const Enclosed& e) { return e.lo == -inf || e.hi == inf; };
  const bool points = x.lo == x.hi && y.lo == y.hi;
  if (!points && !empty(x) && !empty(y)) r.nan = r.nan || (zero(x) && infinite(y)) || (zero(y) && infinite(x));
  return r;
}

Enclosed divide(DType t, const Enclosed& x, const Enclosed& y) {
  if (empty(x) || empty(y)) return Enclosed::not_a_number();
  const bool point = y.lo == y.hi && std::signbit(y.lo) == std::signbit(y.hi);
  if (!point && y.lo <= 0 && y.hi >= 0) return Enclosed::anything();
  auto r = corners(t, x, y, [](double a, double b) { return a / b; }, double_quotient_exact(x, y));
  r.nan = r.nan || (y.lo == 0 && x.lo <= 0 && x.hi >= 0);  // 0 / 0 may come from inside the dividend
  return r;
}

Enclosed compare(FnId fn, const Enclosed& x, const Enclosed& y) {
  bool can_true = false, can_false = x.nan || y.nan;
  const bool nan_gives = fn == fn_id<Ne>;
  if (nan_gives && can_false) can_true = true, can_false = false;
  if (!empty(x) && !empty(y)) {
    const bool point = x.lo == x.hi && y.lo == y.hi;
    auto note = [&](bool always, bool never) {
      if (!never) can_true = true;
      if (!always) can_false = true;
    };
    switch (fn) {
      case fn_id<Eq>: note(point && x.lo == y.lo, x.hi < y.lo || y.hi < x.lo); break;
      case fn_id<Ne>: note(x.hi < y.lo || y.hi < x.lo, point && x.lo == y.lo); break;
      case fn_id<Lt>: note(x.hi < y.lo, x.lo >= y.hi); break;
      case fn_id<Le>: note(x.hi <= y.lo, x.lo > y.hi); break;
      case fn_id<Gt>: note(x.lo > y.hi, x.hi <= y.lo); break;
      default: note(x.lo >= y.hi, x.hi < y.lo); break;
    }
  }
  return Enclosed::integer(can_true && !can_false, can_true);
}

Enclosed predicate(FnId fn, const Enclosed& x) {
  bool can_true = false, can_false = false;
  auto note = [&](bool v) { (v ? can_true : can_false) = true; };
  if (x.nan) note(fn == fn_id<IsNan>);
  if (!empty(x)) {
    const bool inf_possible = x.lo == -inf || x.hi == inf, finite_possible = !(x.lo == x.hi && std::isinf(x.lo));
    switch (fn) {
      case fn_id<IsNan>: note(false); break;
      case fn_id<IsInf>: if (inf_possible) note(true); if (finite_possible) note(false); break;
      case fn_id<IsFinite>: if (inf_possible) note(false); if (finite_possible) note(true); break;
      default: if (std::signbit(x.lo)) note(true); if (!std::signbit(x.hi)) note(false); break;
    }
  }
  return Enclosed::integer(can_true && !can_false, can_true);
}

Enclosed monotone_exact(const Enclosed& x, double (*f)(double)) { return empty(x) ? x : Enclosed::real(f(x.lo), f(x.hi), x.nan); }

Enclosed extremum(const Enclosed& x, const Enclosed& y, bool most) {
  if (empty(x) || empty(y)) return Enclosed::not_a_number();
  return most ? Enclosed::real(greatest(x.lo, y.lo), greatest(x.hi, y.hi), x.nan || y.nan) : Enclosed::real(least(x.lo, y.lo), least(x.hi, y.hi), x.nan || y.nan);
}

Enclosed absolute(const Enclosed& x) {
  if (empty(x)) return x;
  if (!std::signbit(x.lo)) return x;
  if (std::signbit(x.hi)) return Enclosed::real(-x.hi, -x.lo, x.nan);
  return Enclosed::real(0, std::max(-x.lo, x.hi), x.nan);
}

bool all_points(DType t, std::span<const Enclosed> args) {
  return std::all_of(args.begin(), args.end(), [&](const Enclosed& a) { return a.is_point(t); });
}

Enclosed whole_range(DType t) {
  if (is_bool(t)) return Enclosed::integer(0, 1);
  if (is_signed(t)) return Enclosed::integer(-static_cast<std::int64_t>((std::uint64_t{1} << row(t).precision) - 1) - 1, static_cast<std::int64_t>((std::uint64_t{1} << row(t).precision) - 1));
  return Enclosed::integer(0, t == DType::u64 ? -1 : static_cast<std::int64_t>((std::uint64_t{1} << row(t).precision) - 1));
}

/// Undecided integers: bools are tried both ways, other integers give up their bounds.
Enclosed enclose_integer(FnId fn, DType t, std::span<const Enclosed> args) {
  if (all_points(t, args)) {
    Number n[3];
    for (std::size_t k = 0; k < args.size(); ++k) n[k].i = args[k].ilo;
    const Number r = apply(fn, t, std::span(n, args.size()));
    return Enclosed::integer(r.i, r.i);
  }
  const DType out = result_dtype(fn, t);
  if (!is_bool(t)) return whole_range(out);
  Enclosed result;
  bool first = true;
  for (int mask = 0; mask < (1 << args.size()); ++mask) {
    Number n[3];
    bool possible = true;
    for (std::size_t k = 0; k < args.size(); ++k) {
      n[k].u = (mask >> k) & 1;
      possible = possible && n[k].i >= args[k].ilo && n[k].i <= args[k].ihi;
    }
    if (!possible) continue;
    const Number r = apply(fn, t, std::span(n, args.size()));
    const auto e = Enclosed::integer(r.i, r.i);
    result = first ? e : hull(result, e, out);
    first = false;
  }
  return result;
}

/// Points through the reference, widened for the wider result a lowering may keep; else a sound bound.
Enclosed remainder_like(FnId fn, DType t, std::span<const Enclosed> args) {
  if (!all_points(t, args)) return Enclosed::anything();
  if (args[0].nan || args[1].nan) return Enclosed::not_a_number();
  const Number n[2] = {{.f = args[0].lo}, {.f = args[1].lo}};
  const double r = apply(fn, t, n).f, wide = apply(fn, DType::f64, n).f;
  if (std::isnan(wide)) return Enclosed::not_a_number();
  if (std::isnan(r)) return Enclosed::real(wide, wide, true);  // an infinity that the format lacks, while it is kept in f32
  return Enclosed::real(least(r, wide), greatest(r, wide));
}

}  // namespace

/// The image of an operation, its rounding, and for a narrow format the rounding to f32, in which it may be kept.
Enclosed rounded_hull(DType t, double lo, double hi, bool nan) {
  Enclosed e = Enclosed::real(lo, hi, nan);
  for (DType kept : {t, is_narrow_float(t) ? DType::f32 : t}) {
    const double low = round_to(kept, lo), high = round_to(kept, hi);  // NaN where the format has no infinity
    e.nan = e.nan || std::isnan(low) || std::isnan(high);
    if (!std::isnan(low)) e.lo = least(e.lo, low);
    if (!std::isnan(high)) e.hi = greatest(e.hi, high);
  }
  return e;
}

Enclosed Enclosed::point(DType t, Number v) {
  if (!is_float(t)) return integer(v.i, v.i);
  return std::isnan(v.f) ? not_a_number() : real(v.f, v.f);
}
Enclosed Enclosed::not_a_number() { return real(inf, -inf, true); }
Enclosed Enclosed::anything() { return real(-inf, inf, true); }
bool Enclosed::is_point(DType t) const {
  if (!is_float(t)) return ilo == ihi;
  return nan ? lo > hi : lo == hi && std::signbit(lo) == std::signbit(hi);
}

Enclosed enclose(FnId fn, DType t, std::span<const Enclosed> a) {
  if (!is_float(t)) return enclose_integer(fn, t, a);
  switch (fn) {
    case fn_id<Add>: return binary_add(t, a[0], a[1]);
    case fn_id<Sub>: return binary_add(t, a[0], enclose(fn_id<Neg>, t, std::span(&a[1], 1)));
    case fn_id<Mul>: return multiply(t, a[0], a[1]);
    case fn_id<Div>: return divide(t, a[0], a[1]);
    case fn_id<Fma>: {
      const auto p = exact_product(a[0], a[1]), q = multiply(t, a[0], a[1]);
      return hull(binary_add(t, p, a[2]), binary_add(t, q, a[2]), t);
    }
    case fn_id<Minimum>: return extremum(a[0], a[1], false);
    case fn_id<Maximum>: return extremum(a[0], a[1], true);
    case fn_id<Neg>: return empty(a[0]) ? a[0] : Enclosed::real(-a[0].hi, -a[0].lo, a[0].nan);
    case fn_id<Abs>: return absolute(a[0]);
    case fn_id<Floor>: return monotone_exact(a[0], [](double x) { return std::floor(x); });
    case fn_id<Ceil>: return monotone_exact(a[0], [](double x) { return std::ceil(x); });
    case fn_id<Trunc>: return monotone_exact(a[0], [](double x) { return std::trunc(x); });
    case fn_id<RoundEven>: return monotone_exact(a[0], [](double x) { return std::nearbyint(x); });
    case fn_id<Sign>: return monotone_exact(a[0], [](double x) { return x == 0 ? x : std::copysign(1.0, x); });
    case fn_id<IsNan>:
    case fn_id<IsInf>:
    case fn_id<IsFinite>:
    case fn_id<SignBit>: return predicate(fn, a[0]);
    case fn_id<Eq>:
    case fn_id<Ne>:
    case fn_id<Lt>:
    case fn_id<Le>:
    case fn_id<Gt>:
    case fn_id<Ge>: return compare(fn, a[0], a[1]);
    case fn_id<FloorDiv>:
    case fn_id<Remainder>:
    case fn_id<Fmod>: return remainder_like(fn, t, a);
    default: return enclose_elementary(fn, t, a);
  }
}

Enclosed exact_product(const Enclosed& x, const Enclosed& y) {
  Enclosed p = multiply(DType::f64, x, y);
  auto infinite = [](const Enclosed& e) { return e.lo == e.hi && std::isinf(e.lo); };
  if (empty(p) || infinite(x) || infinite(y)) return p;
  p.lo = std::min(p.lo, std::numeric_limits<double>::max());
  p.hi = std::max(p.hi, std::numeric_limits<double>::lowest());
  return p;
}

Enclosed hull(const Enclosed& a, const Enclosed& b, DType t) {
  if (is_float(t)) {
    if (empty(a)) return Enclosed::real(b.lo, b.hi, a.nan || b.nan);
    if (empty(b)) return Enclosed::real(a.lo, a.hi, a.nan || b.nan);
    return Enclosed::real(least(a.lo, b.lo), greatest(a.hi, b.hi), a.nan || b.nan);
  }
  auto less = [&](std::int64_t x, std::int64_t y) { return is_signed(t) ? x < y : static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(y); };
  return Enclosed::integer(less(a.ilo, b.ilo) ? a.ilo : b.ilo, less(a.ihi, b.ihi) ? b.ihi : a.ihi);
}

Enclosed enclose_select(const Enclosed& c, const Enclosed& a, const Enclosed& b, DType t) {
  if (c.ilo == c.ihi) return c.ilo ? a : b;
  return hull(a, b, t);
}

Enclosed enclose_convert(const Enclosed& v, DType from, DType to) {
  auto one = [&](Number n) { return Enclosed::point(to, convert(n, from, to)); };
  if (!is_float(from)) {
    if (v.ilo == v.ihi) return one({.i = v.ilo});
    if (is_float(to) || is_bool(from)) return hull(one({.i = v.ilo}), one({.i = v.ihi}), to);
    return whole_range(to);
  }
  if (v.is_point(from)) return one({.f = v.nan ? std::nan("") : v.lo});
  if (is_bool(to)) return Enclosed::integer(v.lo <= 0 && v.hi >= 0 ? 0 : 1, v.nan || v.lo < 0 || v.hi > 0);
  if (is_float(to) && !row(to).has_inf && !empty(v)) {
    // Infinities become NaN; of the finite numbers beside them the greatest saturates.
    if (v.lo == v.hi && std::isinf(v.lo)) return Enclosed::not_a_number();
    constexpr double largest = std::numeric_limits<double>::max();
    Enclosed r = hull(one({.f = std::max(v.lo, -largest)}), one({.f = std::min(v.hi, largest)}), to);
    r.nan = v.nan || std::isinf(v.lo) || std::isinf(v.hi);
    return r;
  }
  Enclosed r = hull(one({.f = v.lo}), one({.f = v.hi}), to);
  if (v.nan) r = hull(r, one({.f = std::nan("")}), to);
  return r;
}

/// The bits of floats of one sign are ordered as the floats are; of other intervals nothing is said.
Enclosed enclose_bitcast(const Enclosed& v, DType from, DType to) {
  const auto one = [&](Number n) { return Enclosed::point(to, bitcast(n, from, to)); };
  if (!is_float(from)) return v.ilo == v.ihi ? one({.i = v.ilo}) : is_float(to) ? Enclosed::anything() : whole_range(to);
  const auto s = stored(v, from);
  if (s.is_point(from)) return one({.f = s.nan ? std::nan("") : s.lo});
  if (is_float(to)) return Enclosed::anything();
  return s.nan || std::signbit(s.lo) ? whole_range(to) : hull(one({.f = s.lo}), one({.f = s.hi}), to);
}

Enclosed stored(const Enclosed& v, DType t) {
  if (!is_float(t) || empty(v)) return v;
  if (row(t).has_inf) return Enclosed::real(round_to(t, v.lo), round_to(t, v.hi), v.nan);
  // Without infinities: they become NaN, and so does what overflows the wider format it was kept in.
  constexpr double widest = std::numeric_limits<float>::max();
  const bool beyond = v.hi > widest || v.lo < -widest;
  return Enclosed::real(round_to(t, std::clamp(v.lo, -widest, widest)), round_to(t, std::clamp(v.hi, -widest, widest)), v.nan || beyond);
}

bool contains(const Enclosed& e, DType t, Number got) {
  if (is_float(t)) return std::isnan(got.f) ? e.nan : !empty(e) && !below(got.f, e.lo) && !below(e.hi, got.f);
  if (is_signed(t)) return e.ilo <= got.i && got.i <= e.ihi;
  return static_cast<std::uint64_t>(e.ilo) <= got.u && got.u <= static_cast<std::uint64_t>(e.ihi);
}

bool is_wide(const Enclosed& e, DType t) {
  if (!is_float(t)) return e.ilo != e.ihi;
  if (e.nan) return !empty(e);
  if (e.lo == e.hi) return false;
  const double width = e.hi - e.lo, size = std::max(std::fabs(e.lo), std::fabs(e.hi));
  return !(width <= size * 0x1p-4) && !(width <= 64 * ulp(t, 0));
}

double ulp(DType t, double v) {
  const auto& r = row(t);
  const int e = v == 0 || !std::isfinite(v) ? r.emin : std::max(std::ilogb(v), r.emin);
  return std::scalbn(1.0, e - (r.precision - 1));
}

double quantum(double v) {
  if (v == 0) return inf;
  const auto bits = std::bit_cast<std::uint64_t>(v);
  const auto mantissa = bits & 0xfffffffffffff;
  const int exponent = std::max(static_cast<int>(bits >> 52 & 0x7ff), 1) - 1075;
  return std::scalbn(1.0, exponent + (mantissa ? std::countr_zero(mantissa) : 52));
}

void SumFacts::add(const Enclosed& e) {
  ++terms;
  nan = nan || e.nan;
  if (empty(e)) return;
  all_minus_zero = all_minus_zero && e.lo == 0 && std::signbit(e.lo);  // or may be: a zero may have either sign
  if (e.hi == inf) plus_inf = true;
  if (e.lo == -inf) minus_inf = true;
  if (std::isinf(e.lo) || std::isinf(e.hi)) {
    if (e.lo != e.hi) nan = true, plus_inf = minus_inf = true;  // finite or infinite: give up the bounds
    return;
  }
  const double mid = e.lo == e.hi ? e.lo : e.lo / 2 + e.hi / 2;
  centre += mid;
  magnitude += std::fabs(mid);
  if (e.lo != e.hi) radius += std::nextafter(std::max(e.hi - mid, mid - e.lo), inf), quantum = -1;
  else if (quantum >= 0 && mid != 0) quantum = quantum == 0 ? interp::quantum(mid) : std::min(quantum, interp::quantum(mid));
}

Enclosed sum_interval(double centre, double radius, double magnitude, double q, std::int64_t terms, DType acc, const Accumulation& how, int roundings) {
  const int p = row(acc).precision;
  const double largest = std::scalbn(2 - std::scalbn(1.0, 1 - p), row(acc).emax);
  const bool exact = radius == 0 && q >= 0 && (q == 0 || magnitude <= std::scalbn(q, p)) && magnitude < largest && (q == 0 || q >= (how.flushes ? 0x1p-126 : ulp(acc, 0)));
  if (exact) return Enclosed::real(centre, centre);
  const double u = std::scalbn(1.0, how.truncates ? 1 - p : -p), h = static_cast<double>(how.height + roundings);
  const double gamma = h * u / (1 - h * u), own = static_cast<double>(terms + 2) * 0x1p-53;
  double r = radius * (1 + 2 * own + gamma) + (magnitude + radius) * (gamma + own) * (1 + 0x1p-40);
  if (roundings) r += static_cast<double>(terms) * ulp(acc, 0);  // products that underflow
  if (how.flushes) r += 3 * static_cast<double>(terms) * 0x1p-126;  // terms, products and partial sums
  if (magnitude + radius + r > largest) return Enclosed::anything();
  double lo = centre - r, hi = centre + r;
  if (how.truncates && radius == 0 && std::fabs(centre) == magnitude) {  // terms of one sign: cutting only shrinks
    const double away = magnitude * (u * roundings + 2 * own) + static_cast<double>(terms) * ulp(acc, 0);
    (centre < 0 ? lo : hi) = centre < 0 ? centre - away : centre + away;
  }
  lo = std::nextafter(lo, -inf);
  hi = std::nextafter(hi, inf);
  return Enclosed::real(lo, hi);
}

Enclosed finish_sum(const SumFacts& s, DType acc, const Accumulation& how, int roundings) {
  if (s.plus_inf && s.minus_inf) return s.nan || s.terms > 1 ? Enclosed::anything() : Enclosed::not_a_number();
  if (s.plus_inf || s.minus_inf) {
    // A partial sum of the finite terms may overflow the other way: then inf - inf.
    const bool opposite = s.magnitude + s.radius > std::scalbn(1.0, row(acc).emax);
    return Enclosed::real(s.plus_inf ? inf : -inf, s.plus_inf ? inf : -inf, s.nan || opposite);
  }
  Enclosed e = sum_interval(s.centre, s.radius, s.magnitude, s.quantum, s.terms, acc, how, roundings);
  e.nan = e.nan || s.nan;
  // A zero: exact cancellation gives +0, a sum of -0 alone gives -0 unless it started from +0.
  if (e.lo == 0 && e.hi == 0) e = Enclosed::real(s.all_minus_zero ? -0.0 : 0.0, 0.0, e.nan);
  return e;
}

}  // namespace plumb::interp
