// One broken module an invariant; the label in the message is the label in verifier.cpp.
#include <gtest/gtest.h>

#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"
#include "ir/tensor/verifier.h"

using namespace plumb;
using namespace plumb::ir;

namespace {

Module good() {
  return parse(
      "func @main(%x: f32[2,3]) -> (f32[2,3], f32[2]) {\n"
      "  %y = softmax(%x) {axis=1} : f32[2,3]\n"
      "  %s = reduce_sum(%y) {axes=[1]} : f32[2]\n"
      "  return %y, %s\n}\n",
      "good.plumb");
}

Module with_control() {
  return parse(
      "func @main(%p: bool[], %x: f32[2], %n: i64[]) -> (f32[2], i64[]) {\n"
      "  %y = if(%p, %x) {then=@t, else=@e} : f32[2]\n"
      "  %z, %m = while(%y, %n) {cond=@c, body=@b} : f32[2], i64[]\n"
      "  return %z, %m\n}\n"
      "func @t(%x: f32[2]) -> (f32[2]) { return %x }\n"
      "func @e(%x: f32[2]) -> (f32[2]) { %r = neg(%x) : f32[2] return %r }\n"
      "func @c(%x: f32[2], %n: i64[]) -> (bool[]) { %r = ne(%n, %n) : bool[] return %r }\n"
      "func @b(%x: f32[2], %n: i64[]) -> (f32[2], i64[]) { return %x, %n }\n");
}

/// Kind and message of the first fault.
void expect_broken(const Module& m, ErrorKind kind, const std::string& part, ErrorKind blame = ErrorKind::input) {
  try {
    verify(m, blame);
    ADD_FAILURE() << "verified, though " << part;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

}  // namespace

TEST(Verifier, GoodModulesPass) {
  verify(good());
  verify(with_control());
  verify(good(), ErrorKind::internal);
}

TEST(Verifier, M1) {
  expect_broken({}, ErrorKind::input, "M1: the module has no function");
  auto m = good();
  m.functions.push_back(m.functions[0]);
  expect_broken(m, ErrorKind::input, "M1: two functions are called @main");
  m.functions[1].name = "";
  expect_broken(m, ErrorKind::internal, "M1: a function has no name", ErrorKind::internal);
}

TEST(Verifier, G1) {
  auto m = good();
  m.functions[0].nodes[0].operands[0] = 17;
  expect_broken(m, ErrorKind::internal, "G1: value id 17");
  m.functions[0].nodes[0].operands[0] = -1;
  expect_broken(m, ErrorKind::internal, "G1: value id -1");
  m = good();
  m.functions[0].results[0] = 3;
  expect_broken(m, ErrorKind::internal, "G1: value id 3");
}

TEST(Verifier, G2) {
  auto m = good();
  m.functions[0].nodes[1].results[0] = m.functions[0].nodes[0].results[0];
  expect_broken(m, ErrorKind::internal, "G2: %y is defined twice");
  m = good();
  m.functions[0].values[2].node = 0;
  expect_broken(m, ErrorKind::internal, "G2: %s names node 0");
  m = good();
  m.functions[0].values.push_back({Type{}, "stray", -1});
  expect_broken(m, ErrorKind::internal, "G2: %stray has no definition");
}

TEST(Verifier, G3) {
  auto m = good();
  m.functions[0].nodes[0].operands[0] = m.functions[0].nodes[1].results[0];
  expect_broken(m, ErrorKind::internal, "G3: node 0 (softmax) uses %s before its definition");
}

TEST(Verifier, O1) {
  auto m = good();
  m.functions[0].nodes[0].op = 60000;
  expect_broken(m, ErrorKind::internal, "O1: node 0 has the operation number 60000");
  m = good();
  m.functions[0].nodes[0].attrs.set("axis", true);
  expect_broken(m, ErrorKind::input, "good.plumb:2:3: @main: softmax(f32[2,3]): O1: attribute 'axis' is of another kind");
  m = good();
  m.functions[0].nodes[0].attrs.set("colour", true);
  expect_broken(m, ErrorKind::internal, "O1: has no attribute 'colour'", ErrorKind::internal);
  m = good();
  m.functions[0].nodes[0].attrs = {};
  expect_broken(m, ErrorKind::input, "O1: needs the attribute 'axis'");
  auto gelu = parse("func @main(%x: f32[2]) -> (f32[2]) { %r = gelu(%x) : f32[2] return %r }");
  gelu.functions[0].nodes[0].attrs = {};
  expect_broken(gelu, ErrorKind::input, "O1: attributes are not complete");
  auto dot = parse("func @main(%x: f32[2]) -> (f32[]) { %r = dot_general(%x, %x) {lhs_contract=[0], rhs_contract=[0]} : f32[] return %r }");
  AttrMap reversed;
  const auto entries = dot.functions[0].nodes[0].attrs.entries();
  for (auto it = entries.rbegin(); it != entries.rend(); ++it) reversed.set(it->first, it->second);
  dot.functions[0].nodes[0].attrs = reversed;
  expect_broken(dot, ErrorKind::input, "O1: attributes are not in the record's order");
}

TEST(Verifier, O2) {
  auto m = good();
  m.functions[0].values[2].type = Type{DType::f32, {3}};
  expect_broken(m, ErrorKind::input, "O2: gives (f32[2]), but its results are typed (f32[3])");
  expect_broken(m, ErrorKind::internal, "O2: gives", ErrorKind::internal);
  m = good();
  m.functions[0].values[0].type = Type{DType::i32, {2, 3}};
  expect_broken(m, ErrorKind::input, "O2: C1: takes floats, not i32");
  m = good();
  m.functions[0].nodes[0].operands.push_back(0);
  expect_broken(m, ErrorKind::input, "O2: takes 1 operands (x), not 2");
  m = good();
  m.functions[0].nodes[1].results.clear();
  m.functions[0].values.pop_back();
  m.functions[0].results.pop_back();
  expect_broken(m, ErrorKind::input, "O2: gives (f32[2]), but its results are typed ()");
}

TEST(Verifier, F1) {
  auto m = with_control();
  m.functions[0].nodes[0].attrs.set("then", std::string("nowhere"));
  expect_broken(m, ErrorKind::input, "F1: then names @nowhere");
}

TEST(Verifier, F2) {
  auto m = with_control();
  m.functions[0].nodes[0].attrs.set("else", std::string("c"));
  expect_broken(m, ErrorKind::input, "F2: @c must be (f32[2]) -> (f32[2]), but is (f32[2], i64[]) -> (bool[])");
  m = with_control();
  m.functions[0].values[0].type = Type{DType::i32, {}};
  expect_broken(m, ErrorKind::input, "F2: the first operand is the condition, a bool[]");
}

TEST(Verifier, F3) {
  auto m = with_control();
  m.functions[0].nodes[1].attrs.set("cond", std::string("b"));
  expect_broken(m, ErrorKind::input, "F3: @b must be (f32[2], i64[]) -> (bool[])");
  m = with_control();
  m.functions[0].nodes[1].attrs.set("body", std::string("t"));
  expect_broken(m, ErrorKind::input, "F3: @t must be (f32[2], i64[]) -> (f32[2], i64[])");
}

TEST(Verifier, F4) {
  auto m = parse(
      "func @main(%p: bool[], %x: f32[2]) -> (f32[2]) { %y = if(%p, %x) {then=@t, else=@t} : f32[2] return %y }\n"
      "func @t(%x: f32[2]) -> (f32[2]) {\n"
      "  %p = constant() {value=true} : bool[]\n"
      "  %y = if(%p, %x) {then=@u, else=@u} : f32[2]\n"
      "  return %y\n}\n"
      "func @u(%x: f32[2]) -> (f32[2]) { return %x }\n",
      "loop.plumb");
  m.functions[1].nodes[1].attrs.set("then", std::string("t"));
  expect_broken(m, ErrorKind::input, "loop.plumb:4:3: @t: if(bool[], f32[2]): F4: @t is called in a circle");
}

TEST(Verifier, F5) {
  const auto text = [](const std::string& operands, const std::string& results, const std::string& carries, const std::string& body) {
    return parse("func @main(%s: f32[2], %x: f32[3,2], %n: i64[3], %k: i64[4]) -> () {\n"
                 "  %r, %y = scan(" + operands + ") {body=@" + body + ", carries=" + carries + "} : " + results + "\n"
                 "  return\n}\n"
                 "func @sum(%s: f32[2], %x: f32[2]) -> (f32[2], f32[2]) { %r = add(%s, %x) : f32[2] return %r, %r }\n"
                 "func @swap(%s: f32[2], %n: i64[]) -> (i64[], f32[2]) { return %n, %s }\n");
  };
  const auto broken = [&](const std::string& operands, const std::string& results, const std::string& carries, const std::string& body, const std::string& part) {
    try {
      text(operands, results, carries, body);
      ADD_FAILURE() << "verified, though " << part;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input);
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  verify(text("%s, %x", "f32[2], f32[3,2]", "1", "sum"));
  broken("%s, %x", "f32[2], f32[3,2]", "2", "sum", "F5: carries is 2 of 2 operands");
  broken("%s, %x", "f32[2], f32[3,2]", "1", "nowhere", "F1: body names @nowhere");
  broken("%s, %n", "f32[2], f32[3,2]", "1", "sum", "F5: @sum must be (f32[2], i64[]) -> (f32[2], f32[2])");
  broken("%s, %n", "f32[2], i64[3]", "1", "swap", "F5: @swap must be (f32[2], i64[]) -> (f32[2], i64[])");
  broken("%n, %k", "i64[3], i64[3]", "0", "sum", "F5: the scanned operands need an axis 0, of one size: i64[3] beside i64[4]");
  broken("%s, %x", "f32[2], f32[2]", "1", "sum", "F5: result f32[2] has no axis 0 of the scanned operands' size");
}

/// @f1 names @f0, @f2 names @f1, …
std::string chain_of_calls(int depth) {
  std::string text = "func @f0(%p: bool[]) -> (bool[]) { return %p }\n";
  for (int i = 1; i <= depth; ++i) {
    const std::string callee = "@f" + std::to_string(i - 1);
    text += "func @f" + std::to_string(i) + "(%p: bool[]) -> (bool[]) { %r = if(%p, %p) {then=" + callee + ", else=" + callee + "} : bool[] return %r }\n";
  }
  return text;
}
TEST(Verifier, LongChainsOfCallsDoNotRecurse) { EXPECT_EQ(parse(chain_of_calls(19999)).functions.size(), 20000u); }
TEST(Verifier, CallDepthHasALimit) {
  EXPECT_NO_THROW(check_call_depth(parse(chain_of_calls(256))));
  try {
    check_call_depth(parse(chain_of_calls(257)));
    FAIL() << "nothing was found";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(e.what()).find("257 deep"), std::string::npos) << e.what();
  }
}
