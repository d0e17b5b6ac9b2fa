// Deliberately broken lowerings: each is caught, and the broken kernel is the one that is named.
#include <gtest/gtest.h>

#include "backends/runtime/executor.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/check.h"
#include "verify/simt_target.h"

namespace plumb {
namespace {

/// A row reduction of 32,768, as its own kernel between two others.
constexpr const char* row_reduction = R"(
func @main(%x: f32[3,32768]) -> (f32[3]) {
  %e = exp(%x) : f32[3,32768]
  %s = reduce_sum(%e) {axes=[1]} : f32[3]
  %r = sqrt(%s) : f32[3]
  return %r
})";
constexpr const char* convolution = R"(
func @main(%x: f32[1,8,13,13], %w: f32[8,8,3,3]) -> (f32[1,8,13,13]) {
  %c = convolution(%x, %w) {low=[1,1], high=[1,1]} : f32[1,8,13,13]
  %r = relu(%c) : f32[1,8,13,13]
  return %r
})";
constexpr const char* pointwise = R"(
func @main(%x: f32[1003]) -> (f32[1003]) {
  %r = tanh(%x) : f32[1003]
  return %r
})";

/// Uniform in (-1, 1) by a linear congruence.
ir::Literal uniform(const ir::Type& t) {
  ir::Literal l(t);
  std::uint32_t state = 12345;
  for (std::int64_t i = 0; i < l.elements(); ++i) {
    state = state * 1664525 + 1013904223;
    store_element(t.dtype, l.mutable_raw(), i, static_cast<double>(state) * 0x1p-31 - 1);
  }
  return l;
}

using Target = std::shared_ptr<backends::Backend>;

verify::Report check(const char* text, lowering::Fault fault, const Target& target) {
  const auto m = ir::parse(text, "fault.plumb");
  lowering::Options o;
  o.target = target->facts();
  o.fault = fault;
  std::vector<ir::Literal> inputs;
  for (auto p : m.entry().params) inputs.push_back(uniform(m.entry().type(p)));
  verify::CheckOptions options;
  options.write_repro = false;
  verify::KernelChecker checker(options);
  try {
    backends::Session(lowering::lower(m, o), target).run(inputs, {&checker, true});
  } catch (const kir::ViolationError&) {
    EXPECT_FALSE(checker.report().passed());
  }
  return checker.report();
}

void expect_caught_on(const Target& target, const char* text, lowering::Fault fault, const std::string& operation, const std::string& by) {
  const auto right = check(text, lowering::Fault::none, target);
  EXPECT_TRUE(right.passed()) << right.failures[0].operations << " " << right.failures[0].got << " " << right.failures[0].allowed;
  EXPECT_EQ(right.decided, right.elements);
  const auto wrong = check(text, fault, target);
  ASSERT_FALSE(wrong.passed());
  EXPECT_NE(wrong.failures[0].operations.find(operation), std::string::npos) << wrong.failures[0].operations;
  EXPECT_EQ(wrong.failures[0].check, by);
}
void expect_caught(const char* text, lowering::Fault fault, const std::string& operation) { expect_caught_on(backends::make_cpu_backend({2, 0}), text, fault, operation, "enclosure"); }
void expect_caught_on_grid(const char* text, lowering::Fault fault, const std::string& operation, const std::string& by = "enclosure") {
  expect_caught_on(verify::make_simt_backend(), text, fault, operation, by);
}

TEST(Faults, a_dropped_term_of_32768_is_caught) { expect_caught(row_reduction, lowering::Fault::dropped_term, "reduce_sum"); }
TEST(Faults, a_half_precision_accumulator_is_caught) { expect_caught(row_reduction, lowering::Fault::half_accumulator, "reduce_sum"); }
TEST(Faults, swapped_window_axes_are_caught) { expect_caught(convolution, lowering::Fault::swapped_axes, "convolution"); }
TEST(Faults, a_dropped_term_of_a_convolution_is_caught) { expect_caught(convolution, lowering::Fault::dropped_term, "convolution"); }
TEST(Faults, a_half_precision_convolution_is_caught) { expect_caught(convolution, lowering::Fault::half_accumulator, "convolution"); }
TEST(Faults, a_wrong_tail_mask_is_caught) { expect_caught(pointwise, lowering::Fault::tail_mask, "tanh"); }

TEST(FaultsOnAGrid, a_missing_barrier_is_a_race_in_a_reduction_of_32768) { expect_caught_on_grid(row_reduction, lowering::Fault::missing_barrier, "reduce_sum", "race"); }
TEST(FaultsOnAGrid, a_missing_barrier_is_a_race_in_a_convolution) { expect_caught_on_grid(convolution, lowering::Fault::missing_barrier, "convolution", "race"); }
TEST(FaultsOnAGrid, a_dropped_term_of_32768_is_caught) { expect_caught_on_grid(row_reduction, lowering::Fault::dropped_term, "reduce_sum"); }
TEST(FaultsOnAGrid, a_half_precision_accumulator_is_caught) { expect_caught_on_grid(row_reduction, lowering::Fault::half_accumulator, "reduce_sum"); }
TEST(FaultsOnAGrid, swapped_window_axes_are_caught) { expect_caught_on_grid(convolution, lowering::Fault::swapped_axes, "convolution"); }
TEST(FaultsOnAGrid, a_dropped_term_of_a_convolution_is_caught) { expect_caught_on_grid(convolution, lowering::Fault::dropped_term, "convolution"); }
TEST(FaultsOnAGrid, a_wrong_tail_mask_leaves_an_element_unwritten) { expect_caught_on_grid(pointwise, lowering::Fault::tail_mask, "tanh", "never written"); }

}  // namespace
}  // namespace plumb
