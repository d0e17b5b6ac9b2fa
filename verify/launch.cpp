#include "verify/launch.h"

#include <cstring>

namespace plumb::verify {

ir::Literal poisoned(const ir::Type& type) {
  ir::Literal l(type);
  if (l.bytes() > 0) std::memset(l.mutable_raw(), 0xff, static_cast<std::size_t>(l.bytes()));
  return l;
}

Launcher::Launcher(const kir::Kernel& kernel, backends::Backend& target) : kernel_(std::make_shared<kir::Kernel>(kernel)) {
  const kir::Kernel* kernels[] = {kernel_.get()};
  executable_ = target.compile(kernels);
}

ir::Literal Launcher::run(std::span<const ir::Literal> inputs, const ir::Type& output) const {
  auto result = poisoned(output);
  std::vector<ir::Literal> in(inputs.begin(), inputs.end());
  std::vector<void*> pointers;
  for (auto& l : in) pointers.push_back(l.mutable_raw());
  pointers.push_back(result.mutable_raw());
  executable_->launch(0, pointers);
  return result;
}

}  // namespace plumb::verify
