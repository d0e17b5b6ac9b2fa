// The target `simt` as a backend: CPU schedules of whole programs give the reference's answers; errors are the users' own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/runtime/executor.h"
#include "interpreter/domains/number.h"
#include "interpreter/kernel/interpreter.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/kernel/text.h"
#include "ir/kernel/verifier.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/retype.h"
#include "verify/simt_target.h"

namespace plumb::verify {
namespace {

using testing::HasSubstr;

ir::Literal integers(const ir::Type& t, std::uint32_t seed) {
  ir::Literal l(t);
  for (std::int64_t i = 0; i < l.elements(); ++i) {
    seed = seed * 1664525U + 1013904223U;
    interp::store(t.dtype, l.mutable_raw(), i, interp::number(t.dtype, static_cast<double>((seed >> 16) % 7) - (is_unsigned(t.dtype) || is_bool(t.dtype) ? 0 : 3)));
  }
  return l;
}

std::shared_ptr<const lowering::Program> lower(const ir::Module& m, const kir::TargetFacts& target, lowering::Fault fault = lowering::Fault::none) {
  lowering::Options o;
  o.contract = Contract::strict;
  o.target = target;
  o.fault = fault;
  return lowering::lower(m, o);
}

std::vector<ir::Literal> run(const std::string& text, int vector_bytes, lowering::Fault fault = lowering::Fault::none) {
  const auto m = ir::parse(text, "test");
  std::vector<ir::Literal> in;
  for (auto p : m.entry().params) in.push_back(integers(m.entry().type(p), static_cast<std::uint32_t>(p)));
  const auto simt = make_simt_backend();
  auto facts = simt->facts();
  facts.vector_bytes = vector_bytes;
  backends::Session s(lower(m, facts, fault), simt);
  return s.run(in, {nullptr, true});
}

constexpr const char* programs[] = {
    "func @f(%x: f32[7,33], %w: f32[33,19]) -> (f32[7,19]) { %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[7,19] %1 = tanh(%0) : f32[7,19] return %1 }",
    "func @f(%x: f32[32,64], %w: f32[64,48]) -> (f32[32,48]) { %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[32,48] return %0 }",
    "func @f(%x: f32[2,4,9,9], %w: f32[6,2,3,3]) -> (f32[2,6,5,5]) { %0 = convolution(%x, %w) {low=[1,1], high=[1,1], stride=[2,2], groups=2} : f32[2,6,5,5] return %0 }",
    "func @f(%x: bf16[5,300]) -> (bf16[5]) { %0 = reduce_sum(%x) {axes=[1]} : bf16[5] return %0 }",
    "func @f(%x: f32[300,5]) -> (f32[5]) { %0 = reduce_max(%x) {axes=[0]} : f32[5] return %0 }",
    "func @f(%x: i32[3,4,5]) -> (i32[5,12]) { %0 = transpose(%x) {perm=[2,0,1]} : i32[5,3,4] %1 = reshape(%0) : i32[5,12] return %1 }",
    "func @f(%x: f64[6,11]) -> (f64[6,11]) { %0 = sort(%x) {axis=1} : f64[6,11] return %0 }",
    "func @f(%x: f32[4,9]) -> (f32[4,9]) { %0 = cumsum(%x) {axis=1} : f32[4,9] return %0 }"};

TEST(SimtTarget, GivesTheReferencesAnswers) {
  for (const char* text : programs)
    for (int bytes : {16, 32, 128}) {
      const auto m = ir::parse(text, "test");
      std::vector<ir::Literal> in;
      for (auto p : m.entry().params) in.push_back(integers(m.entry().type(p), static_cast<std::uint32_t>(p)));
      EXPECT_EQ(run(text, bytes), interp::evaluate(m, in)) << text << bytes;
    }
}

TEST(SimtTarget, KernelsOfTheLoweringReadBackFromTheirText) {
  for (const char* text : programs) {
    const auto program = lower(ir::parse(text, "test"), make_simt_backend()->facts());
    for (const auto& k : program->kernels) {
      const auto printed = kir::print(*k);
      EXPECT_EQ(kir::print(kir::parse_kernel(printed)), printed);
      EXPECT_EQ(make_simt_backend()->compile(std::vector{k.get()})->code(0, false), printed);
      EXPECT_GT(kir::verify(*k).shown, 0);
    }
  }
}

TEST(SimtTarget, ATailThatIsLeftOutIsAnElementNeverWritten) {
  try {
    run("func @f(%x: f32[7,33]) -> (f32[7,33]) { %0 = neg(%x) : f32[7,33] return %0 }", 128, lowering::Fault::tail_mask);
    FAIL() << "nothing was found";
  } catch (const interp::ViolationError& e) {
    EXPECT_EQ(e.violation().kind, interp::ViolationKind::never_written);
    EXPECT_EQ(e.violation().buffer, "%out");
  }
}

TEST(SimtTarget, AnIndexOutsideIsTheUsersError) {
  const auto m = ir::parse("func @f(%x: f32[5], %i: i64[2]) -> (f32[2]) {\n  %0 = gather(%x, %i) {axis=0} : f32[2]\n  return %0\n}", "user.plumb");
  const std::vector<ir::Literal> in{integers(m.entry().type(0), 1), ir::Literal::of<std::int64_t>(DType::i64, Extents{2}, std::vector<std::int64_t>{4, 5})};
  const auto simt = make_simt_backend();
  backends::Session s(lower(m, simt->facts()), simt);
  try {
    s.run(in);
    FAIL() << "nothing was found";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    EXPECT_THAT(e.what(), HasSubstr("user.plumb:2:"));
    EXPECT_THAT(e.what(), HasSubstr("index 5 is outside [0, 5)"));
  }
}

TEST(SimtTarget, ExchangedKernelsRunToo) {
  for (const char* text : programs) {
    const auto program = lower(ir::parse(text, "test"), make_simt_backend()->facts());
    for (const auto& k : program->kernels)
      for (auto system : all_systems) {
        const auto retyped = retype(*k, system);
        if (!retyped.kernel) continue;
        std::vector<ir::Literal> memory;
        std::vector<void*> pointers;
        for (const auto* list : {&retyped.kernel->inputs, &retyped.kernel->outputs})
          for (auto b : *list) {
            const auto& info = retyped.kernel->buffers[static_cast<std::size_t>(b)];
            memory.push_back(integers({info.dtype, ir::to_shape(info.extents)}, 5));
            pointers.push_back(memory.back().mutable_raw());
          }
        EXPECT_NO_THROW(make_simt_backend()->compile(std::vector<const kir::Kernel*>{&*retyped.kernel})->launch(0, pointers)) << text;
      }
  }
}

TEST(SimtTarget, SharedMemoryHasItsLimit) {
  const auto k = kir::parse_kernel("kernel @big() { for b in 1 gpu_block(0) { alloc %s: shared f32[128,128] } }");
  EXPECT_THROW(make_simt_backend()->compile(std::vector{&k}), Error);
}

}  // namespace
}  // namespace plumb::verify
