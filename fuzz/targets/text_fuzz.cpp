// libFuzzer entry for the text format, NumPy's files and symbols: whatever the bytes, an answer or an error that is not
// Plumb's own fault; and what parses, prints and parses to the same text, verifies and specializes.
//
// Not in the default build:
//   clang++-19 -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. fuzz/targets/text_fuzz.cpp \
//     ir/scalar/storage.cpp ir/tensor/*.cpp ir/files/*.cpp -lz -o text_fuzz
//   ./text_fuzz -dict=fuzz/targets/text.dict -max_len=4096 CORPUS_FOLDER
#include <cstdint>
#include <cstdlib>

#include "ir/files/npz.h"
#include "ir/files/npy.h"
#include "ir/tensor/specialize.h"
#include "ir/tensor/text.h"

using namespace plumb;
using namespace plumb::ir;

namespace {

/// False when the user is to blame; aborts when Plumb is.
bool accepts(auto action) {
  try {
    action();
    return true;
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::internal) std::abort();
    return false;
  }
}

void text(std::string_view bytes) {
  Module m;
  if (!accepts([&] { m = parse(bytes, "fuzz"); })) return;
  verify(m, ErrorKind::internal);
  const std::string once = print(m);
  if (print(parse(once, "printed")) != once) std::abort();
  accepts([&] { print(specialize(m, {{"B", 3}, {"N", 0}})); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("\x93NUMPY")) accepts([&] { write_npy(read_npy(bytes, "fuzz", DType::f8e5m2)); });
  else if (bytes.starts_with("PK")) accepts([&] { read_npz(bytes, "fuzz"); });
  else text(bytes);
  return 0;
}
