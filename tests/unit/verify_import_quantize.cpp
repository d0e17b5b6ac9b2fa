// Quantisation by blocks, to 8-bit floats, and of convolutions.
#include <gmock/gmock.h>

#include "import_evaluate.h"

namespace plumb::onnx_test {
namespace {

using testing::ElementsAre;

TEST(ImportQuantize, blocks_have_scales_of_their_own) {
  EXPECT_THAT(values_of(21, "QuantizeLinear", {reals({4}, {1, 2, 3, 4}), reals({2}, {1, 2}), of(DType::u8, {2}, {0, 10})}, {integer("axis", 0), integer("block_size", 2)}), ElementsAre(1, 2, 12, 12));
  EXPECT_THAT(values_of(21, "DequantizeLinear", {of(DType::u8, {3}, {1, 2, 12}), reals({2}, {1, 2}), of(DType::u8, {2}, {0, 10})}, {integer("axis", 0), integer("block_size", 2)}), ElementsAre(1, 2, 4));
  EXPECT_THAT(values_of(21, "DequantizeLinear", {of(DType::i8, {2, 3}, {1, 2, 3, 4, 5, 6}), reals({2, 2}, {1, 2, 10, 20})}, {integer("axis", 1), integer("block_size", 2)}), ElementsAre(1, 2, 6, 40, 50, 120));
  EXPECT_THROW(values_of(21, "DequantizeLinear", {of(DType::i8, {4}, {1, 2, 3, 4}), reals({3}, {1, 2, 3})}, {integer("axis", 0), integer("block_size", 2)}), Error);
}
TEST(ImportQuantize, narrow_floats) {
  const auto x = reals({3}, {1000, -3.3, 0.5});
  const auto e4m3 = evaluate_node(19, "QuantizeLinear", {x, reals({}, {2}), of(DType::f8e4m3fn, {}, {0})}).at(0);
  EXPECT_EQ(e4m3.dtype, DType::f8e4m3fn);
  EXPECT_THAT(e4m3.values, ElementsAre(448, -1.625, 0.25));
  EXPECT_THAT(values_of(19, "QuantizeLinear", {x, reals({}, {2}), of(DType::f8e5m2, {}, {0})}), ElementsAre(512, -1.75, 0.25));
}

TEST(ImportQuantize, convolution) {
  const auto x = of(DType::u8, {1, 1, 2}, {10, 20}), zero = of(DType::u8, {}, {10}), weights = of(DType::i8, {2, 1, 1}, {2, 3});
  const auto run = [&](const Operand& bias) {
    return values_of(10, "QLinearConv", {x, reals({}, {0.5}), zero, weights, reals({2}, {1, 0.5}), of(DType::i8, {2}, {0, 1}), reals({}, {0.5}), of(DType::u8, {}, {3}), bias});
  };
  EXPECT_THAT(run(std::nullopt), ElementsAre(3, 23, 3, 13));
  EXPECT_THAT(run(of(DType::i32, {2}, {1, 2})), ElementsAre(4, 24, 4, 14));
  EXPECT_THAT(run(of(DType::i32, {2}, {-5, 1000})), ElementsAre(0, 18, 255, 255));
}

}  // namespace
}  // namespace plumb::onnx_test
