// TensorProto files.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "import_writer.h"
#include "ir/import/onnx.h"

namespace plumb::ir {
namespace {

using namespace onnx_test;
namespace fs = std::filesystem;

/// A folder of this test's own, gone after it.
struct ScratchFolder {
  fs::path path = fs::temp_directory_path() / ("plumb_import_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  ScratchFolder() { fs::create_directories(path); }
  ~ScratchFolder() { fs::remove_all(path); }
  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return path / name;
  }
};

TEST(ImportTensors, every_dtype_goes_out_and_comes_back) {
  const ScratchFolder folder;
  for (const auto& r : dtype_rows) {
    Literal l(Type{r.dtype, {2, 3}});
    for (std::int64_t i = 0; i < l.bytes(); ++i) l.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(r.dtype == DType::boolean ? i % 2 : 17 * i + 3);
    save_tensor_pb(folder.path / "t.pb", l, "t");
    EXPECT_EQ(load_tensor_pb(folder.path / "t.pb"), l) << r.name;
  }
}

TEST(ImportTensors, typed_fields_are_read) {
  const ScratchFolder folder;
  const auto half = load_tensor_pb(folder.write("half.pb", Message().varint(1, 2).varint(2, 10).varint(5, 0x3C00).varint(5, 0xC000).bytes));
  EXPECT_EQ(half.dtype(), DType::f16);
  EXPECT_EQ(half.data<std::uint16_t>()[0], 0x3C00);
  EXPECT_EQ(half.data<std::uint16_t>()[1], 0xC000);
  const auto scalar = load_tensor_pb(folder.write("scalar.pb", Message().varint(2, 7).varint(7, static_cast<std::uint64_t>(-5)).bytes));
  EXPECT_EQ(scalar.type().str(), "i64[]");
  EXPECT_EQ(scalar.int_at(0), -5);
  const auto flag = load_tensor_pb(folder.write("flag.pb", Message().varint(1, 1).varint(2, 9).varint(5, 7).bytes));
  EXPECT_EQ(flag.data<std::uint8_t>()[0], 1);
}

TEST(ImportTensors, external_data_is_read_from_the_models_folder) {
  const ScratchFolder folder;
  const float values[] = {1.5f, -2};
  std::string raw(12, '\0');
  std::memcpy(raw.data() + 4, values, 8);
  folder.write("weights.bin", raw);
  const auto entry = [](const char* key, const char* value) { return Message().text(1, key).text(2, value); };
  const Message t = Message().varint(1, 2).varint(2, f32).text(8, "w").message(13, entry("location", "weights.bin")).message(13, entry("offset", "4")).message(13, entry("length", "8")).varint(14, 1);
  Graph g;
  g.initializer(t).node("Identity", {"w"}, {"y"}).output("y");
  const auto module = OnnxModel::load(folder.write("model.onnx", g.model(13))).import({});
  const auto& main = module.entry();
  EXPECT_EQ(main.nodes.at(0).attrs.get<Literal>("value").data<float>()[1], -2);
  fs::resize_file(folder.path / "weights.bin", 11);
  EXPECT_THROW(OnnxModel::load(folder.path / "model.onnx").import({}), Error);
}

TEST(ImportTensors, what_is_no_tensor_is_refused) {
  const ScratchFolder folder;
  EXPECT_THROW(load_tensor_pb(folder.path / "absent.pb"), Error);
  EXPECT_THROW(load_tensor_pb(folder.write("text.pb", "\xff\xff\xff")), Error);
  EXPECT_THROW(load_tensor_pb(folder.write("short.pb", tensor<float>("t", f32, {3}, {1}).bytes)), Error);
  EXPECT_THROW(load_tensor_pb(folder.write("text_type.pb", tensor_of("t", string_type, {1}, "a").bytes)), Error);
}

TEST(ImportTensors, inputs_and_outputs_are_listed) {
  Graph g;
  g.input("x", f32, {"N", 3}).input("w", f32, {3}).initializer(tensor<float>("w", f32, {3}, {1, 2, 3})).node("Add", {"x", "w"}, {"y"}).output("y");
  const auto model = OnnxModel::parse(g.model(13), "m.onnx");
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_EQ(model.inputs()[0].name, "x");
  EXPECT_EQ(model.inputs()[0].str(), "f32[N,3]");
  EXPECT_EQ(model.outputs(), std::vector<std::string>{"y"});
}

}  // namespace
}  // namespace plumb::ir
