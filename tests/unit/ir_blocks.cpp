// Large blocks come back for the next tensor of about their size; what is kept has a bound.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "ir/support/blocks.h"

namespace plumb::ir {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool keeps = false;  // so that the sanitizer sees each block's end
#else
constexpr bool keeps = true;
#endif

class Blocks : public ::testing::Test {
 protected:
  void SetUp() override { keep_blocks(0), keep_blocks(64 << 20); }
  void TearDown() override { keep_blocks(std::size_t{1} << 30); }
};

TEST_F(Blocks, AreAlignedAndHoldWhatIsWritten) {
  for (const std::size_t bytes : {0ul, 1ul, 64ul, 4097ul, (128ul << 10) - 1, 128ul << 10, (4ul << 20) + 5, (9ul << 20) + 1}) {
    const auto block = take_block(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % 64, 0u);
    std::memset(block.get(), 7, bytes);
  }
}

TEST_F(Blocks, ALargeOneComesBack) {
  auto block = take_block(1 << 20);
  const void* where = block.get();
  const auto reused = block_counts().reused;
  block.reset();
  EXPECT_EQ(block_counts().kept_bytes, keeps ? 1u << 20 : 0u);
  block = take_block((1 << 20) - 1000);  // a size that gets the same block
  if (keeps) {
    EXPECT_EQ(block.get(), where);
  }
  EXPECT_EQ(block_counts().reused, reused + (keeps ? 1 : 0));
  EXPECT_EQ(block_counts().kept_bytes, 0u);
}

TEST_F(Blocks, TwoInUseAreTwo) {
  const auto a = take_block(1 << 20), b = take_block(1 << 20);
  EXPECT_NE(a.get(), b.get());
}

TEST_F(Blocks, SmallOnesAreNotKept) {
  take_block((64 << 10)).reset();
  EXPECT_EQ(block_counts().kept_bytes, 0u);
}

TEST_F(Blocks, NoMoreIsKeptThanTheBound) {
  std::vector<std::shared_ptr<std::byte>> blocks;
  for (int i = 0; i < 20; ++i) blocks.push_back(take_block(8 << 20));
  blocks.clear();
  EXPECT_EQ(block_counts().kept_bytes, keeps ? 64u << 20 : 0u);
  take_block(65 << 20).reset();  // larger than the bound: never kept, and nothing is dropped for it
  EXPECT_EQ(block_counts().kept_bytes, keeps ? 64u << 20 : 0u);
  keep_blocks(10 << 20);
  EXPECT_EQ(block_counts().kept_bytes, keeps ? 8u << 20 : 0u);
}

TEST_F(Blocks, WhatCannotBeHadIsNull) {
  take_block(8 << 20).reset();
  EXPECT_EQ(take_block(SIZE_MAX), nullptr);
  EXPECT_EQ(take_block(std::size_t{1} << 61), nullptr);
  EXPECT_EQ(block_counts().kept_bytes, 0u) << "what was kept is given up before memory is said to be out";
}

}  // namespace
}  // namespace plumb::ir
