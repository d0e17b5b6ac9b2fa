// What kernels mean: right answers.
#include <cmath>

#include "tests/unit/interpreter_kernel_support.h"

namespace plumb::interp {
namespace {

using testing::ElementsAre;

TEST(KernelRun, LoopsOfEachKind) {
  for (const char* kind : {"serial", "unrolled", "parallel", "vector(4)", "vector(8)", "vector(3)"}) {
    const auto got = outputs("kernel @k(in %x: f32[10], out %y: f32[10]) { for i in 10 " + std::string(kind) + " {\n %0 = load %x[i] : f32\n %1 = add(%0, %0) : f32\n %y[i] = %1 } }");
    EXPECT_THAT(got, ElementsAre(2, 4, 6, 8, 10, 12, 14, 16, 18, 20)) << kind;
  }
}

TEST(KernelRun, GuardsAndConditions) {
  EXPECT_THAT(outputs(R"(kernel @k(in %x: f32[3], out %y: f32[8]) {
    %0 = constant -1 : f32
    for i in 8 vector(4) {
      %1 = load %x[i - 2] if i >= 2 and i < 5 else %0 : f32
      if (i mod 2) == 0 { %y[i] = %1 } else {
        %2 = neg(%1) : f32
        %y[i] = %2
      }
    } })"),
              ElementsAre(-1, 1, 1, -2, 3, 1, -1, 1));
}

TEST(KernelRun, IndicesFromMemory) {
  const std::string text = R"(kernel @k(in %x: i64[4], out %y: f32[4]) {
    site 0: "gather" at "m.onnx" 3 1
    for i in 4 parallel {
      %0 = load %x[i] : i64
      %1 = check_index %0 in 4 site 0 : i64
      %2 = index %1*2 + i : i64
      %3 = convert %2 : f32
      %y[i] = %3
    } })";
  const auto r = run_text(text);
  EXPECT_THAT(r.output, ElementsAre(2, 5, 8, 3));
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->value, 4);
  EXPECT_EQ(r.fault->extent, 4);
}

TEST(KernelRun, ReductionInAVectorOfLanes) {
  EXPECT_THAT(outputs(R"(kernel @sum(in %x: f32[20], out %y: f32[]) {
    reduction 0: add in f32 terms 20 height 7
    alloc %acc: local f32[8]
    for l in 8 vector(4) {
      %0 = load %x[l] : f32
      %acc[l] = %0
    }
    for l2 in 8 vector(4) { %1 = load %x[l2 + 8] : f32
      %acc[l2] add= %1 reduction 0 }
    for l3 in 4 vector(4) { %2 = load %x[l3 + 16] : f32
      %acc[l3] add= %2 reduction 0 }
    for h in 4 vector(4) { %3 = load %acc[h + 4] : f32
      %acc[h] add= %3 reduction 0 }
    for h2 in 2 vector(2) { %4 = load %acc[h2 + 2] : f32
      %acc[h2] add= %4 reduction 0 }
    %5 = load %acc[1] : f32
    %acc[0] add= %5 reduction 0
    %6 = load %acc[0] : f32
    %y[] = %6 })"),
              ElementsAre(210));
}

TEST(KernelRun, EachLaneHasItsOwnLocals) {
  EXPECT_THAT(outputs(R"(kernel @k(in %x: f32[2,6], out %y: f32[6]) {
    for i in 6 vector(4) {
      alloc %acc: local f64[1]
      %0 = constant 0.5 : f64
      %acc[0] = %0
      for k in 2 serial {
        %1 = load %x[k, i] : f32
        %2 = convert %1 : f64
        %acc[0] fma= %2, %2
      }
      %3 = load %acc[0] : f64
      %4 = convert %3 : f32
      %y[i] = %4
    } })"),
              ElementsAre(50.5, 68.5, 90.5, 116.5, 146.5, 180.5));
}

TEST(KernelRun, EveryDtypeThroughMemory) {
  for (const char* t : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f8e4m3fn", "f8e5m2", "bf16", "f16", "f32", "f64"}) {
    const auto text = std::string("kernel @k(in %x: ") + t + "[7], out %y: " + t + "[7]) { for i in 7 vector(4) {\n %0 = load %x[i] : " + t + "\n %1 = maximum(%0, %0) : " + t +
                      "\n %y[i] = %1 } }";
    EXPECT_THAT(outputs(text), ElementsAre(1, 2, 3, 4, 5, 6, 7)) << t;
  }
  EXPECT_THAT(outputs("kernel @k(in %x: bool[3], out %y: bool[3]) { for i in 3 vector(2) {\n %0 = load %x[i] : bool\n %1 = not(%0) : bool\n %y[i] = %1 } }"), ElementsAre(1, 0, 1));
}

TEST(KernelRun, IntegersWrap) {
  EXPECT_THAT(outputs(R"(kernel @k(out %y: i64[3]) {
    %0 = constant 127 : i8
    %1 = add(%0, %0) : i8
    %2 = convert %1 : i64
    %y[0] = %2
    %3 = constant 255 : u8
    %4 = mul(%3, %3) : u8
    %5 = convert %4 : i64
    %y[1] = %5
    %6 = neg(%4) : u8
    %7 = convert %6 : i64
    %y[2] = %7 })"),
              ElementsAre(-2, 1, 255));
}

TEST(KernelRun, SwizzledSharedMemory) {
  EXPECT_THAT(outputs(R"(kernel @k(in %x: f32[8], out %y: f32[8]) {
    for b in 1 gpu_block(0) {
      alloc %s: shared f32[8]
      for t in 8 gpu_thread(0) {
        %0 = load %x[t] : f32
        %s[(t xor 5)] = %0
        barrier block
        %1 = load %s[(t xor 1)] : f32
        %y[t] = %1
      }
    } })"),
              ElementsAre(5, 6, 7, 8, 1, 2, 3, 4));
}

TEST(KernelRun, ShufflesOfEachMode) {
  const auto with = [](const std::string& how) {
    return outputs("kernel @k(in %x: f32[8], out %y: f32[8]) { for t in 8 gpu_thread(0) {\n %0 = load %x[t] : f32\n %1 = shuffle " + how + " : f32\n %y[t] = %1 } }", {4});
  };
  EXPECT_THAT(with("xor %0, 1"), ElementsAre(2, 1, 4, 3, 6, 5, 8, 7));
  EXPECT_THAT(with("down %0, 1"), ElementsAre(2, 3, 4, 4, 6, 7, 8, 8));
  EXPECT_THAT(with("up %0, 2"), ElementsAre(1, 2, 1, 2, 5, 6, 5, 6));
  EXPECT_THAT(with("from %0, 3"), ElementsAre(4, 4, 4, 4, 8, 8, 8, 8));
}

TEST(KernelRun, ThreadsOfTwoAxesAndLoopsOfTheirOwnLength) {
  // y[r, c] = 0 + 1 + … + (r + c), each thread looping as often as it has to.
  EXPECT_THAT(outputs(R"(kernel @k(out %y: i64[2,3]) {
    for r in 2 gpu_thread(1) { for c in 3 gpu_thread(0) {
      alloc %acc: local i64[1]
      %0 = constant 0 : i64
      %acc[0] = %0
      for i in r + c + 1 serial {
        %1 = index i : i64
        %acc[0] add= %1
      }
      %2 = load %acc[0] : i64
      %y[r, c] = %2
    } } })"),
              ElementsAre(0, 1, 3, 1, 3, 6));
}

TEST(KernelRun, TilesOfACpuKernel) {
  EXPECT_THAT(outputs(R"(kernel @k(in %a: f32[2,2], in %b: f32[2,2], out %c: f32[2,2]) {
    reduction 0: add in f32 terms 2 height 2
    alloc %fa: fragment f32[2,2]
    alloc %fb: fragment f32[2,2]
    alloc %d: fragment f32[2,2]
    %0 = constant 10 : f32
    tile_fill %d = %0
    tile_load %fa = %a[0, 0]
    tile_load %fb = %b[0, 0] transposed
    tile_mma %d = %fa * %fb warp reduction 0
    tile_store %c[0, 0] = %d })"),
              ElementsAre(15, 21, 21, 35));
}

TEST(KernelRun, OneMoreThanAWholeNumberOfWarps) {
  EXPECT_THAT(outputs("kernel @k(in %x: f32[5], out %y: f32[5]) { for t in 5 gpu_thread(0) {\n %0 = load %x[t] : f32\n barrier warp\n %1 = shuffle down %0, 1 : f32\n %y[t] = %1 } }", {4}),
              ElementsAre(2, 3, 4, 4, 5));
}

TEST(KernelRun, EmptyBuffersAndLoops) {
  EXPECT_THAT(outputs("kernel @k(in %x: f32[0], out %y: f32[0]) { for i in 0 vector(8) {\n %0 = load %x[i] : f32\n %y[i] = %0 } }"), ElementsAre());
}

TEST(KernelRun, ElementaryFunctionsAreTheReferences) {
  const auto got = outputs("kernel @k(in %x: f32[9], out %y: f32[9]) { for i in 9 vector(8) {\n %0 = load %x[i] : f32\n %1 = tanh(%0) : f32\n %y[i] = %1 } }");
  for (int i = 0; i < 9; ++i) {
    const Number x = {.f = i + 1.0};
    EXPECT_EQ(got[static_cast<std::size_t>(i)], apply(fn_id<scalar::Tanh>, DType::f32, {&x, 1}).f);
  }
}

}  // namespace
}  // namespace plumb::interp
