// The exact inputs: sums that cancel are what exact arithmetic says; provenance traces a difference to one element, and lets a
// maximum meet a term twice.
#include "tests/unit/verify_oracle_support.h"
#include "verify/exact.h"
#include "verify/launch.h"

namespace plumb {
namespace {

using namespace test;
using verify::Check;

std::shared_ptr<const kir::Kernel> kernel_of(const std::string& text) { return lowered(ir::parse(text))->kernels.at(0); }
std::string reduce(const std::string& op, const std::string& dtype, std::int64_t k) {
  return "func @main(%x: " + dtype + "[3," + std::to_string(k) + "]) -> (" + dtype + "[3]) {\n  %0 = " + op + "(%x) {axes=[1]} : " + dtype + "[3]\n  return %0\n}";
}
std::vector<ir::Literal> inputs_of(const kir::Kernel& k) {
  std::vector<ir::Literal> r;
  for (auto p : k.spec->params) r.push_back(uniform(k.spec->type(p), r.size() + 1));
  return r;
}
double element(const ir::Literal& l, std::int64_t i) { return interp::load(l.dtype(), l.raw(), i).f; }

/// Terms are integers of one quantum within the accumulator's significand, so 64-bit integers add them exactly; the sum is a
/// power of two that the format has, and the enclosure is that point.
TEST(ExactCases, sums_that_cancel) {
  for (const char* dtype : {"f8e4m3fn", "f8e5m2", "bf16", "f16", "f32"})
    for (std::int64_t k : {2, 64, 65, 1000, 5000}) {
      const auto kernel = kernel_of(reduce("reduce_sum", dtype, k));
      const auto c = verify::cancelling_integers(*kernel, inputs_of(*kernel), 7, {});
      ASSERT_TRUE(c) << dtype << " " << k;
      for (std::int64_t row = 0; row < 3; ++row) {
        std::int64_t sum = 0, magnitude = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          const double scaled = element(c->inputs[0], row * k + i) * 0x1p24;
          ASSERT_EQ(scaled, std::trunc(scaled));
          sum += static_cast<std::int64_t>(scaled);
          magnitude += std::abs(static_cast<std::int64_t>(scaled));
        }
        const auto& e = c->expected[static_cast<std::size_t>(row)];
        EXPECT_EQ(e.lo, static_cast<double>(sum) * 0x1p-24) << dtype << " " << k;
        EXPECT_EQ(e.hi, e.lo) << dtype << " " << k;
        EXPECT_GT(sum, 0);
        EXPECT_EQ(sum & (sum - 1), 0) << "a power of two";
        EXPECT_GT(magnitude, k >= 64 ? 16 * sum : sum) << dtype << " " << k;
      }
    }
}
TEST(ExactCases, kernels_that_sum_no_input_have_none) {
  for (const auto& text : {reduce("reduce_max", "f32", 64), std::string("func @main(%x: f32[3,64]) -> (f32[3]) {\n  %0 = exp(%x) : f32[3,64]\n  %1 = reduce_sum(%0) {axes=[1]} : f32[3]\n  return %1\n}")}) {
    const auto kernel = kernel_of(text);
    EXPECT_FALSE(verify::cancelling_integers(*kernel, inputs_of(*kernel), 7, {}));
  }
}

/// The last term is the one that the lowering's fault drops.
TEST(ExactCases, provenance_names_the_element_that_is_missing) {
  for (const char* op : {"reduce_sum", "reduce_max"}) {
    const auto m = ir::parse(reduce(op, "f32", 300));
    const auto r = checked(m, uniform_inputs(m), quiet(Check::full), lowering::Fault::dropped_term);
    const auto f = std::find_if(r.failures.begin(), r.failures.end(), [](const auto& x) { return x.check == "provenance"; });
    ASSERT_NE(f, r.failures.end()) << op;
    EXPECT_EQ(f->got, "reached by %x0[0,299] never") << op;
    EXPECT_EQ(f->allowed, "to be reached by it once") << op;
  }
}

/// Every combining step taken twice.
void repeat_steps(kir::Block& b) {
  kir::Block out;
  for (auto& s : b) {
    if (auto* f = std::get_if<kir::For>(&s.node)) repeat_steps(f->body);
    const bool step = std::holds_alternative<kir::Combine>(s.node);
    if (step) out.push_back(s);
    out.push_back(std::move(s));
  }
  b = std::move(out);
}
TEST(ExactCases, a_maximum_may_meet_terms_twice_a_sum_may_not) {
  for (const char* op : {"reduce_max", "reduce_sum"}) {
    auto kernel = *kernel_of(reduce(op, "f32", 20));
    repeat_steps(kernel.body);
    verify::Report r;
    verify::check_exact(kernel, 0, inputs_of(kernel), quiet(Check::full), r);
    EXPECT_EQ(failed_by(r, "provenance"), std::string(op) == "reduce_sum") << op;
    EXPECT_EQ(r.passed(), std::string(op) == "reduce_max");
  }
}

}  // namespace
}  // namespace plumb
