// The reference answer, for code that must not see the interpreter's insides.
#pragma once
#include <span>
#include <vector>

#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::verify {

std::vector<ir::Literal> reference(const ir::Module& module, std::span<const ir::Literal> inputs);

}  // namespace plumb::verify
