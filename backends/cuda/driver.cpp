#include "backends/cuda/driver.h"

#include <dlfcn.h>

#include <mutex>

#include "ir/support/error.h"

namespace plumb::backends::cuda {
namespace {

constexpr int least_version = 12000;   ///< of the driver's API: PTX 8.0

Driver load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_unsupported("no NVIDIA driver: libcuda.so.1 cannot be loaded. Install the driver of the GPU, or use --target cpu");
  Driver d;
  auto find = [&](auto*& pointer, const char* symbol) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, symbol));
    if (!pointer) fail_unsupported(std::string("the NVIDIA driver is too old: libcuda.so.1 has no ") + symbol + "; CUDA 12.0's or a later one is needed");
  };
#define PLUMB_CUDA_FIND(name, symbol, ...) find(d.name, symbol);
  PLUMB_CUDA_FUNCTIONS(PLUMB_CUDA_FIND)
#undef PLUMB_CUDA_FIND
  int version = 0;
  if (const auto r = d.Init(0); r != 0) fail_unsupported("the NVIDIA driver does not start: " + d.message(r) + ". Is a GPU there, and may this user open it?");
  d.check(d.DriverGetVersion(&version), "asking for the driver's version");
  if (version < least_version) fail_unsupported("the NVIDIA driver is too old: it has CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + ", 12.0 is needed");
  return d;
}

}  // namespace

std::string Driver::message(Result r) const {
  const char *name = nullptr, *text = nullptr;
  GetErrorName(r, &name);
  GetErrorString(r, &text);
  return std::string(name ? name : "an unknown error") + " (" + std::to_string(r) + ")" + (text ? std::string(", ") + text : "");
}

void Driver::check(Result r, const std::string& doing) const {
  if (r != 0) fail_unsupported("CUDA: " + doing + ": " + message(r));
}

const Driver& driver() {
  static const Driver d = load();
  return d;
}

}  // namespace plumb::backends::cuda
