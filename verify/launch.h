// One kernel, compiled once, run on given memory.
#pragma once
#include <memory>
#include <span>

#include "backends/backend.h"
#include "ir/tensor/literal.h"

namespace plumb::verify {

/// A tensor of NaN patterns: what was never written shows.
ir::Literal poisoned(const ir::Type& type);

class Launcher {
 public:
  Launcher(const kir::Kernel& kernel, backends::Backend& target);
  /// The one output, which was poison. Inputs have the types of the kernel's buffers, whatever their shapes.
  ir::Literal run(std::span<const ir::Literal> inputs, const ir::Type& output) const;

 private:
  std::shared_ptr<const kir::Kernel> kernel_;   ///< executables keep a pointer
  std::unique_ptr<backends::Executable> executable_;
};

}  // namespace plumb::verify
