// Reductions of ScatterElements and ScatterND with several updates of one position, and Einsum's diagonals.
#include <gmock/gmock.h>

#include "import_evaluate.h"

namespace plumb::onnx_test {
namespace {

using testing::ElementsAre;
using testing::IsNan;

TEST(ImportScatter, elements_reduce_all_updates_of_a_position) {
  const auto reduced = [](const char* how) {
    return values_of(18, "ScatterElements", {reals({4}, {1, 2, 3, 4}), whole({5}, {1, 3, 1, -1, 1}), reals({5}, {5, 6, -7, 8, 2})}, {word("reduction", how)});
  };
  EXPECT_THAT(reduced("max"), ElementsAre(1, 5, 3, 8));
  EXPECT_THAT(reduced("min"), ElementsAre(1, -7, 3, 4));
  EXPECT_THAT(reduced("mul"), ElementsAre(1, 2.0 * 5 * -7 * 2, 3, 4.0 * 6 * 8));
  EXPECT_THAT(reduced("add"), ElementsAre(1, 2, 3, 18));
}
TEST(ImportScatter, integers_reduce) {
  EXPECT_THAT(values_of(18, "ScatterElements", {whole({3}, {1, -2, 3}), whole({2}, {1, 1}), whole({2}, {-5, -4})}, {word("reduction", "max")}), ElementsAre(1, -2, 3));
  EXPECT_THAT(values_of(18, "ScatterElements", {whole({3}, {1, -9, 3}), whole({2}, {1, 1}), whole({2}, {-5, -4})}, {word("reduction", "max")}), ElementsAre(1, -4, 3));
}
TEST(ImportScatter, nd_reduces_rows) {
  EXPECT_THAT(values_of(18, "ScatterND", {reals({3, 2}, {1, 2, 3, 4, 5, 6}), whole({3, 1}, {2, 0, 2}), reals({3, 2}, {2, 9, 7, 0, 3, 1})}, {word("reduction", "mul")}), ElementsAre(7, 0, 3, 4, 30, 54));
  EXPECT_THAT(values_of(18, "ScatterND", {reals({3, 2}, {1, 2, 3, 4, 5, 6}), whole({3, 1}, {2, 0, 2}), reals({3, 2}, {2, 9, 7, 0, 6, 1})}, {word("reduction", "max")}), ElementsAre(7, 2, 3, 4, 6, 9));
}
TEST(ImportScatter, a_maximum_with_nan_is_nan) {
  EXPECT_THAT(values_of(18, "ScatterElements", {reals({2}, {1, 2}), whole({2}, {0, 0}), reals({2}, {NAN, 3})}, {word("reduction", "max")}), ElementsAre(IsNan(), 2));
}
TEST(ImportScatter, an_index_outside_is_an_error) {
  EXPECT_THROW(values_of(18, "ScatterElements", {reals({2}, {1, 2}), whole({1}, {2}), reals({1}, {3})}, {word("reduction", "max")}), Error);
}

TEST(ImportEinsum, a_repeated_label_is_a_diagonal) {
  const auto x = reals({2, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90});
  EXPECT_THAT(values_of(12, "Einsum", {x}, {word("equation", "bii->bi")}), ElementsAre(1, 5, 9, 10, 50, 90));
  EXPECT_THAT(values_of(12, "Einsum", {x}, {word("equation", "...ii->...")}), ElementsAre(15, 150));
  EXPECT_THAT(values_of(12, "Einsum", {x}, {word("equation", "bii")}), ElementsAre(15, 150));
  EXPECT_THAT(values_of(12, "Einsum", {reals({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})}, {word("equation", "iji->ij")}), ElementsAre(1, 3, 5, 8, 10, 12));
  EXPECT_THROW(values_of(12, "Einsum", {reals({2, 3}, {1, 2, 3, 4, 5, 6})}, {word("equation", "ii->i")}), Error);
}

}  // namespace
}  // namespace plumb::onnx_test
