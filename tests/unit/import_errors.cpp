// Bad models: one clear message each, blamed on the file (input) or on what is not supported. Never a crash.
#include <gtest/gtest.h>

#include <fstream>

#include "import_writer.h"
#include "ir/import/onnx.h"

namespace plumb::ir {
namespace {

using namespace onnx_test;

const Type vector_type{DType::f32, {2}};

/// Imports for one f32[2] and expects an error of this kind whose message holds the words.
void expect_error(const std::string& bytes, ErrorKind kind, const std::vector<std::string>& words, std::span<const Type> types = std::span(&vector_type, 1)) {
  try {
    OnnxModel::parse(bytes, "bad.onnx", "/nowhere").import(types);
    FAIL() << "imported";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_TRUE(e.where().known()) << e.what();
    for (const auto& w : words) EXPECT_NE(std::string(e.what()).find(w), std::string::npos) << "no '" << w << "' in: " << e.what();
  }
}
Graph takes_x() { return Graph().input("x", f32, {2}); }

TEST(ImportErrors, unknown_operator_is_named_with_domain_opset_and_node) {
  expect_error(takes_x().node("Frobnicate", {"x"}, {"y"}).output("y").model(13), ErrorKind::unsupported, {"Frobnicate", "ai.onnx", "opset 13", "Frobnicate_0"});
  expect_error(takes_x().node("SequenceConstruct", {"x"}, {"y"}).output("y").model(13), ErrorKind::unsupported, {"SequenceConstruct"});
}
TEST(ImportErrors, domain_without_opset) { expect_error(takes_x().node("Abs", {"x"}, {"y"}, {}, "com.example").output("y").model(13), ErrorKind::input, {"com.example"}); }
TEST(ImportErrors, opsets_out_of_range) {
  expect_error(takes_x().node("Add", {"x", "x"}, {"y"}).output("y").model(6), ErrorKind::unsupported, {"Add", "opset 6"});
  expect_error(takes_x().node("Abs", {"x"}, {"y"}).output("y").model(5), ErrorKind::unsupported, {"Abs", "opset 5"});
  expect_error(takes_x().output("x").model(23), ErrorKind::unsupported, {"opset 23"});
}
TEST(ImportErrors, missing_value) { expect_error(takes_x().node("Add", {"x", "w"}, {"y"}).output("y").model(13), ErrorKind::input, {"'w'", "missing"}); }
TEST(ImportErrors, cyclic_graph) {
  expect_error(takes_x().node("Add", {"x", "b"}, {"a"}).node("Abs", {"a"}, {"b"}).output("b").model(13), ErrorKind::input, {"'b'", "cyclic"});
}
TEST(ImportErrors, names_given_twice) {
  expect_error(takes_x().node("Abs", {"x"}, {"y"}).node("Neg", {"x"}, {"y"}).output("y").model(13), ErrorKind::input, {"'y'", "two values"});
  expect_error(takes_x().input("x", f32, {2}).output("x").model(13), ErrorKind::input, {"'x'"});
}
TEST(ImportErrors, missing_output) { expect_error(takes_x().output("z").model(13), ErrorKind::input, {"'z'"}); }
TEST(ImportErrors, wrong_dtypes) {
  expect_error(takes_x().initializer(tensor<std::int64_t>("w", i64, {2}, {1, 2})).node("Add", {"x", "w"}, {"y"}).output("y").model(13), ErrorKind::input, {"f32[2]", "i64[2]", "Add_0"});
  expect_error(takes_x().node("Not", {"x"}, {"y"}).output("y").model(13), ErrorKind::input, {"not", "f32"});
}
TEST(ImportErrors, attribute_of_another_type) {
  expect_error(takes_x().node("Softmax", {"x"}, {"y"}, {real("axis", 1)}).output("y").model(13), ErrorKind::input, {"'axis'", "FLOAT", "INT"});
}
TEST(ImportErrors, tensors_that_are_not_what_they_say) {
  const auto with = [](const Message& t) { return takes_x().initializer(t).node("Add", {"x", "w"}, {"y"}).output("y").model(13); };
  expect_error(with(tensor<float>("w", f32, {3}, {1, 2})), ErrorKind::input, {"'w'", "8 bytes", "12"});
  expect_error(with(tensor<float>("w", f32, {-2}, {})), ErrorKind::input, {"'w'", "-2"});
  expect_error(with(tensor<float>("w", f32, {1 << 30, 1 << 30, 1 << 30}, {})), ErrorKind::input, {"overflow"});
  expect_error(with(tensor_of("w", string_type, {1}, "")), ErrorKind::unsupported, {"STRING"});
  expect_error(with(tensor_of("w", 99, {1}, "")), ErrorKind::input, {"99"});
}
TEST(ImportErrors, external_data_stays_in_the_folder) {
  for (const char* path : {"../secret", "/etc/passwd", "a/../../b", ""}) {
    Message t = Message().varint(1, 2).varint(2, f32).text(8, "w").message(13, Message().text(1, "location").text(2, path)).varint(14, 1);
    expect_error(takes_x().initializer(t).node("Add", {"x", "w"}, {"y"}).output("y").model(13), ErrorKind::input, {"'w'", "folder"});
  }
}
TEST(ImportErrors, sizes_that_overflow) {
  const auto huge = std::vector<std::int64_t>{1 << 30, 1 << 30, 1 << 30};
  expect_error(takes_x().initializer(vector("s", huge)).node("ConstantOfShape", {"s"}, {"y"}).output("y").model(13), ErrorKind::input, {"large"});
  expect_error(takes_x().initializer(vector("s", {std::int64_t{1} << 62})).node("Tile", {"x", "s"}, {"y"}).output("y").model(13), ErrorKind::input, {"repeats"});
}
TEST(ImportErrors, output_padding_below_stride_or_dilation) {
  Graph g = takes_x();
  g.initializer(vector("s", {1, 1, 2})).node("Reshape", {"x", "s"}, {"i"}).initializer(tensor<float>("w", f32, {1, 1, 1}, {1}));
  g.node("ConvTranspose", {"i", "w"}, {"y"}, {ints("strides", {2}), ints("output_padding", {2})}).output("y");
  expect_error(g.model(11), ErrorKind::input, {"output_padding 2", "stride 2"});
}
TEST(ImportErrors, inputs_that_do_not_fit) {
  Graph g;
  g.input("a", f32, {"N", 2}).input("b", f32, {"N"}).node("Abs", {"a"}, {"y"}).output("y");
  const auto bytes = g.model(13);
  const auto refused = [&](std::vector<Type> types, const std::vector<std::string>& words) { expect_error(bytes, ErrorKind::input, words, types); };
  refused({vector_type}, {"2 inputs", "1 were given"});
  refused({{DType::f32, {3, 2}}, {DType::i32, {3}}}, {"'b'", "f32[N]", "i32[3]"});
  refused({{DType::f32, {3, 4}}, {DType::f32, {3}}}, {"'a'", "f32[N,2]", "f32[3,4]"});
  refused({{DType::f32, {3, 2}}, {DType::f32, {4}}}, {"'b'", "N is 3"});
  refused({{DType::f32, {Dim::named("N"), 2}}, {DType::f32, {4}}}, {"'a'", "known"});
}
TEST(ImportErrors, files_that_are_not_there_or_no_models) {
  EXPECT_THROW(OnnxModel::load("/nowhere/model.onnx"), Error);
  EXPECT_THROW(OnnxModel::load("/"), Error);
  EXPECT_THROW(OnnxModel::parse("", "empty.onnx"), Error);
  EXPECT_THROW(OnnxModel::parse("hello, this is no model", "text.onnx"), Error);
}

/// Errors that are the file's fault, or success; anything else is Plumb's.
void survives(const std::string& bytes) {
  try {
    const auto model = OnnxModel::parse(bytes, "bad.onnx", "/nowhere");
    std::vector<Type> types;
    for (const auto& in : model.inputs()) {
      Type t{in.dtype, {}};
      for (const auto& d : in.dims) t.shape.push_back(d.size >= 0 ? d.size : 2);
      types.push_back(t);
    }
    model.import(types);
  } catch (const Error& e) {
    EXPECT_NE(e.kind(), ErrorKind::internal) << e.what();
  }
}
std::string small_network() {
  Graph g;
  g.input("x", f32, {"N", 1, 8, 8}).initializer(tensor<float>("w", f32, {2, 1, 3, 3}, std::vector<float>(18, 0.5f))).initializer(vector("s", {0, -1})).initializer(tensor<float>("m", f32, {32, 3}, std::vector<float>(96, 1)));
  g.node("Conv", {"x", "w"}, {"c"}, {ints("pads", {1, 1, 1, 1}), ints("kernel_shape", {3, 3})}).node("Relu", {"c"}, {"r"}).node("MaxPool", {"r"}, {"p"}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})});
  return g.node("Reshape", {"p", "s"}, {"f"}).node("MatMul", {"f", "m"}, {"d"}).node("Softmax", {"d"}, {"y"}, {integer("axis", -1)}).output("y").model(13);
}
TEST(ImportErrors, every_prefix_of_a_model_is_survived) {
  const auto bytes = small_network();
  for (std::size_t n = 0; n < bytes.size(); ++n) survives(bytes.substr(0, n));
}
TEST(ImportErrors, every_flipped_bit_of_a_model_is_survived) {
  const auto bytes = small_network();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    survives(flipped);
  }
}

}  // namespace
}  // namespace plumb::ir
