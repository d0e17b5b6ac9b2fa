// Binding symbols to sizes.
#include <gtest/gtest.h>

#include "ir/tensor/specialize.h"
#include "ir/tensor/text.h"

using namespace plumb;
using namespace plumb::ir;

namespace {

Module symbolic() {
  return parse(
      "func @main(%x: f32[B,4], %y: f32[B,N]) -> (f32[B,4], f32[N,4]) {\n"
      "  %z = constant() {value=0} : f32[]\n"
      "  %b = broadcast(%z) {dims=[]} : f32[B,4]\n"
      "  %s = add(%x, %b) : f32[B,4]\n"
      "  %d = dot_general(%y, %s) {lhs_contract=[0], rhs_contract=[0]} : f32[N,4]\n"
      "  return %s, %d\n}\n",
      "symbolic.plumb");
}

std::string bind_error(std::initializer_list<std::string_view> types) {
  std::vector<Type> inputs;
  for (auto t : types) inputs.push_back(parse_type(t));
  try {
    bind_symbols(symbolic().functions[0], inputs);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST(Specialize, BindsTypesAndShapeAttributes) {
  const Type inputs[] = {parse_type("f32[3,4]"), parse_type("f32[3,5]")};
  const auto sizes = bind_symbols(symbolic().functions[0], inputs);
  EXPECT_EQ(sizes, (Bindings{{"B", 3}, {"N", 5}}));
  EXPECT_EQ(print(specialize(symbolic(), sizes)),
            "func @main(%x: f32[3,4], %y: f32[3,5]) -> (f32[3,4], f32[5,4]) {\n"
            "  %z = constant() {value=0} : f32[]\n"
            "  %b = broadcast(%z) {dims=[]} : f32[3,4]\n"
            "  %s = add(%x, %b) : f32[3,4]\n"
            "  %d = dot_general(%y, %s) {lhs_contract=[0], rhs_contract=[0]} : f32[5,4]\n"
            "  return %s, %d\n}\n");
}

TEST(Specialize, OneSymbolAtATime) {
  const auto once = specialize(specialize(symbolic(), {{"B", 2}}), {{"N", 0}, {"unused", 9}});
  EXPECT_EQ(print(once), print(specialize(symbolic(), {{"N", 0}, {"B", 2}})));
  EXPECT_EQ(print(specialize(symbolic(), {})), print(symbolic()));
}

TEST(Specialize, ASizeThatBreaksAConstraintNamesThePlace) {
  const auto m = parse("func @main(%x: f32[B]) -> (i64[]) {\n  %r = argmax(%x) {axis=0} : i64[]\n  return %r\n}", "arg.plumb");
  try {
    specialize(m, {{"B", 0}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("arg.plumb:2:3: @main: argmax with B=0: C2"), 0u) << e.what();
  }
  EXPECT_THROW(specialize(m, {{"B", -1}}), Error);
}

TEST(BindSymbols, SaysWhichInputAndWhy) {
  EXPECT_EQ(bind_error({"f32[3,4]"}), "@main takes 2 inputs, not 1");
  EXPECT_EQ(bind_error({"f64[3,4]", "f32[3,5]"}), "input 0 of @main (%x) is f64[3,4], where f32[B,4] is needed: the dtypes differ");
  EXPECT_EQ(bind_error({"f32[3]", "f32[3,5]"}), "input 0 of @main (%x) is f32[3], where f32[B,4] is needed: the ranks differ");
  EXPECT_EQ(bind_error({"f32[3,5]", "f32[3,5]"}), "input 0 of @main (%x) is f32[3,5], where f32[B,4] is needed: axis 1 differs");
  EXPECT_EQ(bind_error({"f32[3,4]", "f32[2,5]"}), "input 1 of @main (%y) is f32[2,5], where f32[B,N] is needed: B is 3 by %x and 2 by axis 0 here");
}
