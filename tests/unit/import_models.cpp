// The models under ../shared/models, where that folder is there: each imports for its recorded inputs to a module that
// verifies, and whose result types are those of the recorded outputs.
#include <gtest/gtest.h>

#include "ir/import/onnx.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

namespace plumb::ir {
namespace {

namespace fs = std::filesystem;

const fs::path models = fs::path(PLUMB_SOURCE_DIR) / ".." / "shared" / "models";

std::vector<Literal> load_all(const fs::path& folder, const std::string& stem) {
  std::vector<Literal> all;
  for (int i = 0; fs::exists(folder / (stem + "_" + std::to_string(i) + ".pb")); ++i) all.push_back(load_tensor_pb(folder / (stem + "_" + std::to_string(i) + ".pb")));
  return all;
}

struct Imported {
  Module module;
  std::vector<Specialisation> specialised;
};
Imported import_for(const OnnxModel& model, const std::vector<Literal>& inputs) {
  std::vector<Type> types;
  std::vector<const Literal*> values;
  for (const auto& l : inputs) {
    types.push_back(l.type());
    values.push_back(&l);
  }
  Imported r;
  r.module = model.import(types, values, &r.specialised);
  return r;
}

int count(const Module& m, std::string_view op_name) {
  int n = 0;
  for (const auto& f : m.functions)
    for (const auto& node : f.nodes) n += name(node) == op_name;
  return n;
}

class ImportModel : public testing::TestWithParam<const char*> {};

TEST_P(ImportModel, verifies_and_gives_the_recorded_types) {
  const fs::path folder = models / GetParam();
  if (!fs::exists(folder)) GTEST_SKIP() << "no such model here";
  const auto model = OnnxModel::load(folder / "model.onnx");
  for (int set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
    const fs::path data = folder / ("test_data_set_" + std::to_string(set));
    const auto inputs = load_all(data, "input"), outputs = load_all(data, "output");
    ASSERT_FALSE(outputs.empty());
    const auto [module, specialised] = import_for(model, inputs);
    verify(module);
    const Function& main = module.entry();
    ASSERT_EQ(main.results.size(), outputs.size());
    ASSERT_EQ(main.result_names, model.outputs());
    for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(main.type(main.results[i]).str(), outputs[i].type().str());
    ASSERT_EQ(main.params.size(), model.inputs().size());
    for (std::size_t i = 0; i < main.params.size(); ++i) EXPECT_EQ(main.value(main.params[i]).name, model.inputs()[i].name);
    // Shape arithmetic leaves nothing behind: what is left of the integers works on integer inputs or is a constant.
    for (const auto& n : main.nodes) EXPECT_TRUE(n.where.known());
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, ImportModel,
                         testing::Values("mnist", "bert_export", "sentence_encoder", "magika", "silero_vad", "resnet50", "shufflenet", "densenet121", "ppocr_det"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(ImportModels, weights_computed_in_the_graph_stay_operations) {
  if (!fs::exists(models / "resnet50")) GTEST_SKIP() << "no such model here";
  const auto model = OnnxModel::load(models / "resnet50" / "model.onnx");
  const Type image{DType::f32, {1, 3, 224, 224}};
  const auto module = model.import(std::span(&image, 1));
  EXPECT_EQ(count(module, "convolution"), 53);
  EXPECT_EQ(count(module, "slice"), 53);
  EXPECT_EQ(count(module, "batch_norm"), 53);
}

TEST(ImportModels, a_value_that_decides_control_flow_is_listed) {
  const fs::path folder = models / "silero_vad";
  if (!fs::exists(folder)) GTEST_SKIP() << "no such model here";
  const auto model = OnnxModel::load(folder / "model.onnx");
  const auto inputs = load_all(folder / "test_data_set_0", "input");
  const auto [module, specialised] = import_for(model, inputs);
  ASSERT_EQ(specialised.size(), 1u);
  EXPECT_EQ(specialised[0].input, "sr");
  EXPECT_EQ(specialised[0].value, inputs[2]);
  EXPECT_EQ(count(module, "if"), 0);
  std::vector<Type> types;
  for (const auto& l : inputs) types.push_back(l.type());
  try {
    model.import(types);
    FAIL() << "imported without the value";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'sr'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace plumb::ir
