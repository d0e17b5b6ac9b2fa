// Memory of tensors. Large blocks that are given back are kept for the next tensor of about their size: fresh pages from the
// system cost more than most kernels that fill them (each is zeroed and faulted in on first touch).
#pragma once
#include <cstddef>
#include <memory>

namespace plumb::ir {

/// Blocks of this many bytes and more are kept when they are given back.
constexpr std::size_t least_kept_block = 128 << 10;

/// At least `bytes` bytes, uninitialised, 64-byte aligned; null when memory cannot be had even with nothing kept.
std::shared_ptr<std::byte> take_block(std::size_t bytes);

struct BlockCounts {
  std::size_t kept_bytes = 0;  ///< given back and not with the system
  std::size_t reused = 0;      ///< blocks that were taken from those kept, so far
};
BlockCounts block_counts();

/// At most so many bytes are kept from now on (1 GiB, or an eighth of the machine's memory if that is less, at the start);
/// 0 gives all of them back to the system.
void keep_blocks(std::size_t most_bytes);

}  // namespace plumb::ir
