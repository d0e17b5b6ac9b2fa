// backends/exact as LLVM bitcode, by target; empty where the build had no Clang to make it.
#pragma once
#include <span>

namespace plumb::backends::codegen {

std::span<const unsigned char> nvptx_library();

}  // namespace plumb::backends::codegen
