// Threads for parallel loops: they spin for a moment after work, then sleep. The caller takes part.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace plumb::backends {

class Pool {
 public:
  using Work = std::function<void(int thread, std::int64_t begin, std::int64_t end)>;

  explicit Pool(int threads);
  ~Pool();
  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// Runs f over pieces of [0, n) of at least `grain`, each on one of the threads 0 … threads()-1, the caller being 0.
  /// Returns when all are done. A caller that finds the pool taken does all of its work itself.
  void run(std::int64_t n, std::int64_t grain, const Work& f);

 private:
  void worker(int thread);
  void pieces(int thread);
  void take_part(int thread);

  std::vector<std::thread> workers_;
  std::mutex owner_;                              ///< held by the caller whose work this is
  std::atomic<std::uint32_t> generation_{0};      ///< grows with each piece of work; sleepers wait on it
  alignas(64) std::atomic<bool> open_{false};     ///< whether workers may join
  alignas(64) std::atomic<int> active_{0};        ///< workers that may be looking at the fields below
  alignas(64) std::atomic<std::int64_t> next_{0};
  std::int64_t n_ = 0, step_ = 1;
  const Work* work_ = nullptr;
  std::atomic<bool> stop_{false};
};

}  // namespace plumb::backends
