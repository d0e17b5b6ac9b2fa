// A function with its composites replaced by what they mean.
#pragma once
#include "ir/tensor/graph.h"

namespace plumb::interp {

/// The same function of primitives and control flow alone.
ir::Function in_primitives(const ir::Function& function);

}  // namespace plumb::interp
