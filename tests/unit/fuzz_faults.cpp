// Faults made in kernels: each does what its name says, shown on inputs for which the wrong answer is known by hand, on both
// targets; and the places where a kind does not apply.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "backends/backend.h"
#include "fuzz/faults.h"
#include "ir/kernel/verifier.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/launch.h"
#include "verify/simt_target.h"

namespace plumb::fuzz {
namespace {

using Target = std::shared_ptr<backends::Backend>;
std::vector<Target> targets() {
  static const std::vector<Target> list{backends::make_cpu_backend({1, 0}), verify::make_simt_backend()};
  return list;
}

kir::Kernel kernel_for(const Target& target, const std::string& text) {
  lowering::Options o;
  o.target = target->facts();
  const auto program = lowering::lower(ir::parse(text, "faults.plumb"), o);
  return *program->kernels.at(0);
}
std::string reduce(const std::string& op, std::int64_t k) {
  return "func @main(%x: f32[2," + std::to_string(k) + "]) -> (f32[2]) {\n  %0 = " + op + "(%x) {axes=[1]} : f32[2]\n  return %0\n}";
}
std::string dot(std::int64_t m, std::int64_t k, std::int64_t n) {
  const auto t = [](std::int64_t x, std::int64_t y) { return "f32[" + std::to_string(x) + "," + std::to_string(y) + "]"; };
  return "func @main(%x: " + t(m, k) + ", %w: " + t(k, n) + ") -> (" + t(m, n) + ") {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : " + t(m, n) + "\n  return %0\n}";
}

using Fill = double (*)(std::int64_t place, std::int64_t row_length);
double ones(std::int64_t, std::int64_t) { return 1; }
double place_in_row(std::int64_t i, std::int64_t n) { return static_cast<double>(i % n); }

/// The result, inputs filled; the kernel must be well formed.
std::vector<double> results(const kir::Kernel& k, const Target& target, Fill first, Fill others = ones) {
  kir::verify(k);
  std::vector<ir::Literal> inputs;
  for (auto p : k.spec->params) {
    ir::Literal l(k.spec->type(p));
    for (std::int64_t i = 0; i < l.elements(); ++i) l.mutable_data<float>()[i] = static_cast<float>((inputs.empty() ? first : others)(i, l.extents().back()));
    inputs.push_back(std::move(l));
  }
  const auto got = verify::Launcher(k, *target).run(inputs, k.spec->type(k.spec->results[0]));
  return {got.data<float>(), got.data<float>() + got.elements()};
}
/// What the fault adds to each element of the result.
std::vector<double> error(const Target& target, const std::string& text, FaultKind kind, std::uint64_t seed, Fill first, Fill others = ones) {
  const auto k = kernel_for(target, text);
  const auto faulty = make_fault(k, 0, kind, seed);
  if (!faulty.kernel) {
    ADD_FAILURE() << faulty.why_not;
    return {};
  }
  auto wrong = results(*faulty.kernel, target, first, others);
  const auto right = results(k, target, first, others);
  for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] -= right[i];
  return wrong;
}

/// Every row of a sum is wrong; of a product of matrices, one element of each tile at least.
constexpr std::int64_t sizes[] = {64, 100, 300, 1024, 9000};

TEST(MadeFaults, a_dropped_term_of_ones) {
  for (const auto& t : targets())
    for (auto k : sizes)
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        for (double e : error(t, reduce("reduce_sum", k), FaultKind::dropped_term, seed, ones)) EXPECT_EQ(e, -1) << t->name() << " " << k;
        for (double e : error(t, dot(2, k, 3), FaultKind::dropped_term, seed, ones)) EXPECT_EQ(e, -1) << t->name() << " " << k;
      }
}
TEST(MadeFaults, a_term_of_ones_taken_twice) {
  for (const auto& t : targets())
    for (auto k : sizes)
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        for (double e : error(t, reduce("reduce_sum", k), FaultKind::duplicated_term, seed, ones)) EXPECT_EQ(e, 1) << t->name() << " " << k;
        for (double e : error(t, dot(2, k, 3), FaultKind::duplicated_term, seed, ones)) EXPECT_EQ(e, 1) << t->name() << " " << k;
      }
}
TEST(MadeFaults, one_element_of_a_tiled_product_at_least) {
  for (const auto& t : targets())
    for (auto [kind, by] : {std::pair(FaultKind::dropped_term, -1.0), std::pair(FaultKind::duplicated_term, 1.0)})
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const auto e = error(t, dot(9, 300, 40), kind, seed, ones);
        EXPECT_GE(std::count(e.begin(), e.end(), by), 1) << t->name();
        EXPECT_EQ(std::count(e.begin(), e.end(), by) + std::count(e.begin(), e.end(), 0.0), 360) << t->name();
      }
}

/// With its own place for each term, the neighbour changes the sum by 1 or -1.
TEST(MadeFaults, a_neighbour_in_a_terms_place) {
  for (const auto& t : targets())
    for (auto k : sizes)
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const bool steps = t->name() == "simt" && k > 256;   // a thread's next term is 256 on
        if (k > 1024) continue;   // beyond, such sums are not exact
        for (double e : error(t, reduce("reduce_sum", k), FaultKind::neighbour_term, seed, place_in_row)) {
          EXPECT_TRUE(std::fabs(e) == 1 || (steps && std::fabs(e) == 256)) << t->name() << " " << k << ": " << e;
        }
        for (double e : error(t, dot(2, k, 3), FaultKind::neighbour_term, seed, place_in_row)) EXPECT_EQ(std::fabs(e), 1) << t->name() << " " << k;
      }
}

/// A tile of 256 terms read 256 too early; of a dot's chain, 128.
TEST(MadeFaults, a_tile_of_the_step_before) {
  for (const auto& t : targets())
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      for (double e : error(t, reduce("reduce_sum", 1024), FaultKind::stale_tile, seed, place_in_row)) EXPECT_EQ(e, -256 * 256) << t->name();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto e = error(targets()[0], dot(2, 512, 3), FaultKind::stale_tile, seed, place_in_row, ones);
    // x is the places, w ones: where w's tile is the stale one nothing changes.
    EXPECT_TRUE(std::all_of(e.begin(), e.end(), [](double x) { return x == -128 * 128; }) || std::all_of(e.begin(), e.end(), [](double x) { return x == 0; }));
  }
}

/// The last of 61 terms' vector: those from 48 on, each one place too early; a sum of places loses as many.
TEST(MadeFaults, a_tail_one_place_too_early) {
  for (const auto& t : targets()) {
    for (double e : error(t, reduce("reduce_sum", 61), FaultKind::wrong_tail, 1, place_in_row)) EXPECT_EQ(e, -(61 - 48)) << t->name();
    for (double e : error(t, dot(2, 61, 3), FaultKind::wrong_tail, 1, place_in_row)) EXPECT_EQ(e, -(61 - 48)) << t->name();
    for (double e : error(t, reduce("reduce_max", 61), FaultKind::wrong_tail, 1, place_in_row)) EXPECT_EQ(e, -1) << t->name();
  }
}

/// 2,049 and 257 are the first integers that f16 and bf16 do not have.
TEST(MadeFaults, sums_kept_in_a_narrower_format) {
  for (const auto& t : targets())
    for (std::uint64_t seed = 1; seed <= 6; ++seed)
      for (const auto& text : {reduce("reduce_sum", 4099), dot(2, 4099, 3)}) {
        const auto k = kernel_for(t, text);
        const auto faulty = make_fault(k, 0, FaultKind::narrow_accumulator, seed);
        ASSERT_TRUE(faulty.kernel) << faulty.why_not;
        const DType narrow = faulty.place == "in f16" ? DType::f16 : DType::bf16;
        for (double sum : results(*faulty.kernel, t, ones)) {
          EXPECT_NE(sum, 4099) << t->name() << " " << faulty.place;
          EXPECT_EQ(sum, decode_float(narrow, encode_float(narrow, sum))) << t->name() << " " << faulty.place;
        }
      }
}

TEST(MadeFaults, kinds_that_do_not_apply) {
  for (const auto& t : targets()) {
    const auto max = kernel_for(t, reduce("reduce_max", 64));
    EXPECT_EQ(make_fault(max, 0, FaultKind::duplicated_term, 1).why_not, "a minimum or maximum may meet a term twice");
    EXPECT_EQ(make_fault(max, 0, FaultKind::narrow_accumulator, 1).why_not, "a minimum or maximum does not round");
    EXPECT_EQ(make_fault(kernel_for(t, reduce("reduce_sum", 64)), 0, FaultKind::stale_tile, 1).why_not, "the reduction is a single tile");
    EXPECT_FALSE(make_fault(kernel_for(t, reduce("reduce_sum", 1)), 0, FaultKind::dropped_term, 1).kernel);
  }
}

TEST(MadeFaults, a_seed_is_a_place) {
  const auto k = kernel_for(targets()[0], reduce("reduce_sum", 9000));
  std::set<std::string> places;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(make_fault(k, 0, FaultKind::dropped_term, seed).place, make_fault(k, 0, FaultKind::dropped_term, seed).place);
    places.insert(make_fault(k, 0, FaultKind::dropped_term, seed).place);
  }
  EXPECT_GT(places.size(), 15u);
}

}  // namespace
}  // namespace plumb::fuzz
