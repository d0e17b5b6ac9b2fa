// Scan, as the operation or unrolled, and what is unrolled at import: the scan outputs of Loop, and Det's elimination.
#include <gmock/gmock.h>

#include "import_evaluate.h"
#include "ir/tensor/op_table.h"

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

/// The scan operations of a model's program.
int scans_in(const ir::Module& m) {
  int count = 0;
  for (const auto& f : m.functions)
    for (const auto& node : f.nodes) count += ir::name(node) == "scan";
  return count;
}

TEST(ImportUnrolled, scan_of_more_steps_than_are_ever_unrolled) {
  const auto y = evaluate_node(9, "Scan", {reals({}, {0}), reals({5000}, std::vector<double>(5000, 1))}, {adding_body(), integer("num_scan_inputs", 1)}, 2);
  EXPECT_THAT(y[0].values, ElementsAre(5000));
  EXPECT_EQ(y[1].values.back(), 5000);
}
TEST(ImportUnrolled, scan_of_no_step_has_the_bodys_shapes) {
  const auto y = evaluate_node(9, "Scan", {reals({}, {7}), reals({0}, {})}, {adding_body(), integer("num_scan_inputs", 1)}, 2);
  EXPECT_THAT(y[0].values, ElementsAre(7));
  EXPECT_THAT(y[1].shape, ElementsAre(0));
}
TEST(ImportUnrolled, scan_with_directions_of_both_kinds) {
  Graph body;
  body.input("a", f32, {}).input("b", f32, {}).node("Mul", {"a", "b"}, {"p"}).node("Sub", {"a", "b"}, {"d"}).output("p").output("d");
  const auto y = evaluate_node(9, "Scan", {reals({3}, {1, 2, 3}), reals({3}, {10, 20, 30})},
                               {graph("body", body.message()), integer("num_scan_inputs", 2), ints("scan_input_directions", {0, 1}), ints("scan_output_directions", {1, 0})}, 2);
  EXPECT_THAT(y[0].values, ElementsAre(30, 40, 30));
  EXPECT_THAT(y[1].values, ElementsAre(-29, -18, -7));
}
TEST(ImportUnrolled, a_scan_whose_body_is_one_function_is_one_operation) {
  Graph g, body;
  body.input("sum", f32, {2}).input("x", f32, {2}).node("Mul", {"x", "k"}, {"s"}).node("Add", {"sum", "s"}, {"next"}).node("Identity", {"next"}, {"each"}).output("next").output("each");
  g.input("s", f32, {2}).input("x", f32, {2, 3}).input("k", f32, {2});
  g.node("Scan", {"s", "x"}, {"y", "z"}, {graph("body", body.message()), integer("num_scan_inputs", 1), ints("scan_input_axes", {1})}).output("y").output("z");
  const std::vector<ir::Literal> operands{reals({2}, {0, 100}), reals({2, 3}, {1, 2, 3, 4, 5, 6}), reals({2}, {1, 10})};
  EXPECT_EQ(scans_in(import_model(g, 13, operands)), 1);
  const auto y = evaluate_model(g, 13, operands);
  EXPECT_THAT(y[0].values, ElementsAre(6, 250));
  EXPECT_THAT(y[1].values, ElementsAre(1, 140, 3, 190, 6, 250));
}
TEST(ImportUnrolled, a_scan_whose_state_grows_is_unrolled) {
  Graph g, body;
  body.input("all", f32, {}).input("x", f32, {1}).node("Concat", {"all", "x"}, {"more"}, {integer("axis", 0)}).output("more");
  g.input("s", f32, {1}).input("x", f32, {3, 1}).node("Scan", {"s", "x"}, {"y"}, {graph("body", body.message()), integer("num_scan_inputs", 1)}).output("y");
  const std::vector<ir::Literal> operands{reals({1}, {9}), reals({3, 1}, {1, 2, 3})};
  EXPECT_EQ(scans_in(import_model(g, 13, operands)), 0);
  EXPECT_THAT(evaluate_model(g, 13, operands)[0].values, ElementsAre(9, 1, 2, 3));
}
TEST(ImportUnrolled, a_scan_that_draws_random_numbers_draws_others_in_each_step) {
  Graph g, body;
  body.input("x", f32, {4}).node("RandomUniformLike", {"x"}, {"r"}).output("r");
  g.input("x", f32, {2, 4}).node("Scan", {"x"}, {"y"}, {graph("body", body.message()), integer("num_scan_inputs", 1)}).output("y");
  const std::vector<ir::Literal> operands{reals({2, 4}, std::vector<double>(8, 0))};
  EXPECT_EQ(scans_in(import_model(g, 13, operands)), 0);
  const auto v = evaluate_model(g, 13, operands)[0].values;
  EXPECT_NE(std::vector(v.begin(), v.begin() + 4), std::vector(v.begin() + 4, v.end()));
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
