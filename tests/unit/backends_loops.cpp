// Loops, masks and memory: every width, every tail.
#include <cmath>
#include <numeric>

#include "backends_support.h"

namespace plumb::backends {
namespace {

using scalar::Add;

std::vector<float> ramp(std::int64_t n, float step = 1) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i) * step;
  return v;
}

template <class T> void tails(DType t, int width) {
  for (int bytes : widths())
    for (std::int64_t n = 0; n <= 2 * width + 1; ++n) {
      std::vector<T> x(static_cast<std::size_t>(n)), want;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 7 + 1), want.push_back(static_cast<T>(x[i] + x[i]));
      auto in = Memory::of(x);
      Memory out(x.size() * sizeof(T));
      run(map_kernel({t}, t, n, width, [](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.apply<Add>(a[0], a[0]); }), {&in, &out}, cpu(bytes));
      ASSERT_EQ(out.as<T>(), want) << name(t) << ", " << n << " elements in steps of " << width << ", " << bytes << "-byte registers";
    }
}

TEST(Loops, EveryTail) {
  for (int width : {1, 4, 8, 16}) tails<float>(DType::f32, width);
  for (int width : {2, 8}) tails<double>(DType::f64, width);
  for (int width : {4, 16, 32}) tails<std::uint8_t>(DType::u8, width);
  for (int width : {8, 16}) tails<std::int16_t>(DType::i16, width), tails<std::int64_t>(DType::i64, width);
}

/// Lanes of a local accumulator over rows, then a tree of halves.
TEST(Loops, RowReductionByLaneTree) {
  for (std::int64_t n : {1, 5, 16, 17, 64, 100, 256, 300, 1000}) {
    Kernel k;
    KernelBuilder b(k);
    const std::int64_t lanes = 64;
    const auto x = b.input("x", DType::f32, {3, n}), y = b.output("y", DType::f32, {3});
    b.loop("r", 3, LoopKind::parallel, [&](Affine r) {
      const auto acc = b.alloc("acc", DType::f32, {lanes});
      b.loop("l", lanes, LoopKind::vector, [&](Affine l) { b.store(acc, {l}, b.constant(DType::f32, 0)); }, 16);
      b.loop("s", (n + lanes - 1) / lanes, LoopKind::serial, [&](Affine s) {
        b.loop("l", lanes, LoopKind::vector, [&](Affine l) {
          const Affine i = s * lanes + l;
          b.when({kir::below(i, n)}, [&] { b.combine(acc, {l}, fn_id<Add>, b.load(x, {r, i}), -1); });
        }, 16);
      });
      for (std::int64_t h = lanes / 2; h >= 1; h /= 2)
        b.loop("l", h, LoopKind::vector, [&](Affine l) { b.combine(acc, {l}, fn_id<Add>, b.load(acc, {l + h}), -1); }, 16);
      b.store(y, {r}, b.load(acc, {0}));
    });
    for (int bytes : widths()) {
      auto in = Memory::of(ramp(3 * n));
      Memory out(12);
      run(k, {&in, &out}, cpu(bytes, 2));
      for (std::int64_t r = 0; r < 3; ++r) EXPECT_EQ(out.as<float>()[static_cast<std::size_t>(r)], static_cast<float>(r * n * n + n * (n - 1) / 2)) << n;
    }
  }
}

/// y[i, j] = x[i - 1, j - 2] where that exists, else -1: guards in both axes, nothing read outside.
TEST(Loops, GuardedLoadsPad) {
  for (std::int64_t n : {1, 3, 16, 21, 40}) {
    Kernel k;
    KernelBuilder b(k);
    const auto x = b.input("x", DType::f32, {2, n}), y = b.output("y", DType::f32, {4, n + 4});
    b.loop("i", 4, LoopKind::parallel, [&](Affine i) {
      b.loop("j", n + 4, LoopKind::vector, [&](Affine j) {
        const kir::Predicate inside{kir::at_least(i, 1), kir::below(i, 3), kir::at_least(j, 2), kir::below(j, n + 2)};
        b.store(y, {i, j}, b.load(x, {i - 1, j - 2}, inside, b.constant(DType::f32, -1)));
      }, 16);
    });
    const auto v = ramp(2 * n);
    for (int bytes : widths()) {
      auto in = Memory::of(v);
      Memory out(static_cast<std::size_t>(4 * (n + 4)) * 4);
      run(k, {&in, &out}, cpu(bytes));
      const auto got = out.as<float>();
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < n + 4; ++j) {
          const bool inside = i >= 1 && i < 3 && j >= 2 && j < n + 2;
          EXPECT_EQ(got[static_cast<std::size_t>(i * (n + 4) + j)], inside ? v[static_cast<std::size_t>((i - 1) * n + j - 2)] : -1) << i << "," << j;
        }
    }
  }
}

/// Transposition, reversal, delinearised and strided reads, of narrow and wide elements.
template <class T> void index_shapes(DType t) {
  const std::int64_t n = 6, m = 35;
  Kernel k;
  KernelBuilder b(k);
  const auto x = b.input("x", t, {n, m}), transposed = b.output("transposed", t, {m * n}), reversed = b.output("reversed", t, {n * m}), halved = b.output("halved", t, {n * m});
  b.loop("i", n * m, LoopKind::vector, [&](Affine i) {
    const auto ranges = b.ranges();
    b.store(transposed, {i}, b.load(x, {kir::mod(i, n, ranges), kir::floor_div(i, n, ranges)}));
    const Affine back = Affine(n * m - 1) - i;
    b.store(reversed, {i}, b.load(x, {kir::floor_div(back, m, ranges), kir::mod(back, m, ranges)}));
    b.store(halved, {i}, b.load(x, {0, kir::floor_div(kir::mod(i, m, ranges), 2, ranges)}));
  }, 16);
  std::vector<T> v(static_cast<std::size_t>(n * m));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(i);
  for (int bytes : widths()) {
    auto in = Memory::of(v);
    Memory a(v.size() * sizeof(T)), r(v.size() * sizeof(T)), h(v.size() * sizeof(T));
    run(k, {&in, &a, &r, &h}, cpu(bytes));
    for (std::int64_t i = 0; i < n * m; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(a.as<T>()[at], v[static_cast<std::size_t>(i % n * m + i / n)]);
      EXPECT_EQ(r.as<T>()[at], v[v.size() - 1 - at]);
      EXPECT_EQ(h.as<T>()[at], v[static_cast<std::size_t>(i % m / 2)]);
    }
  }
}

TEST(Loops, IndexShapes) {
  index_shapes<float>(DType::f32);
  index_shapes<double>(DType::f64);
  index_shapes<std::uint8_t>(DType::u8);
  index_shapes<std::int16_t>(DType::i16);
}

/// Floor division of negative values, xor, and quotients that a whole step of lanes shares.
TEST(Loops, IndexValues) {
  const std::int64_t n = 131;
  Kernel k;
  KernelBuilder b(k);
  const auto y = b.output("y", DType::i64, {4, n});
  b.loop("i", n, LoopKind::vector, [&](Affine i) {
    b.store(y, {0, i}, b.index_value(kir::floor_div(i - 70, 7)));
    b.store(y, {1, i}, b.index_value(kir::mod(i * 3 - 200, 5)));
    b.store(y, {2, i}, b.index_value(kir::bit_xor(kir::mod(i, 32), kir::floor_div(i, 4))));
    b.store(y, {3, i}, b.index_value(kir::mod(i + 32, 48) * 1000 + kir::floor_div(i + 32, 48)));
  }, 16);
  Memory out(static_cast<std::size_t>(4 * n) * 8);
  run(k, {&out});
  const auto got = out.as<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i), row = static_cast<std::size_t>(n);
    EXPECT_EQ(got[at], static_cast<std::int64_t>(std::floor(static_cast<double>(i - 70) / 7)));
    EXPECT_EQ(got[row + at], ((i * 3 - 200) % 5 + 5) % 5);
    EXPECT_EQ(got[2 * row + at], (i % 32) ^ (i / 4));
    EXPECT_EQ(got[3 * row + at], (i + 32) % 48 * 1000 + (i + 32) / 48);
  }
}

/// Conditions on lanes, on data, and both in one another; a store by one lane only.
TEST(Loops, Masks) {
  const std::int64_t n = 45;
  Kernel k;
  KernelBuilder b(k);
  const auto x = b.input("x", DType::f32, {n}), y = b.output("y", DType::f32, {n}), last = b.output("last", DType::f32, {1});
  b.loop("i", n, LoopKind::vector, [&](Affine i) {
    b.store(y, {i}, b.constant(DType::f32, 0));
    const auto v = b.load(x, {i});
    b.when({kir::at_least(i, 3)}, [&] {
      b.when_value(b.apply<scalar::Lt>(v, b.constant(DType::f32, 30)), [&] { b.store(y, {i}, b.apply<Add>(v, b.load(x, {i - 3}))); });
    });
    b.when({kir::Condition{i - 37, true}}, [&] { b.store(last, {0}, v); });
  }, 16);
  const auto v = ramp(n);
  for (int bytes : widths()) {
    auto in = Memory::of(v);
    Memory out(v.size() * 4), one(4);
    run(k, {&in, &out, &one}, cpu(bytes));
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(out.as<float>()[i], i >= 3 && v[i] < 30 ? v[i] + v[i - 3] : 0) << i;
    EXPECT_EQ(one.as<float>()[0], 37);
  }
}

/// Each lane sorts three elements in memory of its own, indexed by data.
TEST(Loops, LanesHaveTheirOwnLocals) {
  const std::int64_t n = 37;
  Kernel k;
  KernelBuilder b(k);
  const auto x = b.input("x", DType::i32, {n}), y = b.output("y", DType::i32, {n});
  b.loop("i", n, LoopKind::vector, [&](Affine i) {
    const auto own = b.alloc("own", DType::i32, {5});
    b.loop("j", 5, LoopKind::serial, [&](Affine j) { b.store(own, {j}, b.convert(b.index_value(i * 10 + j), DType::i32)); });
    const auto at = b.check_index(b.load(x, {i}), 5, 0);
    b.store(y, {i}, b.load(own, {Affine::value(at)}));
  }, 16);
  k.sites.push_back({"gather", {}});
  std::vector<std::int32_t> v(static_cast<std::size_t>(n)), want;
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int32_t>(i * 3 % 5), want.push_back(static_cast<std::int32_t>(i) * 10 + v[i]);
  for (int bytes : widths()) {
    auto in = Memory::of(v);
    Memory out(v.size() * 4);
    run(k, {&in, &out}, cpu(bytes));
    EXPECT_EQ(out.as<std::int32_t>(), want);
  }
}

/// Long chains in a vector loop run several steps side by side; the answer is the same at every length.
TEST(Loops, ColumnSums) {
  for (std::int64_t n : {1, 15, 16, 17, 32, 48, 64, 65, 130, 200}) {
    Kernel k;
    KernelBuilder b(k);
    const auto x = b.input("x", DType::f32, {9, n}), y = b.output("y", DType::f32, {n});
    b.loop("j", n, LoopKind::vector, [&](Affine j) {
      const auto acc = b.alloc("acc", DType::f32, {1});
      b.store(acc, {0}, b.constant(DType::f32, 0));
      b.loop("i", 9, LoopKind::serial, [&](Affine i) { b.combine(acc, {0}, fn_id<Add>, b.load(x, {i, j}), -1); });
      b.store(y, {j}, b.load(acc, {0}));
    }, 16);
    auto in = Memory::of(ramp(9 * n));
    Memory out(static_cast<std::size_t>(n) * 4);
    run(k, {&in, &out});
    for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(out.as<float>()[static_cast<std::size_t>(j)], static_cast<float>(36 * n + 9 * j)) << n;
  }
}

TEST(Loops, IndexFaultsNameTheirPlace) {
  Kernel k;
  KernelBuilder b(k);
  const auto x = b.input("x", DType::i64, {40}), y = b.output("y", DType::i64, {40});
  b.loop("i", 40, LoopKind::vector, [&](Affine i) { b.store(y, {i}, b.check_index(b.load(x, {i}), 7, 0)); }, 16);
  k.sites.push_back({"gather", {"model.onnx", 12, 0}});
  std::vector<std::int64_t> v(40, 6);
  auto good = Memory::of(v);
  Memory out(320);
  run(k, {&good, &out});
  EXPECT_EQ(out.as<std::int64_t>(), v);
  v[35] = -3;
  auto bad = Memory::of(v);
  try {
    run(k, {&bad, &out});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    EXPECT_STREQ(e.what(), "model.onnx:12: gather: index -3 is outside [0, 7)");
  }
  EXPECT_EQ(out.as<std::int64_t>()[35], 0);
}

TEST(Loops, GpuSchedulesAreRefused) {
  Kernel k;
  KernelBuilder b(k);
  const auto y = b.output("y", DType::f32, {32});
  b.loop("t", 32, LoopKind::gpu_thread, [&](Affine t) { b.store(y, {t}, b.constant(DType::f32, 1)); });
  const Kernel* one = &k;
  EXPECT_THROW(cpu()->compile({&one, 1}), Error);
}

}  // namespace
}  // namespace plumb::backends
