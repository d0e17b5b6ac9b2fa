#include "backends/backend.h"

#include "ir/support/error.h"

namespace plumb::backends {

void Executable::enqueue(std::size_t, std::span<void* const>) { fail_internal("this target has no memory of its own"); }

void fail_index(const kir::Kernel& kernel, int site, std::int64_t value, std::int64_t extent) {
  const auto& s = kernel.sites.at(static_cast<std::size_t>(site));
  fail_input(s.operation + ": index " + std::to_string(value) + " is outside [0, " + std::to_string(extent) + ")", s.where);
}

}  // namespace plumb::backends
