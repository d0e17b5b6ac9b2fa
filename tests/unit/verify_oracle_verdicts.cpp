// Verdicts on hand-made answers: an edge is an edge, and a fault that a tolerance would swallow is found.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "interpreter/tensor/evaluate.h"
#include "tests/unit/verify_oracle_support.h"

namespace plumb {
namespace {

using namespace test;
using verify::Check;
using verify::Report;

/// One kernel, its inputs, and the verdict on any output.
struct One {
  explicit One(const std::string& text, Contract c = Contract::relaxed) : module(ir::parse(text)), program(lowered(module, c)), options(quiet(Check::kernel, c)), inputs(uniform_inputs(module)) {
    EXPECT_EQ(program->kernels.size(), 1u);
  }
  const kir::Kernel& kernel() const { return *program->kernels.at(0); }
  Report judge(const ir::Literal& got) const {
    Report r;
    verify::judge(kernel(), 0, inputs, got, options, r);
    return r;
  }
  ir::Literal reference() const { return interp::evaluate(module, inputs).at(0); }

  ir::Module module;
  std::shared_ptr<const lowering::Program> program;
  verify::CheckOptions options;
  std::vector<ir::Literal> inputs;
};

TEST(VerifyOracle, one_unit_too_far_is_wrong) {
  const One add("func @main(%x: f32[4], %y: f32[4]) -> (f32[4]) {\n  %0 = add(%x, %y) : f32[4]\n  return %0\n}");
  auto got = add.reference();
  EXPECT_TRUE(add.judge(got).passed());
  got.mutable_data<float>()[2] = std::nextafter(got.data<float>()[2], 9.0f);
  const auto r = add.judge(got);
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures[0].index, "[2]");
  EXPECT_EQ(r.failures[0].count, 1);
  EXPECT_EQ(r.elements, 4);
  EXPECT_NE(r.failures[0].operations.find("add"), std::string::npos);
}

TEST(VerifyOracle, elementary_functions_within_their_stated_bound) {
  const One e("func @main(%x: f32[1]) -> (f32[1]) {\n  %0 = exp(%x) : f32[1]\n  return %0\n}");
  for (int units = -4; units <= 4; ++units) {
    auto got = e.reference();
    auto& v = got.mutable_data<float>()[0];
    for (int k = 0; k < std::abs(units); ++k) v = std::nextafter(v, units < 0 ? -9e9f : 9e9f);
    const auto r = e.judge(got);
    if (std::abs(units) <= 1) {
      EXPECT_TRUE(r.passed()) << units;
    }
    if (std::abs(units) >= 3) {
      EXPECT_FALSE(r.passed()) << units;
    }
  }
}

TEST(VerifyOracle, signs_of_zero_and_NaN) {
  const One copy("func @main(%x: f32[2]) -> (f32[2]) {\n  %0 = neg(%x) : f32[2]\n  return %0\n}");
  One zeros = copy;
  zeros.inputs[0].mutable_data<float>()[0] = 0;
  zeros.inputs[0].mutable_data<float>()[1] = NAN;
  auto got = zeros.reference();
  EXPECT_TRUE(zeros.judge(got).passed());
  got.mutable_data<float>()[0] = 0;
  EXPECT_FALSE(zeros.judge(got).passed());
  got = zeros.reference();
  got.mutable_data<float>()[1] = 1;
  EXPECT_FALSE(zeros.judge(got).passed());
}

/// A sum of 32,768: another order is legal, a lost term is not, on smooth, cancelling and exact data.
TEST(VerifyOracle, a_dropped_term_of_32768_is_found) {
  for (int data = 0; data < 3; ++data) {
    One sum("func @main(%x: f32[32768]) -> (f32[]) {\n  %0 = reduce_sum(%x) {axes=[0]} : f32[]\n  return %0\n}");
    auto* x = sum.inputs[0].mutable_data<float>();
    for (int i = 0; i < 32768; ++i) x[i] = data == 0 ? 0.5f + std::fabs(x[i]) / 2 : data == 1 ? x[i] : std::trunc(x[i] * 7);
    x[32767] = 0.75f;
    ir::Literal got(ir::Type{DType::f32, {}});
    auto lanes = [&](int n) {  // 32 lanes, then a tree: a legal order that is not the reference's
      float lane[32] = {};
      for (int i = 0; i < n; ++i) lane[i % 32] += x[i];
      for (int h = 16; h >= 1; h /= 2)
        for (int l = 0; l < h; ++l) lane[l] += lane[l + h];
      got.mutable_data<float>()[0] = lane[0];
    };
    // The declared height is the canonical order's: declare this order's own, as a schedule would.
    kir::Kernel own = sum.kernel();
    own.reductions.at(0).height = 1024 + 5;
    auto judged = [&] {
      Report r;
      verify::judge(own, 0, sum.inputs, got, sum.options, r);
      return r;
    };
    lanes(32768);
    if (data == 2) {
      EXPECT_TRUE(judged().passed());
    }
    // Heights are capped by the contract, so a chain of 1,024 additions may already be too long on rough data.
    lanes(32767);
    EXPECT_FALSE(judged().passed()) << data;
  }
}

TEST(VerifyOracle, narrow_accumulators_are_found) {
  for (const char* t : {"f32", "f16", "bf16"}) {
    const std::string type = t;
    const One dot("func @main(%x: " + type + "[4,512], %w: " + type + "[512,4]) -> (" + type + "[4,4]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : " + type + "[4,4]\n  return %0\n}");
    const DType d = *dtype_from_name(type), narrow = d == DType::bf16 ? DType::bf16 : DType::f16;
    ir::Literal got(ir::Type{d, {4, 4}});
    int wrong = 0;
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 4; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < 512; ++k) sum = interp::round_to(narrow, sum + load_element(d, dot.inputs[0].raw(), i * 512 + k) * load_element(d, dot.inputs[1].raw(), k * 4 + j));
        store_element(d, got.mutable_raw(), i * 4 + j, sum);
      }
    const auto r = dot.judge(got);
    ASSERT_EQ(r.failures.size(), 1u) << type;
    wrong = static_cast<int>(r.failures[0].count);
    EXPECT_GE(wrong, 4) << type << ": " << wrong << " of 16";
    EXPECT_TRUE(dot.judge(dot.reference()).passed()) << type;
  }
}

TEST(VerifyOracle, what_is_too_wide_is_inconclusive_not_right) {
  One cancel("func @main(%x: f32[1024], %y: f32[1024]) -> (f32[]) {\n  %0 = dot_general(%x, %y) {lhs_contract=[0], rhs_contract=[0]} : f32[]\n  return %0\n}");
  for (int i = 0; i < 512; ++i) {  // exact cancellation of inexact products
    cancel.inputs[0].mutable_data<float>()[i + 512] = -cancel.inputs[0].data<float>()[i];
    cancel.inputs[1].mutable_data<float>()[i + 512] = cancel.inputs[1].data<float>()[i];
  }
  const auto r = cancel.judge(cancel.reference());
  EXPECT_TRUE(r.passed());
  EXPECT_EQ(r.inconclusive, 1);
  EXPECT_EQ(r.decided, 0);
  EXPECT_EQ(r.decided_percent(), 0);
}

TEST(VerifyOracle, strict_is_the_reference_bit_for_bit) {
  const One sum("func @main(%x: f32[100]) -> (f32[]) {\n  %0 = reduce_sum(%x) {axes=[0]} : f32[]\n  return %0\n}", Contract::strict);
  auto got = sum.reference();
  EXPECT_TRUE(sum.judge(got).passed());
  got.mutable_data<float>()[0] = std::nextafter(got.data<float>()[0], 9.0f);
  EXPECT_TRUE(failed_by(sum.judge(got), "reference"));
}

TEST(VerifyOracle, integers_are_exact) {
  const One mul("func @main(%x: i32[8], %y: i32[8]) -> (i32[8]) {\n  %0 = mul(%x, %y) : i32[8]\n  return %0\n}");
  auto got = mul.reference();
  got.mutable_data<std::int32_t>()[7] += 1;
  EXPECT_FALSE(mul.judge(got).passed());
}

TEST(VerifyOracle, an_error_that_the_kernel_did_not_raise_is_wrong) {
  One gather("func @main(%x: f32[3], %i: i64[2]) -> (f32[2]) {\n  %0 = gather(%x, %i) : f32[2]\n  return %0\n}");
  const auto got = gather.reference();
  gather.inputs[1].mutable_data<std::int64_t>()[1] = 3;
  const auto r = gather.judge(got);
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_NE(r.failures[0].allowed.find("index 3"), std::string::npos) << r.failures[0].allowed;
}

TEST(VerifyOracle, an_error_of_an_element_that_no_result_needs_is_none) {
  const auto m = ir::parse("func @f(%x: f32[2], %i: i64[2]) -> (f32[1]) { %0 = gather(%x, %i) : f32[2] %1 = slice(%0) {start=[0], limit=[1]} : f32[1] return %1 }");
  const std::vector<ir::Literal> in{test::uniform(m.entry().type(0)), ir::Literal::of<std::int64_t>(DType::i64, Extents{2}, std::vector<std::int64_t>{1, 9})};
  for (auto contract : {Contract::relaxed, Contract::strict}) {
    const auto r = test::checked(m, in, test::quiet(Check::kernel, contract));
    EXPECT_TRUE(r.passed());
    EXPECT_EQ(r.decided, 1);
  }
}

TEST(VerifyOracle, one_failure_a_kernel_and_check_the_rest_are_counted) {
  const One neg("func @main(%x: f32[2]) -> (f32[2]) {\n  %0 = neg(%x) : f32[2]\n  return %0\n}");
  Report r;
  for (int launch = 0; launch < 3; ++launch) verify::judge(neg.kernel(), launch, neg.inputs, neg.inputs[0], neg.options, r);
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_EQ(r.failures[0].launches, 3);
}

TEST(VerifyOracle, the_reproducer_holds_the_kernel_and_its_inputs) {
  const auto dir = std::filesystem::path(testing::TempDir()) / "oracle repro";
  std::filesystem::remove_all(dir);
  One neg("func @main(%x: f32[2]) -> (f32[2]) {\n  %0 = neg(%x) : f32[2]\n  return %0\n}");
  neg.options.write_repro = true;
  neg.options.repro_dir = dir.string();
  const auto r = neg.judge(neg.inputs[0]);
  ASSERT_EQ(r.failures.size(), 1u);
  EXPECT_NE(r.failures[0].reproduce.find("--check kernel --target cpu --contract relaxed"), std::string::npos);
  EXPECT_NE(r.failures[0].reproduce.find("'" + dir.string()), std::string::npos) << "a path with a space is quoted: " << r.failures[0].reproduce;
  const auto again = ir::parse_file((dir / (neg.kernel().name + "-launch0") / "kernel.plumb").string());
  EXPECT_EQ(again.entry().nodes.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(dir / (neg.kernel().name + "-launch0") / "inputs.npz"));
}

}  // namespace
}  // namespace plumb
