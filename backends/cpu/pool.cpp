#include "backends/cpu/pool.h"

#include <algorithm>
#include <chrono>

namespace plumb::backends {

Pool::Pool(int threads) {
  for (int t = 1; t < threads; ++t) workers_.emplace_back([this, t] { work(t); });
}

Pool::~Pool() {
  stop_ = true;
  {
    std::lock_guard lock(mutex_);
    ++generation_;
  }
  wake_.notify_all();
  for (auto& w : workers_) w.join();
}

void Pool::pieces(int thread) {
  for (;;) {
    const auto begin = next_.fetch_add(grain_);
    if (begin >= n_) return;
    (*job_)(thread, begin, std::min(n_, begin + grain_));
  }
}

void Pool::run(std::int64_t n, const std::function<void(int, std::int64_t, std::int64_t)>& f) {
  job_ = &f;
  n_ = n;
  grain_ = std::max<std::int64_t>(1, n / (threads() * 8));
  next_ = 0;
  busy_ = static_cast<int>(workers_.size());
  {
    std::lock_guard lock(mutex_);
    ++generation_;
  }
  wake_.notify_all();
  pieces(0);
  while (busy_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
}

void Pool::work(int thread) {
  std::uint64_t seen = 0;
  for (;;) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (generation_.load(std::memory_order_acquire) == seen && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    if (generation_.load(std::memory_order_acquire) == seen) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return generation_.load() != seen; });
    }
    seen = generation_.load(std::memory_order_acquire);
    if (stop_) return;
    pieces(thread);
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace plumb::backends
