// The error function and its complement.
#include "backends/llvm/internal/elementary.h"

namespace plumb::backends::codegen {

/// x + x·q(x²) for small x, else ±(1 - e^-(t + t·q(t))), t = |x|.
Expr erf_f32(Expr x) {
  const Expr z = x * x, a = abs(x), t = select(a > 4.0, 4.0, a);
  const Expr small = fma(x, polynomial(z, {0x1.5e01bcp-14, -0x1.aaa182p-11, 0x1.54d404p-8, -0x1.b80feep-6, 0x1.ce2e1cp-4, -0x1.812744p-2, 0x1.06eba8p-3}), x);
  const Expr q = polynomial(t, {0x1.7f79d0p-17, -0x1.548d4ap-12, 0x1.de796ep-9, -0x1.859852p-6, 0x1.b33a08p-4, 0x1.453100p-1, 0x1.077a64p-3});
  const Expr large = 1.0 - exp_f32(-fma(t, q, t));
  return select(a < 0.927, small, copysign(large, x));
}

/// e^-x² · p(u) for x >= 0, u = (x - 2)/(x + 2); 2 - that for negative x. x² of an f32 is exact.
Expr erfc_f64(Expr x) {
  const Expr a = abs(x), t = select(a > 12.0, 12.0, a), u = (t - 2.0) / (t + 2.0);
  const Expr p = polynomial(u, {-0x1.2194dfd99d31fp-24, -0x1.658f2a93c1fc0p-22, -0x1.a36918aa53392p-22, 0x1.174d1b367c636p-20, 0x1.edb2062400582p-19, 0x1.89aa7d580871ep-20, -0x1.d2d69b946b853p-17,
                                -0x1.cf11719c1b631p-16, 0x1.cd81eb6e1f5f1p-16, 0x1.6dab68d725027p-13, 0x1.6d66218a55114p-15, -0x1.016b63dbb7d67p-10, -0x1.bc25b0ec6f9cfp-11, 0x1.ca95ed72ee0c9p-8,
                                0x1.e94715c2de522p-9, -0x1.437f0b68d4acfp-4, 0x1.eeea7dc8a3f86p-3, -0x1.b57034efd3e64p-2, 0x1.058671b52c78ep-2});
  const Expr positive = exp_f64(-(t * t)) * p;
  return select(x < 0.0, 2.0 - positive, positive);
}

/// Near 0 the Taylor series, 2/√π · Σ (-1)^n x^(2n+1) / (n!·(2n+1)) up to n = 12; elsewhere nothing cancels in 1 - erfc.
Expr erf_f64(Expr x) {
  const Expr a = abs(x), z = x * x;
  const Expr series = x * polynomial(z, {0x1.9e6ad5e55a730p-34, -0x1.51d7181c5d36dp-30, 0x1.fcc5720624c1cp-27, -0x1.5f742ec43e71ap-23, 0x1.b9e6c9dc651a3p-20, -0x1.f4d25c3e0c2ebp-17, 0x1.f9a326f9b89b7p-14, -0x1.c02db40040b86p-11, 0x1.565bcd0e6a53fp-8, -0x1.b82ce31288b51p-6, 0x1.ce2f21a042be2p-4, -0x1.812746b0379e7p-2, 0x1.20dd750429b6dp+0});
  return select(a < 0.5, series, copysign(1.0 - erfc_f64(a), x));
}

}  // namespace plumb::backends::codegen
