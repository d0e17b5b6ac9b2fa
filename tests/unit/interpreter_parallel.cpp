// Blocks in parallel: each once, and what a block throws reaches the caller, whichever thread ran it.
#include "interpreter/tensor/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

namespace plumb::interp {
namespace {

TEST(Parallel, EveryBlockOnce) {
  for (std::int64_t blocks : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(blocks));
    parallel(blocks, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& c : calls) EXPECT_EQ(c, 1);
  }
}

TEST(Parallel, AnyBlocksExceptionReachesTheCaller) {
  for (std::int64_t wrong = 0; wrong < 64; ++wrong)
    EXPECT_THROW(parallel(64, [&](std::int64_t i) { if (i == wrong) throw std::bad_alloc(); }), std::bad_alloc) << wrong;
}

TEST(Parallel, AnotherThreadsExceptionReachesTheCallerWhereThereAreTwo) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "this machine has one hardware thread, and parallel() starts no other";
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> thrown = false;
  EXPECT_THROW(parallel(2,
                        [&](std::int64_t) {
                          if (std::this_thread::get_id() != caller) {
                            thrown = true;
                            throw std::bad_alloc();
                          }
                          for (int k = 0; k < 10000 && !thrown; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                        }),
               std::bad_alloc);
}

TEST(Parallel, OfSeveralExceptionsOneIsThrownAndTheRestIsLeft) {
  std::atomic<int> calls = 0;
  EXPECT_THROW(parallel(1 << 20, [&](std::int64_t) { ++calls; throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_LE(calls, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

}  // namespace
}  // namespace plumb::interp
