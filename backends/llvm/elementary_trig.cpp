// Circular functions and their inverses, in double for f32.
#include <cmath>

#include "backends/llvm/internal/elementary.h"

namespace plumb::backends::codegen {
namespace {

constexpr double pi = 0x1.921fb54442d18p+1, half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;

Expr sine(Expr r, Expr z) { return fma(r * z, polynomial(z, {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6}), r); }
Expr cosine(Expr z) { return fma(z, polynomial(z, {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5}), 1.0); }

}  // namespace

/// x = n·π/2 + r, |r| <= π/4; n's low bits choose function and sign. Beyond 2^30 the machine's own function.
Expr trig_f64(Trig which, Expr x, const Calls& calls) {
  const Expr shifted = fma(x, 1.0 / half_pi, 0x1.8p52), n = shifted - 0x1.8p52, bits = shifted.as_i64();
  const Expr r = fma(n, -half_pi_low, fma(n, -half_pi, x)), z = r * r, s = sine(r, z), c = cosine(z);
  const Expr quadrant = which == Trig::cosine ? bits + bits.k(1) : bits;
  const Expr swapped = ne(quadrant & quadrant.k(1), quadrant.k(0));
  Expr result = x;
  if (which == Trig::tangent) {
    result = select(swapped, -c / s, s / c);
  } else {
    const Expr sign = (quadrant & quadrant.k(2)).shl(62), v = select(swapped, c, s);
    result = (v.as_i64() ^ sign).as_f64();
  }
  if (which != Trig::cosine) result = select(eq(x, 0), x, result);
  const char* name = which == Trig::sine ? "sin" : which == Trig::cosine ? "cos" : "tan";
  return unless(!(abs(x) < 0x1p30), result, [&] { return x.with(calls.function(*x.b, name, {x.v})); });
}

namespace {

/// atan(t) = t + t³·q(t²) for t in [0, 1].
Expr atan_unit(Expr t) {
  const Expr z = t * t;
  const Expr q = polynomial(z, {-0x1.99d7f89a18033p-15, 0x1.ffa7d10a97cd8p-12, -0x1.2ddd091814677p-9, 0x1.c38089d829b44p-8, -0x1.e6a39cb6f47bfp-7, 0x1.9a25655d4bd8fp-6, -0x1.20b7600c4e23ap-5,
                                0x1.6873f2cd16a8fp-5, -0x1.a4f0ec21005f7p-5, 0x1.df2bf585d99f1p-5, -0x1.10cbca978c7b6p-4, 0x1.3b09962a57b90p-4, -0x1.745c0e9913a0ep-4, 0x1.c71c5fe3314d0p-4,
                                -0x1.249248c76bc1ap-3, 0x1.99999997aa504p-3, -0x1.5555555553855p-2});
  return fma(t * z, q, t);
}

}  // namespace

/// The angle in the first octant from the smaller over the larger magnitude, then reflected as the signs say.
Expr atan2_f64(Expr y, Expr x) {
  const Expr ay = abs(y), ax = abs(x), steep = ay > ax;
  const Expr low = select(steep, ax, ay), high = select(steep, ay, ax);
  // 0/0 and inf/inf are the angles of 0/1 and 1/1.
  const Expr ratio = select(eq(low, high), select(eq(low, 0), 0.0, low.c(1)), low / high);
  const Expr t = select(is_nan(x) | is_nan(y), x + y, ratio);
  Expr angle = atan_unit(t);
  angle = select(steep, half_pi - angle, angle);
  angle = select(below_zero(x.as_i64()), pi - angle, angle);
  return copysign(angle, y);
}

Expr atan_f64(Expr x) { return atan2_f64(x, x.c(1)); }
Expr asin_f64(Expr x) { return atan2_f64(x, sqrt((1.0 - x) * (1.0 + x))); }
Expr acos_f64(Expr x) { return atan2_f64(sqrt((1.0 - x) * (1.0 + x)), x); }

}  // namespace plumb::backends::codegen
