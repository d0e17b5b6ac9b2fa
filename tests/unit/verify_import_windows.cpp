// Indices of pooling, what puts windows back, and cutting about the middle.
#include <gmock/gmock.h>

#include <cmath>

#include "import_evaluate.h"

namespace plumb::onnx_test {
namespace {

using testing::ElementsAre;

std::vector<double> indices(const ir::Literal& x, const std::vector<Message>& attributes) { return evaluate_node(12, "MaxPool", {x}, attributes, 2).at(1).values; }

TEST(ImportWindows, max_pool_indices_name_the_first_greatest) {
  const auto x = reals({1, 1, 3, 3}, {1, 5, 2, 5, 3, 9, 4, 9, 9});
  EXPECT_THAT(indices(x, {ints("kernel_shape", {2, 2})}), ElementsAre(1, 5, 7, 5));
  EXPECT_THAT(indices(x, {ints("kernel_shape", {2, 2}), integer("storage_order", 1)}), ElementsAre(3, 7, 5, 7));
  EXPECT_THAT(indices(reals({1, 2, 2}, {1, 2, 4, 3}), {ints("kernel_shape", {2})}), ElementsAre(1, 2));
  EXPECT_THAT(indices(reals({1, 1, 5}, {5, 9, 4, 9, 6}), {ints("kernel_shape", {2}), ints("dilations", {2}), ints("strides", {2})}), ElementsAre(0, 4));
  EXPECT_THAT(indices(reals({1, 1, 3}, {1, NAN, 7}), {ints("kernel_shape", {2})}), ElementsAre(1, 1));
}
TEST(ImportWindows, max_pool_indices_never_name_the_padding) {
  EXPECT_THAT(indices(reals({1, 1, 2}, {-1, -2}), {ints("kernel_shape", {2}), ints("pads", {1, 1})}), ElementsAre(0, 0, 1));
  EXPECT_THAT(indices(of(DType::i8, {1, 1, 2}, {-128, -128}), {ints("kernel_shape", {2}), ints("pads", {1, 1})}), ElementsAre(0, 0, 1));
  EXPECT_THAT(indices(reals({1, 1, 1}, {-INFINITY}), {ints("kernel_shape", {2}), ints("pads", {1, 0})}), ElementsAre(0));
}
TEST(ImportWindows, max_unpool) {
  EXPECT_THAT(values_of(11, "MaxUnpool", {reals({1, 1, 2}, {5, 6}), whole({1, 1, 2}, {1, 2})}, {ints("kernel_shape", {2}), ints("strides", {2})}), ElementsAre(0, 5, 6, 0));
  EXPECT_THAT(values_of(11, "MaxUnpool", {reals({1, 1, 2}, {9, 9}), whole({1, 1, 2}, {1, 1})}, {ints("kernel_shape", {2})}), ElementsAre(0, 9, 0));
  EXPECT_THAT(values_of(11, "MaxUnpool", {reals({1, 1, 2}, {5, 6}), whole({1, 1, 2}, {1, 2}), whole({3}, {1, 1, 5})}, {ints("kernel_shape", {2}), ints("strides", {2})}), ElementsAre(0, 5, 6, 0, 0));
}

TEST(ImportWindows, col2im_adds_what_overlaps) {
  EXPECT_THAT(values_of(18, "Col2Im", {reals({1, 2, 2}, {1, 2, 3, 4}), whole({1}, {3}), whole({1}, {2})}), ElementsAre(1, 5, 4));
  EXPECT_THAT(values_of(18, "Col2Im", {reals({1, 2, 2}, {1, 2, 3, 4}), whole({1}, {4}), whole({1}, {2})}, {ints("strides", {2})}), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(values_of(18, "Col2Im", {reals({1, 2, 3}, {1, 2, 3, 4, 5, 6}), whole({1}, {2}), whole({1}, {2})}, {ints("pads", {1, 1})}), ElementsAre(6, 8));
  EXPECT_THAT(values_of(18, "Col2Im", {reals({1, 2, 2}, {1, 2, 3, 4}), whole({1}, {4}), whole({1}, {2})}, {ints("dilations", {2})}), ElementsAre(1, 2, 3, 4));
  EXPECT_THROW(values_of(18, "Col2Im", {reals({1, 3, 2}, {1, 2, 3, 4, 5, 6}), whole({1}, {3}), whole({1}, {2})}), Error);
}

TEST(ImportWindows, center_crop_pad) {
  const auto x = reals({5}, {1, 2, 3, 4, 5});
  EXPECT_THAT(values_of(18, "CenterCropPad", {x, whole({1}, {2})}), ElementsAre(2, 3));
  EXPECT_THAT(values_of(18, "CenterCropPad", {x, whole({1}, {3})}), ElementsAre(2, 3, 4));
  EXPECT_THAT(values_of(18, "CenterCropPad", {x, whole({1}, {8})}), ElementsAre(0, 1, 2, 3, 4, 5, 0, 0));
  EXPECT_THAT(values_of(18, "CenterCropPad", {reals({2, 2}, {1, 2, 3, 4}), whole({2}, {3, 1})}, {ints("axes", {-1, 0})}), ElementsAre(1, 2, 0));
}

}  // namespace
}  // namespace plumb::onnx_test
