// Elementary functions, correctly rounded: MPFR computes in 120 bits and says on which side of its answer the exact value lies.
// And floors of huge quotients, in bits enough for all of them.
#include <mpfr.h>

#include <cmath>

#include "interpreter/domains/number.h"

namespace plumb::interp {
namespace {

struct Real {
  mpfr_t v;
  explicit Real(mpfr_prec_t bits) { mpfr_init2(v, bits); }
  ~Real() { mpfr_clear(v); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
};

void sigmoid(mpfr_t r, const mpfr_t x) {  // 1 / (1 + e^-x)
  mpfr_neg(r, x, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

int reciprocal_root(mpfr_t r, const mpfr_t x) {  // IEEE 754's: a zero keeps its sign, which MPFR's drops
  return mpfr_zero_p(x) ? mpfr_ui_div(r, 1, x, MPFR_RNDN) : mpfr_rec_sqrt(r, x, MPFR_RNDN);
}

/// Evaluates with r's precision, correctly rounded to it; gives the sign of what rounding added. (Sigmoid: a few ulps, no sign.)
int evaluate(FnId fn, mpfr_t r, const mpfr_t x, const mpfr_t y) {
  using namespace scalar;
  if (fn == fn_id<Exp>) return mpfr_exp(r, x, MPFR_RNDN);
  if (fn == fn_id<Exp2>) return mpfr_exp2(r, x, MPFR_RNDN);
  if (fn == fn_id<Expm1>) return mpfr_expm1(r, x, MPFR_RNDN);
  if (fn == fn_id<Log>) return mpfr_log(r, x, MPFR_RNDN);
  if (fn == fn_id<Log2>) return mpfr_log2(r, x, MPFR_RNDN);
  if (fn == fn_id<Log10>) return mpfr_log10(r, x, MPFR_RNDN);
  if (fn == fn_id<Log1p>) return mpfr_log1p(r, x, MPFR_RNDN);
  if (fn == fn_id<Sin>) return mpfr_sin(r, x, MPFR_RNDN);
  if (fn == fn_id<Cos>) return mpfr_cos(r, x, MPFR_RNDN);
  if (fn == fn_id<Tan>) return mpfr_tan(r, x, MPFR_RNDN);
  if (fn == fn_id<Asin>) return mpfr_asin(r, x, MPFR_RNDN);
  if (fn == fn_id<Acos>) return mpfr_acos(r, x, MPFR_RNDN);
  if (fn == fn_id<Atan>) return mpfr_atan(r, x, MPFR_RNDN);
  if (fn == fn_id<Sinh>) return mpfr_sinh(r, x, MPFR_RNDN);
  if (fn == fn_id<Cosh>) return mpfr_cosh(r, x, MPFR_RNDN);
  if (fn == fn_id<Tanh>) return mpfr_tanh(r, x, MPFR_RNDN);
  if (fn == fn_id<Asinh>) return mpfr_asinh(r, x, MPFR_RNDN);
  if (fn == fn_id<Acosh>) return mpfr_acosh(r, x, MPFR_RNDN);
  if (fn == fn_id<Atanh>) return mpfr_atanh(r, x, MPFR_RNDN);
  if (fn == fn_id<Erf>) return mpfr_erf(r, x, MPFR_RNDN);
  if (fn == fn_id<Erfc>) return mpfr_erfc(r, x, MPFR_RNDN);
  if (fn == fn_id<Cbrt>) return mpfr_cbrt(r, x, MPFR_RNDN);
  if (fn == fn_id<Rsqrt>) return reciprocal_root(r, x);
  if (fn == fn_id<Sigmoid>) return sigmoid(r, x), 0;
  if (fn == fn_id<Sqrt>) return mpfr_sqrt(r, x, MPFR_RNDN);
  if (fn == fn_id<Hypot>) return mpfr_hypot(r, x, y, MPFR_RNDN);
  if (fn == fn_id<Pow>) return mpfr_pow(r, x, y, MPFR_RNDN);
  if (fn == fn_id<Atan2>) return mpfr_atan2(r, x, y, MPFR_RNDN);
  fail_internal("not an elementary function");
}

/// A double nudged to odd, so that rounding it again to 51 bits or fewer is rounding once.
double to_odd(const mpfr_t r) {
  const double d = mpfr_get_d(r, MPFR_RNDZ);
  if (mpfr_cmp_d(r, d) == 0 || std::isinf(d)) return d;
  std::uint64_t bits;
  __builtin_memcpy(&bits, &d, 8);
  bits |= 1;
  double odd;
  __builtin_memcpy(&odd, &bits, 8);
  return odd;
}

double rounded(DType t, const mpfr_t r) { return t == DType::f64 ? mpfr_get_d(r, MPFR_RNDN) : round_to(t, to_odd(r)); }

/// r moved by a quarter of its last place toward the exact value: on the same side of every number with fewer bits, a tie of
/// some dtype among them, from which r itself may not tell the exact value apart.
double rounded_toward(DType t, const mpfr_t r, int added) {
  if (added == 0) return rounded(t, r);
  Real moved(mpfr_get_prec(r) + 2);
  mpfr_set(moved.v, r, MPFR_RNDN);
  added > 0 ? mpfr_nextbelow(moved.v) : mpfr_nextabove(moved.v);
  return rounded(t, moved.v);
}

bool settled(DType t, const mpfr_t r) {
  Real low(mpfr_get_prec(r)), high(mpfr_get_prec(r));
  mpfr_set(low.v, r, MPFR_RNDN);
  mpfr_set(high.v, r, MPFR_RNDN);
  for (int k = 0; k < 4; ++k) mpfr_nextbelow(low.v), mpfr_nextabove(high.v);
  return rounded(t, low.v) == rounded(t, high.v);
}

}  // namespace

double exact_elementary(FnId fn, DType t, double x, double y) {
  constexpr mpfr_prec_t most = 4000;
  for (mpfr_prec_t bits = 120;; bits *= 2) {
    Real a(53), b(53), r(bits);
    mpfr_set_d(a.v, x, MPFR_RNDN);
    mpfr_set_d(b.v, y, MPFR_RNDN);
    const int added = evaluate(fn, r.v, a.v, b.v);
    if (mpfr_nan_p(r.v)) return std::nan("");
    if (mpfr_inf_p(r.v) || mpfr_zero_p(r.v)) return round_to(t, mpfr_get_d(r.v, MPFR_RNDN));  // NaN where there is no infinity
    if (fn != fn_id<scalar::Sigmoid>) return rounded_toward(t, r.v, added);
    if (bits > most || settled(t, r.v)) return rounded(t, r.v);
  }
}

double exact_floor_quotient(DType t, double x, double y) {
  Real a(53), b(53), n(2200);  // more bits than the integer part of any quotient of doubles has: rounding down stops at the floor
  mpfr_set_d(a.v, x, MPFR_RNDN);
  mpfr_set_d(b.v, y, MPFR_RNDN);
  mpfr_div(n.v, a.v, b.v, MPFR_RNDD);
  mpfr_floor(n.v, n.v);
  return t == DType::f64 ? mpfr_get_d(n.v, MPFR_RNDN) : round_to(t, to_odd(n.v));
}

double approximate(FnId fn, double x, double y) {
  using namespace scalar;
  switch (fn) {
    case fn_id<Exp>: return std::exp(x);
    case fn_id<Exp2>: return std::exp2(x);
    case fn_id<Expm1>: return std::expm1(x);
    case fn_id<Log>: return std::log(x);
    case fn_id<Log2>: return std::log2(x);
    case fn_id<Log10>: return std::log10(x);
    case fn_id<Log1p>: return std::log1p(x);
    case fn_id<Sin>: return std::sin(x);
    case fn_id<Cos>: return std::cos(x);
    case fn_id<Tan>: return std::tan(x);
    case fn_id<Asin>: return std::asin(x);
    case fn_id<Acos>: return std::acos(x);
    case fn_id<Atan>: return std::atan(x);
    case fn_id<Sinh>: return std::sinh(x);
    case fn_id<Cosh>: return std::cosh(x);
    case fn_id<Tanh>: return std::tanh(x);
    case fn_id<Asinh>: return std::asinh(x);
    case fn_id<Acosh>: return std::acosh(x);
    case fn_id<Atanh>: return std::atanh(x);
    case fn_id<Erf>: return std::erf(x);
    case fn_id<Erfc>: return std::erfc(x);
    case fn_id<Cbrt>: return std::cbrt(x);
    case fn_id<Sqrt>: return std::sqrt(x);
    case fn_id<Rsqrt>: return x == 0 ? 1 / x : 1 / std::sqrt(x);
    case fn_id<Sigmoid>: return x < -40 ? std::exp(x) : 1 / (1 + std::exp(-x));
    case fn_id<Pow>: return std::pow(x, y);
    case fn_id<Atan2>: return std::atan2(x, y);
    case fn_id<Hypot>: return std::hypot(x, y);
    default: fail_internal("not an elementary function");
  }
}

}  // namespace plumb::interp
