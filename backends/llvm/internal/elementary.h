// Elementary functions as straight-line vector code.
#pragma once
#include "backends/llvm/internal/expr.h"

namespace plumb::backends::codegen {

}  // namespace plumb::backends::codegen
