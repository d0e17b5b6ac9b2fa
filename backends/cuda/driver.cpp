#include "backends/cuda/driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

#include "ir/support/error.h"

namespace plumb::backends::cuda {
namespace {

#ifndef PLUMB_CUDA_RUNTIME
#define PLUMB_CUDA_RUNTIME 1
#endif
constexpr int least_version = 12000;   ///< of the driver's API: PTX 8.0

std::string dotted(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

/// What the user can do about it, or nothing where the driver's words must do.
std::string mend(Result r) {
  switch (r) {
    case out_of_memory: return "Free memory on the device, or use smaller inputs";
    case stub_library: return "The library is the toolkit's stub: put the driver's own before it on LD_LIBRARY_PATH";
    case device_unavailable: return "Another program has the device to itself: wait for it, or set CUDA_VISIBLE_DEVICES";
    case no_device: return "There is no NVIDIA GPU in this machine, or CUDA_VISIBLE_DEVICES hides it: use --target cpu";
    case no_binary_for_gpu: case invalid_ptx: case unsupported_ptx_version: case jit_compiler_not_found:
      return "The driver does not take these kernels: install a newer one, or use --target cpu";
    case system_not_ready: return "The machine's NVSwitch service is not running: start nvidia-fabricmanager";
    case driver_mismatch: case compatibility_unsupported: return "The driver's library and its kernel module differ: restart the machine, or install one version of both";
    case not_permitted: case operating_system: return "This user may not open the device: see the permissions of /dev/nvidia*";
    case uncorrectable_ecc: case illegal_address: case launch_timeout: case context_destroyed: case hardware_stack: case illegal_instruction:
    case misaligned_address: case invalid_address_space: case invalid_pc: case launch_failed: case unknown:
      return "The device is lost to this process: start it again; other targets still work in it";
    default: return "";
  }
}

Driver load() {
  if (!PLUMB_CUDA_RUNTIME) fail_unsupported("this plumb was built with PLUMB_CUDA=OFF: build it with AUTO or ON, or use --target cpu");
  const char* named = std::getenv("PLUMB_CUDA_DRIVER");
  const std::string file = named && *named ? named : "libcuda.so.1";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_unsupported("no NVIDIA driver: " + file + " cannot be loaded. Install the driver of the GPU, or use --target cpu");
  Driver d;
  auto find = [&](auto*& pointer, const char* symbol) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, symbol));
    if (!pointer) fail_unsupported("the NVIDIA driver is too old: " + file + " has no " + symbol + ". Install one for CUDA 12.0 or later, or use --target cpu");
  };
#define PLUMB_CUDA_FIND(name, symbol, ...) find(d.name, symbol);
  PLUMB_CUDA_FUNCTIONS(PLUMB_CUDA_FIND)
#undef PLUMB_CUDA_FIND
  d.check(d.Init(0), "starting the NVIDIA driver");
  int version = 0;
  d.check(d.DriverGetVersion(&version), "asking for the driver's version");
  if (version < least_version) fail_unsupported("the NVIDIA driver is too old: it has CUDA " + dotted(version) + ". Install one for CUDA 12.0 or later, or use --target cpu");
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
  if (r == 0) return;
  const auto advice = mend(r);
  fail_unsupported("CUDA: " + doing + ": " + message(r) + (advice.empty() ? "" : ". " + advice));
}

const Driver& driver() {
  static const Driver d = load();
  return d;
}

}  // namespace plumb::backends::cuda
