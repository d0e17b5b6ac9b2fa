// What the parser takes, and what it says of everything else: each message, with its line and column.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

using namespace plumb;
using namespace plumb::ir;

namespace {

std::string error_of(std::string_view text) {
  try {
    parse(text, "t.plumb");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input) << e.what();
    return e.what();
  }
  return "no error";
}

/// A body of @main(%x: f32[2,3]) that returns %r: f32[2,3].
std::string in_main(std::string_view lines) { return "func @main(%x: f32[2,3]) -> (f32[2,3]) {\n" + std::string(lines) + "\n  return %r\n}\n"; }

Literal constant(std::string_view value, std::string_view type) {
  const auto m = parse("func @main() -> (" + std::string(type) + ") {\n %c = constant() {value=" + std::string(value) + "} : " + std::string(type) + "\n return %c\n}");
  return m.functions[0].nodes[0].attrs.get<Literal>("value");
}
std::string literal_error(std::string_view value, std::string_view type) {
  return error_of("func @main() -> (" + std::string(type) + ") {\n%c = constant() {value=" + std::string(value) + "} : " + std::string(type) + "\nreturn %c\n}");
}

}  // namespace

#define EXPECT_STARTS(text, start)                                                    \
  do {                                                                                \
    const std::string got = (text);                                                   \
    EXPECT_EQ(got.substr(0, std::string(start).size()), std::string(start)) << got; \
  } while (false)
#define EXPECT_HAS(text, part)                                        \
  do {                                                                \
    const std::string got = (text);                                   \
    EXPECT_NE(got.find(part), std::string::npos) << got << "\n" << part; \
  } while (false)

TEST(TextParse, TheDesignsExample) {
  const std::string text =
      "func @main(%x: f32[2,3], %w: f32[3,4]) -> (f32[2,4]) {\n"
      "  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[2,4]\n"
      "  %1 = tanh(%0) : f32[2,4]\n"
      "  return %1\n"
      "}\n";
  const auto m = parse(text, "example.plumb");
  EXPECT_EQ(print(m), text);
  EXPECT_EQ(m.functions[0].nodes[1].where.str(), "example.plumb:3:3");
  EXPECT_EQ(m.functions[0].nodes[0].attrs.entries().size(), 4u);
}

TEST(TextParse, ControlFlowSymbolsCommentsAndQuotedNames) {
  const std::string text =
      "func @main(%x: f32[B,2], %n: i64[]) -> (f32[B,2], i64[]) {\n"
      "  %a, %\"b/1\" = while(%x, %n) {cond=@c, body=@b} : f32[B,2], i64[]\n"
      "  return %a, %\"b/1\"\n"
      "}\n\n"
      "func @c(%x: f32[B,2], %n: i64[]) -> (bool[]) {\n"
      "  %z = constant() {value=0} : i64[]\n"
      "  %p = gt(%n, %z) : bool[]\n"
      "  return %p\n"
      "}\n\n"
      "func @b(%x: f32[B,2], %n: i64[]) -> (f32[B,2], i64[]) {\n"
      "  return %x, %n\n"
      "}\n";
  EXPECT_EQ(print(parse(text)), text);
  std::string commented = "// first\n# second\n" + text;
  commented.replace(commented.find("%z ="), 4, "%z /" "/ in the middle\n =");
  EXPECT_EQ(print(parse(commented)), text);
  EXPECT_EQ(parse(text).functions[0].nodes[0].attrs.get<std::string>("cond"), "c");
}

TEST(TextParse, WhatTheTypeSaysMayBeLeftOut) {
  const auto m = parse(
      "func @main(%x: f32[6]) -> (f32[2,3]) {\n"
      "  %a = reshape(%x) : f32[2,3]\n"
      "  %b = convert(%a) : f64[2,3]\n"
      "  %c = convert(%b) {dtype=f32} : f32[2,3]\n"
      "  %i = iota() {axis=1} : i32[2,3]\n"
      "  %d = broadcast(%c) {dims=[0,1]} : f32[2,3]\n"
      "  return %d\n}");
  EXPECT_EQ(m.functions[0].nodes[0].attrs.get<Shape>("shape"), (Shape{2, 3}));
  EXPECT_EQ(m.functions[0].nodes[1].attrs.get<DType>("dtype"), DType::f64);
}

TEST(TextParse, Literals) {
  EXPECT_EQ(constant("[[1, 2], [3, 4]]", "i32[2,2]"), constant("[1,2,3,4]", "i32[2,2]"));
  EXPECT_EQ(constant("splat -2.5", "f16[2,2]"), constant("[-2.5,-2.5,-2.5,-2.5]", "f16[2,2]"));
  EXPECT_EQ(constant("hex\"01000000ff000000\"", "i32[2]"), constant("[1, 255]", "i32[2]"));
  EXPECT_EQ(constant("f32[2] [1, 2]", "f32[2]"), constant("[1, 2]", "f32[2]"));
  EXPECT_EQ(constant("splat hex\"0100\"", "u16[2]"), constant("[1, 1]", "u16[2]"));
  EXPECT_EQ(constant("[[],[]]", "f32[2,0]"), constant("[]", "f32[2,0]"));
  EXPECT_EQ(constant("[true, 0]", "bool[2]"), constant("hex\"0100\"", "bool[2]"));
  EXPECT_TRUE(std::isnan(constant("nan", "f32[]").data<float>()[0]));
  EXPECT_TRUE(std::signbit(constant("-0", "f64[]").data<double>()[0]));
  EXPECT_EQ(constant("18446744073709551615", "u64[]").data<std::uint64_t>()[0], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(constant("-9223372036854775808", "i64[]").data<std::int64_t>()[0], std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(constant("1e-400", "f64[]").data<double>()[0], 0.0);
  EXPECT_EQ(constant("-1e-60", "f32[]"), constant("-0.0", "f32[]"));
  EXPECT_EQ(constant("448", "f8e4m3fn[]").data<std::uint8_t>()[0], 0x7e);
  // Between two f32, just above the middle: through f64 it would round twice, and down.
  EXPECT_EQ(constant("1.00000005960464477540", "f32[]").data<float>()[0], std::nextafter(1.0F, 2.0F));
}

TEST(TextParse, LiteralErrors) {
  EXPECT_STARTS(literal_error("[1, 2, 3]", "f32[2]"), "t.plumb:2:24: the literal has 3 elements, f32[2] has 2");
  EXPECT_STARTS(literal_error("[1]", "f32[1000000000]"), "t.plumb:2:24: the literal has 1 elements");
  EXPECT_STARTS(literal_error("[[1, 2], [3]]", "f32[2,2]"), "t.plumb:2:33: 1 entries along axis 1, where f32[2,2] has 2");
  EXPECT_STARTS(literal_error("[[[1]]]", "f32[1,1]"), "t.plumb:2:26: '[' is not a number");
  EXPECT_STARTS(literal_error("[[1]]", "f32[1]"), "t.plumb:2:25: '[' is not a number");
  EXPECT_STARTS(literal_error("300", "u8[]"), "t.plumb:2:24: '300' does not fit u8");
  EXPECT_STARTS(literal_error("-1", "u8[]"), "t.plumb:2:24: '-1' does not fit u8");
  EXPECT_STARTS(literal_error("-129", "i8[]"), "t.plumb:2:24: '-129' does not fit i8");
  EXPECT_STARTS(literal_error("99999999999999999999", "i64[]"), "t.plumb:2:24: '99999999999999999999' does not fit i64");
  EXPECT_STARTS(literal_error("1.5", "i8[]"), "t.plumb:2:24: '1.5' is not an integer");
  EXPECT_STARTS(literal_error("1e39", "f32[]"), "t.plumb:2:24: '1e39' lies beyond the greatest finite number of f32");
  EXPECT_STARTS(literal_error("65520", "f16[]"), "t.plumb:2:24: '65520' lies beyond");
  EXPECT_STARTS(literal_error("464", "f8e4m3fn[]"), "t.plumb:2:24: '464' lies beyond");
  EXPECT_STARTS(literal_error("inf", "f8e4m3fn[]"), "t.plumb:2:24: 'inf' does not exist in f8e4m3fn");
  EXPECT_STARTS(literal_error("infinity", "f32[]"), "t.plumb:2:24: 'infinity' is not a number");
  EXPECT_STARTS(literal_error("hex\"00\"", "f32[]"), "t.plumb:2:27: 2 hexadecimal digits, where f32[] needs two for each of 4 bytes");
  EXPECT_STARTS(literal_error("hex\"0000000g\"", "f32[]"), "t.plumb:2:27: hex needs hexadecimal digits only");
  EXPECT_STARTS(literal_error("splat 1", "f64[1000000000]"), "t.plumb:2:24: splats of more than 64 MiB in one text; broadcast a scalar instead");
  EXPECT_STARTS(literal_error("[1", "f32[1]"), "t.plumb:2:24: the literal that starts here does not end");
  EXPECT_STARTS(literal_error("1 2", "f32[]"), "t.plumb:2:26: expected the end of the literal, found '2'");
  EXPECT_STARTS(literal_error("1", "f32[B]"), "t.plumb:2:24: a literal's type has sizes only, not f32[B]");
  EXPECT_STARTS(literal_error("1", "f32[1]"), "t.plumb:2:24: the elements of f32[1] stand in brackets");
  EXPECT_STARTS(literal_error(std::string(100000, '['), "f32[1]"), "t.plumb:2:24: the literal that starts here");
  EXPECT_STARTS(literal_error(std::string(100000, '[') + std::string(100000, ']'), "f32[1]"), "t.plumb:2:25: '['");
}

TEST(TextParse, ErrorsShowTheLineAndACaret) {
  EXPECT_EQ(error_of(in_main("  %r = tahn(%x) : f32[2,3]")),
            "t.plumb:2:8: there is no operation 'tahn'; did you mean 'tanh'?\n"
            "    %r = tahn(%x) : f32[2,3]\n"
            "         ^");
}

TEST(TextParse, NamesAndOrder) {
  EXPECT_STARTS(error_of(in_main("  %r = tanh(%y) : f32[2,3]")), "t.plumb:2:13: '%y' is used before its definition, or never defined");
  EXPECT_STARTS(error_of(in_main("  %r = tanh(%r) : f32[2,3]")), "t.plumb:2:13: '%r' is used before");
  EXPECT_STARTS(error_of(in_main("  %x = tanh(%x) : f32[2,3]")), "t.plumb:2:3: '%x' is defined twice");
  EXPECT_STARTS(error_of("func @f() -> () { return }\nfunc @f() -> () { return }"), "t.plumb:2:6: the function @f is defined twice");
  EXPECT_STARTS(error_of("func @f(%x: f32[], %x: f32[]) -> () { return }"), "t.plumb:1:20: '%x' is defined twice");
  EXPECT_STARTS(error_of("func @f(%x: f32[]) -> (f32[]) {\n}"), "t.plumb:2:1: the function @f has no return");
  EXPECT_STARTS(error_of("func @f(%x: f32[]) -> (f32[]) {\n"), "t.plumb:2:1: the function @f has no return");
  EXPECT_STARTS(error_of("func @f(%x: f32[]) -> (f32[]) { return %x"), "t.plumb:1:42: expected '}' after return, found the end of the text");
}

TEST(TextParse, TypesAreHeldAgainstInference) {
  EXPECT_STARTS(error_of(in_main("  %r = tanh(%x) : f32[3,2]")), "t.plumb:2:19: tanh(f32[2,3]) gives f32[2,3], but the text says f32[3,2]");
  EXPECT_STARTS(error_of(in_main("  %r = add(%x) : f32[2,3]")), "t.plumb:2:8: add(f32[2,3]): takes 2 operands (x, y), not 1");
  EXPECT_STARTS(error_of(in_main("  %r = reshape(%x) : f32[7]")), "t.plumb:2:8: reshape(f32[2,3]): C1");
  EXPECT_STARTS(error_of(in_main("  %r, %s = tanh(%x) : f32[2,3]")), "t.plumb:2:23: 2 results are named, but 1 types given");
  EXPECT_STARTS(error_of("func @f(%x: f32[2]) -> (f32[3]) { return %x }"), "t.plumb:1:42: result 0 of @f is declared f32[3], but '%x' is f32[2]");
  EXPECT_STARTS(error_of("func @f(%x: f32[2]) -> () { return %x }"), "t.plumb:1:29: @f is declared to give (nothing), but returns (f32[2])");
}

TEST(TextParse, Attributes) {
  EXPECT_STARTS(error_of(in_main("  %r = softmax(%x) : f32[2,3]")), "t.plumb:2:8: softmax(f32[2,3]): needs the attribute 'axis'");
  EXPECT_STARTS(error_of(in_main("  %r = softmax(%x) {axes=1} : f32[2,3]")), "t.plumb:2:21: softmax has no attribute 'axes'; it has axis");
  EXPECT_STARTS(error_of(in_main("  %r = tanh(%x) {a=1} : f32[2,3]")), "t.plumb:2:18: tanh has no attribute 'a'; it has none");
  EXPECT_STARTS(error_of(in_main("  %r = softmax(%x) {axis=1, axis=1} : f32[2,3]")), "t.plumb:2:29: the attribute 'axis' is given twice");
  EXPECT_STARTS(error_of(in_main("  %r = softmax(%x) {axis=[1]} : f32[2,3]")), "t.plumb:2:26: expected an integer, found '['");
  EXPECT_STARTS(error_of(in_main("  %r = softmax(%x) {axis=99999999999999999999} : f32[2,3]")), "t.plumb:2:26: '99999999999999999999' does not fit 64 bits");
  EXPECT_STARTS(error_of(in_main("  %r = gelu(%x) {approximate=yes} : f32[2,3]")), "t.plumb:2:30: expected true or false, found 'yes'");
  EXPECT_STARTS(error_of(in_main("  %r = convert(%x) {dtype=f33} : f32[2,3]")), "t.plumb:2:27: there is no dtype 'f33'");
}

TEST(TextParse, Types) {
  EXPECT_STARTS(error_of("func @f(%x: float[2]) -> () { return }"), "t.plumb:1:13: there is no dtype 'float'");
  EXPECT_STARTS(error_of("func @f(%x: f32) -> () { return }"), "t.plumb:1:16: expected '[' and the dimensions; a scalar is f32[], found ')'");
  EXPECT_STARTS(error_of("func @f(%x: f32[-1]) -> () { return }"), "t.plumb:1:17: a dimension cannot be negative");
  EXPECT_STARTS(error_of("func @f(%x: f32[9223372036854775808]) -> () { return }"), "t.plumb:1:17: '9223372036854775808' does not fit 64 bits");
  EXPECT_STARTS(error_of("func @f(%x: f32[4294967296,4294967296]) -> () { return }"), "t.plumb:1:13: f32[4294967296,4294967296]: the product of the dimensions overflows 64 bits");
  EXPECT_STARTS(error_of("func @f(%x: f32[4611686018427387904]) -> () { return }"), "t.plumb:1:13: f32[4611686018427387904]: tensor");
  EXPECT_STARTS(error_of("func @f(%x: f32[1,1,1,1,1,1,1,1,1,1,1,1,1]) -> () { return }"), "t.plumb:1:41: rank above 12 is not supported");
  std::string many = "func @f(";
  for (int i = 0; i < 300; ++i) many += "%x" + std::to_string(i) + ": f32[S" + std::to_string(i) + "], ";
  EXPECT_HAS(error_of(many), "more than 256 symbols in one text");
}

TEST(TextParse, Junk) {
  EXPECT_STARTS(error_of(""), "t.plumb:1:1: the text is empty");
  EXPECT_STARTS(error_of("# only a comment\n"), "t.plumb:2:1: the text is empty");
  EXPECT_STARTS(error_of(std::string_view("\x7f" "ELF\0\x02", 6)), "t.plumb:1:1: the byte 0x7f has no place here");
  EXPECT_STARTS(error_of("func @f(%\"x\n: f32[]) -> () { return }"), "t.plumb:1:9: the string is not closed on its line");
  EXPECT_STARTS(error_of("func @f(%\"\\n\": f32[]) -> () { return }"), "t.plumb:1:9: a backslash in a string");
  EXPECT_STARTS(error_of("func @f(% : f32[]) -> () { return }"), "t.plumb:1:9: expected a name after '%'");
  EXPECT_STARTS(error_of("module {}"), "t.plumb:1:1: expected 'func', found 'module'");
  const std::string long_line = error_of(std::string(1000000, ' ') + "x");
  EXPECT_LT(long_line.size(), 600u);
}

TEST(TextParse, CallsAreChecked) {
  const std::string main = "func @main(%x: f32[]) -> (f32[]) {\n  %r = while(%x) {cond=@c, body=@b} : f32[]\n  return %r\n}\n";
  EXPECT_STARTS(error_of(main), "t.plumb:2:3: @main: while(f32[]): F1: cond names @c, which the module does not have");
  EXPECT_HAS(error_of(main + "func @c(%x: f32[]) -> (f32[]) { return %x }"), "F3: @c must be (f32[]) -> (bool[]), but is (f32[]) -> (f32[])");
}

TEST(TextParse, AFileOfOneMillionTokensTakesLinearTime) {
  std::string text = "func @main(%v0: f32[2]) -> (f32[2]) {\n";
  for (int i = 1; i <= 50000; ++i) text += "  %v" + std::to_string(i) + " = add(%v" + std::to_string(i - 1) + ", %v" + std::to_string(i / 2) + ") : f32[2]\n";
  text += "  return %v50000\n}\n";
  EXPECT_EQ(print(parse(text)), text);
}
