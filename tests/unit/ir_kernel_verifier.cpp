// Each invariant of kernels: a kernel that breaks it, named by its label.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/kernel/text.h"
#include "ir/kernel/verifier.h"

namespace plumb::kir {
namespace {

using testing::HasSubstr;

std::string broken(const Kernel& k) {
  try {
    verify(k, {ErrorKind::input, true});
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    return e.what();
  }
  return "";
}
std::string wrap(const std::string& body) { return "kernel @k(in %x: f32[8], in %i: i64[8], out %y: f32[8]) {\n site 0: \"gather\"\n" + body + "\n}"; }
Verified verified(const std::string& body) { return verify(parse_kernel(wrap(body)), {ErrorKind::input, true}); }

struct Case {
  const char* label;
  const char* body;
};
class KernelVerifier : public testing::TestWithParam<Case> {};
TEST_P(KernelVerifier, NamesTheInvariant) { EXPECT_THAT(broken(parse_kernel(wrap(GetParam().body))), HasSubstr(std::string(": ") + GetParam().label + ": ")) << GetParam().body; }

INSTANTIATE_TEST_SUITE_P(
    Texts, KernelVerifier,
    testing::Values(
        Case{"K2", "for a in 2 serial { alloc %t: local f32[1] %0 = constant 1 : f32 %t[0] = %0 } %1 = constant 1 : f32 %t[0] = %1"},
        Case{"K2", "alloc %t: local f32[8] for a in 8 gpu_thread(0) { %0 = constant 1 : f32 %t[a] = %0 }"},
        Case{"S1", "for a in 2 serial { %0 = constant 1 : f32 } %y[0] = %0"},
        Case{"S2", "%0 = constant 1 : f64 %y[0] = %0"}, Case{"S2", "%0 = constant 1 : f32 %1 = constant 1 : f64 %2 = add(%0, %1) : f32"},
        Case{"S2", "%0 = constant 1 : f32 %1 = lt(%0, %0) : f32"}, Case{"S2", "%0 = constant 1 : i32 %1 = sqrt(%0) : i32"}, Case{"S2", "%0 = load %x[0] : f64"},
        Case{"S2", "%0 = constant 1 : f32 %y[0] = %0 %y[0] lt= %0"}, Case{"S2", "%0 = constant 1 : f32 %y[0] = %0 %y[0] fma= %0"},
        Case{"A1", "%0 = load %x[0, 0] : f32"}, Case{"A1", "for a in 2 serial { } %0 = load %x[a] : f32"}, Case{"A1", "%0 = load %x[coord(0)] : f32"},
        Case{"L1", "for a in 2 serial { for b in a vector(4) { } }"}, Case{"L1", "for a in 2 gpu_block(3) { }"}, Case{"L1", "for a in 2 vector(0) { }"}, Case{"L1", "for a in -2 serial { }"},
        Case{"L1", "for a in 2 gpu_block(0) { for b in 2 gpu_block(0) { } }"}, Case{"L2", "for a in 2 serial { for b in 2 gpu_block(0) { } }"},
        Case{"L2", "for a in 2 gpu_thread(0) { } for b in 2 gpu_thread(0) { }"}, Case{"L2", "for a in 2 gpu_thread(0) { %0 = constant 1 : f32 for b in 2 gpu_thread(1) { } }"},
        Case{"L2", "for a in 2 gpu_block(0) { for b in 2 gpu_thread(0) { } %0 = constant 1 : f32 %y[0] = %0 }"}, Case{"L2", "for a in 2 vector(2) { for b in 2 parallel { } }"},
        Case{"L2", "for a in 2 vector(2) { for b in 2 vector(2) { } }"}, Case{"L2", "for a in 2 tile { }"}, Case{"L2", "for a in 2 gpu_thread(0) { for b in 2 parallel { } }"},
        Case{"L2", "for a in 2 vector(2) { alloc %s: shared f32[2] }"}, Case{"M1", "%0 = constant 1 : f32 %x[0] = %0"},
        Case{"M1", "alloc %f: fragment f32[2,2] %0 = constant 1 : f32 %f[0, 0] = %0"}, Case{"M1", "alloc %f: local f32[2,2] %0 = constant 1 : f32 tile_fill %f = %0"},
        Case{"M2", "alloc %t: local f32[1] %0 = load %t[0] : f32"}, Case{"M2", "%0 = constant 1 : f32 %y[0] add= %0"},
        Case{"M2", "for a in 2 serial { alloc %t: local f32[1] %0 = load %t[0] : f32 %t[0] = %0 }"}, Case{"B1", "barrier block"},
        Case{"B1", "for t in 8 gpu_thread(0) { %0 = constant true : bool if %0 { barrier block } }"}, Case{"B1", "for t in 8 gpu_thread(0) { %0 = load %i[t] : i64 if %0 < 3 { barrier block } }"},
        Case{"B1", "for t in 8 gpu_thread(0) { %0 = load %i[t] : i64 for n in %0 serial { barrier block } }"}, Case{"B1", "async_commit"}, Case{"B1", "%0 = constant 1 : f32 %1 = shuffle xor %0, 1 : f32"},
        Case{"R1", "%0 = load %i[0] : i64 %1 = check_index %0 in 3 site 1 : i64"}, Case{"R1", "%0 = constant 1 : f32 %y[0] = %0 %y[0] add= %0 reduction 0"},
        Case{"T1", "alloc %a: fragment f32[2,3] alloc %b: fragment f32[2,2] alloc %d: fragment f32[2,2] %0 = constant 0 : f32 tile_fill %a = %0 tile_fill %b = %0 tile_fill %d = %0 tile_mma %d = %a * %b warp"},
        Case{"T1", "for t in 8 gpu_thread(0) { alloc %l: local f32[8] async_copy %l[0] = %x[0] tile [4] }"}, Case{"X1", "%0 = load %x[8] : f32"}, Case{"X1", "%0 = load %x[-1] : f32"},
        Case{"X1", "for a in 8 serial { %0 = load %x[a + 1] : f32 }"}, Case{"X1", "for a in 4 serial { if a > 2 { %0 = load %x[a*3] : f32 } }"}));

TEST(KernelVerifier, TablesThatTextCannotBreak) {
  const auto good = parse_kernel("kernel @k(in %x: f32[8], out %y: f32[8]) { map %y: a = coord(0) for a in 8 parallel { %0 = load %x[a] : f32 %y[a] = %0 } }");
  EXPECT_EQ(broken(good), "");
  auto k = good;
  k.outputs.push_back(0);
  EXPECT_THAT(broken(k), HasSubstr("K1: "));
  k = good;
  k.buffers[0].extents = {-1};
  EXPECT_THAT(broken(k), HasSubstr("K1: "));
  k = good;
  k.buffers[0].extents = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_THAT(broken(k), HasSubstr("K1: "));
  k = good;
  k.inputs.clear();
  EXPECT_THAT(broken(k), HasSubstr("K1: global buffer %x"));
  k = good;
  std::get<Load>(std::get<For>(k.body[0].node).body[0].node).result = 7;
  EXPECT_THAT(broken(k), HasSubstr("verifier"));
  k = good;
  k.body.push_back(k.body[0]);
  EXPECT_THAT(broken(k), HasSubstr("L1: a second loop"));
  for (auto wrong : {std::pair{VarId{3}, Affine::coordinate(0)}, std::pair{VarId{0}, Affine::coordinate(1)}, std::pair{VarId{0}, Affine::var(0)}}) {
    k = good;
    k.output_maps[0].inverse = {wrong};
    EXPECT_THAT(broken(k), HasSubstr("O1: "));
  }
  k = good;
  k.output_maps[0].buffer = 0;
  EXPECT_THAT(broken(k), HasSubstr("O1: "));
}

TEST(KernelVerifier, TheStatementIsShown) { EXPECT_THAT(broken(parse_kernel(wrap("for a in 8 serial { %0 = load %x[a + 1] : f32 }"))), HasSubstr("\n  in: %0 = load %x[a + 1] : f32")); }

TEST(KernelBounds, WhatNothingReachesIsInBounds) {
  for (const char* body : {"for a in 0 serial { %0 = load %x[a + 9] : f32 }", "for a in 8 serial { if (a mod 2) >= 2 { %0 = load %x[9] : f32 } }",
                           "for a in 8 serial { if (a mod 2) + 1 < 1 { %0 = load %x[9] : f32 } }", "for a in 8 serial { if (a mod 4) > 1 and (a mod 4) == 0 { %0 = load %x[9] : f32 } }",
                           "for a in 4 serial { for b in 3 serial { if a*3 + b >= 2 and a*3 + b < 2 { %0 = load %x[9] : f32 } } }",
                           "for a in 0 serial { alloc %t: local f32[1] %0 = load %t[0] : f32 }"})
    EXPECT_EQ(broken(parse_kernel(wrap(body))), "") << body;
}

TEST(KernelBounds, ConditionsNarrowRanges) {
  for (const char* body : {"for a in 4 serial { for b in 4 serial { if a*4 + b < 8 { %0 = load %x[a*4 + b] : f32 } } }", "for a in 20 serial { if a >= 4 and a < 12 { %0 = load %x[a - 4] : f32 } }",
                           "%z = constant 0 : f32 for a in 20 serial { %0 = load %x[a - 4] if a >= 4 and a < 12 else %z : f32 }", "for a in 64 serial { %0 = load %x[(a floordiv 8)] : f32 }",
                           "for a in 64 serial { %0 = load %x[(a mod 8)] : f32 }", "for a in 8 serial { %0 = load %x[(a xor 5)] : f32 }", "%0 = load %i[0] : i64 %1 = check_index %0 in 8 site 0 : i64 %2 = load %x[%1] : f32",
                           "for a in 20 serial { if a < 12 { } else { %0 = load %x[a - 12] : f32 } }", "for a in 4 serial { for b in a serial { %0 = load %x[a + b] : f32 } }",
                           "for a in 5 serial { if a == 3 { %0 = load %x[a*2] : f32 } }", "for a in 64 serial { if (a floordiv 2) < 8 { %0 = load %x[(a floordiv 2)] : f32 } }", "for a in 0 serial { %0 = load %x[a + 100] : f32 }"}) {
    const auto v = verified(body);
    EXPECT_EQ(v.not_shown.size(), 0U) << body;
  }
}

TEST(KernelBounds, WhatIsNotShownIsSaid) {
  const auto v = verified("for a in 64 serial { for b in 64 serial { if a + b*3 < 8 and a*5 + b < 100 { %0 = load %x[a*2 + b - 3] : f32 } } }");
  ASSERT_EQ(v.not_shown.size(), 1U);
  EXPECT_EQ(v.not_shown[0].access, "%x[a*2 + b - 3]");
  EXPECT_EQ(v.not_shown[0].axis, 0);
}

TEST(KernelBounds, HugeCoefficientsAreUnknownNotWrong) {
  const auto v = verified("for a in 1099511627776 serial { for b in 1099511627776 serial { if b < 1 { %0 = load %x[((a*1099511627776 + b*1099511627776) mod 8)] : f32 %1 = load %x[a*1099511627776] : f32 } } }");
  EXPECT_EQ(v.not_shown.size(), 1U);
}

}  // namespace
}  // namespace plumb::kir
