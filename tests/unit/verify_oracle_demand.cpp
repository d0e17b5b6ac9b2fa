// Values on demand are the values that dense evaluation gives; exact number systems agree with compiled kernels and
// find every fault of structure.
#include "tests/unit/verify_oracle_support.h"
#include "interpreter/tensor/demand.h"
#include "verify/number_systems.h"
#include "verify/recorded.h"

namespace plumb {
namespace {

using namespace test;
using verify::Check;

/// Every class of operation; small, with padding, groups, strides and repeated indices.
const std::vector<const char*>& programs() {
  static const std::vector<const char*> list{
      "func @main(%x: f32[3,5], %y: f32[5]) -> (f32[3,5]) {\n  %0 = broadcast(%y) {shape=[3,5], dims=[1]} : f32[3,5]\n  %1 = mul(%x, %0) : f32[3,5]\n  %2 = exp(%1) : f32[3,5]\n  %3 = div(%2, %x) : f32[3,5]\n  return %3\n}",
      "func @main(%x: f32[4,6]) -> (f32[6,2]) {\n  %0 = slice(%x) {start=[1,0], limit=[4,6], stride=[2,1]} : f32[2,6]\n  %1 = transpose(%0) {perm=[1,0]} : f32[6,2]\n  %2 = reverse(%1) {axes=[0]} : f32[6,2]\n  %3 = tanh(%2) : f32[6,2]\n  return %3\n}",
      "func @main(%x: f32[3,4], %p: f32[]) -> (f32[7,4]) {\n  %0 = pad(%x, %p) {low=[1,0], high=[1,0], interior=[1,0]} : f32[7,4]\n  %1 = neg(%0) : f32[7,4]\n  return %1\n}",
      "func @main(%x: f32[2,3], %y: f32[2,4]) -> (f32[2,7]) {\n  %0 = concat(%x, %y) {axis=1} : f32[2,7]\n  return %0\n}",
      "func @main(%x: f32[3,1000]) -> (f32[3]) {\n  %0 = abs(%x) : f32[3,1000]\n  %1 = reduce_sum(%0) {axes=[1]} : f32[3]\n  %2 = sqrt(%1) : f32[3]\n  return %2\n}",
      "func @main(%x: f32[5,7,3]) -> (f32[7]) {\n  %0 = reduce_max(%x) {axes=[0,2]} : f32[7]\n  return %0\n}",
      "func @main(%x: f32[4,9]) -> (i64[4]) {\n  %0 = argmax(%x) {axis=1} : i64[4]\n  return %0\n}",
      "func @main(%x: f32[1,2,7,7]) -> (f32[1,2,4,4]) {\n  %0 = reduce_window_max(%x) {window=[1,1,3,3], stride=[1,1,2,2], low=[0,0,1,1], high=[0,0,1,1]} : f32[1,2,4,4]\n  return %0\n}",
      "func @main(%x: f32[1,2,7,7]) -> (f32[1,2,3,3]) {\n  %0 = reduce_window_sum(%x) {window=[1,1,3,3], stride=[1,1,2,2]} : f32[1,2,3,3]\n  return %0\n}",
      "func @main(%x: f32[2,5,300], %w: f32[2,300,4]) -> (f32[2,5,4]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[2], rhs_contract=[1], lhs_batch=[0], rhs_batch=[0]} : f32[2,5,4]\n  %1 = sigmoid(%0) : f32[2,5,4]\n  return %1\n}",
      "func @main(%x: f32[64,80], %w: f32[80,48]) -> (f32[64,48]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[64,48]\n  return %0\n}",
      "func @main(%x: f32[2,4,9,8], %w: f32[6,2,3,2]) -> (f32[2,6,5,8]) {\n  %0 = convolution(%x, %w) {stride=[2,1], low=[1,0], high=[1,1], groups=2} : f32[2,6,5,8]\n  %1 = relu(%0) : f32[2,6,5,8]\n  return %1\n}",
      "func @main(%x: f32[1,3,4,4], %w: f32[5,3,3,3]) -> (f32[1,5,9,9]) {\n  %0 = convolution(%x, %w) {low=[2,2], high=[2,2], lhs_dilation=[2,2]} : f32[1,5,9,9]\n  return %0\n}",
      "func @main(%x: f32[4,3], %i: i64[2,3]) -> (f32[2,3,3]) {\n  %0 = gather(%x, %i) : f32[2,3,3]\n  return %0\n}",
      "func @main(%x: f32[4,3], %i: i32[2,3]) -> (f32[2,3]) {\n  %0 = gather_elements(%x, %i) : f32[2,3]\n  return %0\n}",
      "func @main(%x: f32[3,2], %i: i64[5], %u: f32[5,2]) -> (f32[3,2]) {\n  %0 = scatter_add(%x, %i, %u) : f32[3,2]\n  return %0\n}",
      "func @main(%x: f32[3,9]) -> (f32[3,9]) {\n  %0 = cumsum(%x) {axis=1, reverse=true} : f32[3,9]\n  return %0\n}",
      "func @main(%x: f32[3,9]) -> (f32[3,9]) {\n  %0 = sort(%x) {axis=1} : f32[3,9]\n  return %0\n}",
      "func @main(%x: f16[6,40], %w: bf16[40,3]) -> (f16[6,3]) {\n  %0 = convert(%w) {dtype=f16} : f16[40,3]\n  %1 = dot_general(%x, %0) {lhs_contract=[1], rhs_contract=[0]} : f16[6,3]\n  return %1\n}",
      "func @main(%x: f32[17], %y: f32[17], %c: bool[17]) -> (f32[17]) {\n  %0 = lt(%x, %y) : bool[17]\n  %1 = and(%0, %c) : bool[17]\n  %2 = select(%1, %x, %y) : f32[17]\n  return %2\n}",
      "func @main(%x: i32[3,4], %w: i32[4,2]) -> (i32[3,2]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : i32[3,2]\n  return %0\n}",
      "func @main(%x: f32[0,4]) -> (f32[4]) {\n  %0 = reduce_max(%x) {axes=[0]} : f32[4]\n  return %0\n}",
  };
  return list;
}

interp::Places everywhere(std::int64_t n) {
  interp::Places p;
  for (std::int64_t k = n; k-- > 0;) p.push_back(k);  // backwards: order is the caller's
  return p;
}

/// The module with composites gone, as a kernel's specification is.
ir::Function primitives(const ir::Module& m) {
  lowering::Options o;
  return lowering::optimize(m, o).entry();
}

/// 2·max overflows, but not when it is fused onto a sum that stands at -max: the other order is a legal one.
TEST(OracleDemandContraction, a_product_beyond_the_doubles_may_be_fused) {
  const auto m = ir::parse("func @main(%x: f64[1,2], %w: f64[2,1]) -> (f64[1,1]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f64[1,1]\n  return %0\n}");
  const double most = std::numeric_limits<double>::max();
  const std::vector<ir::Literal> inputs{ir::Literal::of<double>(DType::f64, Extents{1, 2}, std::vector{most, most}), ir::Literal::of<double>(DType::f64, Extents{2, 1}, std::vector{2.0, -1.0})};
  const auto e = interp::Demand<interp::Enclosure>({}, m.entry(), inputs).at(m.entry().results[0], {0}).at(0);
  for (double v : {HUGE_VAL, most}) EXPECT_TRUE(interp::contains(e, DType::f64, {.f = v})) << v;
}

class OracleDemand : public testing::TestWithParam<const char*> {};

TEST_P(OracleDemand, gives_what_dense_evaluation_gives) {
  const auto m = ir::parse(GetParam());
  const auto f = primitives(m);
  const auto inputs = uniform_inputs(m);
  const auto dense = interp::evaluate(m, inputs).at(0);
  const auto enclosed = interp::evaluate_enclosure(m, inputs).at(0);
  const auto places = everywhere(dense.elements());
  const auto rounded = interp::Demand<interp::Rounded>({}, f, inputs).at(f.results[0], places);
  const auto wide = interp::Demand<interp::Enclosure>({}, f, inputs).at(f.results[0], places);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto want = interp::load(dense.dtype(), dense.raw(), places[k]);
    EXPECT_TRUE(interp::same(dense.dtype(), want, rounded[k])) << "element " << places[k];
    EXPECT_TRUE(interp::contains(interp::stored(wide[k], dense.dtype()), dense.dtype(), want)) << "element " << places[k];
    const auto& e = enclosed.elements[static_cast<std::size_t>(places[k])];
    if (!is_float(dense.dtype())) {
      EXPECT_EQ(wide[k].ilo, e.ilo);
      EXPECT_EQ(wide[k].ihi, e.ihi);
    }
    if (is_float(dense.dtype()) && std::isfinite(e.hi - e.lo)) {
      EXPECT_LE(wide[k].hi - wide[k].lo, 1.01 * (e.hi - e.lo) + 4e-6 * std::fabs(e.hi)) << "element " << places[k];
    }
  }
}

TEST_P(OracleDemand, compiled_kernels_agree_in_every_exact_system) {
  const auto m = ir::parse(GetParam());
  const auto r = checked(m, uniform_inputs(m), quiet(Check::full));
  for (const auto& f : r.failures) ADD_FAILURE() << f.check << " " << f.kernel << " " << f.index << ": got " << f.got << ", allowed " << f.allowed;
  bool floats = false;
  for (auto v : m.entry().params) floats = floats || (is_float(m.entry().type(v).dtype) && m.entry().type(v).elements() > 0);
  if (floats) {
    EXPECT_GT(r.exact_elements, 0);
  }
  for (const auto& n : r.notes) ADD_FAILURE() << n;
}

INSTANTIATE_TEST_SUITE_P(Programs, OracleDemand, testing::ValuesIn(programs()));

constexpr const char* square = "func @main(%x: f32[64,64], %w: f32[64,64]) -> (f32[64,64]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[64,64]\n  return %0\n}";
constexpr const char* odd = "func @main(%x: f32[1003]) -> (f32[1003]) {\n  %0 = exp(%x) : f32[1003]\n  return %0\n}";

struct Structural { lowering::Fault fault; const char* text; };
TEST(VerifyOracleExact, faults_of_structure_differ_in_every_system) {
  const Structural faults[] = {{lowering::Fault::tail_mask, odd}, {lowering::Fault::dropped_term, square}, {lowering::Fault::swapped_axes, square}};
  for (const auto& [fault, text] : faults) {
    const auto m = ir::parse(text);
    const auto r = checked(m, uniform_inputs(m), quiet(Check::full), fault);
    for (const char* system : {"small integers", "integers modulo 2^64", "integers modulo a prime", "provenance"}) EXPECT_TRUE(failed_by(r, system)) << static_cast<int>(fault) << " by " << system;
  }
}

TEST(VerifyOracleExact, precision_is_the_enclosures_to_find) {
  const auto m = ir::parse(square);
  const auto r = checked(m, uniform_inputs(m), quiet(Check::full), lowering::Fault::half_accumulator);
  EXPECT_TRUE(failed_by(r, "enclosure"));
  EXPECT_FALSE(failed_by(r, "integers modulo 2^64"));
  EXPECT_FALSE(failed_by(r, "integers modulo a prime"));
  EXPECT_FALSE(failed_by(r, "provenance"));
}

TEST(VerifyOracleExact, without_a_backend_it_says_so) {
  const auto m = ir::parse(odd);
  auto o = quiet(Check::full);
  o.backend = nullptr;
  const auto r = checked(m, uniform_inputs(m), o);
  EXPECT_TRUE(r.passed());
  EXPECT_EQ(r.exact_kernels, 0);
  EXPECT_EQ(r.notes.size(), 1u);
}

TEST(VerifyOracleSample, sees_first_last_and_random_elements) {
  const auto m = ir::parse("func @main(%x: f32[512,512], %w: f32[512,512]) -> (f32[512,512]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[512,512]\n  return %0\n}");
  const auto r = checked(m, uniform_inputs(m), quiet(Check::sample));
  EXPECT_TRUE(r.passed());
  EXPECT_GE(r.elements, 30);
  EXPECT_LE(r.elements, 32);
  EXPECT_FALSE(checked(m, uniform_inputs(m), quiet(Check::sample), lowering::Fault::swapped_axes).passed());
  EXPECT_FALSE(checked(m, uniform_inputs(m), quiet(Check::sample), lowering::Fault::dropped_term).passed());
}

TEST(VerifyOracleProgram, the_whole_is_enclosed_too) {
  const auto m = ir::parse(odd);
  const auto inputs = uniform_inputs(m);
  auto results = interp::evaluate(m, inputs);
  verify::Report r;
  verify::check_program(m, inputs, results, r);
  EXPECT_TRUE(r.passed());
  EXPECT_EQ(r.decided, 1003);
  results[0].mutable_data<float>()[1002] *= 1.01f;
  verify::check_program(m, inputs, results, r);
  EXPECT_TRUE(failed_by(r, "program"));
}

TEST(VerifyOracleRecorded, a_measured_scale_tells_rounding_from_a_fault) {
  const auto m = ir::parse(square);
  const auto inputs = uniform_inputs(m);
  std::vector<ir::Literal> wide_inputs;
  for (const auto& l : inputs) wide_inputs.push_back(verify::widen(l));
  const auto ours = interp::evaluate(m, inputs).at(0), wide = interp::evaluate(verify::widen(m), wide_inputs).at(0);
  ir::Literal peer(ours.type());
  for (std::int64_t i = 0; i < 64; ++i)
    for (std::int64_t j = 0; j < 64; ++j) {
      float sum = 0;
      for (std::int64_t k = 64; k-- > 0;) sum += inputs[0].data<float>()[i * 64 + k] * inputs[1].data<float>()[k * 64 + j];
      peer.mutable_data<float>()[i * 64 + j] = sum;
    }
  const auto right = verify::compare_recorded(ours, wide, peer);
  EXPECT_EQ(right.wrong, 0) << right.first_wrong;
  EXPECT_EQ(right.by_scale, 64 * 64);
  peer.mutable_data<float>()[77] += 1e-3f;
  const auto wrong = verify::compare_recorded(ours, wide, peer);
  EXPECT_EQ(wrong.wrong, 1);
  EXPECT_NE(wrong.first_wrong.find("[1,13]"), std::string::npos) << wrong.first_wrong;
  const auto enclosed = interp::evaluate_enclosure(m, inputs).at(0);
  const auto both = verify::compare_recorded(ours, wide, peer, &enclosed);
  EXPECT_EQ(both.wrong, 1);
  EXPECT_GT(both.by_enclosure, 4000);
  peer.mutable_data<float>()[0] = NAN;
  EXPECT_EQ(verify::compare_recorded(ours, wide, peer).wrong, 2);
}

}  // namespace
}  // namespace plumb
