// Printing and parsing are inverse: on random modules, on every literal, and on names that clash.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "ir/tensor/text.h"
#include "tests/unit/ir_text_random.h"

using namespace plumb;
using namespace plumb::ir;
using plumb::ir::testing::RandomModule;

namespace {

bool same(const AttrValue& a, const AttrValue& b) {
  if (const auto *x = std::get_if<double>(&a), *y = std::get_if<double>(&b); x && y) return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
  return a == b;
}

/// Everything but where nodes came from; "" when equal.
std::string difference(const Function& a, const Function& b) {
  if (a.name != b.name || a.params != b.params || a.results != b.results) return "signature of @" + a.name;
  if (a.values.size() != b.values.size() || a.nodes.size() != b.nodes.size()) return "size of @" + a.name;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    if (a.values[i].name != b.values[i].name || a.values[i].type != b.values[i].type || a.values[i].node != b.values[i].node) return "value %" + a.values[i].name;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const auto &x = a.nodes[i], &y = b.nodes[i];
    if (x.op != y.op || x.operands != y.operands || x.results != y.results) return "node " + std::to_string(i);
    const auto &p = x.attrs.entries(), &q = y.attrs.entries();
    if (p.size() != q.size()) return "attributes of node " + std::to_string(i);
    for (std::size_t k = 0; k < p.size(); ++k)
      if (p[k].first != q[k].first || !same(p[k].second, q[k].second)) return "attribute " + p[k].first + " of node " + std::to_string(i);
  }
  return "";
}
std::string difference(const Module& a, const Module& b) {
  if (a.functions.size() != b.functions.size()) return "number of functions";
  for (std::size_t i = 0; i < a.functions.size(); ++i)
    if (auto d = difference(a.functions[i], b.functions[i]); !d.empty()) return d;
  return "";
}

Module of_literal(const Literal& l) {
  Module m;
  m.functions.emplace_back();
  Builder b(m.functions[0]);
  const ValueId result[] = {b.constant(l)};
  b.results(result);
  return m;
}

}  // namespace

TEST(TextRoundTrip, RandomModules) {
  rc::check([](std::uint64_t seed) {
    const auto m = RandomModule(seed).module();
    const auto text = print(m);
    const auto back = parse(text, "printed");
    verify(back);
    const auto d = difference(m, back);
    if (!d.empty()) RC_LOG() << d << "\n" << text;
    RC_ASSERT(d.empty());
    RC_ASSERT(print(back) == text);
  });
}

TEST(TextRoundTrip, RandomModulesReachTheOpTable) {
  std::set<OpCode> reached;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto m = RandomModule(seed).module();
    ASSERT_EQ(difference(m, parse(print(m), "printed")), "") << print(m);
    for (const auto& f : m.functions)
      for (const auto& n : f.nodes) reached.insert(n.op);
  }
  std::string missed;
  for (std::size_t op = 0; op < op_count(); ++op)
    if (!reached.contains(static_cast<OpCode>(op))) (missed += row(static_cast<OpCode>(op)).name) += ' ';
  // A new operation whose rule chance seldom meets may be missed; many misses mean that the generator has gone stale.
  EXPECT_GE(20 * reached.size(), 19 * op_count()) << "not reached: " << missed;
}

TEST(TextRoundTrip, EveryBitPatternOfEightAndSixteenBits) {
  for (const auto& r : dtype_rows) {
    if (r.bytes > 2) continue;
    for (std::uint32_t bits = 0; bits < (1U << (8 * r.bytes)); bits += r.bytes == 1 ? 1 : 3) {
      Literal l(Type{r.dtype, {}});
      std::memcpy(l.mutable_raw(), &bits, static_cast<std::size_t>(r.bytes));
      ASSERT_EQ(parse(print(of_literal(l))).functions[0].nodes[0].attrs.get<Literal>("value"), l) << r.name << " " << bits << " " << print_literal(l);
    }
  }
}

TEST(TextRoundTrip, WideElements) {
  rc::check([](std::uint64_t a, std::uint64_t b) {
    for (const auto& r : dtype_rows) {
      Literal l(Type{r.dtype, {2}});
      const std::uint64_t words[] = {a, b, b, a};
      std::memcpy(l.mutable_raw(), words, static_cast<std::size_t>(r.bytes));
      std::memcpy(l.mutable_data<char>() + r.bytes, words + (r.bytes > 8 ? 2 : 1), static_cast<std::size_t>(r.bytes));
      RC_ASSERT(parse(print(of_literal(l))).functions[0].nodes[0].attrs.get<Literal>("value") == l);
    }
  });
}

TEST(TextRoundTrip, LiteralForms) {
  const std::int64_t three[] = {3}, four[] = {2, 2};
  EXPECT_EQ(print_literal(Literal::of<float>(DType::f32, three, std::vector<float>{1, 2.5F, -0.0F})), "[1, 2.5, -0]");
  EXPECT_EQ(print_literal(Literal::of<float>(DType::f32, four, std::vector<float>{0.1F, 0.1F, 0.1F, 0.1F})), "splat 0.1");
  EXPECT_EQ(print_literal(Literal::of<float>(DType::f32, four, std::vector<float>{1, -0.0F, HUGE_VALF, 0.1F}).viewed_as({DType::c64, {2}})), "[(1, -0), (inf, 0.1)]");
  EXPECT_EQ(print_literal(scalar_literal(DType::c128, -2)), "(-2, 0)");
  EXPECT_EQ(print_literal(scalar_literal(DType::f16, 0.1)), "0.1");
  EXPECT_EQ(print_literal(scalar_literal(DType::bf16, 3.141592)), "3.14");
  EXPECT_EQ(print_literal(scalar_literal(DType::f32, std::nan(""))), "nan");
  EXPECT_EQ(print_literal(Literal::of<std::uint32_t>(DType::u32, {}, std::vector<std::uint32_t>{4294967295U})), "4294967295");
  Literal other_nan = Literal(Type{DType::f32, {}});
  *other_nan.mutable_data<std::uint32_t>() = 0xffc00001;
  EXPECT_EQ(print_literal(other_nan), "hex\"0100c0ff\"");
  Literal many(Type{DType::u8, {65}});
  for (std::uint8_t i = 0; i < 65; ++i) many.mutable_data<std::uint8_t>()[i] = i;
  EXPECT_EQ(print_literal(many).substr(0, 12), "hex\"00010203");
}

TEST(TextRoundTrip, MoreSplatsThanATextMayHoldAreWrittenInFull) {
  Literal zeros(Type{DType::u8, {std::int64_t{40} << 20}});
  std::memset(zeros.mutable_raw(), 0, static_cast<std::size_t>(zeros.bytes()));
  Module m = of_literal(zeros);
  Builder(m.functions[0]).constant(zeros);
  const auto text = print(m);
  EXPECT_NE(text.find("splat 0"), std::string::npos);
  EXPECT_NE(text.find("hex\"0000"), std::string::npos);
  EXPECT_EQ(difference(m, parse(text)), "");
}

TEST(TextRoundTrip, ClashingNamesBecomeUnique) {
  auto m = parse("func @main(%a: f32[]) -> (f32[]) { %b = neg(%a) : f32[] %a_1 = neg(%b) : f32[] %c = neg(%a_1) : f32[] %d = neg(%c) : f32[] return %d }");
  auto& v = m.functions[0].values;
  v[1].name = v[3].name = "a";
  v[4].name = "";
  EXPECT_EQ(print(m),
            "func @main(%a: f32[]) -> (f32[]) {\n"
            "  %a_2 = neg(%a) : f32[]\n"
            "  %a_1 = neg(%a_2) : f32[]\n"
            "  %a_3 = neg(%a_1) : f32[]\n"
            "  %4 = neg(%a_3) : f32[]\n"
            "  return %4\n}\n");
  EXPECT_EQ(print(parse(print(m))), print(m));
}

TEST(TextRoundTrip, OneNodeStatesItsTypeAttributes) {
  const auto m = parse("func @main(%x: f32[6]) -> (f64[2,3]) { %a = reshape(%x) : f32[2,3] %b = convert(%a) : f64[2,3] return %b }");
  const auto& f = m.functions[0];
  EXPECT_EQ(print_node(f, f.nodes[0]), "reshape(%x) {shape=[2,3]}");
  EXPECT_EQ(print_node(f, f.nodes[1]), "convert(%a) {dtype=f64}");
  EXPECT_EQ(print_attributes(f, f.nodes[1]), " {dtype=f64}");
}
