// `plumb prove --functions` catches what it is there to catch: one wrong answer anywhere, in a stretch that the reference did not compute
// argument by argument.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "interpreter/domains/number.h"
#include "verify/compare_block.h"
#include "verify/functions.h"
#include "verify/pairs.h"

namespace plumb::verify {
namespace {

using namespace scalar;

/// The cpu, but kernels of one argument answer `victim` with a neighbour of the right number, `steps` patterns away.
class Wrong : public backends::Backend {
 public:
  Wrong(float victim, int steps) : victim_(victim), steps_(steps), cpu_(backends::make_cpu_backend({1, 0})) {}
  std::string name() const override { return "cpu"; }
  std::string description() const override { return cpu_->description(); }
  const kir::TargetFacts& facts() const override { return cpu_->facts(); }
  std::unique_ptr<backends::Executable> compile(std::span<const kir::Kernel* const> kernels) override { return std::make_unique<Code>(*this, cpu_->compile(kernels)); }

 private:
  class Code : public backends::Executable {
   public:
    Code(const Wrong& w, std::unique_ptr<backends::Executable> right) : w_(w), right_(std::move(right)) {}
    void launch(std::size_t kernel, std::span<void* const> buffers) override {
      right_->launch(kernel, buffers);
      const auto* x = static_cast<const std::uint32_t*>(buffers[0]);
      auto* y = static_cast<std::uint32_t*>(buffers[1]);
      for (int i = 0; i < 1 << 16; ++i)
        if (x[i] == std::bit_cast<std::uint32_t>(w_.victim_)) y[i] += static_cast<std::uint32_t>(w_.steps_);
    }
    std::string code(std::size_t kernel, bool assembly) const override { return right_->code(kernel, assembly); }

   private:
    const Wrong& w_;
    std::unique_ptr<backends::Executable> right_;
  };
  float victim_;
  int steps_;
  std::shared_ptr<backends::Backend> cpu_;
};

/// The part of all arguments, of 4,096, that holds x.
FunctionOptions part_with(float x, std::shared_ptr<backends::Backend> target) {
  FunctionOptions o;
  o.target = std::move(target);
  o.shards = 4096;
  o.shard = std::bit_cast<std::uint32_t>(x) >> 20;
  return o;
}

struct Seeded { FnId fn; float x; std::int64_t interp::ReferenceCounts::*way; const char* name; };
const Seeded seeded[] = {
    {fn_id<Exp>, 90.5f, &interp::ReferenceCounts::constant, "exp_overflow"},
    {fn_id<Exp>, 0x1.234p-30f, &interp::ReferenceCounts::constant, "exp_flat"},
    {fn_id<Exp>, 1.25f, &interp::ReferenceCounts::polynomial, "exp_polynomial"},
    {fn_id<Tanh>, -20.0f, &interp::ReferenceCounts::constant, "tanh_limit"},
    {fn_id<Sin>, 0x1.6p-60f, &interp::ReferenceCounts::polynomial, "sin_near_zero"},
    {fn_id<Sin>, -0x1.8p+90f, &interp::ReferenceCounts::reduced, "sin_large"},
    {fn_id<Log>, 1e-40f, &interp::ReferenceCounts::polynomial, "log_subnormal"},
    {fn_id<Atan>, 3e30f, &interp::ReferenceCounts::constant, "atan_limit"},
};

class Proof : public testing::TestWithParam<Seeded> {};

TEST_P(Proof, CatchesOneMisroundedAnswer) {
  const auto& s = GetParam();
  const auto right = check_function(s.fn, DType::f32, part_with(s.x, backends::make_cpu_backend({1, 0})));
  EXPECT_TRUE(right.right());
  EXPECT_EQ(right.inputs, 1 << 20);
  EXPECT_GT(right.by.*s.way, right.by.exact) << "the stretch was to be answered without MPFR";
  const auto wrong = check_function(s.fn, DType::f32, part_with(s.x, std::make_shared<Wrong>(s.x, -1)));
  EXPECT_EQ(wrong.misrounded, 1);
  EXPECT_EQ(static_cast<float>(wrong.misrounded_at[0]), s.x);
}

/// Relaxed answers: a unit off is legal where the bound is 2, and shows as the worst; more is outside.
TEST_P(Proof, CatchesOneAnswerBeyondTheBound) {
  const auto& s = GetParam();
  const auto right = check_function(s.fn, DType::f32, part_with(s.x, backends::make_cpu_backend({1, 0})));
  const auto wrong = check_function(s.fn, DType::f32, part_with(s.x, std::make_shared<Wrong>(s.x, -5)));
  EXPECT_EQ(right.beyond, 0);
  EXPECT_EQ(wrong.beyond, 1);
  EXPECT_EQ(static_cast<float>(wrong.beyond_at[0]), s.x);
}

INSTANTIATE_TEST_SUITE_P(Seeded, Proof, testing::ValuesIn(seeded), [](const auto& i) { return std::string(i.param.name); });

TEST(Proof, ReportsWhereTheWorstErrorIs) {
  const auto wrong = check_function(fn_id<Sin>, DType::f32, part_with(0.75f, std::make_shared<Wrong>(0.75f, 1)));
  EXPECT_EQ(static_cast<float>(wrong.worst_at[0]), 0.75f);
  EXPECT_GT(wrong.worst_ulp, 0.5);
  EXPECT_LE(wrong.worst_ulp, 1.5);
}

TEST(Proof, PartsMakeTheWhole) {
  FunctionOptions o;
  o.target = backends::make_cpu_backend({1, 0});
  o.inputs = 300000;
  for (FnId fn : {fn_id<Exp>, fn_id<Hypot>}) {
    o.shard = 0, o.shards = 1;
    const auto whole = check_function(fn, DType::f32, o);
    std::int64_t inputs = 0;
    double worst = 0;
    for (o.shards = 3; o.shard < 3; ++o.shard) {
      const auto part = check_function(fn, DType::f32, o);
      EXPECT_EQ(part.first, inputs);
      inputs += part.inputs, worst = std::max(worst, part.worst_ulp);
    }
    EXPECT_EQ(inputs, whole.inputs);
    EXPECT_EQ(worst, whole.worst_ulp);
  }
}

/// compare's vector code against the definition, on answers that are right, off, of the other sign, NaN, infinite and unknown.
TEST(Compare, CountsWhatIsWrong) {
  const float up = std::nextafter(1.0f, 2.0f), nan = std::nanf(""), inf = HUGE_VALF;
  const double unknown = std::nan("");
  struct Row { float rounded; double value; float strict, relaxed; bool misrounded, doubtful; };
  const Row rows[] = {
      {1, 1, 1, 1, false, false},           {1, 1.00000001, 1, up, false, false},     {1, 1.00000001, up, 1.5f, true, true}, {nan, unknown, nan, nan, false, false},
      {nan, unknown, 1, nan, true, false},  {1, 1, nan, nan, true, true},             {inf, HUGE_VAL, inf, inf, false, false}, {inf, 1e39, inf, 3.4028235e38f, false, true},
      {0, 1e-60, -0.0f, -0.0f, true, true}, {1, unknown, 1, 1, false, false},         {1, unknown, 1, up, false, true},      {-1, -1, -1, -1, false, false},
      {0x1p-149f, 0x1p-149, 0x1p-149f, 0x1p-148f, false, false}, {0x1p-149f, 0x1p-149, 0x1p-149f, 0x1p-147f, false, true},
  };
  for (std::size_t offset = 0; offset < 5000; offset += 611) {
    std::vector<float> rounded(offset, 1), strict(offset, 1), relaxed(offset, 1);
    std::vector<double> value(offset, 1);
    int misrounded = 0, doubtful = 0;
    for (const auto& r : rows) rounded.push_back(r.rounded), value.push_back(r.value), strict.push_back(r.strict), relaxed.push_back(r.relaxed), misrounded += r.misrounded, doubtful += r.doubtful;
    const Answers a{rounded, value, strict, relaxed};
    const auto c = compare(a, 2);
    EXPECT_EQ(c.misrounded, misrounded);
    EXPECT_EQ(c.doubtful, doubtful);
    EXPECT_EQ(find(a, 2, Sought::misrounded, 0), static_cast<std::int64_t>(offset + 2));
    EXPECT_EQ(find(a, 2, Sought::doubtful, 0), static_cast<std::int64_t>(offset + 2));
    EXPECT_EQ(c.worst_ulp, (1.5 - 1.00000001) * 0x1p23);
    EXPECT_EQ(find(a, 2, Sought::worst, c.worst_ulp), static_cast<std::int64_t>(offset + 2));
  }
}

/// Pairs are mostly hard: finite arguments and results, and all the special pairs come first.
TEST(Pairs, AreMostlyFiniteAndHard) {
  for (FnId fn : {fn_id<Pow>, fn_id<Atan2>, fn_id<Hypot>, fn_id<Div>, fn_id<FloorDiv>, fn_id<Remainder>, fn_id<Fmod>}) {
    const Pairs pairs(fn, DType::f32, 1);
    std::int64_t finite = 0, subnormal = 0, different = 0, n = 20000;
    double last = 0;
    for (std::int64_t i = pairs.special(); i < pairs.special() + n; ++i) {
      const auto p = pairs(i);
      const interp::Number x[] = {{.f = p[0]}, {.f = p[1]}};
      EXPECT_TRUE(std::isnan(p[0]) || p[0] == static_cast<double>(static_cast<float>(p[0])));
      const double r = interp::apply(fn, DType::f32, x).f;
      finite += std::isfinite(r) && (r != 0 || fn == fn_id<FloorDiv>), subnormal += r != 0 && std::fabs(r) < 0x1p-126, different += r != last;
      last = r;
    }
    EXPECT_GT(finite, n * 3 / 4) << row(fn).name;
    EXPECT_GT(different, n * 9 / 10) << row(fn).name;
    EXPECT_TRUE(fn == fn_id<FloorDiv> || subnormal > n / 100) << row(fn).name << ": " << subnormal;
  }
}

}  // namespace
}  // namespace plumb::verify
