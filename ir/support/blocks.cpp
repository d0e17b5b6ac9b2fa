#include "ir/support/blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace plumb::ir {
namespace {

constexpr std::size_t huge_page = 2 << 20;

/// A sanitizer sees the use of a block after its end only if the block really ends.
constexpr bool keeps_blocks =
#ifdef __SANITIZE_ADDRESS__
    false;
#else
    true;
#endif

std::size_t most_kept_at_start() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const std::size_t memory = pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : 0;
  return std::min<std::size_t>(std::size_t{1} << 30, memory / 8);
}

/// The size that a block gets: one of eight between a power of two and the next, so that few sizes are told apart and at most
/// an eighth is spare. 0: too large for any block.
std::size_t block_size(std::size_t bytes) {
  if (bytes > (std::size_t{1} << 62)) return 0;
  const std::size_t step = bytes < least_kept_block ? 64 : std::bit_floor(bytes) / 8;
  return std::max<std::size_t>(64, (bytes + step - 1) / step * step);
}

/// Small blocks are malloc's; large ones begin on a huge page's boundary and ask for such pages.
void* from_system(std::size_t size) {
  if (size < 2 * huge_page) return std::aligned_alloc(64, size);
  void* p = std::aligned_alloc(huge_page, (size + huge_page - 1) / huge_page * huge_page);
  if (p) madvise(p, size, MADV_HUGEPAGE);  // a hint: where it is refused, small pages serve
  return p;
}

class Kept {
 public:
  void* take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(size);
    if (found == blocks_.end()) return nullptr;
    void* p = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) blocks_.erase(found);
    counts_.kept_bytes -= size;
    ++counts_.reused;
    return p;
  }

  void give(void* p, std::size_t size) {
    const std::unique_lock lock(mutex_);
    if (size > most_) return std::free(p);
    shrink(most_ - size);
    blocks_[size].push_back(p);
    counts_.kept_bytes += size;
  }

  void keep(std::size_t most) {
    const std::lock_guard lock(mutex_);
    most_ = most;
    shrink(most);
  }

  void release() {
    const std::lock_guard lock(mutex_);
    shrink(0);
  }

  BlockCounts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  /// Ends blocks, the largest first, until at most so many bytes are kept.
  void shrink(std::size_t most) {
    while (counts_.kept_bytes > most) {
      const auto largest = std::prev(blocks_.end());
      std::free(largest->second.back());
      counts_.kept_bytes -= largest->first;
      largest->second.pop_back();
      if (largest->second.empty()) blocks_.erase(largest);
    }
  }

  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> blocks_;
  BlockCounts counts_;
  std::size_t most_ = most_kept_at_start();
};

/// Never ends: tensors in static objects may outlive any other static object.
Kept& kept() {
  static Kept& all = *new Kept;
  return all;
}

}  // namespace

std::shared_ptr<std::byte> take_block(std::size_t bytes) {
  const std::size_t size = block_size(bytes);
  if (size == 0) return nullptr;
  const bool keeps = keeps_blocks && size >= least_kept_block;
  void* p = keeps ? kept().take(size) : nullptr;
  if (!p) p = from_system(size);
  if (!p && keeps_blocks) {
    kept().release();
    p = from_system(size);
  }
  if (!p) return nullptr;
  const auto block = static_cast<std::byte*>(p);
  if (keeps) return {block, [size](std::byte* q) { kept().give(q, size); }};
  return {block, [](std::byte* q) { std::free(q); }};
}

BlockCounts block_counts() { return kept().counts(); }
void keep_blocks(std::size_t most_bytes) { kept().keep(most_bytes); }

}  // namespace plumb::ir
