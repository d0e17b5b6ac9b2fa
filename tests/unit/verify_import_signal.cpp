// Windows, spectrograms, Fourier transforms, on small numbers.
#include <gmock/gmock.h>

#include "import_evaluate.h"

namespace plumb::onnx_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

auto near(const std::vector<double>& values) { return Pointwise(DoubleNear(1e-6), values); }
Operand count(double n) { return whole({}, {n}); }

TEST(ImportSignal, windows) {
  EXPECT_THAT(values_of(17, "HannWindow", {count(4)}), ElementsAre(0, 0.5, 1, 0.5));
  EXPECT_THAT(values_of(17, "HannWindow", {count(5)}, {integer("periodic", 0)}), ElementsAre(0, 0.5, 1, 0.5, 0));
  EXPECT_THAT(values_of(17, "HammingWindow", {count(4)}), near({4.0 / 46, 25.0 / 46, 1, 25.0 / 46}));
  EXPECT_THAT(values_of(17, "BlackmanWindow", {count(4)}), near({0, 0.34, 1, 0.34}));
  EXPECT_EQ(evaluate_node(17, "HannWindow", {count(4)}, {integer("output_datatype", 11)})[0].dtype, DType::f64);
  EXPECT_THROW(values_of(17, "HannWindow", {count(1)}, {integer("periodic", 0)}), Error);
}

/// The bands start, peak and end near 0, 2.66 and 5.31 Hz, in the bins 0, 2 and 5 of 17/16 Hz each.
TEST(ImportSignal, mel_weights_are_triangles) {
  EXPECT_THAT(values_of(17, "MelWeightMatrix", {count(1), count(16), count(16), reals({}, {0}), reals({}, {8})}), near({0, 0.5, 1, 2.0 / 3, 1.0 / 3, 0, 0, 0, 0}));
}

TEST(ImportSignal, dft_of_real_numbers) {
  const auto x = reals({1, 4, 1}, {1, 2, 3, 4});
  EXPECT_THAT(values_of(17, "DFT", {x}), ElementsAre(10, 0, -2, 2, -2, 0, -2, -2));
  EXPECT_THAT(values_of(20, "DFT", {x}), ElementsAre(10, 0, -2, 2, -2, 0, -2, -2));
  EXPECT_THAT(values_of(17, "DFT", {x}, {integer("onesided", 1)}), ElementsAre(10, 0, -2, 2, -2, 0));
  EXPECT_THAT(values_of(17, "DFT", {x}, {integer("inverse", 1)}), ElementsAre(2.5, 0, -0.5, -0.5, -0.5, 0, -0.5, 0.5));
  EXPECT_THAT(values_of(17, "DFT", {x, count(2)}), ElementsAre(3, 0, -1, 0));
  EXPECT_THAT(values_of(17, "DFT", {reals({1, 2, 1}, {1, 1}), count(4)}), ElementsAre(2, 0, 1, -1, 0, 0, 1, 1));
}
TEST(ImportSignal, dft_of_complex_numbers_along_an_axis) {
  EXPECT_THAT(values_of(17, "DFT", {reals({1, 2, 2}, {0, 1, 2, 3})}), ElementsAre(2, 4, -2, -2));
  EXPECT_THAT(values_of(20, "DFT", {reals({2, 2, 1}, {1, 2, 3, 5}), std::nullopt, count(0)}), ElementsAre(4, 0, 7, 0, -2, 0, -3, 0));
  EXPECT_THAT(values_of(17, "DFT", {reals({1, 3, 2}, {0, 1, 0, 0, 0, 0})}), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THROW(values_of(17, "DFT", {reals({2, 2, 1}, {1, 2, 3, 5}), std::nullopt, count(0)}), Error);
  EXPECT_THROW(values_of(20, "DFT", {reals({2, 2, 1}, {1, 2, 3, 5})}, {integer("axis", 0)}), Error);
  EXPECT_THROW(values_of(17, "DFT", {reals({1, 2, 2}, {0, 1, 2, 3})}, {integer("onesided", 1)}), Error);
}
TEST(ImportSignal, stft) {
  const auto x = reals({1, 5, 1}, {1, 2, 3, 4, 5});
  EXPECT_THAT(values_of(17, "STFT", {x, count(2), reals({2}, {1, 1})}), ElementsAre(3, 0, -1, 0, 7, 0, -1, 0));
  EXPECT_THAT(values_of(17, "STFT", {x, count(2), reals({2}, {0, 2})}), ElementsAre(4, 0, -4, 0, 8, 0, -8, 0));
  EXPECT_THAT(values_of(17, "STFT", {x, count(3), std::nullopt, count(2)}, {integer("onesided", 0)}), ElementsAre(3, 0, -1, 0, 9, 0, -1, 0));
}

}  // namespace
}  // namespace plumb::onnx_test
