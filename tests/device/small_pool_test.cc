// Spans and slabs of small blocks.
#include "firn/device/internal/small_pool.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

constexpr uint32_t kClass64 = 0;
const uint32_t kClass64K = SizeClassOf(64 * 1024);

std::vector<void*> Take(SmallPool& pool, uint32_t size_class, uint32_t count) {
  std::vector<void*> blocks(count);
  blocks.resize(pool.Take(size_class, blocks.data(), count));
  return blocks;
}

void Give(SmallPool& pool, uint32_t size_class, const std::vector<void*>& blocks) {
  pool.Give(size_class, blocks.data(), static_cast<uint32_t>(blocks.size()));
}

TEST(SmallPoolTest, BlocksDoNotOverlapAndAreAligned) {
  HostSlabs source;
  SmallPool pool(source);
  for (uint32_t c = 0; c < static_cast<uint32_t>(kNumSizeClasses); ++c) {
    const std::vector<void*> blocks = Take(pool, c, 100);
    ASSERT_EQ(blocks.size(), 100u);
    std::set<uintptr_t> starts;
    for (void* block : blocks) starts.insert(reinterpret_cast<uintptr_t>(block));
    ASSERT_EQ(starts.size(), 100u);
    uintptr_t end = 0;
    for (const uintptr_t start : starts) {
      EXPECT_EQ(start % kBlockAlignment, 0u);
      EXPECT_GE(start, end);
      end = start + kSizeClassBytes[c];
    }
  }
}

TEST(SmallPoolTest, GivesOutTheBlockReturnedLast) {
  HostSlabs source;
  SmallPool pool(source);
  const std::vector<void*> blocks = Take(pool, kClass64, 10);
  Give(pool, kClass64, {blocks[3], blocks[7]});
  EXPECT_EQ(Take(pool, kClass64, 2), (std::vector<void*>{blocks[7], blocks[3]}));
}

TEST(SmallPoolTest, MemoryMovesBetweenClassesOnceASpanIsFree) {
  HostSlabs source;
  SmallPool pool(source);
  constexpr uint32_t kSlabOf64 = kHugePageBytes / 64;
  const std::vector<void*> small = Take(pool, kClass64, kSlabOf64);
  EXPECT_EQ(source.mapped_bytes(), kHugePageBytes);
  Give(pool, kClass64, small);
  const std::vector<void*> large = Take(pool, kClass64K, kHugePageBytes / (64 * 1024));
  EXPECT_EQ(large.size(), 32u);
  EXPECT_EQ(source.mapped_bytes(), kHugePageBytes);  // the same slab
}

TEST(SmallPoolTest, TrimReturnsOnlySlabsWithoutABlockInUse) {
  HostSlabs source;
  SmallPool pool(source);
  std::vector<void*> blocks = Take(pool, kClass64K, 64);  // two slabs
  EXPECT_EQ(source.mapped_bytes(), 2 * kHugePageBytes);
  void* const kept = blocks.back();
  blocks.pop_back();
  Give(pool, kClass64K, blocks);
  pool.Trim();
  EXPECT_EQ(source.mapped_bytes(), kHugePageBytes);
  Give(pool, kClass64K, {kept});
  pool.Trim();
  EXPECT_EQ(source.mapped_bytes(), 0u);
  EXPECT_EQ(Take(pool, kClass64K, 1).size(), 1u);  // and starts anew
}

TEST(SmallPoolTest, TrimReturnsASlabOfWhichLittleWasEverUsed) {
  HostSlabs source;
  SmallPool pool(source);
  Give(pool, kClass64, Take(pool, kClass64, 1));
  EXPECT_EQ(source.mapped_bytes(), kHugePageBytes);
  pool.Trim();
  EXPECT_EQ(source.mapped_bytes(), 0u);
}

TEST(SmallPoolTest, TakesAsMuchAsTheLimitAllows) {
  HostSlabs source;
  source.set_limit(size_t{600} * 1024);  // two spans of 256 KiB
  SmallPool pool(source);
  const std::vector<void*> blocks = Take(pool, kClass64K, 20);
  EXPECT_EQ(blocks.size(), 8u);
  EXPECT_EQ(source.mapped_bytes(), size_t{512} * 1024);
  EXPECT_TRUE(Take(pool, kClass64K, 1).empty());
  EXPECT_TRUE(Take(pool, kClass64, 1).empty());
  Give(pool, kClass64K, blocks);
  EXPECT_EQ(Take(pool, kClass64, 1).size(), 1u);
}

TEST(SmallPoolDeathTest, NoticesForeignAndDoubleFrees) {
  HostSlabs source;
  SmallPool pool(source);
  int local = 0;
  EXPECT_DEATH(Give(pool, kClass64, {&local}), "did not come from");
  const std::vector<void*> blocks = Take(pool, kClass64, 1);
  Give(pool, kClass64, blocks);
  EXPECT_DEATH(Give(pool, kClass64, blocks), "given back twice");
}

}  // namespace
}  // namespace firn::inner::internal
