// Threads: several loops in sequence, captured values, scratch memory, and the pool by itself.
#include <atomic>

#include "backends/cpu/pool.h"
#include "backends_support.h"

namespace plumb::backends {
namespace {

TEST(Pool, EachPieceOnce) {
  for (int threads : {1, 2, 5}) {
    Pool pool(threads);
    for (std::int64_t n : {0, 1, 7, 1000, 100000})
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::atomic<std::int64_t> sum{0}, bad{0};
        pool.run(n, 3, [&](int thread, std::int64_t begin, std::int64_t end) {
          if (thread < 0 || thread >= threads || begin > end) ++bad;
          for (std::int64_t i = begin; i < end; ++i) sum += i;
        });
        ASSERT_EQ(sum, n * (n - 1) / 2);
        ASSERT_EQ(bad, 0);
      }
  }
}

TEST(Pool, CallersFromSeveralThreads) {
  Pool pool(3);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) pool.run(100, 1, [&](int, std::int64_t begin, std::int64_t end) { sum += end - begin; });
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(sum, 4 * 200 * 100);
}

/// Two phases, the second of which reads what all of the first wrote, with a value and a local buffer from around them.
Kernel two_phases(std::int64_t rows, std::int64_t columns) {
  Kernel k;
  KernelBuilder b(k);
  const auto x = b.input("x", DType::f32, {rows, columns}), s = b.input("s", DType::f32, {1}), sums = b.output("sums", DType::f32, {rows}), y = b.output("y", DType::f32, {rows, columns});
  const auto scale = b.load(s, {0});
  const auto bias = b.alloc("bias", DType::f32, {1});
  b.store(bias, {0}, b.constant(DType::f32, 0.5));
  b.loop("r", rows, LoopKind::parallel, [&](Affine r) {
    const auto acc = b.alloc("acc", DType::f32, {1});
    b.store(acc, {0}, b.load(bias, {0}));
    b.loop("c", columns, LoopKind::serial, [&](Affine c) { b.combine_fma(acc, {0}, b.load(x, {r, c}), scale, -1); });
    b.store(sums, {r}, b.load(acc, {0}));
  });
  b.loop("r", rows, LoopKind::parallel, [&](Affine r) {
    b.loop("q", 1, LoopKind::parallel, [&](Affine q) {
      b.loop("c", columns, LoopKind::vector, [&](Affine c) { b.store(y, {r, c + q}, b.apply<scalar::Sub>(b.load(x, {r, c}), b.load(sums, {r}))); }, 16);
    });
  });
  return k;
}

TEST(Parallel, PhasesSeeEachOther) {
  const std::int64_t rows = 301, columns = 257;
  std::vector<float> x(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17);
  for (int threads : {1, 2, 5}) {
    auto in = Memory::of(x), scale = Memory::of(std::vector<float>{2});
    Memory sums(static_cast<std::size_t>(rows) * 4), y(x.size() * 4);
    run(two_phases(rows, columns), {&in, &scale, &sums, &y}, cpu(0, threads));
    for (std::int64_t r = 0; r < rows; ++r) {
      float want = 0.5f;
      for (std::int64_t c = 0; c < columns; ++c) want += 2 * x[static_cast<std::size_t>(r * columns + c)];
      ASSERT_EQ(sums.as<float>()[static_cast<std::size_t>(r)], want);
      ASSERT_EQ(y.as<float>()[static_cast<std::size_t>(r * columns + 5)], x[static_cast<std::size_t>(r * columns + 5)] - want);
    }
  }
}

/// Local buffers of 400 KB do not fit a stack; each thread has its own.
TEST(Parallel, LargeLocalsLiveInScratch) {
  const std::int64_t n = 100000, rows = 24;
  Kernel k;
  KernelBuilder b(k);
  const auto y = b.output("y", DType::f32, {rows});
  b.loop("r", rows, LoopKind::parallel, [&](Affine r) {
    const auto big = b.alloc("big", DType::f32, {n});
    b.loop("i", n, LoopKind::vector, [&](Affine i) { b.store(big, {i}, b.convert(b.index_value(r * 2), DType::f32)); }, 16);
    const auto acc = b.alloc("acc", DType::f32, {1});
    b.store(acc, {0}, b.constant(DType::f32, 0));
    b.loop("i", n, LoopKind::serial, [&](Affine i) { b.combine(acc, {0}, fn_id<scalar::Add>, b.load(big, {i}), -1); });
    b.store(y, {r}, b.load(acc, {0}));
  });
  Memory out(static_cast<std::size_t>(rows) * 4);
  run(k, {&out}, cpu(0, 5));
  for (std::int64_t r = 0; r < rows; ++r) EXPECT_EQ(out.as<float>()[static_cast<std::size_t>(r)], static_cast<float>(2 * r * n));
}

/// Many kernels of one call are compiled side by side.
TEST(Parallel, ManyKernels) {
  std::vector<Kernel> kernels;
  for (int i = 0; i < 23; ++i)
    kernels.push_back(map_kernel({DType::f32}, DType::f32, 40 + i, 16, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.apply<scalar::Add>(a[0], b.constant(DType::f32, i)); }));
  std::vector<const Kernel*> pointers;
  for (const auto& k : kernels) pointers.push_back(&k);
  auto executable = cpu()->compile(pointers);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto in = Memory::of(std::vector<float>(40 + i, 1.0f));
    Memory out((40 + i) * 4);
    void* memory[] = {in.data(), out.data()};
    executable->launch(i, memory);
    EXPECT_EQ(out.as<float>(), std::vector<float>(40 + i, static_cast<float>(1 + i)));
  }
  EXPECT_NE(executable->code(3, false).find("define"), std::string::npos);
  EXPECT_NE(executable->code(3, true).find(".text"), std::string::npos);
}

TEST(Parallel, BadOptionsAreErrors) {
  EXPECT_THROW(make_cpu_backend({1, 48}), Error);
  EXPECT_THROW(make_cpu_backend({-1, 0}), Error);
}

}  // namespace
}  // namespace plumb::backends
