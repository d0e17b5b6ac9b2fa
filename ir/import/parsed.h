// A parsed model: what OnnxModel holds. For the .cpp files that read protobuf messages; they include onnx_pb.h first.
#pragma once
#include <map>

#include "ir/import/onnx.h"

namespace plumb::ir {

struct OnnxModel::Parsed {
  ::onnx::ModelProto proto;
  std::string name;               ///< the file's name, for locations
  std::filesystem::path folder;   ///< where external data lies
  std::vector<OnnxInput> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, int> opsets;
  std::map<std::pair<std::string, std::string>, const ::onnx::FunctionProto*> functions;  ///< by domain and name
};

namespace onnx_import {
/// Versions by domain, "ai.onnx" spelled ""; unsupported for a default domain outside 1 to 22.
template <class Imports> std::map<std::string, int> read_opsets(const Imports& imports, const SourceLocation& where) {
  std::map<std::string, int> versions;
  for (const auto& o : imports) {
    const std::string domain = o.domain() == "ai.onnx" ? "" : o.domain();
    if (o.version() < 1 || o.version() > 10000) fail_input("opset version " + std::to_string(o.version()), where);
    if (!versions.emplace(domain, static_cast<int>(o.version())).second) fail_input("the opset of domain '" + domain + "' is stated twice", where);
  }
  if (auto it = versions.find(""); it != versions.end() && it->second > 22)
    fail_unsupported("opset " + std::to_string(it->second) + " of ONNX's default domain; 1 to 22 are supported", where);
  return versions;
}
}  // namespace onnx_import

}  // namespace plumb::ir
