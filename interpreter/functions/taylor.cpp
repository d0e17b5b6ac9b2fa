#include "interpreter/functions/taylor.h"

#include "interpreter/domains/number.h"

namespace plumb::interp {
namespace {

using namespace scalar;
constexpr std::size_t terms = taylor_terms;

Interval unknown() { return {std::nan(""), std::nan("")}; }
Interval number(std::size_t k) { return static_cast<double>(k); }

/// f at the ends of x, each correctly rounded to a double, so half a unit off at most: all of f(x) where f is monotone there.
Interval monotone(FnId fn, Interval x) {
  const double a = exact_elementary(fn, DType::f64, x.lo, 0), b = x.lo == x.hi ? a : exact_elementary(fn, DType::f64, x.hi, 0);
  return std::isnan(a) || std::isnan(b) ? unknown() : outward(std::min(a, b), std::max(a, b));
}
/// |slope| <= 1, |value| <= 1.
Interval circular(FnId fn, Interval x) {
  const double middle = x.lo / 2 + x.hi / 2, reach = up(x.hi - x.lo), v = exact_elementary(fn, DType::f64, middle, 0);
  if (x.lo == x.hi) return outward(v, v);
  return {std::max(-1.0, down(down(v) - reach)), std::min(1.0, up(up(v) + reach))};
}
/// Across a pole the tangent falls from the positive to the negative numbers; an interval shorter than π holds one pole at most.
Interval tangent(Interval x) {
  if (!(x.hi - x.lo < 1)) return unknown();
  const double a = exact_elementary(fn_id<Tan>, DType::f64, x.lo, 0), b = exact_elementary(fn_id<Tan>, DType::f64, x.hi, 0);
  return a <= b ? outward(a, b) : unknown();
}

/// ln 2 = 0.69314718055994530941…, log2 e = 1.44269504088896340735…, log10 e = 0.43429448190325182765…, to the nearest double.
constexpr double ln2 = 0x1.62e42fefa39efp-1, log2_e = 0x1.71547652b82fep+0, log10_e = 0x1.bcb7b1526e50ep-2;

/// f' = rate·f.
Jet exponential(Interval f, Interval rate) {
  Jet j;
  j[0] = f;
  for (std::size_t k = 0; k < terms; ++k) j[k + 1] = rate * j[k] / number(k + 1);
  return j;
}

/// f' = g, g' = sign·f.
Jet wave(Interval f, Interval g, double sign, double w) {
  Jet j;
  Interval other = g;
  j[0] = f;
  for (std::size_t k = 0; k < terms; ++k) {
    const Interval next = Interval(w) * other / number(k + 1);
    other = Interval(sign * w) * j[k] / number(k + 1);
    j[k + 1] = next;
  }
  return j;
}

/// f' = a + b·f + c·f².
Jet riccati(Interval f, double a, double b, double c, double w) {
  Jet j;
  j[0] = f;
  for (std::size_t k = 0; k < terms; ++k) {
    Interval square = 0.0;
    for (std::size_t i = 0; i <= k; ++i) square = square + j[i] * j[k - i];
    Interval slope = Interval(c) * square + Interval(b) * j[k];
    if (k == 0) slope = slope + Interval(a);
    j[k + 1] = Interval(w) * slope / number(k + 1);
  }
  return j;
}

/// g = q^a for q(u) = q0 + q1·u + q2·u²: q·g' = a·q'·g, so k·q0·g_k = Σ_{i=1,2} (a·i - (k - i))·q_i·g_{k-i}.
Jet power_of(Interval q0, Interval q1, Interval q2, Interval a, Interval g0) {
  Jet g;
  g[0] = g0;
  for (std::size_t k = 1; k <= terms; ++k) {
    Interval sum = (a - number(k - 1)) * q1 * g[k - 1];
    if (k > 1) sum = sum + (Interval(2.0) * a - number(k - 2)) * q2 * g[k - 2];
    g[k] = sum / (number(k) * q0);
  }
  return g;
}

/// f' = scale·g.
Jet integral(Interval f, const Jet& g, Interval scale) {
  Jet j;
  j[0] = f;
  for (std::size_t k = 0; k < terms; ++k) j[k + 1] = scale * g[k] / number(k + 1);
  return j;
}

Jet reciprocal(Interval q0, Interval q1, Interval q2) { return power_of(q0, q1, q2, -1.0, Interval(1.0) / q0); }
Jet reciprocal_root(Interval q0, Interval q1, Interval q2) { return power_of(q0, q1, q2, -0.5, Interval(1.0) / sqrt(q0)); }

/// g = e^-x²: g' = -2·x·g with x = x0 + w·u. f32 arguments' squares are doubles; the monotone side is the one that x lies on.
Jet gauss(Interval x, double w) {
  const double a = exact_elementary(fn_id<Exp>, DType::f64, -(x.lo * x.lo), 0), b = exact_elementary(fn_id<Exp>, DType::f64, -(x.hi * x.hi), 0);
  Jet g;
  g[0] = outward(std::min(a, b), std::max(a, b));
  for (std::size_t k = 0; k < terms; ++k) {
    Interval sum = x * g[k];
    if (k > 0) sum = sum + Interval(w) * g[k - 1];
    g[k + 1] = Interval(-2 * w) * sum / number(k + 1);
  }
  return g;
}

Jet tail_of(FnId fn, Interval x, double w) {
  const double two_over_root_pi = 0x1.20dd750429b6dp+0;  // 1.12837916709551257390…
  Jet j = integral(monotone(fn, x), gauss(x, w), Interval(w) * outward(two_over_root_pi, two_over_root_pi));
  if (fn == fn_id<Erfc>)
    for (std::size_t k = 1; k <= terms; ++k) j[k] = -j[k];
  return j;
}

Jet logarithm(FnId fn, Interval x, double w) {
  const Interval q0 = fn == fn_id<Log1p> ? x + Interval(1.0) : x;
  const Interval scale = fn == fn_id<Log2> ? outward(log2_e, log2_e) : fn == fn_id<Log10> ? outward(log10_e, log10_e) : Interval(1.0);
  return integral(monotone(fn, x), reciprocal(q0, w, 0.0), Interval(w) * scale);
}

/// Inverses: the slope is a power of a quadratic, 1 ± x² or x² - 1, kept as a product where it may cancel.
Jet inverse(FnId fn, Interval x, double w) {
  const Interval one = 1.0, f = monotone(fn, x), down_branch = (one - x) * (one + x), up_branch = one + x * x, q1 = Interval(2 * w) * x, q2 = w * w;
  switch (fn) {
    case fn_id<Asin>: return integral(f, reciprocal_root(down_branch, -q1, -q2), w);
    case fn_id<Acos>: return integral(f, reciprocal_root(down_branch, -q1, -q2), -w);
    case fn_id<Atan>: return integral(f, reciprocal(up_branch, q1, q2), w);
    case fn_id<Atanh>: return integral(f, reciprocal(down_branch, -q1, -q2), w);
    case fn_id<Asinh>: return integral(f, reciprocal_root(up_branch, q1, q2), w);
    default: return integral(f, reciprocal_root((x - one) * (x + one), q1, q2), w);  // acosh
  }
}

}  // namespace

bool has_taylor(FnId fn) { return fn == fn_id<Sqrt> || (plumb::row(fn).arity == 1 && plumb::row(fn).ulp > 0.5 && plumb::row(fn).takes == Takes::floating); }

Jet taylor(FnId fn, Interval x, double w) {
  switch (fn) {
    case fn_id<Exp>: return exponential(monotone(fn, x), w);
    case fn_id<Exp2>: return exponential(monotone(fn, x), Interval(w) * outward(ln2, ln2));
    case fn_id<Expm1>: {
      Jet j = exponential(monotone(fn_id<Exp>, x), w);
      j[0] = monotone(fn, x);
      return j;
    }
    case fn_id<Sigmoid>: return riccati(monotone(fn, x), 0, 1, -1, w);
    case fn_id<Tanh>: return riccati(monotone(fn, x), 1, 0, -1, w);
    case fn_id<Tan>: return riccati(tangent(x), 1, 0, 1, w);
    case fn_id<Sin>: return wave(circular(fn, x), circular(fn_id<Cos>, x), -1, w);
    case fn_id<Cos>: {
      const Interval s = circular(fn_id<Sin>, x);
      return wave(circular(fn, x), -s, -1, w);
    }
    case fn_id<Sinh>: return wave(monotone(fn, x), monotone(fn_id<Cosh>, x), 1, w);
    case fn_id<Cosh>: return wave(monotone(fn, x), monotone(fn_id<Sinh>, x), 1, w);
    case fn_id<Cbrt>: return power_of(x, w, 0.0, Interval(1.0) / Interval(3.0), monotone(fn, x));
    case fn_id<Sqrt>: return power_of(x, w, 0.0, 0.5, monotone(fn, x));
    case fn_id<Rsqrt>: return power_of(x, w, 0.0, -0.5, monotone(fn, x));
    case fn_id<Log>:
    case fn_id<Log2>:
    case fn_id<Log10>:
    case fn_id<Log1p>: return logarithm(fn, x, w);
    case fn_id<Erf>:
    case fn_id<Erfc>: return tail_of(fn, x, w);
    default: return inverse(fn, x, w);
  }
}

}  // namespace plumb::interp
