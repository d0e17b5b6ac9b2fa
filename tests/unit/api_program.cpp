// Programs through the public header.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <plumb/plumb.h>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

plumb::Program doubled() {
  return plumb::Program::parse("func @main(%x: f32[N]) -> (f32[N]) { %0 = add(%x, %x) : f32[N] return %0 }");
}

TEST(Program, RunsOnEachTargetForEachShape) {
  auto p = doubled();
  for (const char* target : {"cpu", "simt", "reference"}) {
    EXPECT_THAT(p.run({{{3}, {1, 2, 3}}}, {.target = target})[0].data, ElementsAre(2, 4, 6));
    EXPECT_THAT(p.run({{{1}, {5}}}, {.target = target, .contract = "strict"})[0].data, ElementsAre(10));
  }
}

TEST(Program, ReportsWhatWasChecked) {
  auto p = doubled();
  for (auto mode : {plumb::Check::sample, plumb::Check::kernel, plumb::Check::full}) {
    plumb::CheckReport report;
    p.run({{{3}, {1, 2, 3}}}, {.check = mode}, &report);
    EXPECT_EQ(report.kernels, 1);
    EXPECT_GE(report.decided, 3);
    EXPECT_TRUE(report.failures.empty());
  }
}

TEST(Program, TakesAndGivesComplexTensorsAsPairs) {
  auto p = plumb::Program::parse("func @main(%x: c64[2], %y: f32[2]) -> (c64[2], f32[2]) {\n  %z = mul(%x, %x) : c64[2]\n  %a = abs(%x) : f32[2]\n  %b = add(%a, %y) : f32[2]\n  return %z, %b\n}");
  const std::vector<plumb::Array> in{{{2, 2}, {3, -4, 0, 1}}, {{2}, {1, 2}}};
  for (const char* target : {"cpu", "simt", "reference"}) {
    const auto out = p.run(in, {.target = target});
    EXPECT_EQ(out[0].shape, (std::vector<std::int64_t>{2, 2}));
    EXPECT_EQ(out[0].data, (std::vector<float>{-7, -24, -1, 0}));
    EXPECT_EQ(out[1].data, (std::vector<float>{6, 3}));
  }
  EXPECT_THROW(p.run({{{4}, {3, -4, 0, 1}}, {{2}, {1, 2}}}), std::runtime_error);
}

std::string error_of(auto action) {
  try {
    action();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(Program, SaysWhatDoesNotFit) {
  auto p = doubled();
  EXPECT_THAT(error_of([&] { p.run({{{3}, {1, 2}}}); }), HasSubstr("needs 3 elements, not 2"));
  EXPECT_THAT(error_of([&] { p.run({}); }), HasSubstr("input"));
  EXPECT_THAT(error_of([&] { p.run({{{1}, {1}}}, {.target = "cupid"}); }), HasSubstr("cupid"));
  EXPECT_THAT(error_of([&] { p.run({{{1}, {1}}}, {.contract = "lax"}); }), HasSubstr("lax"));
  EXPECT_THAT(error_of([] { plumb::Program::load("/no/such.plumb"); }), HasSubstr("/no/such.plumb"));
  EXPECT_THAT(error_of([] { plumb::Program::load("/"); }), HasSubstr("/ is a folder"));
}

}  // namespace
