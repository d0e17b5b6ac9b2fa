// The functions on doubles that generated code may call, by the name that it uses.
#pragma once
#include <span>

namespace plumb::backends::codegen {

struct HostFunction {
  const char* name;
  void* address;
};
/// Errors are below 0.51 units in the last place: where the C library's double function is worse, its long double one
/// is rounded.
std::span<const HostFunction> host_functions();

}  // namespace plumb::backends::codegen
