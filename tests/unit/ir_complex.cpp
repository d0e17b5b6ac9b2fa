// Complex tensors in types, texts and literals, and as pairs of their parts.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/tensor/op_table.h"
#include "ir/tensor/split_complex.h"
#include "ir/tensor/text.h"
#include "ir/tensor/verifier.h"

using namespace plumb;
using namespace plumb::ir;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
    return e.what();
  }
  return "no error";
}
std::string one_op(const std::string& op, const std::string& operand, const std::string& result) {
  return "func @main(%x: " + operand + ") -> (" + result + ") {\n  %r = " + op + " : " + result + "\n  return %r\n}\n";
}
std::string constant(const std::string& value, const std::string& type) { return "func @main() -> (" + type + ") {\n  %r = constant() {value=" + value + "} : " + type + "\n  return %r\n}\n"; }

void expect_has(const std::string& text, const std::string& part) { EXPECT_NE(text.find(part), std::string::npos) << text; }

}  // namespace

TEST(ComplexText, ElementsAreReadAsPairsOrRealNumbers) {
  const auto text = constant("[(1, -0), (nan, -inf), 3, (0.1,-2.5e3)]", "c64[4]");
  const auto m = parse(text);
  const auto parts = m.functions[0].nodes[0].attrs.get<Literal>("value").as_parts();
  ASSERT_EQ(parts.type(), (Type{DType::f32, {4, 2}}));
  const float want[] = {1, -0.0F, NAN, -HUGE_VALF, 3, 0, 0.1F, -2500};
  for (int k = 0; k < 8; ++k) {
    const float got = parts.data<float>()[k];
    EXPECT_TRUE(std::isnan(want[k]) ? std::isnan(got) : got == want[k] && std::signbit(got) == std::signbit(want[k])) << k;
  }
  EXPECT_EQ(print(m), constant("[(1, -0), (nan, -inf), (3, 0), (0.1, -2500)]", "c64[4]"));
  EXPECT_EQ(print(parse(constant("(1, 2)", "c128[]"))), constant("(1, 2)", "c128[]"));
  EXPECT_EQ(print(parse(constant("splat (1, 2)", "c128[3]"))), constant("splat (1, 2)", "c128[3]"));
}

TEST(ComplexText, WhatIsNoNumberIsBadInput) {
  expect_has(error_of(constant("(1 2)", "c64[]")), "between the parts");
  expect_has(error_of(constant("(1, 2, 3)", "c64[]")), "after the parts");
  expect_has(error_of(constant("(1, x)", "c64[]")), "is not a number");
  expect_has(error_of(constant("(1, 2)", "f32[]")), "is not a number");
  expect_has(error_of(constant("(1, 2", "c64[]")), "does not end");
  expect_has(error_of(constant("[(1, 2)]", "c64[2]")), "1 elements");
  expect_has(error_of(constant("(1e39, 0)", "c64[]")), "beyond the greatest finite");
}

TEST(ComplexOps, WithoutAMeaningForComplexNumbersRejectThem) {
  for (const char* op : {"lt(%x, %x)", "ge(%x, %x)", "maximum(%x, %x)", "reduce_max(%x) {axes=[0]}", "argmax(%x) {axis=0}", "sort(%x) {axis=0}", "floor(%x)", "relu(%x)", "sign(%x)", "is_nan(%x)"})
    expect_has(error_of(one_op(op, "c64[3]", "c64[3]")), "real and imag give");
  expect_has(error_of(one_op("iota() {axis=0}", "c64[3]", "c64[3]")), "real and imag give");
  expect_has(error_of(one_op("convert(%x)", "c64[3]", "f32[3]")), "C1: c64[3] does not convert to f32; real, imag and abs");
  expect_has(error_of(one_op("real(%x)", "f32[3]", "f32[3]")), "C1: takes complex numbers");
  expect_has(error_of(one_op("add(%x, %x)", "c64[3]", "c128[3]")), "c64[3]");
  expect_has(error_of("func @main(%x: c64[3], %y: f32[3]) -> (c64[3]) {\n  %r = add(%x, %y) : c64[3]\n  return %r\n}\n"), "C1: operands differ");
}

TEST(SplitComplex, LeavesRealModulesAlone) {
  const auto m = parse("func @main(%x: f32[3]) -> (f32[3]) {\n  %r = softmax(%x) {axis=0} : f32[3]\n  return %r\n}\n");
  EXPECT_EQ(print(split_complex(m)), print(m));
}

TEST(SplitComplex, BoundariesAreTensorsOfParts) {
  const auto m = parse("func @main(%x: c64[2,3], %k: i32[]) -> (c64[3,2], i32[], f32[2,3]) {\n  %t = transpose(%x) {perm=[1,0]} : c64[3,2]\n  %a = imag(%x) : f32[2,3]\n  return %t, %k, %a\n}\n");
  const auto split = split_complex(m);
  verify(split, ErrorKind::internal);
  const auto& f = split.functions[0];
  EXPECT_EQ(f.type(f.params[0]).str(), "f32[2,3,2]");
  EXPECT_EQ(f.type(f.params[1]).str(), "i32[]");
  ASSERT_EQ(f.results.size(), 3U);
  EXPECT_EQ(f.type(f.results[0]).str(), "f32[3,2,2]");
  EXPECT_EQ(f.results[1], f.params[1]);
  EXPECT_FALSE(has_complex(split));
}

TEST(SplitComplex, CalledFunctionsTakeAndGivePairs) {
  const auto m = parse(
      "func @main(%x: c64[2], %n: i32[]) -> (c64[2], i32[]) {\n  %y, %m = while(%x, %n) {cond=@more, body=@step} : c64[2], i32[]\n  return %y, %m\n}\n"
      "func @more(%x: c64[2], %n: i32[]) -> (bool[]) {\n  %z = constant() {value=0} : i32[]\n  %r = gt(%n, %z) : bool[]\n  return %r\n}\n"
      "func @step(%x: c64[2], %n: i32[]) -> (c64[2], i32[]) {\n  %o = constant() {value=1} : i32[]\n  %r = mul(%x, %x) : c64[2]\n  %m = sub(%n, %o) : i32[]\n  return %r, %m\n}\n"
      "func @unused(%x: c64[]) -> (c64[]) {\n  return %x\n}\n");
  const auto split = split_complex(m);
  verify(split, ErrorKind::internal);
  EXPECT_FALSE(has_complex(split));
  EXPECT_EQ(split.find("step")->params.size(), 3U);
  EXPECT_EQ(split.find("step")->results.size(), 3U);
  EXPECT_EQ(split.find("unused"), nullptr);
}

TEST(SplitComplex, TensorsOfTheGreatestRankHaveNoRoomForParts) {
  const auto m = parse(one_op("neg(%x)", "c64[1,1,1,1,1,1,1,1,1,1,1,1]", "c64[1,1,1,1,1,1,1,1,1,1,1,1]"));
  try {
    split_complex(m);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
  }
}
