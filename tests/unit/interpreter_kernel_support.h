// Kernels given as text, run on the interpreter.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interpreter/domains/number.h"
#include "interpreter/kernel/interpreter.h"
#include "ir/kernel/text.h"
#include "ir/support/index_space.h"

namespace plumb::interp {

using Memory = std::vector<std::byte>;

/// Memory for a kernel's buffer: inputs hold 1, 2, 3, … (bools false, true, …), outputs 0xff.
inline Memory memory_for(const kir::Kernel& k, kir::BufferId b, bool input) {
  const auto& info = k.buffers[static_cast<std::size_t>(b)];
  Memory m(static_cast<std::size_t>(element_count(info.extents)) * static_cast<std::size_t>(byte_size(info.dtype)), std::byte{0xff});
  if (input)
    for (std::int64_t i = 0; i < element_count(info.extents); ++i) store(info.dtype, m.data(), i, number(info.dtype, is_bool(info.dtype) ? static_cast<double>(i % 2) : static_cast<double>(i + 1)));
  return m;
}

struct Ran {
  std::vector<double> output;      ///< the last output's elements
  std::optional<IndexFault> fault;
};

inline Ran run_text(const std::string& text, const KernelOptions& options = {}) {
  const auto k = kir::parse_kernel(text, "test");
  std::vector<Memory> memory;
  for (auto b : k.inputs) memory.push_back(memory_for(k, b, true));
  for (auto b : k.outputs) memory.push_back(memory_for(k, b, false));
  std::vector<void*> pointers;
  for (auto& m : memory) pointers.push_back(m.data());
  const auto run = CompiledKernel(k, options).run(pointers);
  Ran r{{}, run.fault};
  if (k.outputs.empty()) return r;
  const auto& out = k.buffers[static_cast<std::size_t>(k.outputs.back())];
  for (std::int64_t i = 0; i < element_count(out.extents); ++i) r.output.push_back(convert(load(out.dtype, memory.back().data(), i), out.dtype, DType::f64).f);
  return r;
}

inline std::vector<double> outputs(const std::string& text, const KernelOptions& options = {}) { return run_text(text, options).output; }

inline Violation violation_of(const std::string& text, const KernelOptions& options = {}) {
  try {
    run_text(text, options);
  } catch (const ViolationError& e) {
    return e.violation();
  }
  ADD_FAILURE() << "no violation:\n" << text;
  return {};
}

}  // namespace plumb::interp
