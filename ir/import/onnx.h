// ONNX models as tensor IR, and tensors as ONNX's TensorProto files.
//
// A model is imported for concrete input types: every symbolic dimension is bound then, so all shapes of the module
// are sizes. Shape arithmetic of the graph is computed by the importer and leaves no operation behind; arithmetic on
// weights stays in the program.
//
// Value specialisation. Some models choose their control flow or their shapes by the value of an input: a sampling
// rate, a target size, a list of axes. Where the value of a small input (at most 64 elements)
// decides a shape, or an If whose branches differ in type or do not both fit the input types, the value given in
// `input_values` is taken as fixed. The module is then right for that value only, and the input is listed in
// `specialised`: run it with another value, and the answer is wrong. Without a value such a model is unsupported.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor/graph.h"

namespace plumb::ir {

/// A dimension as the model declares it: a size, else a symbol's name, else ("" and -1) left open.
struct OnnxDim {
  std::int64_t size = -1;
  std::string symbol;
  friend bool operator==(const OnnxDim&, const OnnxDim&) = default;
};

struct OnnxInput {
  std::string name;
  DType dtype = DType::f32;
  bool ranked = true;  ///< false: the model declares no shape, any will do
  std::vector<OnnxDim> dims;
  std::string str() const;  ///< f32[batch,?,128]
};

/// An input whose value the imported module takes as fixed.
struct Specialisation {
  std::string input;
  Literal value;
};

class OnnxModel {
 public:
  /// Bad input when the file cannot be read, or is no ONNX model.
  static OnnxModel load(const std::filesystem::path& path);
  /// The same from bytes; `name` is the file's name in locations, `folder` where external data may lie.
  static OnnxModel parse(std::string_view bytes, std::string name, std::filesystem::path folder = {});

  /// What the caller has to give: graph inputs that have no initialiser.
  const std::vector<OnnxInput>& inputs() const;
  const std::vector<std::string>& outputs() const;
  /// The model for inputs of these types; one function "main" whose parameters and results have the model's names,
  /// and the functions that its if and while operations name.
  Module import(std::span<const Type> input_types, std::span<const Literal* const> input_values = {},
                std::vector<Specialisation>* specialised = nullptr) const;

  struct Parsed;

 private:
  explicit OnnxModel(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
  std::shared_ptr<const Parsed> parsed_;
};

/// One tensor of an ONNX backend test: input_*.pb, output_*.pb.
Literal load_tensor_pb(const std::filesystem::path& path);
void save_tensor_pb(const std::filesystem::path& path, const Literal& value, std::string_view name);

}  // namespace plumb::ir
