// Resize where the resized length is not whole, and with antialias. Values by hand from the specification's formulas.
#include <gmock/gmock.h>

#include "import_evaluate.h"

namespace plumb::onnx_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// align_corners divides by length_resized - 1, and length_resized is scale times length: 0.625 * 4 = 2.5.
TEST(ImportResize, align_corners_with_scales_keeps_the_fraction) {
  EXPECT_THAT(values_of(19, "Resize", {reals({4}, {1, 2, 3, 4}), std::nullopt, reals({1}, {0.625})}, {word("mode", "linear"), word("coordinate_transformation_mode", "align_corners")}), ElementsAre(1, 3));
  EXPECT_THAT(values_of(19, "Resize", {reals({4}, {1, 2, 3, 4}), std::nullopt, std::nullopt, whole({1}, {2})}, {word("mode", "linear"), word("coordinate_transformation_mode", "align_corners")}), ElementsAre(1, 4));
}

/// Halving: the positions are 0.5 and 2.5; the weights 1/8, 3/8, 3/8, 1/8 of the four around each, ends repeated.
TEST(ImportResize, antialias_stretches_the_linear_kernel) {
  EXPECT_THAT(values_of(19, "Resize", {reals({4}, {8, 16, 40, 80}), std::nullopt, reals({1}, {0.5})}, {word("mode", "linear"), integer("antialias", 1)}), ElementsAre(15, 57));
}

/// Halving by the cubic kernel with a = -0.75, at distances 1/4, 3/4, 5/4 and 7/4.
TEST(ImportResize, antialias_stretches_the_cubic_kernel) {
  const double w[] = {0.87890625, 0.26171875, -0.10546875, -0.03515625}, total = 2 * (w[0] + w[1] + w[2] + w[3]);
  const double first = (10 * (w[3] + w[2] + w[1] + w[0]) + 20 * w[0] + 30 * w[1] + 40 * w[2] + 40 * w[3]) / total;
  EXPECT_THAT(values_of(19, "Resize", {reals({4}, {10, 20, 30, 40}), std::nullopt, reals({1}, {0.5})}, {word("mode", "cubic"), integer("antialias", 1)}),
              ElementsAre(DoubleNear(first, 1e-5), DoubleNear(50 - first, 1e-5)));
}

}  // namespace
}  // namespace plumb::onnx_test
