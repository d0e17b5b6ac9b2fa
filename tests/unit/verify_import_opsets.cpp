// Operators whose form or meaning changed between opsets 7 and 22: each form, evaluated by the reference. The values follow
// from the ONNX specification's text of that opset, worked out by hand on small numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import_writer.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/import/onnx.h"
#include "ir/scalar/storage.h"

namespace plumb::ir {
namespace {

using namespace onnx_test;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::DoubleNear;
using testing::HasSubstr;

struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};
Message reals(std::string_view name, const std::vector<float>& values) { return tensor(name, f32, {static_cast<std::int64_t>(values.size())}, values); }
Message real_list(std::string_view name, const std::vector<float>& values) {
  Message m = attribute(name, 6);
  for (auto v : values) m.float32(7, v);
  return m;
}

/// A result: its shape, then its elements.
struct Result {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  DType dtype;
};
/// What a node of this opset gives: first the f32 operands x0, x1, …, then the constants, named "" where left out.
std::vector<Result> run(int opset, std::string_view op, const std::vector<Tensor>& operands, const std::vector<Message>& attributes = {}, const std::vector<std::pair<std::string, Message>>& constants = {},
                        std::size_t outputs = 1) {
  Graph g;
  std::vector<std::string> names, results;
  std::vector<Literal> values;
  for (const auto& x : operands) {
    names.push_back("x" + std::to_string(names.size()));
    g.input(names.back(), f32, {x.shape.begin(), x.shape.end()});
    values.push_back(Literal::of<float>(DType::f32, x.shape, std::span<const float>(x.values)));
  }
  for (const auto& [name, message] : constants) {
    names.push_back(name);
    if (!name.empty()) g.initializer(message);
  }
  for (std::size_t k = 0; k < outputs; ++k) results.push_back("y" + std::to_string(k));
  g.node(op, names, results, attributes);
  for (const auto& r : results) g.output(r);
  std::vector<Type> types;
  for (const auto& v : values) types.push_back(v.type());
  std::vector<Result> all;
  for (const auto& l : interp::evaluate(OnnxModel::parse(g.model(opset), "test.onnx").import(types), values)) {
    const auto e = l.extents();
    Result r{{e.begin(), e.end()}, {}, l.dtype()};
    for (std::int64_t i = 0; i < l.elements(); ++i) r.values.push_back(is_float(l.dtype()) ? load_element(l.dtype(), l.raw(), i) : static_cast<double>(l.int_at(i)));
    all.push_back(std::move(r));
  }
  return all;
}
std::vector<double> values(int opset, std::string_view op, const std::vector<Tensor>& operands, const std::vector<Message>& attributes = {}, const std::vector<std::pair<std::string, Message>>& constants = {}) {
  return run(opset, op, operands, attributes, constants).at(0).values;
}
std::vector<std::int64_t> shape(int opset, std::string_view op, const std::vector<Tensor>& operands, const std::vector<Message>& attributes = {}, const std::vector<std::pair<std::string, Message>>& constants = {}) {
  return run(opset, op, operands, attributes, constants).at(0).shape;
}
std::pair<std::string, Message> integers(const std::string& name, const std::vector<std::int64_t>& list) { return {name, vector(name, list)}; }
std::pair<std::string, Message> floats(const std::string& name, const std::vector<float>& list) { return {name, reals(name, list)}; }
std::pair<std::string, Message> scalar(const std::string& name, float value) { return {name, tensor<float>(name, f32, {}, {value})}; }
const std::pair<std::string, Message> left_out{"", {}};

void expect_refused(int opset, std::string_view op, const std::vector<Message>& attributes, const std::vector<std::pair<std::string, Message>>& constants, const std::string& words) {
  try {
    run(opset, op, {{{1, 3}, {1, 2, 3}}}, attributes, constants);
    ADD_FAILURE() << op << " of opset " << opset << " is taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    EXPECT_THAT(e.what(), HasSubstr(words));
  }
}

/// 0, 1, 2, … in a shape.
Tensor counting(std::vector<std::int64_t> shape) {
  Tensor t{std::move(shape), {}};
  std::int64_t n = 1;
  for (auto d : t.shape) n *= d;
  for (std::int64_t i = 0; i < n; ++i) t.values.push_back(static_cast<float>(i));
  return t;
}

TEST(ImportOpsets, SoftmaxFlattensBefore13) {
  const Tensor zeros{{1, 2, 2}, {0, 0, 0, 0}};
  for (int opset : {7, 11, 12}) EXPECT_THAT(values(opset, "Softmax", {zeros}), ElementsAre(0.25, 0.25, 0.25, 0.25));
  for (int opset : {13, 22}) EXPECT_THAT(values(opset, "Softmax", {zeros}), ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(values(11, "Softmax", {zeros}, {integer("axis", -1)}), ElementsAre(0.5, 0.5, 0.5, 0.5));
}
TEST(ImportOpsets, HardmaxFlattensBefore13) {
  const Tensor x{{1, 2, 2}, {1, 3, 2, 0}};
  EXPECT_THAT(values(7, "Hardmax", {x}), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(values(13, "Hardmax", {x}), ElementsAre(0, 1, 1, 0));
}

TEST(ImportOpsets, AxesOfSqueezeAndUnsqueezeBecomeAnInputIn13) {
  const Tensor x = counting({1, 3, 1, 2});
  EXPECT_THAT(shape(7, "Squeeze", {x}, {ints("axes", {2})}), ElementsAre(1, 3, 2));
  EXPECT_THAT(shape(11, "Squeeze", {x}, {ints("axes", {-2})}), ElementsAre(1, 3, 2));
  EXPECT_THAT(shape(13, "Squeeze", {x}, {}, {integers("axes", {-2})}), ElementsAre(1, 3, 2));
  for (int opset : {7, 13}) EXPECT_THAT(shape(opset, "Squeeze", {x}), ElementsAre(3, 2));
  EXPECT_THAT(shape(7, "Unsqueeze", {counting({3, 2})}, {ints("axes", {0, 3})}), ElementsAre(1, 3, 2, 1));
  EXPECT_THAT(shape(13, "Unsqueeze", {counting({3, 2})}, {}, {integers("axes", {-1, 0})}), ElementsAre(1, 3, 2, 1));
}

TEST(ImportOpsets, AxesOfReduceSumBecomeAnInputIn13AndTheOthersIn18) {
  const Tensor x = counting({2, 3});
  for (int opset : {7, 11}) EXPECT_THAT(values(opset, "ReduceSum", {x}, {ints("axes", {1}), integer("keepdims", 0)}), ElementsAre(3, 12));
  for (int opset : {13, 18}) EXPECT_THAT(values(opset, "ReduceSum", {x}, {integer("keepdims", 0)}, {integers("axes", {-1})}), ElementsAre(3, 12));
  for (int opset : {7, 13, 18}) EXPECT_THAT(shape(opset, "ReduceSum", {x}), ElementsAre(1, 1));
  EXPECT_THAT(values(13, "ReduceSum", {x}, {integer("noop_with_empty_axes", 1)}), ElementsAre(0, 1, 2, 3, 4, 5));
  const std::vector<std::pair<std::string, std::vector<double>>> along_0{{"ReduceMax", {3, 4, 5}}, {"ReduceMin", {0, 1, 2}}, {"ReduceMean", {1.5, 2.5, 3.5}}, {"ReduceProd", {0, 4, 10}},
                                                                       {"ReduceL1", {3, 5, 7}}, {"ReduceSumSquare", {9, 17, 29}}};
  for (const auto& [op, want] : along_0) {
    for (int opset : {7, 13, 17}) EXPECT_THAT(values(opset, op, {x}, {ints("axes", {0})}), ElementsAreArray(want)) << op;
    for (int opset : {18, 22}) EXPECT_THAT(values(opset, op, {x}, {}, {integers("axes", {0})}), ElementsAreArray(want)) << op;
  }
}

TEST(ImportOpsets, ClipTakesBoundsAsInputsFrom11) {
  const Tensor x{{3}, {-2, 0.5, 7}};
  EXPECT_THAT(values(7, "Clip", {x}, {real("min", 0), real("max", 1)}), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(values(10, "Clip", {x}, {real("max", 1)}), ElementsAre(-2, 0.5, 1));
  EXPECT_THAT(values(11, "Clip", {x}, {}, {scalar("min", 0), scalar("max", 1)}), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(values(13, "Clip", {x}, {}, {left_out, scalar("max", 1)}), ElementsAre(-2, 0.5, 1));
}

TEST(ImportOpsets, SliceTakesItsBoundsAsInputsFrom10) {
  const Tensor x = counting({2, 4});
  EXPECT_THAT(values(7, "Slice", {x}, {ints("starts", {-3}), ints("ends", {1000}), ints("axes", {1})}), ElementsAre(1, 2, 3, 5, 6, 7));
  EXPECT_THAT(values(9, "Slice", {x}, {ints("starts", {0, 1}), ints("ends", {1, -1})}), ElementsAre(1, 2));
  EXPECT_THAT(values(10, "Slice", {x}, {}, {integers("starts", {3}), integers("ends", {0}), integers("axes", {1}), integers("steps", {-2})}), ElementsAre(3, 1, 7, 5));
  EXPECT_THAT(values(13, "Slice", {x}, {}, {integers("starts", {0, 0}), integers("ends", {1, 4}), left_out, integers("steps", {1, 3})}), ElementsAre(0, 3));
}

TEST(ImportOpsets, PadTakesItsWidthsAsInputsFrom11AndAxesFrom18) {
  const Tensor x{{1, 3}, {1, 2, 3}};
  EXPECT_THAT(values(7, "Pad", {x}, {ints("pads", {0, 1, 0, 2}), real("value", 9)}), ElementsAre(9, 1, 2, 3, 9, 9));
  EXPECT_THAT(values(7, "Pad", {x}, {ints("pads", {0, 2, 0, 1}), word("mode", "reflect")}), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(values(10, "Pad", {x}, {ints("pads", {0, -1, 0, 0})}), ElementsAre(2, 3));
  EXPECT_THAT(values(11, "Pad", {x}, {}, {integers("pads", {0, 1, 0, 2}), scalar("value", 9)}), ElementsAre(9, 1, 2, 3, 9, 9));
  EXPECT_THAT(values(13, "Pad", {x}, {word("mode", "edge")}, {integers("pads", {0, 1, 0, 2})}), ElementsAre(1, 1, 2, 3, 3, 3));
  EXPECT_THAT(values(18, "Pad", {x}, {}, {integers("pads", {1, 2}), left_out, integers("axes", {-1})}), ElementsAre(0, 1, 2, 3, 0, 0));
  EXPECT_THAT(values(19, "Pad", {x}, {word("mode", "wrap")}, {integers("pads", {0, 2, 0, 1})}), ElementsAre(2, 3, 1, 2, 3, 1));
}

TEST(ImportOpsets, DropoutKeepsAndItsMaskIsOfBoolsFrom10) {
  const Tensor x{{2}, {3, 4}};
  for (int opset : {7, 10, 12, 22}) {
    const auto r = opset < 12 ? run(opset, "Dropout", {x}, {real("ratio", 0.25)}, {}, 2) : run(opset, "Dropout", {x}, {}, {scalar("ratio", 0.25)}, 2);
    EXPECT_THAT(r.at(0).values, ElementsAre(3, 4));
    EXPECT_THAT(r.at(1).values, ElementsAre(1, 1));
    EXPECT_EQ(r.at(1).dtype, opset < 10 ? DType::f32 : DType::boolean);
  }
}
TEST(ImportOpsets, DropoutInTrainingThatDropsNothingIsTheIdentity) {
  const std::pair<std::string, Message> training{"t", tensor<std::uint8_t>("t", boolean, {}, {1})};
  EXPECT_THAT(values(13, "Dropout", {{{2}, {3, 4}}}, {}, {scalar("ratio", 0), training}), ElementsAre(3, 4));
  EXPECT_THROW(values(13, "Dropout", {{{2}, {3, 4}}}, {}, {scalar("ratio", 1.5), training}), Error);
}

TEST(ImportOpsets, SplitTakesSizesAsAnInputFrom13AndUnevenPartsFrom18) {
  const Tensor x = counting({7});
  const auto sizes = [](const std::vector<Result>& parts) {
    std::vector<std::int64_t> s;
    for (const auto& p : parts) s.push_back(p.shape.at(0));
    return s;
  };
  EXPECT_THAT(sizes(run(7, "Split", {x}, {ints("split", {2, 5})}, {}, 2)), ElementsAre(2, 5));
  EXPECT_THAT(sizes(run(13, "Split", {x}, {}, {integers("split", {3, 0, 4})}, 3)), ElementsAre(3, 0, 4));
  EXPECT_THAT(sizes(run(18, "Split", {x}, {integer("num_outputs", 3)}, {}, 3)), ElementsAre(3, 3, 1));
  for (int opset : {7, 13}) EXPECT_THROW(run(opset, "Split", {x}, {}, {}, 3), Error);
  EXPECT_THAT(run(11, "Split", {counting({2, 4})}, {integer("axis", -1)}, {}, 2).at(1).values, ElementsAre(2, 3, 6, 7));
}

TEST(ImportOpsets, TopKTakesKAsAnInputFrom10AndTheLeastFrom11) {
  const Tensor x{{5}, {1, 3, 3, 2, 3}};
  for (int opset : {7, 10, 11}) {
    const auto r = opset < 10 ? run(opset, "TopK", {x}, {integer("k", 3)}, {}, 2) : run(opset, "TopK", {x}, {}, {integers("k", {3})}, 2);
    EXPECT_THAT(r.at(0).values, ElementsAre(3, 3, 3));
    EXPECT_THAT(r.at(1).values, ElementsAre(1, 2, 4));  // among equals the lower index first
  }
  EXPECT_THAT(run(11, "TopK", {x}, {integer("largest", 0)}, {integers("k", {2})}, 2).at(1).values, ElementsAre(0, 3));
}

TEST(ImportOpsets, UpsampleAndResizeByScales) {
  const Tensor x{{1, 1, 1, 2}, {2, 6}};
  const std::vector<float> scales{1, 1, 1, 2};
  EXPECT_THAT(values(7, "Upsample", {x}, {real_list("scales", scales)}), ElementsAre(2, 2, 6, 6));
  EXPECT_THAT(values(9, "Upsample", {x}, {}, {floats("s", scales)}), ElementsAre(2, 2, 6, 6));
  // Before opset 11 position i reads i / scale: 0, 0.5, 1, and 1.5 held at the end.
  EXPECT_THAT(values(9, "Upsample", {x}, {word("mode", "linear")}, {floats("s", scales)}), ElementsAre(2, 4, 6, 6));
  EXPECT_THAT(values(10, "Resize", {x}, {word("mode", "linear")}, {floats("s", scales)}), ElementsAre(2, 4, 6, 6));
  // Since then (i + 0.5) / scale - 0.5: -0.25, 0.25, 0.75, 1.25, held at both ends.
  EXPECT_THAT(values(11, "Resize", {x}, {word("mode", "linear")}, {floats("roi", {}), floats("s", scales)}), ElementsAre(2, 3, 5, 6));
  for (int opset : {13, 18, 19}) EXPECT_THAT(values(opset, "Resize", {x}, {word("mode", "linear")}, {left_out, floats("s", scales)}), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(values(18, "Resize", {x}, {word("mode", "linear"), ints("axes", {-1})}, {left_out, floats("s", {2})}), ElementsAre(2, 3, 5, 6));
}
TEST(ImportOpsets, ResizeBySizes) {
  const Tensor x{{1, 1, 1, 4}, {0, 10, 20, 30}};
  EXPECT_THAT(values(11, "Resize", {x}, {word("mode", "linear")}, {floats("roi", {}), floats("s", {}), integers("sizes", {1, 1, 1, 2})}), ElementsAre(5, 25));
  EXPECT_THAT(values(13, "Resize", {x}, {word("coordinate_transformation_mode", "align_corners"), word("mode", "linear")}, {left_out, left_out, integers("sizes", {1, 1, 1, 3})}), ElementsAre(0, 15, 30));
  EXPECT_THAT(values(18, "Resize", {x}, {ints("axes", {3}), word("nearest_mode", "floor"), word("coordinate_transformation_mode", "asymmetric")}, {left_out, left_out, integers("sizes", {2})}), ElementsAre(0, 20));
}
// B087 of the public reports: half-pixel to one position reads the middle of 7 (row 3) and of 10 (between columns 4 and 5).
TEST(ImportOpsets, ResizeToOnePositionReadsTheMiddle) {
  EXPECT_THAT(values(13, "Resize", {counting({1, 1, 7, 10})}, {word("mode", "linear")}, {left_out, left_out, integers("sizes", {1, 1, 1, 1})}), ElementsAre(34.5));
}

TEST(ImportOpsets, BatchNormalizationAtInference) {
  // (x - mean) / sqrt(var + epsilon) * scale + bias, with var + epsilon = 4.
  const Tensor x{{1, 2, 2}, {1, 3, 5, 9}}, scale{{2}, {2, 4}}, bias{{2}, {1, 0}}, mean{{2}, {1, 5}}, var{{2}, {3, 3}};
  for (int opset : {7, 8, 9, 13, 14, 15}) EXPECT_THAT(values(opset, "BatchNormalization", {x, scale, bias, mean, var}, {real("epsilon", 1)}), ElementsAre(1, 3, 0, 8));
  EXPECT_THAT(values(7, "BatchNormalization", {x, scale, bias, mean, var}, {real("epsilon", 1), integer("spatial", 1)}), ElementsAre(1, 3, 0, 8));
  EXPECT_THROW(values(7, "BatchNormalization", {x, scale, bias, mean, var}, {integer("spatial", 0)}), Error);
}
TEST(ImportOpsets, BatchNormalizationInTrainingMovesTheMeans) {
  // The batch's mean 2 and population variance 1; with epsilon 0 the values are -1 and 1.
  const Tensor x{{1, 1, 2}, {1, 3}}, one{{1}, {1}}, zero{{1}, {0}}, mean{{1}, {10}}, var{{1}, {5}};
  const auto r = run(14, "BatchNormalization", {x, one, zero, mean, var}, {real("epsilon", 0), integer("training_mode", 1), real("momentum", 0.75)}, {}, 3);
  EXPECT_THAT(r.at(0).values, ElementsAre(-1, 1));
  EXPECT_THAT(r.at(1).values, ElementsAre(8));
  EXPECT_THAT(r.at(2).values, ElementsAre(4));
}

TEST(ImportOpsets, GroupNormalizationScalesGroupsIn18AndChannelsFrom21) {
  // Two groups of two channels; each holds -1 and 1, so with epsilon 0 the normal form is x itself.
  const Tensor x{{1, 4, 1}, {-1, 1, -1, 1}};
  const std::vector<Message> attributes{integer("num_groups", 2), real("epsilon", 0)};
  EXPECT_THAT(values(18, "GroupNormalization", {x, {{2}, {10, 20}}, {{2}, {0, 1}}}, attributes), ElementsAre(-10, 10, -19, 21));
  EXPECT_THAT(values(21, "GroupNormalization", {x, {{4}, {1, 2, 3, 4}}, {{4}, {0, 0, 1, 1}}}, attributes), ElementsAre(-1, 2, -2, 5));
}
TEST(ImportOpsets, LayerNormalizationFrom17) {
  const Tensor x{{2, 2}, {-1, 1, 3, 7}};
  const auto r = run(17, "LayerNormalization", {x, {{2}, {1, 2}}, {{2}, {0, 1}}}, {real("epsilon", 0)}, {}, 3);
  EXPECT_THAT(r.at(0).values, ElementsAre(-1, 3, -1, 3));
  EXPECT_THAT(r.at(1).values, ElementsAre(0, 5));
  EXPECT_THAT(r.at(2).values, ElementsAre(1, 0.5));
  EXPECT_THAT(values(17, "LayerNormalization", {x, {{2}, {1, 2}}}, {real("epsilon", 0)}), ElementsAre(-1, 2, -1, 2));
}
TEST(ImportOpsets, LpNormalizationOfZerosIsZero) {
  const Tensor x{{2, 2}, {3, -4, 0, 0}};
  for (int opset : {7, 22}) EXPECT_THAT(values(opset, "LpNormalization", {x}), ElementsAre(DoubleNear(0.6, 1e-7), DoubleNear(-0.8, 1e-7), 0, 0));
  EXPECT_THAT(values(22, "LpNormalization", {{{1, 2}, {1, -3}}}, {integer("p", 1)}), ElementsAre(0.25, -0.75));
}

// B083 and B085 of the public reports.
TEST(ImportOpsets, AveragePoolWithCeilCountsUpToThePadding) {
  Tensor ones{{1, 1, 6, 6}, std::vector<float>(36, 1)};
  const std::vector<Message> attributes{ints("kernel_shape", {3, 3}), ints("strides", {2, 2}), ints("pads", {1, 1, 1, 1}), integer("ceil_mode", 1), integer("count_include_pad", 1)};
  const float a = 4.0F / 9, b = 6.0F / 9, c = 2.0F / 6, d = 1.0F / 4;
  for (int opset : {10, 11, 19, 22}) EXPECT_THAT(values(opset, "AveragePool", {ones}, attributes), ElementsAre(a, b, b, c, b, 1, 1, 0.5, b, 1, 1, 0.5, c, 0.5, 0.5, d));
  EXPECT_THAT(values(11, "AveragePool", {{{1, 1, 1}, {2}}}, {ints("kernel_shape", {4}), ints("strides", {3}), ints("pads", {2, 2}), integer("count_include_pad", 1)}), ElementsAre(0.5));
}

// A node in the form of another opset must not be read as something else.
TEST(ImportOpsets, FormsOfOtherOpsetsAreRefused) {
  expect_refused(13, "Squeeze", {ints("axes", {0})}, {}, "'axes' is an input, no longer an attribute, from opset 13 on; the model is of opset 13");
  expect_refused(11, "Squeeze", {}, {integers("axes", {0})}, "'axes' is an attribute before opset 13, not input 1; the model is of opset 11");
  expect_refused(13, "ReduceSum", {ints("axes", {0})}, {}, "opset 13");
  expect_refused(17, "ReduceMax", {}, {integers("axes", {0})}, "opset 18");
  expect_refused(18, "ReduceMax", {ints("axes", {0})}, {}, "opset 18");
  expect_refused(11, "Clip", {real("min", 0)}, {}, "opset 11");
  expect_refused(10, "Clip", {}, {scalar("min", 0)}, "opset 11");
  expect_refused(12, "Dropout", {real("ratio", 0.5)}, {}, "opset 12");
  expect_refused(13, "Split", {ints("split", {1})}, {}, "opset 13");
}

}  // namespace
}  // namespace plumb::ir
