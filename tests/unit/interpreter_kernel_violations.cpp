// What kernels must not do: each violation named, with buffer, element, statement and loops.
#include "tests/unit/interpreter_kernel_support.h"

namespace plumb::interp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(KernelViolation, OutOfBoundsNamesThePlace) {
  const auto v = violation_of("kernel @off(in %x: f32[3,4], out %y: f32[3,4]) { for i in 3 parallel { for j in 4 vector(4) {\n %0 = load %x[i, j + 1] : f32\n %y[i, j] = %0 } } }");
  EXPECT_EQ(v.kind, ViolationKind::out_of_bounds);
  EXPECT_EQ(v.kernel, "off");
  EXPECT_EQ(v.buffer, "%x");
  EXPECT_THAT(v.index, ElementsAre(0, 4));
  EXPECT_EQ(v.statement, "%0 = load %x[i, j + 1] : f32");
  EXPECT_THAT(v.loops, ElementsAre(Pair("i", 0), Pair("j", 3)));
  EXPECT_THAT(v.str(), HasSubstr("kernel @off: out of bounds: the buffer's extents are [3, 4]\n  at: %x[0, 4]\n  in: %0 = load %x[i, j + 1] : f32\n  where i = 0, j = 3"));
}

TEST(KernelViolation, AGuardKeepsLanesInside) {
  const std::string text = "kernel @k(in %x: f32[5], out %y: f32[8]) {\n %z = constant 0 : f32\n for i in 8 vector(8) {\n %0 = load %x[i] if i < LIMIT else %z : f32\n %y[i] = %0 } }";
  const auto with = [&](const std::string& limit) { return std::string(text).replace(text.find("LIMIT"), 5, limit); };
  EXPECT_THAT(outputs(with("5")), ElementsAre(1, 2, 3, 4, 5, 0, 0, 0));
  EXPECT_THAT(violation_of(with("6")).index, ElementsAre(5));
}

TEST(KernelViolation, Poison) {
  const auto v = violation_of(R"(kernel @k(out %y: f32[4]) {
    alloc %a: local f32[4]
    %0 = constant 1 : f32
    for i in 3 vector(4) { %a[i] = %0 }
    for j in 4 vector(4) {
      %1 = load %a[j] : f32
      %y[j] = %1 } })");
  EXPECT_EQ(v.kind, ViolationKind::poison);
  EXPECT_EQ(v.buffer, "%a");
  EXPECT_THAT(v.index, ElementsAre(3));
}

TEST(KernelViolation, EachAllocIsFresh) {
  const auto v = violation_of(R"(kernel @k(out %y: f32[2]) {
    %0 = constant 1 : f32
    for i in 2 serial {
      alloc %a: local f32[1]
      if i == 0 { %a[0] = %0 }
      %1 = load %a[0] : f32
      %y[i] = %1 } })");
  EXPECT_EQ(v.kind, ViolationKind::poison);
  EXPECT_THAT(v.loops, ElementsAre(Pair("i", 1)));
}

TEST(KernelViolation, CombineBeforeAWrite) {
  const auto v = violation_of("kernel @k(in %x: f32[4], out %y: f32[4]) { for i in 4 serial { if i > 0 {\n %0 = load %x[i] : f32\n %y[i] add= %0 }\n %1 = load %x[i] : f32\n %y[i] = %1 } }");
  EXPECT_EQ(v.kind, ViolationKind::poison);
  EXPECT_THAT(v.index, ElementsAre(1));
}

TEST(KernelViolation, AnOutputNeverOrTwiceWritten) {
  auto v = violation_of("kernel @k(in %x: f32[8], out %y: f32[8]) { for i in 7 vector(4) {\n %0 = load %x[i] : f32\n %y[i] = %0 } }");
  EXPECT_EQ(v.kind, ViolationKind::never_written);
  EXPECT_THAT(v.index, ElementsAre(7));
  v = violation_of("kernel @k(in %x: f32[8], out %y: f32[4]) { for i in 8 parallel {\n %0 = load %x[i] : f32\n %y[(i mod 4)] = %0 } }");
  EXPECT_EQ(v.kind, ViolationKind::written_twice);
  EXPECT_THAT(v.loops, ElementsAre(Pair("i", 4)));
  v = violation_of("kernel @k(in %x: f32[8], out %y: f32[1]) { for i in 8 vector(8) {\n %0 = load %x[i] : f32\n %y[0] = %0 } }");
  EXPECT_EQ(v.kind, ViolationKind::written_twice);
}

TEST(KernelViolation, CombineAfterAFirstWriteOfTheSameIteration) {
  const std::string text = R"(kernel @k(in %x: f32[4,3], out %y: f32[4]) {
    %0 = constant 0 : f32
    for i in 4 serial { %y[i] = %0 }
    for a in 4 OUTER { for b in 3 INNER {
      %1 = load %x[a, b] : f32
      %y[a] add= %1 } } })";
  const auto with = [&](std::string outer, std::string inner) {
    auto t = text;
    t.replace(t.find("OUTER"), 5, outer);
    return t.replace(t.find("INNER"), 5, inner);
  };
  EXPECT_THAT(outputs(with("parallel", "serial")), ElementsAre(6, 15, 24, 33));
  for (auto inner : {"parallel", "vector(4)", "vector(2)"}) EXPECT_EQ(violation_of(with("serial", inner)).kind, ViolationKind::race) << inner;
}

TEST(KernelViolation, ParallelIterationsShareALocal) {
  const std::string text = R"(kernel @k(in %x: f32[4], out %y: f32[4]) {
    alloc %a: local f32[4]
    for i in 4 parallel {
      %0 = load %x[i] : f32
      %a[INDEX] = %0
      %1 = load %a[INDEX] : f32
      %y[i] = %1 } })";
  const auto with = [&](const std::string& index) {
    auto t = text;
    for (std::size_t at; (at = t.find("INDEX")) != std::string::npos;) t.replace(at, 5, index);
    return t;
  };
  EXPECT_THAT(outputs(with("i")), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(outputs(with("3 + -1*i")), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(outputs(with("(i xor 1)")), ElementsAre(1, 2, 3, 4));   // no plain arithmetic shows it; the record does
  const auto v = violation_of(with("(i floordiv 2)"));
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_THAT(v.what, HasSubstr("both write"));
  EXPECT_THAT(v.loops, ElementsAre(Pair("i", 1)));
}

TEST(KernelViolation, ReadersOfManyIterationsThenAWriter) {
  const auto v = violation_of(R"(kernel @k(in %x: f32[4], out %y: f32[4]) {
    alloc %a: local f32[2]
    %0 = constant 1 : f32
    %a[0] = %0
    %a[1] = %0
    for i in 4 parallel {
      %1 = load %a[0] : f32
      %y[i] = %1
      if i == 3 { %a[0] = %1 }
    } })");
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_THAT(v.what, HasSubstr("writes what"));
}

TEST(KernelViolation, VectorLanesReadOneAnother) {
  const std::string text = R"(kernel @k(in %x: f32[8], out %y: f32[8]) {
    alloc %a: local f32[9]
    for i in 9 serial { %0 = constant 2 : f32
      %a[i] = %0 }
    for l in 8 vector(WIDTH) {
      %1 = load %x[l] : f32
      READ
      %a[l] = %1
      LATER
    }
    for j in 8 serial { %9 = load %a[j] : f32
      %y[j] = %9 } })";
  const auto with = [&](const std::string& width, const std::string& read, const std::string& later) {
    auto t = text;
    t.replace(t.find("WIDTH"), 5, width).replace(t.find("READ"), 4, read);
    return t.replace(t.find("LATER"), 5, later);
  };
  EXPECT_THAT(outputs(with("4", "", "")), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(outputs(with("4", "%2 = load %a[l + 1] : f32", "")), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));   // read first, written later
  auto v = violation_of(with("8", "", "%2 = load %a[l + 1] : f32"));
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_THAT(v.what, HasSubstr("lane 0 reads what lane 1"));
  v = violation_of(with("4", "%a[0] = %1", ""));
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_THAT(violation_of(with("4", "%a[l + 1] add= %1", "")).kind, ViolationKind::race);
}

TEST(KernelViolation, BlocksOfAGridAreUnordered) {
  const auto v = violation_of(R"(kernel @k(out %z: f32[4], out %y: f32[4]) {
    for b in 4 gpu_block(0) { for t in 1 gpu_thread(0) {
      %0 = constant 1 : f32
      %z[b] = %0
      barrier block
      %1 = load %z[0] : f32
      %y[b] = %1 } } })");
  EXPECT_EQ(v.kind, ViolationKind::race);
  EXPECT_EQ(v.buffer, "%z");
  EXPECT_THAT(v.loops, ElementsAre(Pair("b", 1), Pair("t", 0)));
}

TEST(KernelViolation, WarpBarriersOrderOneWarpOnly) {
  const std::string text = R"(kernel @k(in %x: f32[8], out %y: f32[8]) {
    for b in 1 gpu_block(0) {
      alloc %s: shared f32[8]
      for t in 8 gpu_thread(0) {
        %0 = load %x[t] : f32
        %s[t] = %0
        barrier SCOPE
        %1 = load %s[(t xor MASK)] : f32
        %y[t] = %1
      } } })";
  const auto with = [&](const std::string& scope, const std::string& mask) {
    auto t = text;
    t.replace(t.find("SCOPE"), 5, scope);
    return t.replace(t.find("MASK"), 4, mask);
  };
  EXPECT_THAT(outputs(with("warp", "1"), {4}), ElementsAre(2, 1, 4, 3, 6, 5, 8, 7));
  EXPECT_THAT(violation_of(with("warp", "4"), {4}).what, HasSubstr("thread 0 reads what thread 4"));
  EXPECT_THAT(outputs(with("warpgroup", "4"), {4}), ElementsAre(5, 6, 7, 8, 1, 2, 3, 4));
  EXPECT_EQ(violation_of(with("warpgroup", "4"), {1}).kind, ViolationKind::race);
  EXPECT_THAT(outputs(with("block", "4"), {1}), ElementsAre(5, 6, 7, 8, 1, 2, 3, 4));
}

TEST(KernelViolation, SharedMemoryIsSharedWhereverItsAllocStands) {
  const auto v = violation_of(R"(kernel @k(in %x: f32[4], out %y: f32[4]) {
    for t in 4 gpu_thread(0) {
      alloc %s: shared f32[4]
      %0 = load %x[t] : f32
      %s[t] = %0
      %1 = load %s[(t xor 1)] : f32
      %y[t] = %1
    } })");
  EXPECT_EQ(v.kind, ViolationKind::race);
}

TEST(KernelViolation, Divergence) {
  const auto with = [](const std::string& scope) {
    return "kernel @k(in %x: f32[8], out %y: f32[8]) { for t in 8 gpu_thread(0) {\n %0 = load %x[t] : f32\n if t < 4 { barrier " + scope + " }\n %y[t] = %0 } }";
  };
  EXPECT_THAT(outputs(with("warp"), {4}), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));   // all of one warp, none of the other
  auto v = violation_of(with("warp"), {8});
  EXPECT_EQ(v.kind, ViolationKind::divergence);
  EXPECT_THAT(v.what, HasSubstr("4 of the 8 threads reach this barrier"));
  EXPECT_EQ(violation_of(with("block"), {4}).kind, ViolationKind::divergence);
}

TEST(KernelViolation, AShuffleFromNowhere) {
  const auto v = violation_of("kernel @k(in %x: f32[4], out %y: f32[4]) { for t in 4 gpu_thread(0) {\n %0 = load %x[t] : f32\n %1 = shuffle from %0, t + 1 : f32\n %y[t] = %1 } }", {4});
  EXPECT_EQ(v.kind, ViolationKind::shuffle_lane);
  EXPECT_THAT(v.loops, ElementsAre(Pair("t", 3)));
}

TEST(KernelViolation, ATileLoopsIterationsAreNobodysInParticular) {
  const std::string text = R"(kernel @k(in %x: f32[8], out %y: f32[8]) {
    for b in 1 gpu_block(0) {
      alloc %s: shared f32[8]
      for t in 8 gpu_thread(0) {
        %0 = load %x[t] : f32
        %s[t] = %0
        BARRIER
        if t < 4 {
          for e in 8 tile {
            %1 = load %s[e] : f32
            %y[e] = %1
          } }
      } } })";
  const auto with = [&](const std::string& barrier) { return std::string(text).replace(text.find("BARRIER"), 7, barrier); };
  EXPECT_THAT(outputs(with("barrier block"), {4}), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(violation_of(with(""), {4}).kind, ViolationKind::race);
}

TEST(KernelViolation, AsyncCopies) {
  const std::string text = R"(kernel @k(in %x: f32[8], out %y: f32[8]) {
    for b in 1 gpu_block(0) {
      alloc %s: shared f32[8]
      for t in 2 gpu_thread(0) {
        async_copy %s[t*4] = %x[t*4 + 2] tile [4]
        COMMIT
        WAIT
        BARRIER
        for i in 4 serial {
          %0 = load %s[(t xor 1)*4 + i] : f32
          %y[t*4 + i] = %0
        } } } })";
  const auto with = [&](const std::string& commit, const std::string& wait, const std::string& barrier) {
    auto t = text;
    t.replace(t.find("COMMIT"), 6, commit).replace(t.find("WAIT"), 4, wait);
    return t.replace(t.find("BARRIER"), 7, barrier);
  };
  EXPECT_THAT(outputs(with("async_commit", "async_wait 0", "barrier block")), ElementsAre(7, 8, 0, 0, 3, 4, 5, 6));   // past the edge: zeros
  EXPECT_EQ(violation_of(with("async_commit", "async_wait 1", "barrier block")).kind, ViolationKind::async);
  EXPECT_EQ(violation_of(with("", "async_wait 0", "barrier block")).kind, ViolationKind::async);
  EXPECT_EQ(violation_of(with("async_commit", "async_wait 0", "")).kind, ViolationKind::race);
}

/// Three reads: a second one of the first warp must not hide the other warp's from a writer that its own warp's barrier orders.
TEST(KernelViolation, a_write_after_reads_of_two_warps) {
  std::string reads;
  for (const char* thread : {"i", "i - 4", "i - 1"}) reads += std::string("if ") + thread + " == 0 { %" + std::to_string(reads.size() + 1) + " = load %s[0] : f32\n %a[0] = %" + std::to_string(reads.size() + 1) + " }\n";
  const auto kernel = [&](const std::string& scope) {
    return "kernel @k(out %y: f32[8]) { for b in 1 gpu_block(0) { alloc %s: shared f32[1]\n for i in 8 gpu_thread(0) {\n alloc %a: local f32[1]\n %0 = constant 1 : f32\n %a[0] = %0\n"
           "if i == 0 { %s[0] = %0 }\n barrier block\n" + reads + "barrier " + scope + "\n if i == 0 { %s[0] = %0 }\n %9999 = load %a[0] : f32\n %y[i] = %9999 } } }";
  };
  EXPECT_EQ(violation_of(kernel("warp"), {4}).kind, ViolationKind::race);
  EXPECT_THAT(outputs(kernel("block"), {4}), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1));
}

}  // namespace
}  // namespace plumb::interp
