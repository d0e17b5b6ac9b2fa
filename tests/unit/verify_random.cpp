// Statistics of random numbers on the cpu target. Each statistic of right numbers is nearly normal (sums of a million terms);
// a bound of 5 of its standard deviations, computed from the distribution, is passed by chance 999,999 times in 1,000,000. The
// keys are fixed, so a test always has the same outcome.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/runtime/executor.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"

namespace plumb {
namespace {

constexpr std::int64_t count = 1 << 20;

ir::Module program(const std::string& call, const std::string& result, int seed, int stream, const std::string& before = "") {
  return ir::parse("func @main() -> (" + result + ") {\n  %k = constant() {value=[" + std::to_string(seed) + "," + std::to_string(stream) + "]} : u64[2]\n" + before + "  %r = " + call + " : " + result + "\n  return %r\n}\n");
}
template <class T> std::vector<double> drawn(const std::string& call, const std::string& result, int seed, int stream = 0, const std::string& before = "") {
  static const auto backend = backends::make_cpu_backend({2, 0});
  lowering::Options o;
  o.target = backend->facts();
  const auto r = backends::Session(lowering::lower(program(call, result, seed, stream, before), o), backend).run({}).at(0);
  return {r.data<T>(), r.data<T>() + r.elements()};
}
std::vector<double> uniform(int seed, int stream = 0) { return drawn<float>("random_uniform(%k) {shape=[1048576], dtype=f32}", "f32[1048576]", seed, stream); }
std::vector<double> normal(int seed, int stream = 0) { return drawn<double>("random_normal(%k) {shape=[1048576], dtype=f64}", "f64[1048576]", seed, stream); }

/// The mean of f over the numbers lies within 5 standard deviations of what it should be.
template <class F> void expect_mean(const std::vector<double>& xs, double expected, double variance_of_one, F f, const char* what) {
  double sum = 0;
  for (double x : xs) sum += f(x);
  const double n = static_cast<double>(xs.size());
  EXPECT_NEAR(sum / n, expected, 5 * std::sqrt(variance_of_one / n)) << what;
}
double power(double x, int k) { return k == 0 ? 1 : x * power(x, k - 1); }

TEST(Random, UniformMoments) {
  for (int seed : {0, 1, 2026}) {
    const auto xs = uniform(seed);
    for (double x : xs) ASSERT_TRUE(x >= 0 && x < 1) << x;
    for (int k = 1; k <= 4; ++k) {
      const double mean = 1.0 / (k + 1), second = 1.0 / (2 * k + 1);   // of x^k and x^2k, over [0, 1]
      expect_mean(xs, mean, second - mean * mean, [&](double x) { return power(x, k); }, "power");
    }
    expect_mean(xs, 1.0 / 12, 1.0 / 180, [](double x) { return power(x - 0.5, 2); }, "variance");
  }
}

/// Pearson's statistic of equally likely cells has the mean cells - 1 and the variance 2 (cells - 1)(1 - 1/n).
void expect_even(const std::vector<std::int64_t>& hits, const char* what) {
  double n = 0, statistic = 0;
  for (auto h : hits) n += static_cast<double>(h);
  const double expected = n / static_cast<double>(hits.size()), free = static_cast<double>(hits.size()) - 1;
  for (auto h : hits) statistic += power(static_cast<double>(h) - expected, 2) / expected;
  EXPECT_NEAR(statistic, free, 5 * std::sqrt(2 * free)) << what;
}

TEST(Random, UniformFillsAllCellsAlike) {
  for (int seed : {0, 7}) {
    const auto xs = uniform(seed);
    std::vector<std::int64_t> high(4096), low(4096), pairs(4096);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const auto word = static_cast<std::size_t>(std::ldexp(xs[i], 24));
      ++high[word >> 12];
      ++low[word & 4095];
      if (i % 2 == 0) ++pairs[(word >> 18) * 64 + (static_cast<std::size_t>(std::ldexp(xs[i + 1], 24)) >> 18)];
    }
    expect_even(high, "the upper twelve bits");
    expect_even(low, "the lower twelve bits");
    expect_even(pairs, "neighbours");
  }
}

TEST(Random, StreamsAndNeighboursHaveNothingInCommon) {
  const auto x = uniform(3), other_stream = uniform(3, 1), other_seed = uniform(4);
  const auto covariance = [&](const std::vector<double>& y, std::size_t lag) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < x.size(); ++i) sum += (x[i] - 0.5) * (y[i + lag] - 0.5);
    return sum / static_cast<double>(x.size() - lag);
  };
  const double bound = 5.0 / 12 / std::sqrt(static_cast<double>(count));
  for (std::size_t lag : {1, 2, 4, 1000}) EXPECT_NEAR(covariance(x, lag), 0, bound * 1.001) << lag;
  EXPECT_NEAR(covariance(other_stream, 0), 0, bound);
  EXPECT_NEAR(covariance(other_seed, 0), 0, bound);
}

TEST(Random, NormalMoments) {
  for (int seed : {0, 1, 2026}) {
    const auto xs = normal(seed);
    const double moments[] = {1, 0, 1, 0, 3, 0, 15, 0, 105};   // of x^0 to x^8
    for (int k = 1; k <= 4; ++k) expect_mean(xs, moments[k], moments[2 * k] - power(moments[k], 2), [&](double x) { return power(x, k); }, "power");
  }
}

TEST(Random, NormalTails) {
  for (int seed : {0, 1, 2026}) {
    const auto xs = normal(seed);
    for (double z : {0.5, 1.0, 2.0, 3.0, 4.0}) {
      const double p = std::erfc(z / std::sqrt(2.0)) / 2;
      expect_mean(xs, p, p * (1 - p), [&](double x) { return x > z ? 1 : 0; }, "above");
      expect_mean(xs, p, p * (1 - p), [&](double x) { return x < -z ? 1 : 0; }, "below");
    }
    for (double x : xs) ASSERT_LT(std::fabs(x), 8.21);
  }
}

TEST(Random, CoinsAndDiceAreFair) {
  const auto coins = drawn<std::uint8_t>("bernoulli(%p, %k)", "bool[1048576]", 5, 0, "  %q = constant() {value=0.25} : f32[]\n  %p = broadcast(%q) {shape=[1048576], dims=[]} : f32[1048576]\n");
  expect_mean(coins, 0.25, 0.25 * 0.75, [](double x) { return x; }, "coins");
  std::vector<std::int64_t> faces(6);
  for (double x : drawn<std::int32_t>("randint(%k) {shape=[1048576], dtype=i32, high=6}", "i32[1048576]", 6)) ++faces.at(static_cast<std::size_t>(x));
  expect_even(faces, "dice");
}

TEST(Random, NoTwoPlacesHaveOneWord) {
  auto words = drawn<std::uint64_t>("random_bits(%k) {shape=[65536], dtype=u64}", "u64[65536]", 8);
  std::sort(words.begin(), words.end());
  EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());   // by chance once in 10^10 keys
}

/// The reference draws the same, bit for bit: here of far more elements than the texts hold.
TEST(Random, TheReferenceDrawsTheSame) {
  const auto check = [](const std::string& call, const std::string& result) {
    const auto ours = drawn<float>(call, result, 9, 2);
    const auto r = interp::evaluate(program(call, result, 9, 2), {}).at(0);
    for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_EQ(ours[i], r.data<float>()[i]) << i;
  };
  check("random_uniform(%k) {shape=[20000], dtype=f32, low=-2.0, high=5.0}", "f32[20000]");
  check("random_normal(%k) {shape=[20000], dtype=f32}", "f32[20000]");
}

}  // namespace
}  // namespace plumb
