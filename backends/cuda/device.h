// One NVIDIA GPU: its context, its stream, its memory.
#pragma once
#include <map>
#include <mutex>

#include "backends/cuda/driver.h"
#include "backends/device_memory.h"

namespace plumb::backends::cuda {

class Gpu : public DeviceMemory, public std::enable_shared_from_this<Gpu> {
 public:
  /// The device of that number. Unsupported when there is none, or when it is older than sm_80.
  explicit Gpu(int number);
  ~Gpu() override;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  std::shared_ptr<void> allocate(std::int64_t bytes, const std::string& owner) override;
  void upload(void* to, const void* from, std::int64_t bytes) override;
  void download(void* to, const void* from, std::int64_t bytes) override;
  void copy(void* to, const void* from, std::int64_t bytes) override;
  void fill(void* to, unsigned char byte, std::int64_t bytes) override;
  Statistics statistics() const override;

  /// Makes the context the calling thread's.
  void enter() const { driver_.check(driver_.CtxSetCurrent(context_), "entering the device's context"); }
  void wait() const;
  Context context() const { return context_; }
  const Driver& driver() const { return driver_; }
  Stream stream() const { return stream_; }
  const std::string& name() const { return name_; }
  const std::string& arch() const { return arch_; }         ///< as LLVM calls it
  int multiprocessors() const { return multiprocessors_; }
  std::int64_t shared_bytes() const { return shared_bytes_; }   ///< a block may have
  std::int64_t l2_bytes() const { return l2_bytes_; }
  std::int64_t memory_bytes() const { return memory_bytes_; }
  std::string toolkit() const;                              ///< the driver's CUDA version

 private:
  int attribute(int which) const;
  void open_stream();
  void release(DevicePtr p);
  [[noreturn]] void fail_memory(std::int64_t bytes, const std::string& owner) const;

  const Driver& driver_;
  Device device_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  std::string name_, arch_;
  int multiprocessors_ = 0;
  std::int64_t shared_bytes_ = 0, l2_bytes_ = 0, memory_bytes_ = 0;
  mutable std::mutex mutex_;
  struct Block { std::int64_t bytes; std::string owner; };
  std::map<DevicePtr, Block> live_;
  Statistics statistics_;
};

inline DevicePtr address(const void* p) { return reinterpret_cast<DevicePtr>(p); }

}  // namespace plumb::backends::cuda
