// Reading between elements. Values by hand from the specifications' formulas.
#include <gmock/gmock.h>

#include "import_evaluate.h"

namespace plumb::onnx_test {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(ImportSample, affine_grid) {
  const auto grid = [](const std::vector<double>& theta, int align) { return values_of(20, "AffineGrid", {reals({1, 2, 3}, theta), whole({4}, {1, 1, 2, 2})}, {integer("align_corners", align)}); };
  EXPECT_THAT(grid({1, 0, 0, 0, 1, 0}, 0), ElementsAre(-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(grid({1, 0, 0, 0, 1, 0}, 1), ElementsAre(-1, -1, 1, -1, -1, 1, 1, 1));
  EXPECT_THAT(grid({2, 0, 1, 0, 0, -3}, 1), ElementsAre(-1, -3, 3, -3, -1, -3, 3, -3));
  const auto volume = evaluate_node(20, "AffineGrid", {reals({1, 3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}), whole({5}, {1, 1, 2, 1, 1})});
  EXPECT_THAT(volume[0].shape, ElementsAre(1, 2, 1, 1, 3));
  EXPECT_THAT(volume[0].values, ElementsAre(0, 0, -0.5, 0, 0, 0.5));
}

/// [1 2; 3 4] at one point, given as (x, y).
double at(double x, double y, const char* padding, int align, const char* mode = "linear") {
  return values_of(20, "GridSample", {reals({1, 1, 2, 2}, {1, 2, 3, 4}), reals({1, 1, 1, 2}, {x, y})}, {word("padding_mode", padding), integer("align_corners", align), word("mode", mode)}).at(0);
}
TEST(ImportSample, grid_sample_between_elements) {
  EXPECT_EQ(at(0, 0, "zeros", 0), 2.5);
  EXPECT_EQ(at(0, -1, "zeros", 1), 1.5);
  EXPECT_EQ(at(-0.5, 0.5, "zeros", 0), 3);
  EXPECT_THAT(values_of(20, "GridSample", {reals({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), reals({1, 1, 1, 1, 3}, {0, 0, 0})}), ElementsAre(4.5));
  EXPECT_THAT(values_of(16, "GridSample", {reals({1, 1, 2, 2}, {1, 2, 3, 4}), reals({1, 1, 1, 2}, {0, 0})}, {word("mode", "bilinear")}), ElementsAre(2.5));
  EXPECT_THROW(values_of(20, "GridSample", {reals({1, 1, 2, 2}, {1, 2, 3, 4}), reals({1, 1, 1, 2}, {0, 0})}, {word("mode", "bilinear")}), Error);
}
TEST(ImportSample, grid_sample_beyond_the_border) {
  EXPECT_EQ(at(-1, -1, "zeros", 0), 0.25);
  EXPECT_EQ(at(-1, -1, "border", 0), 1);
  EXPECT_EQ(at(-1, -1, "reflection", 0), 1);
  EXPECT_EQ(at(2, 0, "zeros", 1), 1.5);
  EXPECT_EQ(at(2, 0, "border", 1), 3);
  EXPECT_EQ(at(2, 0, "reflection", 1), 2.5);
  EXPECT_EQ(at(-4, 0, "reflection", 1), 2.5);  // -1.5 of [0, 1]: 1.5 beyond, one reflection and a half
  EXPECT_EQ(at(1e30, 0, "border", 1), 3);
  EXPECT_EQ(at(1e30, 0, "zeros", 1), 0);
}
TEST(ImportSample, grid_sample_nearest_rounds_halves_to_even) {
  const auto x = reals({1, 1, 1, 4}, {10, 20, 30, 40});
  EXPECT_THAT(values_of(20, "GridSample", {x, reals({1, 1, 3, 2}, {0, 0, -1, 0, 3, 0})}, {word("mode", "nearest"), integer("align_corners", 1)}), ElementsAre(30, 10, 0));
}
TEST(ImportSample, grid_sample_cubic) {
  EXPECT_THAT(values_of(20, "GridSample", {reals({1, 1, 1, 4}, {1, 2, 4, 8}), reals({1, 1, 1, 2}, {0, 0})}, {word("mode", "cubic"), integer("align_corners", 1)}), ElementsAre(-0.09375 * 9 + 0.59375 * 6));
}
TEST(ImportSample, grid_sample_reads_each_image_and_channel) {
  EXPECT_THAT(values_of(20, "GridSample", {reals({2, 2, 1, 1}, {1, 2, 3, 4}), reals({2, 1, 1, 2}, {0, 0, 1, 0})}), ElementsAre(1, 2, 1.5, 2));
}

std::vector<double> aligned(const std::vector<Message>& attributes, const std::vector<double>& roi = {0, 0, 4, 4}) {
  std::vector<double> image(32);
  for (std::size_t i = 0; i < 16; ++i) image[16 + i] = static_cast<double>(i);
  std::vector<Message> all = attributes;
  all.push_back(integer("output_height", 2));
  all.push_back(integer("output_width", 2));
  return values_of(22, "RoiAlign", {reals({2, 1, 4, 4}, image), reals({1, 4}, roi), whole({1}, {1})}, all);
}
TEST(ImportSample, roi_align) {  // the image is 4 y + x, so that an average is its value in the cell's middle
  EXPECT_THAT(aligned({integer("sampling_ratio", 1)}), ElementsAre(2.5, 4.5, 10.5, 12.5));
  EXPECT_THAT(aligned({integer("sampling_ratio", 2)}), ElementsAre(2.5, 4.5, 10.5, 12.5));
  EXPECT_THAT(aligned({}), ElementsAre(2.5, 4.5, 10.5, 12.5));
  EXPECT_THAT(aligned({integer("sampling_ratio", 1), word("coordinate_transformation_mode", "output_half_pixel")}), ElementsAre(5, 7, 13, 15));
  EXPECT_THAT(aligned({word("coordinate_transformation_mode", "output_half_pixel")}, {0, 0, 1, 1}), ElementsAre(1.25, 1.75, 3.25, 3.75));
  EXPECT_THAT(aligned({integer("sampling_ratio", 1), real("spatial_scale", 0.5)}, {0, 0, 8, 8}), ElementsAre(2.5, 4.5, 10.5, 12.5));
  EXPECT_THAT(aligned({integer("sampling_ratio", 1), word("mode", "max")}), ElementsAre(1.25, 1.75, 3.25, 3.75));
  EXPECT_THAT(aligned({integer("sampling_ratio", 1)}, {20, 20, 24, 24}), Each(0));
}

std::vector<double> deformed(double down, const std::vector<Operand>& more = {}) {
  std::vector<double> image, offsets;
  for (int i = 0; i < 9; ++i) image.push_back(i);
  for (int i = 0; i < 32; ++i) offsets.push_back(i / 4 % 2 == 0 ? down : 0);
  std::vector<Operand> operands{reals({1, 1, 3, 3}, image), reals({1, 1, 2, 2}, {1, 1, 1, 1}), reals({1, 8, 2, 2}, offsets)};
  operands.insert(operands.end(), more.begin(), more.end());
  return values_of(19, "DeformConv", operands, {ints("kernel_shape", {2, 2})});
}
TEST(ImportSample, deform_conv) {
  EXPECT_THAT(deformed(0), ElementsAre(8, 12, 20, 24));
  EXPECT_THAT(deformed(0.5), ElementsAre(14, 18, 16.5, 19.5));  // the lowest row is half outside
  EXPECT_THAT(deformed(0.5, {reals({1}, {1})}), ElementsAre(15, 19, 17.5, 20.5));
  EXPECT_THAT(deformed(0.5, {std::nullopt, reals({1, 4, 2, 2}, std::vector<double>(16, 0.5))}), ElementsAre(7, 9, 8.25, 9.75));
}
TEST(ImportSample, deform_conv_in_groups) {
  const auto y = evaluate_node(19, "DeformConv", {reals({1, 2, 1, 2}, {1, 2, 3, 4}), reals({2, 1, 1, 1}, {10, 100}), reals({1, 4, 1, 2}, {0, 0, 1, 0, 0, 0, 0, -1})},
                               {ints("kernel_shape", {1, 1}), integer("group", 2), integer("offset_group", 2)});
  EXPECT_THAT(y[0].values, ElementsAre(20, 20, 300, 300));
}

}  // namespace
}  // namespace plumb::onnx_test
