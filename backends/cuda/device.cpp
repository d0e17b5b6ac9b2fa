#include "backends/cuda/device.h"

#include <algorithm>
#include <vector>

#include "ir/support/error.h"

namespace plumb::backends::cuda {
namespace {

std::string mebibytes(std::int64_t bytes) {
  const auto tenths = (bytes * 10 + (1 << 19)) >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

}  // namespace

Gpu::Gpu(int number) : driver_(cuda::driver()) {
  int count = 0;
  driver_.check(driver_.DeviceGetCount(&count), "counting devices");
  if (count == 0) fail_unsupported("there is no NVIDIA GPU in this machine, or CUDA_VISIBLE_DEVICES hides it");
  if (number >= count) fail_unsupported("there is no cuda:" + std::to_string(number) + ": this machine has " + std::to_string(count) + (count == 1 ? " GPU, cuda:0" : " GPUs, from cuda:0 on"));
  driver_.check(driver_.DeviceGet(&device_, number), "opening the device");
  char text[256] = {};
  driver_.check(driver_.DeviceGetName(text, sizeof text, device_), "asking for the device's name");
  name_ = text;
  const int major = attribute(major_attribute), minor = attribute(minor_attribute);
  if (major < 8) fail_unsupported(name_ + " is sm_" + std::to_string(major * 10 + minor) + "; plumb needs sm_80 or later");
  arch_ = major == 9 && minor == 0 ? "sm_90a" : major == 8 ? "sm_" + std::to_string(major * 10 + (minor == 9 ? 9 : minor == 6 ? 6 : 0)) : "sm_90";   // later ones run sm_90's PTX
  multiprocessors_ = attribute(multiprocessors_attribute);
  shared_bytes_ = attribute(shared_bytes_attribute);
  l2_bytes_ = attribute(l2_bytes_attribute);
  std::size_t total = 0;
  driver_.check(driver_.DeviceTotalMem(&total, device_), "asking for the device's memory");
  memory_bytes_ = static_cast<std::int64_t>(total);
  driver_.check(driver_.DevicePrimaryCtxRetain(&context_, device_), "making a context on " + name_);
  try {
    open_stream();
  } catch (...) {   // no destructor runs
    driver_.DevicePrimaryCtxRelease(device_);
    throw;
  }
}

void Gpu::open_stream() {
  enter();
  driver_.check(driver_.StreamCreate(&stream_, stream_non_blocking), "making a stream");
  Pool pool = nullptr;
  driver_.check(driver_.DeviceGetDefaultMemPool(&pool, device_), "opening the memory pool");
  std::uint64_t keep_all = ~std::uint64_t{0};   // what is freed stays in the pool for the next allocation
  driver_.check(driver_.MemPoolSetAttribute(pool, release_threshold_attribute, &keep_all), "setting up the memory pool");
}

Gpu::~Gpu() {
  if (driver_.CtxSetCurrent(context_) == 0 && stream_) {
    driver_.StreamSynchronize(stream_);
    driver_.StreamDestroy(stream_);
  }
  driver_.DevicePrimaryCtxRelease(device_);
}

int Gpu::attribute(int which) const {
  int value = 0;
  driver_.check(driver_.DeviceGetAttribute(&value, which, device_), "asking for the device's attributes");
  return value;
}

std::string Gpu::toolkit() const {
  int version = 0;
  driver_.check(driver_.DriverGetVersion(&version), "asking for the driver's version");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::shared_ptr<void> Gpu::allocate(std::int64_t bytes, const std::string& owner) {
  enter();
  const auto size = std::max<std::int64_t>(bytes, 1);
  DevicePtr p = 0;
  auto r = driver_.MemAllocAsync(&p, static_cast<std::size_t>(size), stream_);
  if (r == out_of_memory) {   // what the pool keeps for nobody may be in pieces: give it back and ask once more
    Pool pool = nullptr;
    wait();
    driver_.check(driver_.DeviceGetDefaultMemPool(&pool, device_), "opening the memory pool");
    driver_.MemPoolTrimTo(pool, 0);
    r = driver_.MemAllocAsync(&p, static_cast<std::size_t>(size), stream_);
  }
  if (r == out_of_memory) fail_memory(size, owner);
  driver_.check(r, "allocating " + mebibytes(size) + " for " + owner);
  const std::lock_guard lock(mutex_);
  live_[p] = {size, owner};
  statistics_.in_use += size;
  statistics_.peak = std::max(statistics_.peak, statistics_.in_use);
  ++statistics_.allocations;
  return {reinterpret_cast<void*>(p), [self = shared_from_this(), p](void*) { self->release(p); }};
}

void Gpu::release(DevicePtr p) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = live_.find(p);
    statistics_.in_use -= it->second.bytes;
    live_.erase(it);
  }
  if (driver_.CtxSetCurrent(context_) == 0) driver_.MemFreeAsync(p, stream_);
}

void Gpu::fail_memory(std::int64_t bytes, const std::string& owner) const {
  std::size_t free = 0, total = 0;
  const bool known = driver_.MemGetInfo(&free, &total) == 0;   // what is neither free nor held here, other programs have
  std::map<std::string, std::int64_t> held;
  const std::lock_guard lock(mutex_);
  for (const auto& [p, block] : live_) held[block.owner] += block.bytes;
  std::vector<std::pair<std::int64_t, std::string>> most;
  for (const auto& [who, much] : held) most.emplace_back(much, who);
  std::ranges::sort(most, std::greater());
  std::string list;
  for (std::size_t k = 0; k < std::min<std::size_t>(most.size(), 5); ++k) list += (k ? ", " : " ") + mebibytes(most[k].first) + " for " + most[k].second;
  fail_unsupported("out of memory on " + name_ + ": " + mebibytes(bytes) + " asked for " + owner + "; of " + mebibytes(memory_bytes_) + (known ? ", " + mebibytes(static_cast<std::int64_t>(free)) + " are free and" : "") + " this program holds " + mebibytes(statistics_.in_use) + (list.empty() ? "" : ":" + list) +
                   ". Use smaller inputs, or free what is held");
}

void Gpu::upload(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  enter();
  driver_.check(driver_.MemcpyHtoDAsync(address(to), from, static_cast<std::size_t>(bytes), stream_), "copying to the device");
}
void Gpu::download(void* to, const void* from, std::int64_t bytes) {
  enter();
  if (bytes > 0) driver_.check(driver_.MemcpyDtoHAsync(to, address(from), static_cast<std::size_t>(bytes), stream_), "copying from the device");
  wait();
}
void Gpu::copy(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  enter();
  driver_.check(driver_.MemcpyDtoDAsync(address(to), address(from), static_cast<std::size_t>(bytes), stream_), "copying on the device");
}
void Gpu::fill(void* to, unsigned char byte, std::int64_t bytes) {
  if (bytes == 0) return;
  enter();
  driver_.check(driver_.MemsetD8Async(address(to), byte, static_cast<std::size_t>(bytes), stream_), "filling device memory");
}
DeviceMemory::Statistics Gpu::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}
void Gpu::wait() const { driver_.check(driver_.StreamSynchronize(stream_), "waiting for " + name_); }

}  // namespace plumb::backends::cuda
