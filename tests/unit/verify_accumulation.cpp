// Accumulation models: what is declared of a reduction is what the kernel does, and a declaration that says less is found, by
// the kernel's structure and by the enclosure on inputs that make its errors add up.
#include <cmath>

#include "interpreter/domains/enclosure.h"
#include "lowering/templates/grid_mma.h"
#include "tests/unit/verify_oracle_support.h"
#include "verify/accumulation.h"
#include "verify/launch.h"
#include "verify/simt_target.h"

namespace plumb {
namespace {

using namespace test;
using verify::Check;
using Target = std::shared_ptr<backends::Backend>;

Target simt() { return verify::make_simt_backend(); }

std::shared_ptr<const lowering::Program> lowered_for(const Target& target, const std::string& text, lowering::Fault fault = lowering::Fault::none) {
  lowering::Options o;
  o.target = target->facts();
  o.fault = fault;
  return lowering::lower(ir::parse(text, "accumulation.plumb"), o);
}
/// The one kernel that reduces.
kir::Kernel kernel_for(const Target& target, const std::string& text, lowering::Fault fault = lowering::Fault::none) {
  const auto program = lowered_for(target, text, fault);
  for (const auto& k : program->kernels)
    if (!k->reductions.empty()) return *k;
  throw std::runtime_error("no reduction");
}
std::string sum_of(std::int64_t k, const std::string& dtype = "f32") {
  return "func @main(%x: " + dtype + "[2," + std::to_string(k) + "]) -> (" + dtype + "[2]) {\n  %0 = reduce_sum(%x) {axes=[1]} : " + dtype + "[2]\n  return %0\n}";
}
std::string dot_of(std::int64_t m, std::int64_t k, std::int64_t n, const std::string& dtype = "f32") {
  const auto t = [&](std::int64_t x, std::int64_t y) { return dtype + "[" + std::to_string(x) + "," + std::to_string(y) + "]"; };
  return "func @main(%x: " + t(m, k) + ", %w: " + t(k, n) + ") -> (" + t(m, n) + ") {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : " + t(m, n) + "\n  return %0\n}";
}
std::vector<ir::Literal> inputs_of(const kir::Kernel& k) {
  std::vector<ir::Literal> r;
  for (auto p : k.spec->params) r.push_back(uniform(k.spec->type(p), r.size() + 1));
  return r;
}
/// The kernel as it runs, judged by the declarations of another.
verify::Report judged(const kir::Kernel& runs, const kir::Kernel& declares, const std::vector<ir::Literal>& inputs, const Target& target) {
  const auto got = verify::Launcher(runs, *target).run(inputs, runs.spec->type(runs.spec->results[0]));
  verify::Report r;
  verify::judge(declares, 0, inputs, got, quiet(Check::kernel), r);
  return r;
}
kir::Kernel declared(kir::Kernel k, const std::function<void(kir::Reduction&)>& change) {
  for (auto& r : k.reductions) change(r);
  return k;
}
std::vector<std::string> texts() {
  std::vector<std::string> r;
  for (std::int64_t k : {1, 2, 3, 64, 255, 256, 257, 300, 511, 512, 1000, 4096, 4097, 5000, 9000, 70000}) {
    r.push_back(sum_of(k));
    r.push_back(dot_of(2, k, 3));
  }
  for (std::int64_t k : {5, 128, 129, 300, 4096, 4200, 9000}) r.push_back(dot_of(9, k, 40, k % 2 ? "bf16" : "f32"));
  r.push_back("func @main(%x: f32[300,5]) -> (f32[5]) {\n  %0 = reduce_sum(%x) {axes=[0]} : f32[5]\n  return %0\n}");
  r.push_back("func @main(%x: f16[2,3,40,41]) -> (f16[3]) {\n  %0 = reduce_sum(%x) {axes=[0,2,3]} : f16[3]\n  return %0\n}");
  r.push_back("func @main(%x: f32[3,50]) -> (f32[3,50]) {\n  %0 = cumsum(%x) {axis=1} : f32[3,50]\n  return %0\n}");
  r.push_back("func @main(%x: f32[1,3,13,13]) -> (f32[1,3,11,11]) {\n  %0 = reduce_window_sum(%x) {window=[1,1,3,3]} : f32[1,3,11,11]\n  return %0\n}");
  r.push_back("func @main(%x: f32[1,8,13,13], %w: f32[8,8,3,3]) -> (f32[1,8,13,13]) {\n  %0 = convolution(%x, %w) {low=[1,1], high=[1,1]} : f32[1,8,13,13]\n  return %0\n}");
  return r;
}

/// No kernel of ours declares more than the contract allows or less than it does; heights are declared as they are counted.
TEST(Accumulation, kernels_are_as_declared) {
  for (const auto& target : {cpu(), simt()})
    for (const auto& text : texts()) {
      const auto k = kernel_for(target, text);
      for (const auto& m : verify::misdeclared(k, &target->facts())) ADD_FAILURE() << target->name() << ": " << m.is << ", not " << m.declared << "\n" << text;
      for (int id = 0; id < static_cast<int>(k.reductions.size()); ++id) {
        const auto h = verify::heights_of(k, id, inputs_of(k), *target);
        EXPECT_LE(h.height, k.reductions[static_cast<std::size_t>(id)].height) << target->name() << "\n" << text;
        EXPECT_GE(h.height * 2, k.reductions[static_cast<std::size_t>(id)].height - 3) << target->name() << "\n" << text;
        EXPECT_FALSE(h.narrowed) << target->name() << "\n" << text;
      }
    }
}

/// By hand, from the canonical order: 4,096 terms in 256 lanes are 15 steps a lane and 8 of halving; a dot's chain of 128,
/// then the chain joins its block and the block the total.
TEST(Accumulation, heights_by_hand) {
  for (const auto& target : {cpu(), simt()}) {
    const auto height = [&](const std::string& text) { const auto k = kernel_for(target, text); return verify::heights_of(k, 0, inputs_of(k), *target).height; };
    EXPECT_EQ(height(sum_of(4096)), 15 + 8) << target->name();
    EXPECT_EQ(height(sum_of(4096 * 3)), 15 + 8 + 2) << target->name();
    EXPECT_EQ(height(sum_of(300)), 1 + 8) << target->name();
    EXPECT_EQ(height(dot_of(1, 100, 2)), 100) << target->name();
    EXPECT_EQ(height(dot_of(1, 300, 2)), 128 + 3 + 1) << target->name();
  }
}

TEST(Accumulation, a_height_declared_one_too_small_is_found_by_structure) {
  for (const auto& target : {cpu(), simt()})
    for (const auto& text : {sum_of(4096), sum_of(1000), dot_of(2, 300, 3), dot_of(9, 4200, 40)}) {
      auto k = kernel_for(target, text);
      auto options = quiet(Check::full);
      options.backend = target;
      verify::Report right, wrong;
      verify::check_accumulation(k, 0, inputs_of(k), options, right);
      EXPECT_TRUE(right.passed());
      k.reductions[0].height = verify::heights_of(k, 0, inputs_of(k), *target).height - 1;
      verify::check_accumulation(k, 0, inputs_of(k), options, wrong);
      ASSERT_TRUE(failed_by(wrong, "accumulation")) << target->name() << "\n" << text;
      EXPECT_EQ(wrong.failures[0].got, "a chain of " + std::to_string(k.reductions[0].height + 1) + " combining steps");
    }
}

/// Without running: chains that the text shows, and heights that no order reaches.
TEST(Accumulation, a_height_far_too_small_is_found_without_running) {
  for (const auto& target : {cpu(), simt()}) {
    const auto found = [&](const std::string& text, std::int64_t height) { return !verify::misdeclared(declared(kernel_for(target, text), [&](auto& r) { r.height = height; })).empty(); };
    EXPECT_TRUE(found(sum_of(4096), 11));
    EXPECT_FALSE(found(sum_of(4096), 23));
    EXPECT_TRUE(found(dot_of(2, 300, 3), 8));
    EXPECT_TRUE(found(sum_of(4096), 24));   // more than the contract's
  }
}

/// x[0] = 1, and one term just under half a unit in each step that 1 takes part in: each is lost, and the errors add up to
/// the bound. f32: the terms that meet lane 0 are those of its own chain and the first lane of each halving.
ir::Literal swallowed(const ir::Type& t) {
  ir::Literal x(t);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const auto k = i % 4096;
    const bool meets = k % 256 == 0 || (k < 256 && (k & (k - 1)) == 0);
    store_element(t.dtype, x.mutable_raw(), i, k == 0 ? 1 : meets ? 0x1p-24 * (1 - 0x1p-10) : 0);
  }
  return x;
}

TEST(Accumulation, an_underdeclared_height_is_rejected_by_the_enclosure) {
  for (const auto& target : {cpu(), simt()}) {
    const auto k = kernel_for(target, sum_of(4096));
    const std::vector<ir::Literal> inputs{swallowed(k.spec->type(k.spec->params[0]))};
    EXPECT_TRUE(judged(k, k, inputs, target).passed()) << target->name();
    EXPECT_FALSE(judged(k, declared(k, [](auto& r) { r.height = 21; }), inputs, target).passed()) << target->name();
  }
}

TEST(Accumulation, a_narrow_accumulator_is_found_by_structure) {
  for (const auto& target : {cpu(), simt()})
    for (const auto& text : {sum_of(4096), sum_of(300, "bf16"), dot_of(2, 300, 3), dot_of(9, 4200, 40)}) {
      const auto found = verify::misdeclared(kernel_for(target, text, lowering::Fault::half_accumulator));
      ASSERT_FALSE(found.empty()) << target->name() << "\n" << text;
      EXPECT_EQ(found[0].is, "steps that combine in f16");
      EXPECT_EQ(found[0].declared, "an accumulator of f32, as declared");
    }
}

/// Sums of f32 that are said to be kept in f64: any rounding of a step is then too much.
TEST(Accumulation, an_accumulator_declared_too_wide_is_found_by_structure_and_by_the_enclosure) {
  for (const auto& target : {cpu(), simt()})
    for (const auto& text : {sum_of(4096), dot_of(2, 300, 3), dot_of(9, 4200, 40)}) {
      const auto k = kernel_for(target, text), wide = declared(k, [](auto& r) { r.accumulator = DType::f64; });
      EXPECT_FALSE(verify::misdeclared(wide).empty()) << target->name();
      const auto inputs = k.spec->params.size() == 1 ? std::vector<ir::Literal>{swallowed(k.spec->type(k.spec->params[0]))} : inputs_of(k);
      EXPECT_TRUE(judged(k, k, inputs, target).passed()) << target->name();
      EXPECT_FALSE(judged(k, wide, inputs, target).passed()) << target->name() << "\n" << text;
    }
}

/// What the contract does not allow is a violation, and makes no enclosure wider.
TEST(Accumulation, declarations_beyond_the_contract) {
  for (const auto& target : {cpu(), simt()}) {
    const auto k = kernel_for(target, sum_of(4096));
    const auto inputs = inputs_of(k);
    const auto f16 = declared(k, [](auto& r) { r.accumulator = DType::f16; }), cuts = declared(k, [](auto& r) { r.truncates = true; }), tall = declared(k, [](auto& r) { r.height = 4095; });
    EXPECT_EQ(verify::misdeclared(f16).at(0).is, "an accumulator declared in f16");
    EXPECT_EQ(verify::misdeclared(cuts).at(0).is, "a sum declared to truncate");
    EXPECT_EQ(verify::misdeclared(tall).at(0).is, "a height declared as 4095");
    const auto half = kernel_for(target, sum_of(4096), lowering::Fault::half_accumulator);
    EXPECT_FALSE(judged(half, f16, inputs, target).passed());   // f16 sums are wrong, however they are declared
    const auto worst = judged(k, k, inputs, target).worst;
    for (const auto& loose : {f16, cuts, tall}) EXPECT_EQ(judged(k, loose, inputs, target).worst, worst);
  }
}

// ── truncation: a matrix unit ──

/// c = a·b, factors f16, sums f32: the kernel, and its meaning.
kir::Kernel tile_dot(bool truncates) {
  lowering::GridMma p{16, 16, 64, 1, 1};
  p.truncates = truncates;
  auto k = lowering::grid_mma(p);
  k.spec = std::make_shared<ir::Function>(ir::parse(R"(func @main(%a: f16[16,64], %b: f16[64,16]) -> (f32[16,16]) {
  %x = convert(%a) {dtype=f32} : f32[16,64]
  %y = convert(%b) {dtype=f32} : f32[64,16]
  %c = dot_general(%x, %y) {lhs_contract=[1], rhs_contract=[0]} : f32[16,16]
  return %c
})").entry());
  k.reductions[0].spec_node = 2;
  return k;
}
/// Each sum starts at 1 and then takes 63 terms just under a unit in the last place: cutting loses all of each.
std::vector<ir::Literal> cut_away() {
  ir::Literal a(ir::Type{DType::f16, {16, 64}}), b(ir::Type{DType::f16, {64, 16}});
  for (std::int64_t i = 0; i < 1024; ++i) {
    store_element(DType::f16, a.mutable_raw(), i, i % 64 == 0 ? 1 : 0x1p-12);
    store_element(DType::f16, b.mutable_raw(), i, i < 16 ? 1 : 0x1p-11 * (1 - 0x1p-8));
  }
  return {a, b};
}

TEST(Accumulation, a_truncating_unit_declared_as_such_is_legal) {
  const auto unit = verify::make_simt_backend({true, 32, true});
  const auto k = tile_dot(true);
  EXPECT_TRUE(verify::misdeclared(k, &unit->facts()).empty());
  EXPECT_TRUE(judged(k, k, cut_away(), unit).passed());
  EXPECT_TRUE(judged(k, k, inputs_of(k), unit).passed());
  const auto h = verify::heights_of(k, 0, inputs_of(k), *unit);
  EXPECT_EQ(h.height, 64);
}

TEST(Accumulation, truncation_that_is_not_declared_is_found_by_structure_and_by_the_enclosure) {
  const auto unit = verify::make_simt_backend({true, 32, true});
  const auto k = tile_dot(false);
  ASSERT_EQ(verify::misdeclared(k, &unit->facts()).size(), 1u);
  EXPECT_EQ(verify::misdeclared(k, &unit->facts())[0].is, "a unit that truncates");
  EXPECT_FALSE(judged(k, k, cut_away(), unit).passed());
  EXPECT_TRUE(judged(k, k, cut_away(), simt()).passed());   // the same kernel on a unit that rounds
}

/// Cutting only shrinks: a sum of positive terms above its exact value is no truncated sum.
TEST(Accumulation, truncation_has_a_side) {
  interp::SumFacts s;
  for (int k = 0; k < 100; ++k) s.add(interp::Enclosed::real(1.0 + k * 0x1p-23, 1.0 + k * 0x1p-23));
  const auto cut = interp::finish_sum(s, DType::f32, {7, {}, true}, 0), rounded = interp::finish_sum(s, DType::f32, 7, 0);
  const double exact = 100 + 4950 * 0x1p-23;
  EXPECT_NEAR(exact - cut.lo, 2 * (exact - rounded.lo), 1e-9);
  EXPECT_LT(cut.hi - exact, 1e-11);
  EXPECT_GE(cut.hi, exact);
  EXPECT_GT(rounded.hi - exact, 1e-6);
}

}  // namespace
}  // namespace plumb
