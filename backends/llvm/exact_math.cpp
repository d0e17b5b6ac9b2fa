#include "backends/llvm/exact_math.h"

#include <mpfr.h>

#include <cmath>

#include "ir/scalar/dtype.h"
#include "ir/scalar/functions.h"

namespace plumb::backends::codegen {
namespace {

using One = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using LongDouble = long double (*)(long double);
using namespace scalar;

struct Function {
  FnId fn;
  One exact;
  LongDouble close;   ///< within a few units of its own last place
};

constexpr Function functions[] = {
    {fn_id<Exp>, mpfr_exp, std::exp},      {fn_id<Exp2>, mpfr_exp2, std::exp2},    {fn_id<Expm1>, mpfr_expm1, std::expm1}, {fn_id<Log>, mpfr_log, std::log},       {fn_id<Log2>, mpfr_log2, std::log2},
    {fn_id<Log10>, mpfr_log10, std::log10}, {fn_id<Log1p>, mpfr_log1p, std::log1p}, {fn_id<Sin>, mpfr_sin, std::sin},       {fn_id<Cos>, mpfr_cos, std::cos},       {fn_id<Tan>, mpfr_tan, std::tan},
    {fn_id<Asin>, mpfr_asin, std::asin},   {fn_id<Acos>, mpfr_acos, std::acos},    {fn_id<Atan>, mpfr_atan, std::atan},    {fn_id<Sinh>, mpfr_sinh, std::sinh},    {fn_id<Cosh>, mpfr_cosh, std::cosh},
    {fn_id<Tanh>, mpfr_tanh, std::tanh},   {fn_id<Asinh>, mpfr_asinh, std::asinh}, {fn_id<Acosh>, mpfr_acosh, std::acosh}, {fn_id<Atanh>, mpfr_atanh, std::atanh}, {fn_id<Erf>, mpfr_erf, std::erf},
    {fn_id<Erfc>, mpfr_erfc, std::erfc},   {fn_id<Cbrt>, mpfr_cbrt, std::cbrt}};

const Function* find(FnId fn) {
  for (const auto& f : functions)
    if (f.fn == fn) return &f;
  return nullptr;
}

class Real {
 public:
  explicit Real(mpfr_prec_t bits) { mpfr_init2(v_, bits); }
  Real(mpfr_prec_t bits, double x) : Real(bits) { mpfr_set_d(v_, x, MPFR_RNDN); }
  ~Real() { mpfr_clear(v_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  operator mpfr_ptr() { return v_; }

 private:
  mpfr_t v_;
};

/// 1/(1 + e^-x) in more and more bits until they decide; the only exact value is at 0.
int sigmoid(mpfr_ptr r, mpfr_srcptr x) {
  if (mpfr_zero_p(x)) return mpfr_set_d(r, 0.5, MPFR_RNDN);
  for (mpfr_prec_t bits = 100;; bits *= 2) {
    Real e(bits);
    mpfr_neg(e, x, MPFR_RNDN);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_add_ui(e, e, 1, MPFR_RNDN);
    mpfr_ui_div(e, 1, e, MPFR_RNDN);
    if (!mpfr_regular_p(static_cast<mpfr_ptr>(e)) || mpfr_can_round(e, bits - 4, MPFR_RNDN, MPFR_RNDN, mpfr_get_prec(r))) return mpfr_set(r, e, MPFR_RNDN);
  }
}

/// IEEE 754's rSqrt: a zero keeps its sign, which MPFR's function drops.
int reciprocal_root(mpfr_ptr r, mpfr_srcptr x) { return mpfr_zero_p(x) ? mpfr_ui_div(r, 1, x, MPFR_RNDN) : mpfr_rec_sqrt(r, x, MPFR_RNDN); }

int evaluate(FnId fn, mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) {
  if (const auto* f = find(fn)) return f->exact(r, x, MPFR_RNDN);
  if (fn == fn_id<Rsqrt>) return reciprocal_root(r, x);
  if (fn == fn_id<Sigmoid>) return sigmoid(r, x);
  if (fn == fn_id<Pow>) return mpfr_pow(r, x, y, MPFR_RNDN);
  if (fn == fn_id<Hypot>) return mpfr_hypot(r, x, y, MPFR_RNDN);
  return mpfr_atan2(r, x, y, MPFR_RNDN);
}

/// Rounded to the dtype's precision in MPFR's unbounded range, then once more only where the dtype is subnormal: MPFR
/// undoes the first rounding by its direction.
double by_mpfr(FnId fn, DType t, double x, double y) {
  const auto& format = row(t);
  Real a(53, x), b(53, y), r(format.precision);
  int direction = evaluate(fn, r, a, b);
  const auto emin = mpfr_get_emin();
  mpfr_set_emin(format.emin - format.precision + 2);
  direction = mpfr_check_range(r, direction, MPFR_RNDN);
  mpfr_subnormalize(r, direction, MPFR_RNDN);
  const double result = mpfr_get_d(r, MPFR_RNDN);
  mpfr_set_emin(emin);
  return result;
}

}  // namespace

double correctly_rounded(std::int32_t fn, std::int32_t dtype, double x, double y) {
  const auto id = static_cast<FnId>(fn);
  const auto t = static_cast<DType>(dtype);
  const auto* f = find(id);
  if (t == DType::f64 && f) {  // most doubles are decided by 64 bits
    const long double v = f->close(static_cast<long double>(x)), error = std::fabs(v) * 0x1p-59L;
    const auto low = static_cast<double>(v - error), high = static_cast<double>(v + error);
    if (low == high && std::isnormal(low)) return low;
  }
  return by_mpfr(id, t, x, y);
}

}  // namespace plumb::backends::codegen
