// The host allocator as one thread sees it.
#include "firn/device/cpu_allocator.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "firn/device/internal/poison.h"
#include "firn/device/testing.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

Block Allocate(size_t bytes, AllocTag tag = AllocTag::kOther) {
  const auto block = CpuAllocator().Allocate(bytes, tag);
  EXPECT_TRUE(block.ok()) << block.status();
  return block.ok() ? *block : Block{};
}

void Free(const Block& block) { CpuAllocator().Free(block); }

AllocatorStats Stats() { return CpuAllocator().stats(); }

TEST(CpuAllocatorTest, BlocksHoldWhatWasAskedAndAreAligned) {
  std::vector<Block> blocks;
  for (size_t bytes = 1; bytes <= 8 * kMiB; bytes = bytes * 5 / 4 + 1) {
    const Block block = Allocate(bytes);
    EXPECT_GE(block.bytes, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 64, 0u);
    std::memset(block.data, 1, bytes);
    blocks.push_back(block);
  }
  for (const Block& block : blocks) Free(block);
}

TEST(CpuAllocatorTest, RoundingWastesAtMostAQuarter) {
  for (size_t bytes = 256; bytes <= 20 * kMiB; bytes = bytes * 9 / 8 + 1) {
    const Block block = Allocate(bytes);
    EXPECT_LE(block.bytes, (bytes + inner::internal::kRedzoneBytes) * 5 / 4) << bytes;
    Free(block);
  }
}

TEST(CpuAllocatorTest, ZeroBytesGivesAnAddressOfItsOwn) {
  const Block a = Allocate(0), b = Allocate(0);
  EXPECT_NE(a.data, nullptr);
  EXPECT_NE(a.data, b.data);
  Free(a);
  Free(b);
}

TEST(CpuAllocatorTest, NullBlocksMayBeFreed) { Free(Block{}); }

TEST(CpuAllocatorTest, SmallBlocksComeBackLastInFirstOut) {
  for (const size_t bytes : {size_t{100}, 5 * kKiB, 60 * kKiB}) {
    const Block a = Allocate(bytes), b = Allocate(bytes);
    Free(a);
    Free(b);
    const Block c = Allocate(bytes), d = Allocate(bytes);
    EXPECT_EQ(c.data, b.data) << bytes;
    EXPECT_EQ(d.data, a.data) << bytes;
    Free(c);
    Free(d);
  }
}

TEST(CpuAllocatorTest, LargeBlocksAreReused) {
  for (const size_t bytes : {100 * kKiB, 3 * kMiB, 9 * kMiB, 100 * kMiB}) {
    const Block a = Allocate(bytes);
    Free(a);
    const int64_t held = Stats().live_bytes + Stats().cached_bytes;
    const Block b = Allocate(bytes);
    EXPECT_EQ(b.data, a.data) << bytes;
    EXPECT_EQ(Stats().live_bytes + Stats().cached_bytes, held);
    Free(b);
  }
}

TEST(CpuAllocatorTest, RandomUseKeepsBlocksApart) {
  struct Held {
    Block block;
    size_t bytes;
    unsigned char fill;
  };
  std::mt19937 random(7);
  std::vector<Held> held;
  const int64_t live_before = Stats().live_bytes;
  for (int step = 0; step < 30000; ++step) {
    if (held.size() < 300 && random() % 5 < 3) {
      const size_t bytes = random() % (random() % 50 == 0 ? 300 * kKiB : 3 * kKiB);
      const Held h{Allocate(bytes), bytes, static_cast<unsigned char>(step)};
      std::memset(h.block.data, h.fill, bytes);
      held.push_back(h);
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const Held h = held.back();
      held.pop_back();
      const auto* data = static_cast<const unsigned char*>(h.block.data);
      for (size_t i = 0; i < h.bytes; i += 1 + i / 16) ASSERT_EQ(data[i], h.fill);
      if (h.bytes > 0) {
        ASSERT_EQ(data[h.bytes - 1], h.fill);
      }
      Free(h.block);
    }
  }
  for (const Held& h : held) Free(h.block);
  EXPECT_EQ(Stats().live_bytes, live_before);
}

TEST(CpuAllocatorTest, RefusesSizesNoMachineHas) {
  for (const size_t bytes : {std::numeric_limits<size_t>::max(),
                             std::numeric_limits<size_t>::max() - 63, size_t{1} << 63}) {
    const auto block = CpuAllocator().Allocate(bytes, AllocTag::kOther);
    EXPECT_EQ(block.status().code(), absl::StatusCode::kInvalidArgument) << bytes;
  }
  const auto block = CpuAllocator().Allocate(size_t{1} << 60, AllocTag::kOther);
  EXPECT_EQ(block.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(CpuAllocatorTest, CountsLiveBytesExactlyByTag) {
  const AllocatorStats before = Stats();
  const Block small = Allocate(1000, AllocTag::kGradient);
  const Block large = Allocate(3 * kMiB, AllocTag::kOptimizer);
  const AllocatorStats during = Stats();
  EXPECT_EQ(during.live(AllocTag::kGradient) - before.live(AllocTag::kGradient),
            static_cast<int64_t>(small.bytes));
  EXPECT_EQ(during.live(AllocTag::kOptimizer) - before.live(AllocTag::kOptimizer),
            static_cast<int64_t>(large.bytes));
  EXPECT_EQ(during.live_bytes - before.live_bytes, static_cast<int64_t>(small.bytes + large.bytes));
  EXPECT_EQ(during.allocations - before.allocations, 2);
  Free(small);
  Free(large);
  const AllocatorStats after = Stats();
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.live_by_tag, before.live_by_tag);
  EXPECT_EQ(after.allocations - before.allocations, 2);
  EXPECT_EQ(after.live_bytes + after.cached_bytes, during.live_bytes + during.cached_bytes);
}

TEST(CpuAllocatorTest, CountsManySmallBlocksExactly) {
  const AllocatorStats before = Stats();
  std::vector<Block> blocks;
  int64_t bytes = 0;
  for (int i = 0; i < 5000; ++i) {
    blocks.push_back(Allocate(static_cast<size_t>(i) * 13, AllocTag::kActivation));
    bytes += static_cast<int64_t>(blocks.back().bytes);
    if (i % 3 == 0) continue;
    bytes -= static_cast<int64_t>(blocks.back().bytes);
    Free(blocks.back());
    blocks.pop_back();
  }
  EXPECT_EQ(Stats().live(AllocTag::kActivation) - before.live(AllocTag::kActivation), bytes);
  EXPECT_EQ(Stats().allocations - before.allocations, 5000);
  for (const Block& block : blocks) Free(block);
  EXPECT_EQ(Stats().live_by_tag, before.live_by_tag);
}

TEST(CpuAllocatorTest, PeakOfLargeBlocksIsExactUpToPendingSmallOnes) {
  CpuAllocator().ResetPeak();
  const int64_t start = Stats().live_bytes;
  EXPECT_EQ(Stats().peak_bytes, start);
  const Block a = Allocate(5 * kMiB, AllocTag::kWorkspace);
  const Block b = Allocate(6 * kMiB, AllocTag::kWorkspace);
  Free(a);
  Free(b);
  const int64_t peak = static_cast<int64_t>(a.bytes + b.bytes);
  EXPECT_NEAR(static_cast<double>(Stats().peak_bytes - start), static_cast<double>(peak), 65536);
  EXPECT_NEAR(static_cast<double>(Stats().peak(AllocTag::kWorkspace)), static_cast<double>(peak),
              65536);
  CpuAllocator().ResetPeak();
  EXPECT_EQ(Stats().peak_bytes, start);
}

TEST(CpuAllocatorTest, PeakOfSmallBlocksLagsByAtMost64KiB) {
  CpuAllocator().ResetPeak();
  const int64_t start = Stats().live_bytes;
  std::vector<Block> blocks;
  int64_t peak = 0;
  for (int i = 0; i < 2000; ++i) blocks.push_back(Allocate(640, AllocTag::kActivation));
  for (const Block& block : blocks) peak += static_cast<int64_t>(block.bytes);
  for (const Block& block : blocks) Free(block);
  EXPECT_LE(Stats().peak_bytes - start, peak);
  EXPECT_GE(Stats().peak_bytes - start, peak - 65536);
}

TEST(CpuAllocatorTest, EmptyCacheReturnsWhatIsFree) {
  const Block kept = Allocate(70 * kKiB), small = Allocate(10);
  Free(Allocate(64 * kMiB));
  EXPECT_GE(Stats().cached_bytes, static_cast<int64_t>(64 * kMiB));
  CpuAllocator().EmptyCache();
  EXPECT_LT(Stats().cached_bytes, static_cast<int64_t>(16 * kMiB));
  std::memset(kept.data, 0, 70 * kKiB);
  std::memset(small.data, 0, 10);
  Free(kept);
  Free(small);
}

class CpuAllocatorLimitTest : public testing::Test {
 protected:
  CpuAllocatorLimitTest() { CpuAllocator().EmptyCache(); }
  ~CpuAllocatorLimitTest() override { CpuAllocator().SetLimit(std::nullopt); }

  // Sets the limit to this much above what the allocator holds from the system now.
  static void AllowMore(size_t bytes) {
    const AllocatorStats now = Stats();
    CpuAllocator().SetLimit(static_cast<size_t>(now.live_bytes + now.cached_bytes) + bytes);
  }
};

TEST_F(CpuAllocatorLimitTest, ErrorSaysWhatWasAskedHeldCachedAndAllowed) {
  const Block parameter = Allocate(12 * kMiB, AllocTag::kParameter);
  CpuAllocator().SetLimit(40 * kMiB);
  const auto block = CpuAllocator().Allocate(30 * kMiB, AllocTag::kActivation);
  ASSERT_EQ(block.status().code(), absl::StatusCode::kResourceExhausted);
  const std::string message(block.status().message());
  for (const char* part : {"out of memory on cpu: asked for 30.00 MiB (31457280 bytes, activation)",
                           "live 12.", "parameter 12.", "cached ", "limit 40.00 MiB"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
  }
  Free(parameter);
}

TEST_F(CpuAllocatorLimitTest, EmptiesTheCacheBeforeItRefuses) {
  AllowMore(40 * kMiB);
  Free(Allocate(30 * kMiB));
  const Block other_shape = Allocate(36 * kMiB);  // fits only once the 30 MiB slab is gone
  EXPECT_TRUE(other_shape);
  Free(other_shape);
}

TEST_F(CpuAllocatorLimitTest, EmptiesTheCacheForSmallBlocksToo) {
  AllowMore(4 * kMiB);
  Free(Allocate(3 * kMiB));
  std::vector<Block> blocks;
  for (int i = 0; i < 150; ++i) blocks.push_back(Allocate(16 * kKiB));  // 2.3 MiB
  for (const Block& block : blocks) Free(block);
}

TEST_F(CpuAllocatorLimitTest, ServesAgainAfterARefusal) {
  AllowMore(20 * kMiB);
  const Block block = Allocate(12 * kMiB);
  EXPECT_FALSE(CpuAllocator().Allocate(12 * kMiB, AllocTag::kOther).ok());
  Free(block);
  Free(Allocate(12 * kMiB));
  CpuAllocator().SetLimit(std::nullopt);
  Free(Allocate(100 * kMiB));
}

TEST_F(CpuAllocatorLimitTest, BelowWhatIsLiveRefusesButTakesNothingAway) {
  const Block block = Allocate(12 * kMiB);
  CpuAllocator().SetLimit(1 * kMiB);
  EXPECT_FALSE(CpuAllocator().Allocate(100 * kKiB, AllocTag::kOther).ok());
  std::memset(block.data, 0, 12 * kMiB);
  Free(block);
}

TEST_F(CpuAllocatorLimitTest, BoundsSmallBlocksToo) {
  AllowMore(1 * kMiB);
  std::vector<Block> blocks;
  absl::Status status;
  while (blocks.size() < 100000) {
    const auto block = CpuAllocator().Allocate(4 * kKiB, AllocTag::kActivation);
    status = block.status();
    if (!block.ok()) break;
    blocks.push_back(*block);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_GE(blocks.size(), 150u);
  for (const Block& block : blocks) Free(block);
}

TEST(ScopedAllocationFailureTest, FailsTheNthAllocationOnly) {
  const ScopedAllocationFailure failure(3);
  std::vector<Block> blocks;
  for (int i = 1; i <= 5; ++i) {
    const auto block = CpuAllocator().Allocate(i % 2 == 0 ? 100 : 100 * kKiB, AllocTag::kOther);
    EXPECT_EQ(block.ok(), i != 3);
    EXPECT_EQ(failure.triggered(), i >= 3);
    if (block.ok()) blocks.push_back(*block);
    if (i == 3) {
      EXPECT_EQ(block.status().code(), absl::StatusCode::kResourceExhausted);
    }
  }
  EXPECT_EQ(failure.allocations(), 5);
  for (const Block& block : blocks) Free(block);
}

TEST(ScopedAllocationFailureTest, KeepsTheBooksAndEndsWithItsScope) {
  const AllocatorStats before = Stats();
  {
    const ScopedAllocationFailure failure(0);
    const Block a = Allocate(100, AllocTag::kGradient);
    EXPECT_EQ(Stats().live(AllocTag::kGradient) - before.live(AllocTag::kGradient),
              static_cast<int64_t>(a.bytes));
    Free(a);
    EXPECT_FALSE(failure.triggered());
    EXPECT_EQ(failure.allocations(), 1);
  }
  { const ScopedAllocationFailure failure(1); }
  Free(Allocate(100));
  EXPECT_EQ(Stats().live_by_tag, before.live_by_tag);
}

TEST(CpuAllocatorPoisonTest, FreshAndFreedMemoryIsNan) {
  if (!inner::internal::kFillsWithNan) GTEST_SKIP() << "needs --config=poison";
  if (inner::internal::kRedzoneBytes != 0) GTEST_SKIP() << "freed memory cannot be read under asan";
  for (const size_t bytes : {size_t{100}, 200 * kKiB}) {
    const Block block = Allocate(bytes);
    auto* const values = static_cast<float*>(block.data);
    EXPECT_NE(values[0], values[0]);
    std::memset(block.data, 0, bytes);
    Free(block);
    for (size_t i = 0; i < bytes / sizeof(float); ++i) ASSERT_NE(values[i], values[i]);
  }
}

TEST(CpuAllocatorAsanDeathTest, FindsUseAfterFreeOverrunAndDoubleFree) {
  if (inner::internal::kRedzoneBytes == 0) GTEST_SKIP() << "needs --config=asan";
  for (const size_t bytes : {size_t{1}, size_t{100}, 64 * kKiB, 300 * kKiB, 9 * kMiB}) {
    const Block block = Allocate(bytes);
    auto* const data = static_cast<volatile char*>(block.data);
    data[bytes - 1] = 1;
    EXPECT_DEATH(data[bytes] = 1, "use-after-poison") << bytes;
    Free(block);
    EXPECT_DEATH(data[0] = 1, "use-after-poison") << bytes;
    EXPECT_DEATH(Free(block), "twice|poison") << bytes;
  }
}

}  // namespace
}  // namespace firn
