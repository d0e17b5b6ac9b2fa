#include "interpreter/tensor/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace plumb::interp {

void parallel(std::int64_t blocks, const std::function<void(std::int64_t)>& f) {
  std::atomic<std::int64_t> next{0};
  std::mutex lock;
  std::exception_ptr first;
  const auto work = [&]() noexcept {
    try {
      for (std::int64_t i; (i = next.fetch_add(1)) < blocks;) f(i);
    } catch (...) {
      const std::lock_guard hold(lock);
      if (!first) first = std::current_exception();
      next = blocks;
    }
  };
  {
    const auto threads = std::min<std::int64_t>(blocks, std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::jthread> pool;  // joins, on every way out
    pool.reserve(static_cast<std::size_t>(std::max<std::int64_t>(threads, 1)));
    try {
      while (static_cast<std::int64_t>(pool.size()) + 1 < threads) pool.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads are to be had: those there are take all the blocks.
    }
    work();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace plumb::interp
