// The quantile that normal random numbers are made of, against the normal distribution function in 300 bits by MPFR.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>

#include "interpreter/tensor/evaluate.h"
#include "ir/tensor/ops/random_distributions.h"

namespace plumb::interp {
namespace {

/// Quantiles of p = (k + 1/2) 2^-52, as random_normal's record has them.
std::vector<double> quantiles(const std::vector<std::uint64_t>& ks) {
  ir::Module m;
  m.functions.emplace_back();
  ir::Builder b(m.functions[0]);
  const ir::Type type{DType::f64, {static_cast<std::int64_t>(ks.size())}};
  const auto centred = b.param(type), tail = b.param(type);
  const ir::ValueId results[] = {ir::ops::NormalQuantile{b}.of(centred, tail)};
  b.results(results);
  ir::Literal c(type), t(type);
  for (std::size_t i = 0; i < ks.size(); ++i) {
    const auto units = static_cast<std::int64_t>(2 * ks[i] + 1) - (std::int64_t{1} << 52);
    c.mutable_data<double>()[i] = std::ldexp(static_cast<double>(units), -53);
    t.mutable_data<double>()[i] = std::ldexp(static_cast<double>((std::int64_t{1} << 52) - std::abs(units)), -53);
  }
  const auto r = evaluate(m, std::vector{c, t}).at(0);
  return {r.data<double>(), r.data<double>() + ks.size()};
}

/// The chance of a normal number below -z, z > 0: erfc(z / sqrt 2) / 2.
class Below {
 public:
  Below() {
    for (auto* v : {&z_, &root_, &p_}) mpfr_init2(*v, 300);
    mpfr_sqrt_ui(root_, 2, MPFR_RNDN);
  }
  Below(const Below&) = delete;
  Below& operator=(const Below&) = delete;
  ~Below() {
    for (auto* v : {&z_, &root_, &p_}) mpfr_clear(*v);
  }
  /// Of z (1 + relative), compared with units · 2^-53: its sign.
  int compare(double z, double relative, std::int64_t units) {
    mpfr_set_d(z_, relative, MPFR_RNDN);
    mpfr_add_ui(z_, z_, 1, MPFR_RNDN);
    mpfr_mul_d(z_, z_, z, MPFR_RNDN);
    mpfr_div(z_, z_, root_, MPFR_RNDN);
    mpfr_erfc(p_, z_, MPFR_RNDN);
    return mpfr_cmp_si_2exp(p_, units, -52);   // erfc is twice the chance
  }

 private:
  mpfr_t z_, root_, p_;
};

/// The record's bound: a relative error below 2^-50. As the chance falls with z, it is greater than p a little nearer to 0, and
/// less a little farther away.
void expect_close(const std::vector<std::uint64_t>& ks) {
  const auto z = quantiles(ks);
  Below below;
  for (std::size_t i = 0; i < ks.size(); ++i) {
    const auto units = static_cast<std::int64_t>(2 * ks[i] + 1) - (std::int64_t{1} << 52);
    ASSERT_EQ(z[i] < 0, units < 0) << ks[i];
    const auto tail = (std::int64_t{1} << 52) - std::abs(units);
    EXPECT_GT(below.compare(std::fabs(z[i]), -0x1p-50, tail), 0) << "k " << ks[i] << ", quantile " << z[i];
    EXPECT_LT(below.compare(std::fabs(z[i]), 0x1p-50, tail), 0) << "k " << ks[i] << ", quantile " << z[i];
  }
}

constexpr std::uint64_t all = std::uint64_t{1} << 52;

TEST(NormalQuantile, FarTails) {
  std::vector<std::uint64_t> ks;
  for (std::uint64_t k = 0; k < 4000; ++k) ks.insert(ks.end(), {k, all - 1 - k});
  expect_close(ks);
  EXPECT_GT(quantiles({0})[0], -8.21);   // the record's greatest
}
TEST(NormalQuantile, WhereOneFormulaEndsAndTheNextBegins) {
  std::vector<std::uint64_t> ks;
  const auto around = [&](double p) {
    const auto k = static_cast<std::uint64_t>(std::ldexp(p, 52));
    for (std::uint64_t d = 0; d < 500; ++d) ks.insert(ks.end(), {k - 250 + d, all - 1 - (k - 250 + d)});
  };
  around(0.075);           // 1/2 - 0.425
  around(std::exp(-25.0)); // sqrt(-log p) = 5
  expect_close(ks);
}
TEST(NormalQuantile, Everywhere) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> ks;
  for (int i = 0; i < 4000; ++i) {
    ks.push_back(random() >> 12);
    ks.push_back(random() >> (13 + random() % 50));                       // all magnitudes of the tail
    ks.push_back(all / 2 + (random() >> (14 + random() % 49)));           // and of what is near to the middle
  }
  for (std::uint64_t d = 0; d < 100; ++d) ks.insert(ks.end(), {all / 2 + d, all / 2 - 1 - d});
  expect_close(ks);
}

}  // namespace
}  // namespace plumb::interp
