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

/// atan(t) for t in [0, 1].
Expr atan_unit(Expr t) {
  return t * polynomial(t * t, {-0x1.266367bf8e774p-12, 0x1.2792dd3833638p-9, -0x1.16ca9f656929fp-7, 0x1.4dfb53ea6ce83p-6, -0x1.24e26fec20dadp-5, 0x1.a03d320dcd8b4p-5, -0x1.057c5648749eep-4,
                                0x1.38218f8f7424fp-4, -0x1.73d7fbcaedb85p-4, 0x1.c70d000dcfe8bp-4, -0x1.2491be69b8b33p-3, 0x1.9999947d0c5a2p-3, -0x1.5555554bce363p-2, 0x1.fffffffffd0d4p-1});
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
