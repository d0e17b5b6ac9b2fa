#include "ir/import/changed_forms.h"

#include <algorithm>

namespace plumb::ir::onnx_import {
namespace {

struct Change {
  std::string_view op, attribute;
  std::size_t input;  ///< where it stands since
  int opset;          ///< the first with the input
};
constexpr Change changes[] = {
    {"Upsample", "scales", 1, 9},
    {"Slice", "starts", 1, 10}, {"Slice", "ends", 2, 10}, {"Slice", "axes", 3, 10}, {"TopK", "k", 1, 10},
    {"Clip", "min", 1, 11}, {"Clip", "max", 2, 11}, {"Pad", "pads", 1, 11}, {"Pad", "value", 2, 11},
    {"Dropout", "ratio", 1, 12},
    {"ReduceSum", "axes", 1, 13}, {"Split", "split", 1, 13}, {"Squeeze", "axes", 1, 13}, {"Unsqueeze", "axes", 1, 13},
    {"ReduceL1", "axes", 1, 18}, {"ReduceL2", "axes", 1, 18}, {"ReduceLogSum", "axes", 1, 18}, {"ReduceLogSumExp", "axes", 1, 18}, {"ReduceMax", "axes", 1, 18},
    {"ReduceMean", "axes", 1, 18}, {"ReduceMin", "axes", 1, 18}, {"ReduceProd", "axes", 1, 18}, {"ReduceSumSquare", "axes", 1, 18},
    {"DFT", "axis", 2, 20},
};

/// Operators whose definition of opset 7 is older than that, and the opset that it comes from: in models from there on they mean
/// the same.
struct Old { int opset; std::string_view ops; };
constexpr Old old_definitions[] = {
    {1, " ArgMax ArgMin Constant Conv ConvTranspose DepthToSpace Flatten Gather GlobalAveragePool GlobalMaxPool Hardmax Identity If LRN LogSoftmax Loop LpNormalization MatMul MaxPool MaxRoiPool "
        "Not RandomNormal RandomNormalLike RandomUniform RandomUniformLike ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Shape "
        "Size Slice Softmax Softplus Softsign SpaceToDepth Squeeze TopK Transpose Unsqueeze "},
    {2, " GlobalLpPool LpPool Pad Split "},
    {4, " Concat "},
    {5, " Reshape "},
    {6, " Abs Cast Ceil Clip Elu Exp Floor HardSigmoid InstanceNormalization LeakyRelu Log Max Mean Min Neg Reciprocal Relu Selu Sigmoid Sqrt Sum Tanh Tile "},
};
bool means_the_same_in_7(std::string_view op, int opset) {
  const std::string word = " " + std::string(op) + " ";
  return std::ranges::any_of(old_definitions, [&](const Old& o) { return o.opset <= opset && o.ops.find(word) != o.ops.npos; });
}

}  // namespace

void check_form(const NodeImport& n) {
  if (n.opset < 7 && !means_the_same_in_7(n.op_type(), n.opset)) n.unsupported("its definition of opset " + std::to_string(n.opset) + ": of opsets before 7, only definitions that 7 still has are supported");
  for (const auto& c : changes) {
    if (c.op != n.op_type()) continue;
    const std::string what(c.attribute), model = "; the model is of opset " + std::to_string(n.opset);
    if (n.opset >= c.opset && n.has_attr(c.attribute)) n.fail("'" + what + "' is an input, no longer an attribute, from opset " + std::to_string(c.opset) + " on" + model);
    if (n.opset < c.opset && n.has(c.input)) n.fail("'" + what + "' is an attribute before opset " + std::to_string(c.opset) + ", not input " + std::to_string(c.input) + model);
  }
}

}  // namespace plumb::ir::onnx_import
