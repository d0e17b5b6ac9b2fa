// Control flow and model functions.
#include <gtest/gtest.h>

#include "import_writer.h"
#include "ir/import/onnx.h"
#include "ir/tensor/text.h"

namespace plumb::ir {
namespace {

using namespace onnx_test;

std::string imported(const std::string& bytes, const std::vector<std::string>& types, const std::vector<const Literal*>& values = {}) {
  std::vector<Type> given;
  for (const auto& t : types) given.push_back(parse_type(t));
  const auto module = OnnxModel::parse(bytes, "test.onnx").import(given, values);
  verify(module);
  return "\n" + print(module);
}

Graph branches(const char* yes, const char* no) {
  Graph g, then_graph, else_graph;
  then_graph.node(yes, {"x"}, {"t"}).output("t");
  else_graph.node(no, {"x"}, {"e"}).output("e");
  return g.input("p", boolean, {}).input("x", f32, {2, 1}).node("If", {"p"}, {"y"}, {graph("then_branch", then_graph.message()), graph("else_branch", else_graph.message())}).output("y");
}

TEST(ImportControl, if_captures_what_its_branches_read) { EXPECT_EQ(imported(branches("Abs", "Neg").model(13), {"bool[]", "f32[2,1]"}), R"(
func @main(%p: bool[], %x: f32[2,1]) -> (f32[2,1]) {
  %2 = if(%p, %x) {then=@if_then_1, else=@if_else_2} : f32[2,1]
  return %2
}

func @if_then_1(%arg0: f32[2,1]) -> (f32[2,1]) {
  %1 = abs(%arg0) : f32[2,1]
  return %1
}

func @if_else_2(%arg0: f32[2,1]) -> (f32[2,1]) {
  %1 = neg(%arg0) : f32[2,1]
  return %1
}
)"); }

TEST(ImportControl, branches_of_two_types_need_the_value) {
  const auto bytes = branches("Squeeze", "Neg").model(13);
  Literal yes(Type{DType::boolean, {}});
  *yes.mutable_data<std::uint8_t>() = 1;
  EXPECT_EQ(imported(bytes, {"bool[]", "f32[2,1]"}, {&yes, nullptr}), R"(
func @main(%p: bool[], %x: f32[2,1]) -> (f32[2]) {
  %2 = reshape(%x) : f32[2]
  return %2
}
)");
  try {
    imported(bytes, {"bool[]", "f32[2,1]"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(e.what()).find("depends on the value of input 'p'"), std::string::npos) << e.what();
  }
}

Graph loop(bool scanned) {
  Graph g, body;
  body.input("i", i64, {}).input("c", boolean, {}).input("a", f32, {2}).node("Add", {"a", "x"}, {"b"}).node("Identity", {"c"}, {"d"}).output("d").output("b");
  if (scanned) body.output("b");
  g.input("x", f32, {2});
  return g.node("Loop", {"n", "", "x"}, scanned ? std::vector<std::string>{"y", "ys"} : std::vector<std::string>{"y"}, {graph("body", body.message())}).output(scanned ? "ys" : "y");
}

TEST(ImportControl, a_known_trip_count_unrolls) {
  EXPECT_EQ(imported(loop(true).initializer(tensor<std::int64_t>("n", i64, {}, {2})).model(13), {"f32[2]"}), R"(
func @main(%x: f32[2]) -> (f32[2,2]) {
  %1 = add(%x, %x) : f32[2]
  %2 = add(%1, %x) : f32[2]
  %3 = reshape(%1) : f32[1,2]
  %4 = reshape(%2) : f32[1,2]
  %5 = concat(%3, %4) {axis=0} : f32[2,2]
  return %5
}
)");
}

TEST(ImportControl, an_unknown_trip_count_is_a_while) { EXPECT_EQ(imported(loop(false).input("n", i64, {}).model(13), {"f32[2]", "i64[]"}), R"(
func @main(%x: f32[2], %n: i64[]) -> (f32[2]) {
  %2 = constant() {value=0} : i64[]
  %3 = constant() {value=true} : bool[]
  %4, %5, %6, %7, %8 = while(%2, %n, %3, %x, %x) {cond=@loop_condition_2, body=@loop_body_1} : i64[], i64[], bool[], f32[2], f32[2]
  return %7
}

func @loop_body_1(%arg0: i64[], %arg1: i64[], %arg2: bool[], %arg3: f32[2], %arg4: f32[2]) -> (i64[], i64[], bool[], f32[2], f32[2]) {
  %5 = add(%arg3, %arg4) : f32[2]
  %6 = constant() {value=1} : i64[]
  %7 = add(%arg0, %6) : i64[]
  return %7, %arg1, %arg2, %5, %arg4
}

func @loop_condition_2(%arg0: i64[], %arg1: i64[], %arg2: bool[], %arg3: f32[2], %arg4: f32[2]) -> (bool[]) {
  %5 = lt(%arg0, %arg1) : bool[]
  %6 = and(%5, %arg2) : bool[]
  return %6
}
)"); }

TEST(ImportControl, functions_are_inlined_with_their_attributes) {
  const auto f = function("Scaled", {"a"}, {"r"}, {"alpha"}, {{"LeakyRelu", "", "inner", {"a"}, {"r"}, {reference("alpha", 1, "alpha")}}}, 13);
  Graph g;
  g.input("x", f32, {2}).node("Scaled", {"x"}, {"y"}, {real("alpha", 0.5f)}, "local").output("y");
  EXPECT_EQ(imported(g.model(13, {f}), {"f32[2]"}), R"(
func @main(%x: f32[2]) -> (f32[2]) {
  %1 = leaky_relu(%x) {slope=0.5} : f32[2]
  return %1
}
)");
}

TEST(ImportControl, a_functions_attribute_may_have_a_default) {
  const auto f = function("Along", {"a"}, {"r"}, {}, {{"Softmax", "", "inner", {"a"}, {"r"}, {reference("axis", 2, "axis")}}}, 13, {integer("axis", 0)});
  Graph g;
  g.input("x", f32, {2, 3}).node("Along", {"x"}, {"y"}, {}, "local").node("Along", {"y"}, {"z"}, {integer("axis", 1)}, "local").output("z");
  EXPECT_EQ(imported(g.model(13, {f}), {"f32[2,3]"}), R"(
func @main(%x: f32[2,3]) -> (f32[2,3]) {
  %1 = softmax(%x) {axis=0} : f32[2,3]
  %2 = softmax(%1) {axis=1} : f32[2,3]
  return %2
}
)");
}

TEST(ImportControl, an_output_of_a_function_that_nothing_reads_may_be_one_that_is_not_supported) {
  const auto f = function("Normal", {"x", "s", "b", "m", "v"}, {"y", "saved"}, {}, {{"BatchNormalization", "", "inner", {"x", "s", "b", "m", "v"}, {"y", "mean", "var", "saved", "saved_var"}, {}}}, 7);
  Graph g, reading;
  for (auto* each : {&g, &reading}) {
    each->input("x", f32, {2, 3}).input("s", f32, {3}).input("b", f32, {3}).input("m", f32, {3}).input("v", f32, {3});
    each->node("Normal", {"x", "s", "b", "m", "v"}, {"y", "saved"}, {}, "local").output("y");
  }
  const std::vector<std::string> types{"f32[2,3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"};
  EXPECT_NE(imported(g.model(7, {f}), types).find("return"), std::string::npos);
  reading.output("saved");
  try {
    imported(reading.model(7, {f}), types);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(e.what()).find("output 1 of Normal"), std::string::npos) << e.what();
  }
}

TEST(ImportControl, functions_that_call_themselves_are_refused) {
  const auto f = function("Again", {"a"}, {"r"}, {}, {{"Again", "local", "inner", {"a"}, {"r"}, {}}}, 13);
  Graph g;
  g.input("x", f32, {2}).node("Again", {"x"}, {"y"}, {}, "local").output("y");
  try {
    imported(g.model(13, {f}), {"f32[2]"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
  }
}

}  // namespace
}  // namespace plumb::ir
