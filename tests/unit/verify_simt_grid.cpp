// Grid-mapped schedules on `simt`: right answers against plain loops, and each planted fault reported as what it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interpreter/domains/number.h"
#include "interpreter/kernel/interpreter.h"
#include "ir/kernel/text.h"
#include "ir/kernel/verifier.h"
#include "ir/kernel/walk.h"
#include "lowering/templates/grid_dot.h"
#include "lowering/templates/grid_reduce.h"
#include "verify/simt_target.h"

namespace plumb::verify {
namespace {

using interp::ViolationKind;
using kir::Kernel;
using lowering::GridReduce;
using testing::HasSubstr;

/// Dense elements of any dtype, from and to doubles.
struct Array {
  DType dtype;
  std::vector<std::byte> bytes;
  Array(DType t, std::int64_t n) : dtype(t), bytes(static_cast<std::size_t>(n) * static_cast<std::size_t>(byte_size(t)), std::byte{0xff}) {}
  std::int64_t size() const { return static_cast<std::int64_t>(bytes.size()) / byte_size(dtype); }
  double at(std::int64_t i) const { return interp::load(dtype, bytes.data(), i).f; }
  void set(std::int64_t i, double v) { interp::store(dtype, bytes.data(), i, {.f = v}); }
};

/// Small integers: products and sums are exact, in whatever order.
Array integers(DType t, std::int64_t n, std::uint32_t seed) {
  Array a(t, n);
  for (std::int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525U + 1013904223U;
    a.set(i, static_cast<double>(seed >> 24) - 128);
  }
  return a;
}

void launch(const Kernel& k, std::vector<Array*> arrays) {
  const Kernel* one = &k;
  auto executable = make_simt_backend()->compile({&one, 1});
  std::vector<void*> buffers;
  for (auto* a : arrays) buffers.push_back(a->bytes.data());
  executable->launch(0, buffers);
}

/// The violation that running the kernel ends with; the static verifier is left out, for it would stop some of these first.
interp::Violation violation(const Kernel& k) {
  std::vector<Array> arrays;
  for (auto b : k.inputs) arrays.push_back(integers(k.buffers[static_cast<std::size_t>(b)].dtype, element_count(k.buffers[static_cast<std::size_t>(b)].extents), 7));
  for (auto b : k.outputs) arrays.emplace_back(k.buffers[static_cast<std::size_t>(b)].dtype, element_count(k.buffers[static_cast<std::size_t>(b)].extents));
  std::vector<void*> buffers;
  for (auto& a : arrays) buffers.push_back(a.bytes.data());
  try {
    interp::CompiledKernel(k).run(buffers);
  } catch (const interp::ViolationError& e) {
    return e.violation();
  }
  ADD_FAILURE() << "no violation\n" << kir::print(k);
  return {};
}

/// Calls f on each statement of one kind, in order, until it says that it is done.
template <class S, class F> bool edit(kir::Block& block, F f) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (auto* s = std::get_if<S>(&block[i].node); s && f(*s, block, i)) return true;
    auto& n = block[i].node;
    if (auto* l = std::get_if<kir::For>(&n); l && edit<S>(l->body, f)) return true;
    if (auto* c = std::get_if<kir::If>(&n); c && (edit<S>(c->then, f) || edit<S>(c->otherwise, f))) return true;
  }
  return false;
}
template <class S> Kernel without(Kernel k, int which) {
  EXPECT_TRUE(edit<S>(k.body, [&](S&, kir::Block& b, std::size_t i) {
    if (which-- > 0) return false;
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }));
  return k;
}

void expect_well_formed(const Kernel& k) {
  kir::verify(k);
  const auto text = kir::print(k);
  EXPECT_EQ(kir::print(kir::parse_kernel(text)), text);
}

Array product(const Array& a, const Array& b, std::int64_t m, std::int64_t n, std::int64_t k, DType t) {
  Array c(t, m * n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += a.at(i * k + l) * b.at(l * n + j);
      c.set(i * n + j, sum);
    }
  return c;
}

// ── a tiled dot ──

class GridDot : public testing::TestWithParam<lowering::GridDot> {};

TEST_P(GridDot, EqualsPlainLoops) {
  const auto p = GetParam();
  const auto k = lowering::grid_dot(p);
  expect_well_formed(k);
  auto a = integers(p.dtype, p.m * p.k, 1), b = integers(p.dtype, p.k * p.n, 2);
  Array c(p.dtype, p.m * p.n);
  launch(k, {&a, &b, &c});
  EXPECT_EQ(c.bytes, product(a, b, p.m, p.n, p.k, p.dtype).bytes);
}

INSTANTIATE_TEST_SUITE_P(Sizes, GridDot, testing::Values(lowering::GridDot{32, 48, 64}, lowering::GridDot{1, 1, 1}, lowering::GridDot{17, 19, 23}, lowering::GridDot{40, 8, 5, 8, 32, 16},
                                                         lowering::GridDot{33, 31, 29, 16, 16, 8, DType::f64}, lowering::GridDot{16, 16, 32, 4, 8, 7, DType::bf16}));

TEST(GridDotFaults, WithoutBarriersThreadsRace) {
  auto v = violation(lowering::grid_dot({32, 32, 32, 16, 16, 16, DType::f32, false}));
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_EQ(v.buffer, "%a_tile");
  EXPECT_THAT(v.what, HasSubstr("reads what thread"));
}

TEST(GridDotFaults, EachBarrierIsNeeded) {
  const auto k = lowering::grid_dot({32, 32, 32});
  const auto first = violation(without<kir::Barrier>(k, 0)), second = violation(without<kir::Barrier>(k, 1));
  EXPECT_EQ(first.kind, ViolationKind::race);
  EXPECT_THAT(first.what, HasSubstr("reads what thread"));
  EXPECT_EQ(second.kind, ViolationKind::race);
  EXPECT_THAT(second.what, HasSubstr("writes what thread"));
  EXPECT_THAT(second.loops, testing::Contains(testing::Pair("t", 1)));   // the next step's tile over the one still read
}

TEST(GridDotFaults, AnIndexOffByOne) {
  auto k = lowering::grid_dot({32, 32, 32});
  ASSERT_TRUE(edit<kir::Load>(k.body, [&](kir::Load& l, kir::Block&, std::size_t) {
    if (k.buffers[static_cast<std::size_t>(l.buffer)].name != "b_tile") return false;
    l.index[0] = l.index[0] + 1;
    return true;
  }));
  EXPECT_THROW(kir::verify(k), Error);
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::out_of_bounds);
  EXPECT_EQ(v.buffer, "%b_tile");
  EXPECT_EQ(v.index[0], 16);
  EXPECT_THAT(v.loops, testing::Contains(testing::Pair("kk", 15)));
}

TEST(GridDotFaults, ABarrierThatSomeThreadsSkip) {
  auto k = lowering::grid_dot({17, 17, 16});
  ASSERT_TRUE(edit<kir::Barrier>(k.body, [&](kir::Barrier& b, kir::Block& block, std::size_t i) {
    const auto tx = kir::Affine::var(3);
    kir::If inside{{kir::below(tx, 8)}, {kir::Stmt{b}}, {}};
    block[i] = kir::Stmt{std::move(inside)};
    return true;
  }));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::divergence);
  EXPECT_THAT(v.what, HasSubstr("128 of the 256 threads"));
}

// ── row reductions ──

class GridReduceTest : public testing::TestWithParam<GridReduce> {};

TEST_P(GridReduceTest, EqualsPlainLoops) {
  const auto p = GetParam();
  const auto k = lowering::grid_reduce(p);
  expect_well_formed(k);
  auto x = integers(p.dtype, p.rows * p.terms, 3);
  Array out(p.dtype, p.rows), expected(p.dtype, p.rows);
  launch(k, {&x, &out});
  for (std::int64_t r = 0; r < p.rows; ++r) {
    double sum = p.identity;
    for (std::int64_t i = 0; i < p.terms; ++i) sum = p.fn == fn_id<scalar::Add> ? sum + x.at(r * p.terms + i) : std::max(sum, x.at(r * p.terms + i));
    expected.set(r, sum);
  }
  EXPECT_EQ(out.bytes, expected.bytes);
}

constexpr auto tree = GridReduce::Finish::tree, shuffles = GridReduce::Finish::shuffles;
INSTANTIATE_TEST_SUITE_P(Sizes, GridReduceTest,
                         testing::Values(GridReduce{3, 1000}, GridReduce{2, 32768}, GridReduce{4, 1, 64}, GridReduce{3, 1000, 256, 32, fn_id<scalar::Add>, -0.0, DType::f32, shuffles},
                                         GridReduce{2, 4096, 1024, 32, fn_id<scalar::Add>, -0.0, DType::f64, shuffles}, GridReduce{5, 77, 32, 32, fn_id<scalar::Add>, -0.0, DType::f32, shuffles},
                                         GridReduce{3, 999, 128, 32, fn_id<scalar::Maximum>, -1e9, DType::f32, shuffles}, GridReduce{3, 999, 128, 32, fn_id<scalar::Maximum>, -1e9, DType::f64, tree}));

TEST(GridReduceFaults, EachBarrierOfTheTreeIsNeeded) {
  const auto k = lowering::grid_reduce({1, 512, 64});
  for (int which = 0; which < 6; ++which) {
    const auto v = violation(without<kir::Barrier>(k, which));
    EXPECT_EQ(v.kind, ViolationKind::race) << which;
    EXPECT_EQ(v.buffer, "%parts");
  }
}

TEST(GridReduceFaults, ALevelThatReachesTooFar) {
  auto k = lowering::grid_reduce({1, 512, 64});
  ASSERT_TRUE(edit<kir::If>(k.body, [&](kir::If& i, kir::Block&, std::size_t) {
    i.condition[0] = kir::below(kir::Affine::var(1), 33);   // 33 threads halve 64 sums
    return true;
  }));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::out_of_bounds);
  EXPECT_EQ(v.index, (Index{64}));
  EXPECT_THAT(v.loops, testing::Contains(testing::Pair("thread", 32)));
}

TEST(GridReduceFaults, AShuffleWithAnIdleLane) {
  auto k = lowering::grid_reduce({1, 512, 64, 32, fn_id<scalar::Add>, -0.0, DType::f32, shuffles});
  ASSERT_TRUE(edit<kir::If>(k.body, [&](kir::If& i, kir::Block&, std::size_t) {
    if (i.then.size() < 3) return false;
    i.condition[0] = kir::below(kir::Affine::var(1), 31);
    return true;
  }));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::divergence);
  EXPECT_THAT(v.what, HasSubstr("31 of the 32 threads reach this shuffle"));
}

TEST(GridReduceFaults, SumsOfWarpsNeedTheirBarrier) {
  const auto v = violation(lowering::grid_reduce({1, 512, 64, 32, fn_id<scalar::Add>, -0.0, DType::f32, shuffles, false}));
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_EQ(v.buffer, "%parts");
}

TEST(GridReduceFaults, EveryThreadStoresTheResult) {
  auto k = lowering::grid_reduce({2, 100, 32});
  ASSERT_TRUE(edit<kir::If>(k.body, [&](kir::If& i, kir::Block&, std::size_t) {
    if (!std::holds_alternative<kir::Store>(i.then.back().node)) return false;
    i.condition.clear();
    return true;
  }));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::written_twice);
  EXPECT_EQ(v.buffer, "%out");
}

// ── matrix units ──

class GridMma : public testing::TestWithParam<lowering::GridMma> {};

TEST_P(GridMma, EqualsPlainLoops) {
  const auto p = GetParam();
  const auto k = lowering::grid_mma(p);
  expect_well_formed(k);
  auto a = integers(p.dtype, p.m * p.k, 4), b = integers(p.dtype, p.k * p.n, 5);
  Array c(DType::f32, p.m * p.n);
  launch(k, {&a, &b, &c});
  EXPECT_EQ(c.bytes, product(a, b, p.m, p.n, p.k, DType::f32).bytes);
}

INSTANTIATE_TEST_SUITE_P(Sizes, GridMma, testing::Values(lowering::GridMma{32, 32, 48}, lowering::GridMma{33, 17, 20}, lowering::GridMma{64, 16, 16, 4, 1, 32, DType::bf16},
                                                         lowering::GridMma{40, 40, 33, 1, 2, 32, DType::f16, true}));

TEST(GridMmaFaults, EachWaitAndBarrierIsNeeded) {
  const auto k = lowering::grid_mma({32, 32, 64});
  const auto early = violation(without<kir::AsyncWait>(k, 0));
  EXPECT_EQ(early.kind, ViolationKind::async);
  EXPECT_THAT(early.what, HasSubstr("in flight"));
  auto late = k;
  ASSERT_TRUE(edit<kir::AsyncWait>(late.body, [](kir::AsyncWait& w, kir::Block&, std::size_t) {
    w.pending = 2;
    return true;
  }));
  EXPECT_EQ(violation(late).kind, ViolationKind::async);
  for (int which : {0, 1, 2}) {
    const auto v = violation(without<kir::Barrier>(k, which));
    EXPECT_EQ(v.kind, ViolationKind::race) << which;
    EXPECT_EQ(v.buffer, which == 2 ? "%out_tile" : "%a_tile") << which;
  }
}

TEST(GridMmaFaults, ATileThatOneWarpsThreadsPlaceDifferently) {
  auto k = lowering::grid_mma({32, 32, 32});
  ASSERT_TRUE(edit<kir::TileLoad>(k.body, [&](kir::TileLoad& t, kir::Block&, std::size_t) {
    t.index[1] = kir::mod(kir::Affine::var(2), 2) * 16;
    return true;
  }));
  EXPECT_EQ(violation(k).kind, ViolationKind::not_uniform);
}

TEST(GridMmaFaults, ATilePastTheEdge) {
  auto k = lowering::grid_mma({32, 32, 32});
  ASSERT_TRUE(edit<kir::TileLoad>(k.body, [&](kir::TileLoad& t, kir::Block&, std::size_t) {
    t.index[2] = 1;
    return true;
  }));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::out_of_bounds);
  EXPECT_EQ(v.buffer, "%a_tile");
  EXPECT_EQ(v.index, (Index{0, 0, 16}));
}

TEST(GridMma, SumsAreCutWhenTheUnitTruncates) {
  // 1 + 2^-24 + 2^-24: rounding to even keeps 1 twice, and cutting too; minus signs tell them apart.
  lowering::GridMma p{16, 16, 16, 1, 1};
  Array a(DType::f16, 256), b(DType::f16, 256), c(DType::f32, 256);
  for (std::int64_t i = 0; i < 256; ++i) a.set(i, i % 16 == 0 ? 1 : i % 16 == 1 ? -0x1p-12 : 0), b.set(i, i < 16 ? 1 : i < 32 ? 0x1p-14 : 0);
  auto k = lowering::grid_mma(p);
  launch(k, {&a, &b, &c});
  EXPECT_EQ(c.at(0), 1);                    // 1 - 2^-26 to nearest
  p.truncates = true;
  k = lowering::grid_mma(p);
  launch(k, {&a, &b, &c});
  EXPECT_EQ(c.at(0), 1 - 0x1p-24);          // toward zero
}

}  // namespace
}  // namespace plumb::verify
