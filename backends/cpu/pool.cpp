#include "backends/cpu/pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plumb::backends {
namespace {

constexpr auto spin_time = std::chrono::microseconds(50);

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Waits for a condition that another running thread is about to make true.
template <class F> bool spin(const F& done) {
  const auto until = std::chrono::steady_clock::now() + spin_time;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause();
    }
    if (std::chrono::steady_clock::now() > until) return done();
  }
}

}  // namespace

/// Threads that the system does not give are done without.
Pool::Pool(int threads) {
  workers_.reserve(static_cast<std::size_t>(std::max(threads, 1)) - 1);
  try {
    for (int t = 1; t < threads; ++t) workers_.emplace_back([this, t] { worker(t); });
  } catch (const std::system_error&) {
  }
}

Pool::~Pool() {
  stop_ = true;
  ++generation_;
  generation_.notify_all();
  for (auto& w : workers_) w.join();
}

void Pool::pieces(int thread) {
  for (;;) {
    const auto begin = next_.fetch_add(step_, std::memory_order_relaxed);
    if (begin >= n_) return;
    (*work_)(thread, begin, std::min(n_, begin + step_));
  }
}

/// A worker announces itself before it looks whether work is open, the caller closes before it looks for workers: one of
/// the two sees the other, so that late workers do no harm and nobody waits for them.
void Pool::take_part(int thread) {
  active_.fetch_add(1);
  if (open_.load()) pieces(thread);
  active_.fetch_sub(1);
}

void Pool::run(std::int64_t n, std::int64_t grain, const Work& f) {
  std::unique_lock lock(owner_, std::try_to_lock);
  if (!lock || workers_.empty() || n <= grain) return f(0, 0, n);
  work_ = &f;
  n_ = n;
  step_ = std::max(std::max<std::int64_t>(1, grain), n / (threads() * 8));
  next_ = 0;
  open_ = true;
  ++generation_;
  generation_.notify_all();
  pieces(0);
  open_ = false;
  if (!spin([&] { return active_.load() == 0; }))
    while (active_.load() != 0) std::this_thread::yield();
}

void Pool::worker(int thread) {
  std::uint32_t seen = 0;
  while (!stop_) {
    if (!spin([&] { return generation_.load() != seen; })) generation_.wait(seen);
    seen = generation_.load();
    take_part(thread);
  }
}

}  // namespace plumb::backends
