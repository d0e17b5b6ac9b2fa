#include "interpreter/domains/allowances.h"

#include <algorithm>
#include <cmath>

namespace plumb::interp {
namespace {

constexpr double least_normal = 0x1p-126, inf = HUGE_VAL;

bool flushes(const Allowances& allow, DType t) { return allow.ftz && is_float(t) && t != DType::f64; }

/// Down to the zero beside the subnormal numbers that it holds; one that goes on past zero holds that already.
Enclosed flushed(Enclosed v) {
  if (v.lo > 0 && v.lo < least_normal) v.lo = 0.0;
  if (v.hi < 0 && v.hi > -least_normal) v.hi = -0.0;
  return v;
}

Enclosed cut_to_tf32(Enclosed v) {
  if (!(v.lo <= v.hi)) return v;
  constexpr double greatest = 0x1.ffcp127;   // 11 significant bits
  auto down = [](double x) { return std::isinf(x) ? x : x < -greatest ? -inf : x - std::fabs(x) * 0x1p-10 - (x == 0 ? 0 : 0x1p-136); };
  auto up = [](double x) { return std::isinf(x) ? x : x > greatest ? inf : x + std::fabs(x) * 0x1p-10 + (x == 0 ? 0 : 0x1p-136); };
  // A number of so few bits stays as it is.
  if (v.lo == v.hi && std::fabs(v.lo) >= least_normal && quantum(v.lo) >= std::scalbn(1.0, std::ilogb(v.lo) - 10)) return v;
  const double lo = v.lo > 0 ? std::max(0.0, down(v.lo)) : down(v.lo), hi = v.hi < 0 ? std::min(-0.0, up(v.hi)) : up(v.hi);
  return Enclosed::real(lo, hi, v.nan);
}

bool elementary(FnId fn) { return row(fn).ulp > 0.5; }

Enclosed approximated(DType t, Enclosed v) {
  if (!(v.lo <= v.hi)) return v;
  const double largest = std::scalbn(2 - std::scalbn(1.0, 1 - row(t).precision), row(t).emax);
  auto slack = [](double x) { return std::isinf(x) ? 0 : std::max(std::fabs(x) * 0x1p-10, 0x1p-20); };
  const double lo = v.lo - slack(v.lo), hi = v.hi + slack(v.hi);
  return Enclosed::real(lo < -largest ? -inf : lo, hi > largest ? inf : hi, v.nan || (!row(t).has_inf && (hi > largest || lo < -largest)));
}

}  // namespace

Enclosed enclose_allowed(const Allowances& allow, FnId fn, DType t, std::span<const Enclosed> args) {
  if (!is_float(t) || t == DType::f64) return enclose(fn, t, args);
  Enclosed read[3];
  for (std::size_t k = 0; k < args.size(); ++k) read[k] = flushes(allow, t) ? flushed(args[k]) : args[k];
  auto r = enclose(fn, t, std::span<const Enclosed>(read, args.size()));
  if (!is_float(result_dtype(fn, t))) return r;
  if (allow.approximate && elementary(fn)) r = approximated(t, r);
  return flushes(allow, t) ? flushed(r) : r;
}

Enclosed allowed_factor(const Allowances& allow, DType t, const Enclosed& v) {
  auto r = flushes(allow, t) ? flushed(v) : v;
  return allow.tf32 && t == DType::f32 ? cut_to_tf32(r) : r;
}

Accumulation allowed_accumulation(const Allowances& allow, DType t, Accumulation how, bool contraction) {
  how.flushes = how.flushes || flushes(allow, t);
  how.truncates = how.truncates || (contraction && allow.tf32 && t == DType::f32);
  return how;
}

}  // namespace plumb::interp
