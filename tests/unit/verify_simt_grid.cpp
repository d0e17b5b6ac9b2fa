// Grid-mapped schedules on `simt`: right answers against plain loops, and each planted fault reported as what it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interpreter/domains/number.h"
#include "interpreter/kernel/interpreter.h"
#include "ir/kernel/text.h"
#include "ir/kernel/verifier.h"
#include "ir/kernel/walk.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "lowering/templates/grid_mma.h"
#include "verify/simt_target.h"

namespace plumb::verify {
namespace {

using interp::ViolationKind;
using kir::Kernel;
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

/// The one kernel that the lowering makes of a program.
Kernel lowered(const std::string& text, lowering::Fault fault = lowering::Fault::none, Contract contract = Contract::strict) {
  lowering::Options o;
  o.contract = contract;
  o.target = make_simt_backend()->facts();
  o.fault = fault;
  const auto program = lowering::lower(ir::parse(text, "test"), o);
  EXPECT_EQ(program->kernels.size(), 1U) << text;
  return *program->kernels.at(0);
}

struct Sizes {
  std::int64_t m = 1, n = 1, k = 1;
  DType dtype = DType::f32;
};
Kernel dot(const Sizes& p, lowering::Fault fault = lowering::Fault::none, Contract contract = Contract::strict) {
  const auto matrix = [&](std::int64_t r, std::int64_t c) { return std::string(plumb::name(p.dtype)) + "[" + std::to_string(r) + "," + std::to_string(c) + "]"; };
  const auto out = matrix(p.m, p.n);
  return lowered("func @f(%x: " + matrix(p.m, p.k) + ", %w: " + matrix(p.k, p.n) + ") -> (" + out + ") { %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : " + out + " return %0 }", fault, contract);
}

/// The kernel is of this schedule and gives what plain loops over integers do.
Kernel expect_plain_loops(const Sizes& p, const char* schedule, Contract contract = Contract::strict) {
  auto k = dot(p, lowering::Fault::none, contract);
  EXPECT_EQ(k.schedule, schedule);
  expect_well_formed(k);
  auto a = integers(p.dtype, p.m * p.k, 1), b = integers(p.dtype, p.k * p.n, 2);
  Array c(p.dtype, p.m * p.n);
  launch(k, {&a, &b, &c});
  EXPECT_EQ(c.bytes, product(a, b, p.m, p.n, p.k, p.dtype).bytes);
  return k;
}

class GridDot : public testing::TestWithParam<Sizes> {};

TEST_P(GridDot, EqualsPlainLoops) {
  expect_plain_loops(GetParam(), "grid_dot");
}

INSTANTIATE_TEST_SUITE_P(Sizes, GridDot, testing::Values(Sizes{32, 48, 64}, Sizes{17, 19, 23}, Sizes{40, 8, 300}, Sizes{33, 31, 29, DType::f64}, Sizes{16, 16, 32, DType::bf16}, Sizes{9, 9, 4500}));

class GridDotRegisters : public testing::TestWithParam<Sizes> {};

TEST_P(GridDotRegisters, EqualsPlainLoops) {
  expect_plain_loops(GetParam(), "grid_dot_registers");
}

// Whole tiles; ragged edges read by 16 bytes and by elements; chains, blocks and what is left of each.
INSTANTIATE_TEST_SUITE_P(Sizes, GridDotRegisters, testing::Values(Sizes{64, 64, 32}, Sizes{68, 52, 20}, Sizes{49, 51, 53}, Sizes{64, 64, 16}, Sizes{48, 48, 300}, Sizes{48, 48, 4500}, Sizes{50, 70, 33, DType::f64}, Sizes{64, 90, 32, DType::bf16}, Sizes{50, 48, 40, DType::f16}));

class GridDotTiles : public testing::TestWithParam<Sizes> {};

TEST_P(GridDotTiles, EqualsPlainLoops) {
  EXPECT_TRUE(expect_plain_loops(GetParam(), "grid_dot_tiles", Contract::relaxed).reductions.at(0).truncates);
}

// One chain, whole and half slices; ragged edges; several chains; several blocks.
INSTANTIATE_TEST_SUITE_P(Sizes, GridDotTiles, testing::Values(Sizes{64, 64, 32, DType::bf16}, Sizes{49, 56, 16, DType::bf16}, Sizes{70, 72, 48, DType::f16}, Sizes{48, 48, 400, DType::bf16}, Sizes{48, 48, 4240, DType::bf16}));

TEST(GridDotFaults, WithoutBarriersTilesRace) {
  const auto v = violation(dot({64, 64, 64, DType::bf16}, lowering::Fault::missing_barrier, Contract::relaxed));
  EXPECT_EQ(v.kind, ViolationKind::race);
}

TEST(GridDotFaults, EachBarrierOfTilesIsNeeded) {
  const auto k = dot({64, 64, 400, DType::bf16}, lowering::Fault::none, Contract::relaxed);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(violation(without<kir::Barrier>(k, i)).kind, ViolationKind::race) << i;
}

TEST(GridDotFaults, WithoutBarriersRegisterTilesRace) {
  const auto v = violation(dot({64, 64, 64}, lowering::Fault::missing_barrier));
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_THAT(v.buffer, testing::AnyOf("%a_tile", "%b_tile"));
}

TEST(GridDotFaults, WithoutBarriersThreadsRace) {
  const auto v = violation(dot({32, 32, 32}, lowering::Fault::missing_barrier));
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_THAT(v.buffer, testing::AnyOf("%a_tile", "%b_tile"));
  EXPECT_THAT(v.what, HasSubstr("reads what thread"));
}

TEST(GridDotFaults, EachBarrierIsNeeded) {
  const auto k = dot({32, 32, 32});
  const auto first = violation(without<kir::Barrier>(k, 0)), second = violation(without<kir::Barrier>(k, 1));
  EXPECT_EQ(first.kind, ViolationKind::race);
  EXPECT_THAT(first.what, HasSubstr("reads what thread"));
  EXPECT_EQ(second.kind, ViolationKind::race);
  EXPECT_THAT(second.what, HasSubstr("writes what thread"));
  EXPECT_THAT(second.loops, testing::Contains(testing::Pair("t", 1)));   // the next step's tile over the one still read
}

TEST(GridDotFaults, AnIndexOffByOne) {
  auto k = dot({32, 32, 32});
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
  EXPECT_THAT(v.loops, testing::Contains(testing::Pair("k", 15)));
}

TEST(GridDotFaults, ABarrierThatSomeThreadsSkip) {
  auto k = dot({17, 17, 16});
  const auto tx = std::find(k.vars.begin(), k.vars.end(), "tx") - k.vars.begin();
  ASSERT_TRUE(edit<kir::Barrier>(k.body, [&](kir::Barrier& b, kir::Block& block, std::size_t i) {
    kir::If inside{{kir::below(kir::Affine::var(static_cast<kir::VarId>(tx)), 8)}, {kir::Stmt{b}}, {}};
    block[i] = kir::Stmt{std::move(inside)};
    return true;
  }));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::divergence);
  EXPECT_THAT(v.what, HasSubstr("128 of the 256 threads"));
}

// ── row reductions ──

struct Rows {
  std::int64_t rows = 1, terms = 1;
  DType dtype = DType::f32;
  std::string fn = "sum";
};
Kernel reduction(const Rows& p, lowering::Fault fault = lowering::Fault::none) {
  const std::string t(plumb::name(p.dtype)), rows = std::to_string(p.rows), out = t + "[" + rows + "]";
  return lowered("func @f(%x: " + t + "[" + rows + "," + std::to_string(p.terms) + "]) -> (" + out + ") { %0 = reduce_" + p.fn + "(%x) {axes=[1]} : " + out + " return %0 }", fault);
}

class GridReduce : public testing::TestWithParam<Rows> {};

TEST_P(GridReduce, EqualsPlainLoops) {
  const auto p = GetParam();
  const auto k = reduction(p);
  EXPECT_EQ(k.schedule, "grid_reduce");
  expect_well_formed(k);
  auto x = integers(p.dtype, p.rows * p.terms, 3);
  Array out(p.dtype, p.rows), expected(p.dtype, p.rows);
  launch(k, {&x, &out});
  for (std::int64_t r = 0; r < p.rows; ++r) {
    double sum = x.at(r * p.terms);
    for (std::int64_t i = 1; i < p.terms; ++i) sum = p.fn == "sum" ? sum + x.at(r * p.terms + i) : std::max(sum, x.at(r * p.terms + i));
    expected.set(r, sum);
  }
  EXPECT_EQ(out.bytes, expected.bytes);
}

INSTANTIATE_TEST_SUITE_P(Sizes, GridReduce, testing::Values(Rows{3, 1000}, Rows{2, 32768}, Rows{4, 64}, Rows{5, 77}, Rows{2, 257}, Rows{1, 4097}, Rows{2, 20000}, Rows{2, 4096, DType::f64}, Rows{3, 999, DType::f32, "max"},
                                                            Rows{3, 999, DType::f64, "max"}, Rows{3, 129, DType::i32}));

/// 512 terms are 256 lanes of 2: halvings to 128, 64 and 32 pass through shared memory.
TEST(GridReduceFaults, EachBarrierOfTheTreeIsNeeded) {
  const auto k = reduction({1, 512});
  for (int which = 0; which < 3; ++which) {
    const auto v = violation(without<kir::Barrier>(k, which));
    EXPECT_EQ(v.kind, ViolationKind::race) << which;
    EXPECT_EQ(v.buffer, "%parts");
  }
}

TEST(GridReduceFaults, TheBarrierBetweenChunksIsNeeded) {
  // Moved behind the loop over chunks: what is left is that the next chunk's sums overwrite those still read.
  auto k = reduction({1, 8192});
  const auto moved = [&](kir::For& f, kir::Block& block, std::size_t i) {
    if (!std::holds_alternative<kir::Barrier>(f.body.back().node)) return false;
    const kir::Stmt barrier = f.body.back();
    f.body.pop_back();
    block.insert(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, barrier);
    return true;
  };
  ASSERT_TRUE(edit<kir::For>(k.body, moved));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_EQ(v.buffer, "%parts");
  EXPECT_THAT(v.what, HasSubstr("writes what thread"));
}

TEST(GridReduceFaults, ALevelThatReachesTooFar) {
  auto k = reduction({1, 512});
  ASSERT_TRUE(edit<kir::If>(k.body, [&](kir::If& i, kir::Block&, std::size_t) {
    i.condition[0] = kir::below(kir::Affine::var(1), 129);   // 129 threads halve 256 sums
    return true;
  }));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::out_of_bounds);
  EXPECT_EQ(v.index, (Index{256}));
  EXPECT_THAT(v.loops, testing::Contains(testing::Pair("thread", 128)));
}

TEST(GridReduceFaults, AShuffleWithAnIdleLane) {
  auto k = reduction({1, 512});
  ASSERT_TRUE(edit<kir::If>(k.body, [&](kir::If& i, kir::Block&, std::size_t) {
    if (std::none_of(i.then.begin(), i.then.end(), [](const kir::Stmt& s) { return std::holds_alternative<kir::Shuffle>(s.node); })) return false;
    i.condition[0] = kir::below(kir::Affine::var(1), 31);
    return true;
  }));
  const auto v = violation(k);
  EXPECT_EQ(v.kind, ViolationKind::divergence);
  EXPECT_THAT(v.what, HasSubstr("31 of the 32 threads reach this shuffle"));
}

TEST(GridReduceFaults, EveryThreadStoresTheResult) {
  auto k = reduction({2, 256});
  ASSERT_TRUE(edit<kir::If>(k.body, [&](kir::If& i, kir::Block&, std::size_t) {
    const auto* store = std::get_if<kir::Store>(&i.then.back().node);
    if (!store || store->buffer != k.outputs[0]) return false;
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
