// libFuzzer entry for ONNX files: whatever the bytes, a module that verifies or an error that is not Plumb's own fault.
//
// Not in the default build:
//   clang++-19 -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -DONNX_ML=1 -DONNX_NAMESPACE=onnx -I. fuzz/targets/onnx_fuzz.cpp \
//     ir/scalar/storage.cpp ir/tensor/*.cpp ir/import/*.cpp -lonnx_proto -lprotobuf -o onnx_fuzz
//   ./onnx_fuzz -max_len=65536 CORPUS_FOLDER       (a corpus: small models; the fuzzer flips, cuts and splices their bytes)
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "ir/import/onnx.h"
#include "ir/tensor/verifier.h"

using namespace plumb;
using namespace plumb::ir;

namespace {

/// An input of the declared type, open dimensions of size `open`; its value is filled when it is small.
Type concrete(const OnnxInput& in, std::int64_t open) {
  Type t{in.dtype, {}};
  for (const auto& d : in.dims) t.shape.push_back(d.size >= 0 ? d.size : open);
  return t;
}

void import_model(std::string_view bytes) {
  const auto model = OnnxModel::parse(bytes, "fuzz.onnx", "/nowhere");
  for (std::int64_t open : {1, 3}) {
    std::vector<Type> types;
    std::vector<Literal> values;
    for (const auto& in : model.inputs()) types.push_back(concrete(in, open));
    for (const auto& t : types) {
      values.emplace_back(t.elements() <= 64 ? t : Type{});
      std::memset(values.back().mutable_raw(), open == 1, static_cast<std::size_t>(values.back().bytes()));
    }
    std::vector<const Literal*> given;
    for (std::size_t i = 0; i < types.size(); ++i) given.push_back(types[i].elements() <= 64 ? &values[i] : nullptr);
    verify(model.import(types, given), ErrorKind::internal);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    import_model({reinterpret_cast<const char*>(data), size});
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::internal) std::abort();
  }
  return 0;
}
