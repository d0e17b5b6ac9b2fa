// What is unrolled at import: Scan, the scan outputs of Loop, and Det's elimination.
#include <gmock/gmock.h>

#include "import_evaluate.h"

namespace plumb::onnx_test {
namespace {

using testing::ElementsAre;
using testing::DoubleNear;

/// sum + x, given as the next sum and as an output.
Message adding_body() {
  Graph body;
  body.input("sum", f32, {}).input("x", f32, {}).node("Add", {"sum", "x"}, {"next"}).node("Identity", {"next"}, {"each"}).output("next").output("each");
  return graph("body", body.message());
}

TEST(ImportUnrolled, scan_gives_states_and_stacked_outputs) {
  const auto run = [](std::vector<Message> more) {
    more.push_back(adding_body());
    more.push_back(integer("num_scan_inputs", 1));
    return evaluate_node(9, "Scan", {reals({}, {10}), reals({3}, {1, 2, 3})}, more, 2);
  };
  EXPECT_THAT(run({})[0].values, ElementsAre(16));
  EXPECT_THAT(run({})[1].values, ElementsAre(11, 13, 16));
  EXPECT_THAT(run({ints("scan_input_directions", {1})})[1].values, ElementsAre(13, 15, 16));
  EXPECT_THAT(run({ints("scan_output_directions", {1})})[1].values, ElementsAre(16, 13, 11));
}
TEST(ImportUnrolled, scan_along_other_axes) {
  Graph body;
  body.input("x", f32, {2}).node("Identity", {"x"}, {"y"}).output("y");
  const auto y = evaluate_node(9, "Scan", {reals({2, 3}, {1, 2, 3, 4, 5, 6})}, {graph("body", body.message()), integer("num_scan_inputs", 1), ints("scan_input_axes", {1}), ints("scan_output_axes", {-1}), ints("scan_input_directions", {1})});
  EXPECT_THAT(y[0].shape, ElementsAre(2, 3));
  EXPECT_THAT(y[0].values, ElementsAre(3, 2, 1, 6, 5, 4));
}
TEST(ImportUnrolled, scan_of_opset_8_has_a_batch_axis) {
  const auto y = evaluate_node(8, "Scan", {std::nullopt, reals({2}, {0, 100}), reals({2, 2}, {1, 2, 3, 4})}, {adding_body(), integer("num_scan_inputs", 1)}, 2);
  EXPECT_THAT(y[0].values, ElementsAre(3, 107));
  EXPECT_THAT(y[1].shape, ElementsAre(2, 2));
  EXPECT_THAT(y[1].values, ElementsAre(1, 3, 103, 107));
}

TEST(ImportUnrolled, loop_with_scan_outputs_fixes_its_condition) {
  Graph body;
  body.input("i", i64, {}).input("go", boolean, {}).input("sum", f32, {}).node("Add", {"sum", "sum"}, {"next"}).node("Identity", {"go"}, {"on"}).node("Identity", {"next"}, {"each"});
  body.output("on").output("next").output("each");
  const auto y = evaluate_node(11, "Loop", {whole({}, {3}), of(DType::boolean, {}, {1}), reals({}, {1})}, {graph("body", body.message())}, 2);
  EXPECT_THAT(y[0].values, ElementsAre(8));
  EXPECT_THAT(y[1].values, ElementsAre(2, 4, 8));
}

TEST(ImportUnrolled, determinants) {
  EXPECT_THAT(values_of(11, "Det", {reals({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4})}), ElementsAre(-6, 0));
  EXPECT_THAT(values_of(11, "Det", {reals({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4})}), ElementsAre(DoubleNear(18, 1e-5)));
  EXPECT_THAT(values_of(11, "Det", {reals({3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0})}), ElementsAre(1));
  EXPECT_THAT(values_of(11, "Det", {reals({3, 3}, std::vector<double>(9, 0))}), ElementsAre(0));
  EXPECT_THROW(values_of(11, "Det", {reals({2, 3}, {1, 2, 3, 4, 5, 6})}), Error);
}

}  // namespace
}  // namespace plumb::onnx_test
