// libFuzzer entry for the text of kernels: whatever the bytes, an answer or an error that is not Plumb's own fault; what
// parses prints and parses to the same text; and what verifies runs on the interpreter (small ones) without another
// outcome than an answer, a violation, or "unsupported".
//
// Not in the default build:
//   clang++-19 -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. fuzz/targets/kernel_text_fuzz.cpp \
//     ir/scalar/storage.cpp ir/tensor/*.cpp ir/kernel/*.cpp interpreter/domains/{number,elementary}.cpp \
//     interpreter/kernel/*.cpp -lmpfr -lgmp -o kernel_text_fuzz
//   ./kernel_text_fuzz -max_len=4096 CORPUS_FOLDER
#include <cstdint>
#include <cstdlib>

#include "interpreter/kernel/interpreter.h"
#include "ir/kernel/text.h"
#include "ir/kernel/verifier.h"
#include "ir/kernel/walk.h"
#include "ir/support/index_space.h"

using namespace plumb;

namespace {

/// False when the user is to blame; aborts when Plumb is.
bool accepts(auto action) {
  try {
    action();
    return true;
  } catch (const interp::ViolationError&) {
    return false;
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::internal) std::abort();
    return false;
  }
}

/// An upper bound of the work: every loop's greatest count multiplied, buffers small.
bool small(const kir::Kernel& k) {
  std::int64_t elements = 0, steps = 1;
  for (const auto& b : k.buffers) elements += element_count(b.extents);
  kir::for_each_statement(k.body, [&](const kir::Stmt& s) {
    if (const auto* f = std::get_if<kir::For>(&s.node)) {
      const auto n = f->extent.as_constant();
      if (!n || __builtin_mul_overflow(steps, std::max<std::int64_t>(*n, 1), &steps)) steps = INT64_MAX / 2;
    }
    if (const auto* c = std::get_if<kir::AsyncCopy>(&s.node)) elements += element_count(c->tile);
  });
  return elements < 10000 && steps < 20000;
}

void run(const kir::Kernel& k) {
  std::vector<std::vector<std::uint64_t>> memory;
  std::vector<void*> pointers;
  for (const auto* list : {&k.inputs, &k.outputs})
    for (auto b : *list) memory.emplace_back(static_cast<std::size_t>(element_count(k.buffers[static_cast<std::size_t>(b)].extents)) + 1, 0x0101010101010101U);
  for (auto& m : memory) pointers.push_back(m.data());
  interp::CompiledKernel(k, {4}).run(pointers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  kir::Kernel k;
  if (!accepts([&] { k = kir::parse_kernel(bytes, "fuzz"); })) return 0;
  const auto once = kir::print(k);
  if (kir::print(kir::parse_kernel(once, "printed")) != once) std::abort();
  if (!accepts([&] { kir::verify(k, {ErrorKind::input, true}); })) return 0;
  accepts([&] {
    if (small(k)) run(k);
  });
  return 0;
}
