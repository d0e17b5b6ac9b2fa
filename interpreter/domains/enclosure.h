// The Enclosure domain: every answer that a legal lowering may give, as an interval.
//
// Floats: [lo, hi] over the extended reals with -0 below +0, plus "may be NaN"; lo > hi means no number at all. Under
// relaxed an intermediate may be rounded to its dtype or kept wider, so an operation gives the hull of the exact image
// and its rounding; elementary functions widen by their row's ULP bound. Exact results stay points.
// Integers and bools: [ilo, ihi], compared in the dtype's own order; integer arithmetic on anything but points gives the
// dtype's whole range.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "interpreter/domains/accumulation.h"
#include "interpreter/domains/number.h"

namespace plumb::interp {

struct Enclosed {
  union {
    double lo;
    std::int64_t ilo;
  };
  union {
    double hi;
    std::int64_t ihi;
  };
  bool nan = false;   ///< floats: NaN is possible. Integers: an outcome hung on an undecided comparison.
  Enclosed() : lo(0), hi(0) {}
  static Enclosed real(double l, double h, bool n = false) { Enclosed e; e.lo = l; e.hi = h; e.nan = n; return e; }
  static Enclosed integer(std::int64_t l, std::int64_t h) { Enclosed e; e.ilo = l; e.ihi = h; return e; }
  static Enclosed point(DType t, Number v);
  static Enclosed not_a_number();
  static Enclosed anything();   ///< any float
  bool is_point(DType t) const;
};

Enclosed enclose(FnId fn, DType t, std::span<const Enclosed> args);
/// The product of floats before any rounding: finite factors have a finite one, even where no double holds it.
Enclosed exact_product(const Enclosed& x, const Enclosed& y);
Enclosed enclose_convert(const Enclosed& v, DType from, DType to);
Enclosed enclose_bitcast(const Enclosed& v, DType from, DType to);
Enclosed enclose_select(const Enclosed& condition, const Enclosed& a, const Enclosed& b, DType t);
/// Smallest interval that holds both.
Enclosed hull(const Enclosed& a, const Enclosed& b, DType t);
/// What storing in the dtype makes of a value that may have been kept wider.
Enclosed stored(const Enclosed& v, DType t);
/// Whether a stored answer is legal.
bool contains(const Enclosed& e, DType t, Number got);
/// Whether the interval is too wide to say much: wider than 2^-4 of its magnitude, or unbounded, or a number or NaN.
bool is_wide(const Enclosed& e, DType t);

/// Spacing of the dtype's numbers at |v|.
double ulp(DType t, double v);
/// Largest power of two that divides v (infinity for 0).
double quantum(double v);

/// Running facts of a sum of terms whose order a lowering may choose: centre, magnitude, exactness.
struct SumFacts {
  double centre = 0, radius = 0, magnitude = 0, quantum = 0;  // quantum 0: none seen yet
  bool plus_inf = false, minus_inf = false, nan = false, all_minus_zero = true;
  std::int64_t terms = 0;
  void add(const Enclosed& term);
};
/// The enclosure of a sum whose partial sums are kept in `acc` along chains of at most `how.height` additions, each rounded or
/// cut; each term may itself have been rounded `roundings` times more (1 for products that need not be fused).
Enclosed finish_sum(const SumFacts& s, DType acc, const Accumulation& how, int roundings);
/// From the facts alone, for vector code: |centre error| from double arithmetic is added here.
Enclosed sum_interval(double centre, double radius, double magnitude, double quantum, std::int64_t terms, DType acc, const Accumulation& how, int roundings);

}  // namespace plumb::interp
