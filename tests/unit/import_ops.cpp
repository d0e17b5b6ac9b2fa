// What operators become. Each test writes a small model and compares the module's text.
#include <gtest/gtest.h>

#include "import_writer.h"
#include "ir/import/onnx.h"
#include "ir/tensor/text.h"

namespace plumb::ir {
namespace {

using namespace onnx_test;

/// The module's text for inputs of these types.
std::string imported(const std::string& bytes, const std::vector<std::string>& types) {
  std::vector<Type> given;
  for (const auto& t : types) given.push_back(parse_type(t));
  const auto module = OnnxModel::parse(bytes, "test.onnx").import(given);
  verify(module);
  return "\n" + print(module);
}
std::string one_node(int opset, std::string_view op, const std::vector<std::string>& types, const std::vector<Message>& attributes = {}, const std::vector<Message>& constants = {}) {
  Graph g;
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < types.size(); ++i) {
    inputs.push_back("x" + std::to_string(i));
    const Type t = parse_type(types[i]);
    std::vector<Size> dims;
    for (auto d : t.extents()) dims.emplace_back(d);
    g.input(inputs.back(), t.dtype == DType::f32 ? f32 : t.dtype == DType::i64 ? i64 : t.dtype == DType::i32 ? i32 : boolean, dims);
  }
  for (const auto& c : constants) g.initializer(c);
  for (std::size_t i = 0; i < constants.size(); ++i) inputs.push_back("c" + std::to_string(i));
  return imported(g.node(op, inputs, {"y"}, attributes).output("y").model(opset), types);
}

TEST(ImportOps, shape_arithmetic_leaves_no_operation) {
  Graph g;
  g.input("x", f32, {"B", 4, 6}).initializer(vector("zero", {0})).initializer(vector("minus", {-1}));
  g.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "zero"}, {"batch"}).node("Concat", {"batch", "minus"}, {"want"}, {integer("axis", 0)});
  g.node("Reshape", {"x", "want"}, {"y"}).output("y");
  EXPECT_EQ(imported(g.model(13), {"f32[2,4,6]"}), R"(
func @main(%x: f32[2,4,6]) -> (f32[2,24]) {
  %1 = reshape(%x) : f32[2,24]
  return %1
}
)");
}

TEST(ImportOps, softmax_before_13_flattens) {
  EXPECT_EQ(one_node(11, "Softmax", {"f32[2,3,4]"}), R"(
func @main(%x0: f32[2,3,4]) -> (f32[2,3,4]) {
  %1 = reshape(%x0) : f32[2,12]
  %2 = softmax(%1) {axis=1} : f32[2,12]
  %3 = reshape(%2) : f32[2,3,4]
  return %3
}
)");
  EXPECT_EQ(one_node(13, "Softmax", {"f32[2,3,4]"}), R"(
func @main(%x0: f32[2,3,4]) -> (f32[2,3,4]) {
  %1 = softmax(%x0) {axis=2} : f32[2,3,4]
  return %1
}
)");
}

TEST(ImportOps, slice_backwards_reverses) {
  EXPECT_EQ(one_node(13, "Slice", {"f32[10]"}, {}, {vector("c0", {8}), vector("c1", {-100}), vector("c2", {0}), vector("c3", {-3})}), R"(
func @main(%x0: f32[10]) -> (f32[3]) {
  %1 = slice(%x0) {start=[2], limit=[9], stride=[3]} : f32[3]
  %2 = reverse(%1) {axes=[0]} : f32[3]
  return %2
}
)");
}

TEST(ImportOps, negative_indices_count_from_the_end) {
  EXPECT_EQ(one_node(13, "Gather", {"f32[5,2]", "i64[3]"}), R"(
func @main(%x0: f32[5,2], %x1: i64[3]) -> (f32[3,2]) {
  %2 = constant() {value=0} : i64[]
  %3 = broadcast(%2) {dims=[]} : i64[3]
  %4 = lt(%x1, %3) : bool[3]
  %5 = constant() {value=5} : i64[]
  %6 = broadcast(%5) {dims=[]} : i64[3]
  %7 = add(%x1, %6) : i64[3]
  %8 = select(%4, %7, %x1) : i64[3]
  %9 = gather(%x0, %8) : f32[3,2]
  return %9
}
)");
  EXPECT_EQ(one_node(13, "Gather", {"f32[5,2]"}, {}, {vector("c0", {4, 0})}), R"(
func @main(%x0: f32[5,2]) -> (f32[2,2]) {
  %1 = constant() {value=[4, 0]} : i64[2]
  %2 = gather(%x0, %1) : f32[2,2]
  return %2
}
)");
}

TEST(ImportOps, average_pool_counts_declared_padding_only) {
  EXPECT_EQ(one_node(19, "AveragePool", {"f32[1,1,5]"}, {ints("kernel_shape", {3}), ints("strides", {2}), ints("pads", {1, 0}), integer("ceil_mode", 1), integer("count_include_pad", 1)}), R"(
func @main(%x0: f32[1,1,5]) -> (f32[1,1,3]) {
  %1 = reduce_window_sum(%x0) {window=[1,1,3], stride=[1,1,2], low=[0,0,1], high=[0,0,1], dilation=[1,1,1]} : f32[1,1,3]
  %2 = constant() {value=[3, 3, 2]} : f32[3]
  %3 = broadcast(%2) {dims=[2]} : f32[1,1,3]
  %4 = div(%1, %3) : f32[1,1,3]
  return %4
}
)");
  EXPECT_EQ(one_node(19, "AveragePool", {"f32[1,1,4]"}, {ints("kernel_shape", {3}), ints("pads", {1, 1})}), R"(
func @main(%x0: f32[1,1,4]) -> (f32[1,1,4]) {
  %1 = reduce_window_sum(%x0) {window=[1,1,3], stride=[1,1,1], low=[0,0,1], high=[0,0,1], dilation=[1,1,1]} : f32[1,1,4]
  %2 = constant() {value=[2, 3, 3, 2]} : f32[4]
  %3 = broadcast(%2) {dims=[2]} : f32[1,1,4]
  %4 = div(%1, %3) : f32[1,1,4]
  return %4
}
)");
}

TEST(ImportOps, gemm_with_beta_0_does_not_read_c) {
  EXPECT_EQ(one_node(13, "Gemm", {"f32[2,3]", "f32[4,3]", "f32[4]"}, {integer("transB", 1), real("beta", 0)}), R"(
func @main(%x0: f32[2,3], %x1: f32[4,3], %x2: f32[4]) -> (f32[2,4]) {
  %3 = dot_general(%x0, %x1) {lhs_contract=[1], rhs_contract=[1]} : f32[2,4]
  return %3
}
)");
}

TEST(ImportOps, nearest_upsampling_by_a_factor_is_a_view) {
  EXPECT_EQ(one_node(9, "Upsample", {"f32[1,1,2]"}, {}, {tensor<float>("c0", f32, {3}, {1, 1, 2})}), R"(
func @main(%x0: f32[1,1,2]) -> (f32[1,1,4]) {
  %1 = broadcast(%x0) {dims=[0,1,2]} : f32[1,1,2,2]
  %2 = reshape(%1) : f32[1,1,4]
  return %2
}
)");
}

TEST(ImportOps, reflected_padding) {
  EXPECT_EQ(one_node(13, "Pad", {"f32[3]"}, {word("mode", "reflect")}, {vector("c0", {2, 1})}), R"(
func @main(%x0: f32[3]) -> (f32[6]) {
  %1 = reflection_pad(%x0) {low=[2], high=[1]} : f32[6]
  return %1
}
)");
}

TEST(ImportOps, conv_transpose_is_a_convolution_of_the_dilated_operand) {
  EXPECT_EQ(one_node(11, "ConvTranspose", {"f32[1,2,3]", "f32[2,1,3]"}, {ints("strides", {2}), ints("pads", {1, 1}), ints("output_padding", {1})}), R"(
func @main(%x0: f32[1,2,3], %x1: f32[2,1,3]) -> (f32[1,1,6]) {
  %2 = reshape(%x1) : f32[1,2,1,3]
  %3 = transpose(%2) {perm=[0,2,1,3]} : f32[1,1,2,3]
  %4 = reshape(%3) : f32[1,2,3]
  %5 = reverse(%4) {axes=[2]} : f32[1,2,3]
  %6 = convolution(%x0, %5) {low=[1], high=[2], lhs_dilation=[2], rhs_dilation=[1]} : f32[1,1,6]
  return %6
}
)");
}

TEST(ImportOps, clip_takes_attributes_before_11) {
  EXPECT_EQ(one_node(6 + 1, "Clip", {"f32[2]"}, {real("min", 0), real("max", 6)}), R"(
func @main(%x0: f32[2]) -> (f32[2]) {
  %1 = constant() {value=0} : f32[]
  %2 = broadcast(%1) {dims=[]} : f32[2]
  %3 = constant() {value=6} : f32[]
  %4 = broadcast(%3) {dims=[]} : f32[2]
  %5 = clamp(%x0, %2, %4) : f32[2]
  return %5
}
)");
  EXPECT_EQ(one_node(13, "Clip", {"f32[2]"}, {}, {tensor<float>("c0", f32, {}, {0.5f})}), R"(
func @main(%x0: f32[2]) -> (f32[2]) {
  %1 = constant() {value=0.5} : f32[]
  %2 = broadcast(%1) {dims=[]} : f32[2]
  %3 = maximum(%x0, %2) : f32[2]
  return %3
}
)");
}

TEST(ImportOps, a_power_keeps_the_dtype_of_its_base) { EXPECT_EQ(one_node(13, "Pow", {"f32[2]", "i64[2]"}), R"(
func @main(%x0: f32[2], %x1: i64[2]) -> (f32[2]) {
  %2 = convert(%x1) : f32[2]
  %3 = pow(%x0, %2) : f32[2]
  return %3
}
)"); }

}  // namespace
}  // namespace plumb::ir
