// Memory of a device that the host cannot read, with the one stream of work that uses it: operations run in the order of
// the calls, and the host waits only where it is said.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace plumb::backends {

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// So many bytes at a multiple of 256, until the pointer's last copy goes. `owner` says whose they are, for messages:
  /// an allocation that fails is Unsupported and lists the owners that hold the most.
  virtual std::shared_ptr<void> allocate(std::int64_t bytes, const std::string& owner) = 0;
  virtual void upload(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void download(void* to, const void* from, std::int64_t bytes) = 0;   ///< waits
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void fill(void* to, unsigned char byte, std::int64_t bytes) = 0;

  struct Statistics { std::int64_t in_use = 0, peak = 0, allocations = 0; };
  virtual Statistics statistics() const = 0;
};

}  // namespace plumb::backends
