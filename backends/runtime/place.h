// Tensors where a backend's kernels reach them. In a device's memory a Literal's pointer is the device's: only what is here
// may touch its elements.
#pragma once
#include "backends/device_memory.h"
#include "ir/tensor/literal.h"

namespace plumb::backends {

class Place {
 public:
  explicit Place(DeviceMemory* device) : device_(device) {}
  /// Uninitialised. `owner` says whose it is, for messages.
  ir::Literal make(const ir::Type& type, const std::string& owner) const;
  ir::Literal from_host(const ir::Literal& l, const std::string& owner) const;
  ir::Literal to_host(const ir::Literal& l) const;   ///< waits, on a device
  void copy(ir::Literal& to, const ir::Literal& from) const;
  void copy_bytes(ir::Literal& to, std::int64_t at, const ir::Literal& from, std::int64_t from_at, std::int64_t bytes) const;
  void copy_from_host(ir::Literal& to, const ir::Literal& host) const;
  void poison(ir::Literal& l) const;                 ///< NaN patterns

 private:
  DeviceMemory* device_;   ///< nullptr: the host's memory
};

}  // namespace plumb::backends
