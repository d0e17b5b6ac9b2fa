// A stand-in for libcuda.so.1, loaded by the same code (PLUMB_CUDA_DRIVER names it): device memory lies on the host, kernels are
// not run, arguments are held against what the CUDA Driver API reference allows. PLUMB_FAKE_CUDA sets it up, comma-separated:
//   devices=N version=V major=M minor=M memory=BYTES    what is there
//   fail=FUNCTION:N:RESULT                              the N-th call of FUNCTION gives RESULT; lost=N: so do all calls after it
//   log=FILE                                            counts of calls, written at the end
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

namespace {

using Address = std::uint64_t;
constexpr int invalid_value = 1, out_of_memory = 2, invalid_device = 101, invalid_image = 200, not_found = 500;

struct Entry { std::size_t parameters = 0; };
struct LoadedModule { std::map<std::string, Entry> entries; };

struct Machine {
  std::map<std::string, std::string> settings;
  std::map<std::string, long> calls;
  std::map<Address, std::size_t> memory;
  std::set<LoadedModule*> modules;
  std::size_t used = 0;
  int lost = 0;
  std::mutex mutex;

  Machine() {
    const char* text = std::getenv("PLUMB_FAKE_CUDA");
    std::istringstream in(text ? text : "");
    for (std::string word; std::getline(in, word, ',');) settings[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  ~Machine() {
    if (!settings.contains("log")) return;
    std::FILE* f = std::fopen(settings["log"].c_str(), "w");
    for (const auto& [name, count] : calls) std::fprintf(f, "%s %ld\n", name.c_str(), count);
    std::fprintf(f, "live %zu\nmodules %zu\n", memory.size(), modules.size());
    std::fclose(f);
  }
  long number(const char* name, long otherwise) const {
    const auto it = settings.find(name);
    return it == settings.end() ? otherwise : std::atol(it->second.c_str());
  }
  /// Counts a call; not 0: what it gives instead of doing anything.
  int enter(const std::string& function) {
    const auto n = ++calls[function];
    if (lost) return lost;
    for (const char* kind : {"fail", "lost"}) {
      const auto it = settings.find(kind);
      if (it == settings.end()) continue;
      std::istringstream in(it->second);
      std::string name, at, result;
      std::getline(in, name, ':'), std::getline(in, at, ':'), std::getline(in, result, ':');
      if (name != function || std::atol(at.c_str()) != n) continue;
      if (std::string(kind) == "lost") lost = std::atoi(result.c_str());
      return std::atoi(result.c_str());
    }
    return 0;
  }
  bool holds(Address p, std::size_t bytes) const {
    auto it = memory.upper_bound(p);
    if (it == memory.begin()) return false;
    --it;
    return p + bytes <= it->first + it->second;
  }
};
Machine machine;

void* host(Address p) { return reinterpret_cast<void*>(p); }

/// Entries of a PTX text, each with how many parameters it takes.
LoadedModule* read_ptx(const std::string& text) {
  auto* m = new LoadedModule;
  for (std::size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    const auto open = text.find('(', at), close = text.find(')', open);
    auto name = text.substr(at + 7, open - at - 7);
    Entry e;
    for (auto p = open; (p = text.find(".param", p + 1)) < close;) ++e.parameters;
    m->entries[name] = e;
    at = close;
  }
  machine.modules.insert(m);
  return m;
}

}  // namespace

#define FAKE(name, ...)                                                \
  extern "C" int name(__VA_ARGS__);                                    \
  extern "C" int name(__VA_ARGS__)
#define ENTER(name)                                                    \
  const std::lock_guard lock(machine.mutex);                           \
  if (const int r = machine.enter(name); r != 0) return r

FAKE(cuInit, unsigned) { ENTER("cuInit"); return 0; }
FAKE(cuDriverGetVersion, int* v) { ENTER("cuDriverGetVersion"); *v = static_cast<int>(machine.number("version", 13000)); return 0; }
FAKE(cuGetErrorName, int r, const char** text) {
  static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {100, "CUDA_ERROR_NO_DEVICE"}, {218, "CUDA_ERROR_INVALID_PTX"}, {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
  const auto it = names.find(r);
  *text = it == names.end() ? nullptr : it->second;
  return 0;
}
FAKE(cuGetErrorString, int, const char** text) { *text = nullptr; return 0; }
FAKE(cuDeviceGetCount, int* n) { ENTER("cuDeviceGetCount"); *n = static_cast<int>(machine.number("devices", 2)); return 0; }
FAKE(cuDeviceGet, int* d, int n) { ENTER("cuDeviceGet"); *d = n; return n >= 0 && n < machine.number("devices", 2) ? 0 : invalid_device; }
FAKE(cuDeviceGetName, char* text, int size, int d) { ENTER("cuDeviceGetName"); std::snprintf(text, static_cast<std::size_t>(size), "Pretend %d", d); return 0; }
FAKE(cuDeviceGetAttribute, int* v, int which, int) {
  ENTER("cuDeviceGetAttribute");
  const std::map<int, int> values{{75, static_cast<int>(machine.number("major", 9))}, {76, static_cast<int>(machine.number("minor", 0))}, {16, 132}, {97, 232448}, {38, 50 << 20}};
  const auto it = values.find(which);
  if (it == values.end()) return invalid_value;
  *v = it->second;
  return 0;
}
FAKE(cuDeviceTotalMem_v2, std::size_t* bytes, int) { ENTER("cuDeviceTotalMem"); *bytes = static_cast<std::size_t>(machine.number("memory", 1L << 30)); return 0; }
FAKE(cuDevicePrimaryCtxRetain, void** c, int d) { ENTER("cuDevicePrimaryCtxRetain"); *c = host(static_cast<Address>(0x1000 + d)); return 0; }
FAKE(cuDevicePrimaryCtxRelease_v2, int) { ENTER("cuDevicePrimaryCtxRelease"); return 0; }
FAKE(cuCtxSetCurrent, void* c) { ENTER("cuCtxSetCurrent"); return c ? 0 : invalid_value; }
FAKE(cuMemGetInfo_v2, std::size_t* free_bytes, std::size_t* total) {
  ENTER("cuMemGetInfo");
  *total = static_cast<std::size_t>(machine.number("memory", 1L << 30));
  *free_bytes = *total - machine.used;
  return 0;
}
FAKE(cuDeviceGetDefaultMemPool, void** p, int) { ENTER("cuDeviceGetDefaultMemPool"); *p = host(0x2000); return 0; }
FAKE(cuMemPoolSetAttribute, void* p, int, void* v) { ENTER("cuMemPoolSetAttribute"); return p && v ? 0 : invalid_value; }
FAKE(cuMemPoolTrimTo, void* p, std::size_t) { ENTER("cuMemPoolTrimTo"); return p ? 0 : invalid_value; }
FAKE(cuMemAllocAsync, Address* p, std::size_t bytes, void*) {
  ENTER("cuMemAllocAsync");
  if (bytes == 0) return invalid_value;
  if (machine.used + bytes > static_cast<std::size_t>(machine.number("memory", 1L << 30))) return out_of_memory;
  *p = reinterpret_cast<Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  machine.memory[*p] = bytes;
  machine.used += bytes;
  return 0;
}
FAKE(cuMemFreeAsync, Address p, void*) {
  ENTER("cuMemFreeAsync");
  const auto it = machine.memory.find(p);
  if (it == machine.memory.end()) return invalid_value;
  machine.used -= it->second;
  machine.memory.erase(it);
  std::free(host(p));
  return 0;
}
FAKE(cuMemAllocHost_v2, void** p, std::size_t bytes) { ENTER("cuMemAllocHost"); *p = std::malloc(bytes); return 0; }
FAKE(cuMemFreeHost, void* p) { ENTER("cuMemFreeHost"); std::free(p); return 0; }
FAKE(cuMemcpyHtoDAsync_v2, Address to, const void* from, std::size_t n, void*) {
  ENTER("cuMemcpyHtoDAsync");
  if (!machine.holds(to, n)) return invalid_value;
  std::memcpy(host(to), from, n);
  return 0;
}
FAKE(cuMemcpyDtoHAsync_v2, void* to, Address from, std::size_t n, void*) {
  ENTER("cuMemcpyDtoHAsync");
  if (!machine.holds(from, n)) return invalid_value;
  std::memcpy(to, host(from), n);
  return 0;
}
FAKE(cuMemcpyDtoDAsync_v2, Address to, Address from, std::size_t n, void*) {
  ENTER("cuMemcpyDtoDAsync");
  if (!machine.holds(to, n) || !machine.holds(from, n)) return invalid_value;
  std::memmove(host(to), host(from), n);
  return 0;
}
FAKE(cuMemsetD8Async, Address to, unsigned char v, std::size_t n, void*) {
  ENTER("cuMemsetD8Async");
  if (!machine.holds(to, n)) return invalid_value;
  std::memset(host(to), v, n);
  return 0;
}
FAKE(cuStreamCreate, void** s, unsigned) { ENTER("cuStreamCreate"); *s = host(0x3000); return 0; }
FAKE(cuStreamDestroy_v2, void*) { ENTER("cuStreamDestroy"); return 0; }
FAKE(cuStreamSynchronize, void*) { ENTER("cuStreamSynchronize"); return 0; }
FAKE(cuStreamBeginCapture_v2, void*, int) { ENTER("cuStreamBeginCapture"); return 0; }
FAKE(cuStreamEndCapture, void*, void** g) { ENTER("cuStreamEndCapture"); *g = host(0x4000); return 0; }
FAKE(cuGraphInstantiateWithFlags, void** e, void*, unsigned long long) { ENTER("cuGraphInstantiate"); *e = host(0x5000); return 0; }
FAKE(cuGraphLaunch, void*, void*) { ENTER("cuGraphLaunch"); return 0; }
FAKE(cuGraphDestroy, void*) { ENTER("cuGraphDestroy"); return 0; }
FAKE(cuGraphExecDestroy, void*) { ENTER("cuGraphExecDestroy"); return 0; }
FAKE(cuEventCreate, void** e, unsigned) { ENTER("cuEventCreate"); *e = host(0x6000); return 0; }
FAKE(cuEventDestroy_v2, void*) { ENTER("cuEventDestroy"); return 0; }
FAKE(cuEventRecord, void*, void*) { ENTER("cuEventRecord"); return 0; }
FAKE(cuEventElapsedTime, float* ms, void*, void*) { ENTER("cuEventElapsedTime"); *ms = 0; return 0; }
FAKE(cuModuleLoadDataEx, void** m, const void* image, unsigned, int*, void**) {
  ENTER("cuModuleLoadDataEx");
  const std::string text(static_cast<const char*>(image));
  if (text.find(".version") == std::string::npos) return invalid_image;
  *m = read_ptx(text);
  return 0;
}
FAKE(cuModuleUnload, void* m) {
  ENTER("cuModuleUnload");
  if (machine.modules.erase(static_cast<LoadedModule*>(m)) == 0) return invalid_value;
  delete static_cast<LoadedModule*>(m);
  return 0;
}
FAKE(cuModuleGetFunction, void** f, void* m, const char* name) {
  ENTER("cuModuleGetFunction");
  auto& entries = static_cast<LoadedModule*>(m)->entries;
  const auto it = entries.find(name);
  if (it == entries.end()) return not_found;
  *f = &it->second;
  return 0;
}
FAKE(cuFuncSetAttribute, void*, int which, int bytes) { ENTER("cuFuncSetAttribute"); return which == 8 && bytes <= 232448 ? 0 : invalid_value; }
FAKE(cuLaunchKernel, void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void*, void** parameters, void**) {
  ENTER("cuLaunchKernel");
  const bool grid = gx >= 1 && gx <= 2147483647U && gy >= 1 && gy <= 65535 && gz >= 1 && gz <= 65535;
  const bool block = bx >= 1 && by >= 1 && bz >= 1 && bx <= 1024 && by <= 1024 && bz <= 64 && bx * by * bz <= 1024;
  if (!grid || !block || shared > 232448) return invalid_value;
  for (std::size_t k = 0; k < static_cast<Entry*>(f)->parameters; ++k)   // each points to an allocation, or is the absent fault buffer
    if (const auto p = *static_cast<Address*>(parameters[k]); p != 0 && !machine.holds(p, 1)) return invalid_value;
  return 0;
}
