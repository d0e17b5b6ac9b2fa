// Threads for parallel loops: they spin for a moment after work, then sleep. The caller takes part.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace plumb::backends {

class Pool {
 public:
  explicit Pool(int threads);
  ~Pool();
  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// Runs f(thread, begin, end) over pieces of [0, n). Returns when all are done. Not for use from two threads at once.
  void run(std::int64_t n, const std::function<void(int, std::int64_t, std::int64_t)>& f);

 private:
  void work(int thread);
  void pieces(int thread);
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::int64_t> next_{0};
  std::atomic<int> busy_{0};
  std::int64_t n_ = 0, grain_ = 1;
  const std::function<void(int, std::int64_t, std::int64_t)>* job_ = nullptr;
  std::atomic<bool> stop_{false};
};

}  // namespace plumb::backends
