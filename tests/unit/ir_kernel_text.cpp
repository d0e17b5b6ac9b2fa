// The text form of kernels: printing and parsing are inverse, and errors show their place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/kernel/builder.h"
#include "ir/kernel/text.h"
#include "ir/tensor/text.h"

namespace plumb::kir {
namespace {

using testing::HasSubstr;

/// In the printer's own spelling, with every kind of statement.
constexpr const char* everything = R"(kernel @every.thing(in %x: f32[8,16], in %i: i64[8], out %y: f32[8,16]) schedule "demo" {
  reduction 0: add in f32 terms 16 height 5 node 3
  reduction 1: maximum in f16 terms 4 height 4 truncates
  site 0: "gather" at "a \"b\".onnx" 12 3
  site 1: "scatter"
  map %y: by = (coord(0) floordiv 4), thread = (coord(0) mod 4)
  map %x:
  spec {
    func @f(%x: f32[8,16]) -> (f32[8,16]) {
      %0 = reshape(%x) : f32[128]
      %1 = tanh(%0) : f32[128]
      %2 = reshape(%1) : f32[8,16]
      return %2
    }
  }
  for by in 2 gpu_block(0) {
    alloc %tile: shared f32[2,4,16]
    alloc %stage: shared f32[]
    for thread in 4 gpu_thread(0) {
      alloc %acc: local f32[1]
      alloc %d: fragment f32[16,16]
      alloc %a: fragment f16[16,16]
      alloc %b: fragment f16[16,16]
      %0 = constant -0 : f32
      %1 = constant 0.1 : f32
      %2 = constant 0x7fc00001 : f32
      %3 = constant true : bool
      %4 = constant -128 : i8
      %5 = constant -inf : f64
      %acc[0] = %0
      %6 = load %i[by*4 + thread] : i64
      %7 = check_index %6 in 8 site 0 : i64
      %8 = load %x[%7, ((by*2 + thread) mod 16)] : f32
      %9 = load %x[by*4 + thread, 3] if thread < 3 and by == thread and by > thread and by*2 > thread else %0 : f32
      %10 = add(%8, %9) : f32
      %11 = fma(%8, %9, %10) : f32
      %12 = lt(%10, %11) : bool
      %13 = select(%12, %10, %11) : f32
      %14 = convert %13 : f16
      %15 = index -3*thread + dim(B) + (by xor (thread + 1)) : i64
      %16 = test true : bool
      %17 = test by == 0 : bool
      %18 = shuffle xor %13, 1 : f32
      %19 = shuffle from %13, thread : f32
      %acc[0] add= %18 reduction 0
      %acc[0] fma= %18, %19
      async_copy %tile[0, thread, 0] = %x[by*4 + thread, 0] tile [16]
      async_commit
      async_wait 0
      barrier block
      tile_fill %d = %0
      tile_mma %d = %a * %b warpgroup reduction 1
      tile_load %d = %tile[0, 0] transposed
      tile_store %tile[0, 0] = %d
      barrier warp
      for s in 4 serial {
        for u in 2 unrolled {
          if u > s {
            barrier warpgroup
          } else {
            %stage[] = %13
          }
        }
      }
      for e in 256 tile {
        if %12 {
          %y[0, e] = %13
        }
      }
      for v in 16 vector(8) {
        %y[by, v] = %13
      }
      for p in -1*by + 4 parallel {
      }
    }
  }
}
)";

TEST(KernelText, PrintsWhatItParses) {
  const auto k = parse_kernel(everything);
  EXPECT_EQ(print(k), everything);
  EXPECT_EQ(k.name, "every.thing");
  EXPECT_EQ(k.inputs, (std::vector<BufferId>{0, 1}));
  EXPECT_EQ(k.outputs, (std::vector<BufferId>{2}));
  EXPECT_EQ(k.reductions[1].truncates, true);
  EXPECT_EQ(k.sites[0].where, (SourceLocation{"a \"b\".onnx", 12, 3}));
  ASSERT_TRUE(k.spec);
  EXPECT_EQ(k.spec->nodes.size(), 3U);
  EXPECT_TRUE(k.output_maps[1].inverse.empty());
}

TEST(KernelText, BuiltKernelsKeepTheirIds) {
  Kernel k;
  k.name = "k";
  KernelBuilder b(k);
  const auto x = b.input("x", DType::f32, {8}), y = b.output("y", DType::f32, {8});
  b.loop("i", 8, LoopKind::vector, [&](Affine i) {
    const auto acc = b.alloc("acc", DType::f64, {1});
    b.store(acc, {0}, b.constant(DType::f64, 1.5));
    b.when({below(i, 3), at_least(i, 1), {i, true}}, [&] { b.store(y, {floor_div(i * 2 + 1, 3)}, b.load(x, {mod(i, 4)}, {below(i, 7)}, b.constant(DType::f32, 0))); });
  }, 4);
  const auto again = parse_kernel(print(k));
  EXPECT_EQ(print(again), print(k));
  EXPECT_EQ(again.scalars, k.scalars);
  EXPECT_EQ(again.vars, k.vars);
  const auto &one = std::get<For>(k.body[0].node).body, &two = std::get<For>(again.body[0].node).body;
  const auto &c = std::get<If>(one.back().node).condition, &d = std::get<If>(two.back().node).condition;
  for (std::size_t i = 0; i < c.size(); ++i) EXPECT_TRUE(c[i].expr == d[i].expr && c[i].equality == d[i].equality) << i;
}

TEST(KernelText, NamesThatDoNotReadBackAreReplaced) {
  Kernel k;
  k.name = "a b";
  KernelBuilder b(k);
  b.input("x", DType::f32, {2});
  b.input("x", DType::f32, {2});
  const auto y = b.output("3", DType::f32, {2});
  for (const char* name : {"i", "i", "mod", "not a word"}) b.loop(name, 2, LoopKind::serial, [&](Affine i) { b.store(y, {i}, b.constant(DType::f32, 1)); });
  const auto text = print(k);
  EXPECT_THAT(text, HasSubstr("kernel @\"a b\"(in %x: f32[2], in %x.1: f32[2], out %b3: f32[2])"));
  EXPECT_THAT(text, HasSubstr("for i.1 in"));
  EXPECT_EQ(print(parse_kernel(text)), text);
}

TEST(KernelText, OperatorsOfConditions) {
  const auto k = parse_kernel("kernel @k(out %y: f32[4]) { for i in 4 serial { if i < 3 { } if 3 > i { } if i <= 2 { } if 2 >= i { } if i == 2 { } } }");
  const auto& body = std::get<For>(k.body[0].node).body;
  for (int c = 0; c < 4; ++c) EXPECT_TRUE(std::get<If>(body[static_cast<std::size_t>(c)].node).condition[0].expr == Affine(2) - Affine::var(0)) << c;
  EXPECT_TRUE(std::get<If>(body[4].node).condition[0].equality);
}

TEST(KernelText, SeveralKernelsInOneText) {
  EXPECT_EQ(parse_kernels("kernel @a() { }\n# between\nkernel @b() { }").size(), 2U);
  EXPECT_THROW(parse_kernel("kernel @a() { } kernel @b() { }"), Error);
}

struct Wrong {
  const char* text;
  const char* place;
  const char* message;
};
std::string around(const std::string& s) { return "kernel @k(in %x: f32[4], out %y: f32[4]) {\n  for i in 4 serial {\n" + s + "\n  }\n}"; }

class KernelTextErrors : public testing::TestWithParam<Wrong> {};
TEST_P(KernelTextErrors, NameThePlace) {
  const auto& w = GetParam();
  const std::string text = std::string(w.text).starts_with("kernel") ? w.text : around(w.text);
  try {
    parse_kernel(text, "t.kernel");
    FAIL() << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    EXPECT_THAT(e.what(), HasSubstr(std::string("t.kernel:") + w.place + ": "));
    EXPECT_THAT(e.what(), HasSubstr(w.message));
    EXPECT_THAT(e.what(), HasSubstr("^"));
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, KernelTextErrors,
    testing::Values(Wrong{"%0 = load %z[i] : f32", "3:11", "'%z' is not declared before its use"}, Wrong{"%y[i] = %0", "3:9", "'%0' is not defined before its use"},
                    Wrong{"%0 = load %x[j] : f32", "3:14", "no loop around this place has the variable 'j'"}, Wrong{"%0 = load %x[i] : f31", "3:19", "there is no dtype 'f31'"},
                    Wrong{"%0 = lod %x[i] : f32", "3:6", "there is no scalar function or definition 'lod'"}, Wrong{"%0 = constant 300 : u8", "3:15", "'300' is outside u8"},
                    Wrong{"%0 = constant 1.5 : i32", "3:15", "'1.5' is not a value of i32"}, Wrong{"%0 = constant 0x1ff : i8", "3:15", "more bits than i8"},
                    Wrong{"%0 = constant 1 : f32\n%0 = constant 1 : f32", "4:1", "'%0' is defined twice"}, Wrong{"%0 = load %x[(i + 1)*2] : f32", "3:14", "a sum is not multiplied"},
                    Wrong{"for i in 3 serial { }", "3:5", "names are unique in a kernel"}, Wrong{"for mod in 3 serial { }", "3:5", "is a word of the format"},
                    Wrong{"for j in 3 sideways { }", "3:12", "expected the loop's kind"}, Wrong{"%x[i] plus= %y", "3:7", "there is no scalar function 'plus'"},
                    Wrong{"%0 = load %x[(i floordiv 0)] : f32", "3:26", "a divisor lies in [1,"}, Wrong{"%0 = load %x[i*99999999999999999999] : f32", "3:16", "a number lies in"},
                    Wrong{"%0 = constant 1 : f32\n%1 = load %x[%0] : f32", "4:14", "is no i64, so it cannot index"}, Wrong{"if i ~ 3 { }", "3:6", "expected <, <=, >, >= or =="},
                    Wrong{"kernel @k(in %x: f32[4]) {\n map %x: j = 0\n}", "2:10", "no loop of the kernel has the variable 'j'"}, Wrong{"kernel @k() {", "1:14", "expected a statement"},
                    Wrong{"kernel @k() {\n spec {\n func @f(%x: f32[2]) -> (f32[2]) { %y = nope(%x) : f32[2] return %y } } }", "3:41", "nope"}, Wrong{"kernel @k() { spec {", "1:20", "not closed"},
                    Wrong{"kernel @k(up %x: f32[4]) { }", "1:11", "'in' or 'out' before a parameter"}, Wrong{"kernel @k(in %x: f32[-4]) { }", "1:22", "a size lies in [0,"}));

TEST(KernelText, DeepNestingIsAnError) {
  std::string loops, parens(300, '(');
  for (int d = 0; d < 300; ++d) loops += "for i" + std::to_string(d) + " in 2 serial { ";
  EXPECT_THROW(parse_kernel("kernel @k() {" + loops), Error);
  EXPECT_THROW(parse_kernel("kernel @k() { for i in " + parens), Error);
}

}  // namespace
}  // namespace plumb::kir
