// Cutting and merging of large blocks.
#include "firn/device/internal/large_pool.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "firn/device/internal/poison.h"
#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kKiB = 1024;

class LargePoolTest : public testing::Test {
 protected:
  LargePool::Piece Take(size_t bytes) {
    const auto piece = pool_.Take(bytes);
    EXPECT_TRUE(piece.has_value());
    return *piece;
  }
  static char* End(const LargePool::Piece& piece) {
    return static_cast<char*>(piece.data) + piece.bytes;
  }

  HostSlabs source_;
  LargePool pool_{source_, 8 * kMiB};
};

TEST_F(LargePoolTest, SplitsASlabIntoNeighbours) {
  const auto a = Take(1 * kMiB), b = Take(2 * kMiB), c = Take(100 * kKiB + 1);
  EXPECT_EQ(source_.mapped_bytes(), 8 * kMiB);
  EXPECT_EQ(a.bytes, 1 * kMiB);
  EXPECT_EQ(End(a), b.data);
  EXPECT_EQ(End(b), c.data);
  EXPECT_EQ(c.bytes, 100 * kKiB + LargePool::kUnit);
}

TEST_F(LargePoolTest, MergesWithBothNeighbours) {
  const auto a = Take(2 * kMiB), b = Take(2 * kMiB), c = Take(2 * kMiB), d = Take(2 * kMiB);
  pool_.Give(b.node);
  pool_.Give(d.node);
  pool_.Give(c.node);  // joins b, c and d
  const auto joined = Take(6 * kMiB);
  EXPECT_EQ(joined.data, b.data);
  EXPECT_EQ(joined.bytes, 6 * kMiB);
  EXPECT_EQ(source_.mapped_bytes(), 8 * kMiB);
  pool_.Give(a.node);
  pool_.Give(joined.node);
  EXPECT_EQ(Take(8 * kMiB).data, a.data);
}

TEST_F(LargePoolTest, TakesTheSmallestPieceThatFits) {
  const auto big = Take(3 * kMiB);
  const auto wall1 = Take(64 * kKiB);
  const auto fits = Take(1 * kMiB + 8 * kKiB);
  const auto wall2 = Take(64 * kKiB);
  const auto tight = Take(1 * kMiB + 4 * kKiB);
  const auto wall3 = Take(64 * kKiB);
  const auto small = Take(1 * kMiB - 4 * kKiB);
  const auto wall4 = Take(64 * kKiB);
  for (const auto& piece : {small, tight, fits, big}) pool_.Give(piece.node);
  EXPECT_EQ(Take(1 * kMiB).data, tight.data);
  EXPECT_EQ(Take(1 * kMiB).data, fits.data);
  EXPECT_EQ(Take(1 * kMiB - 4 * kKiB).data, small.data);
  EXPECT_NE(wall1.data, wall2.data);
  EXPECT_NE(wall3.data, wall4.data);
}

TEST_F(LargePoolTest, ReusesTheWarmestOfEqualPieces) {
  const auto a = Take(1 * kMiB), wall = Take(64 * kKiB), b = Take(1 * kMiB);
  const auto end = Take(64 * kKiB);
  pool_.Give(a.node);
  pool_.Give(b.node);
  EXPECT_EQ(Take(1 * kMiB).data, b.data);
  EXPECT_EQ(Take(1 * kMiB).data, a.data);
  EXPECT_LT(wall.data, end.data);
}

TEST_F(LargePoolTest, KeepsASmallRemainderWithTheBlock) {
  const auto whole = Take(8 * kMiB - 512);
  EXPECT_EQ(whole.bytes, 8 * kMiB);
}

TEST_F(LargePoolTest, GivesAHugeRequestItsOwnSlab) {
  const auto huge = Take(50 * kMiB + 1);
  EXPECT_EQ(source_.mapped_bytes(), 52 * kMiB);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(huge.data) % kHugePageBytes, 0u);
  pool_.Give(huge.node);
  pool_.Trim();
  EXPECT_EQ(source_.mapped_bytes(), 0u);
}

TEST_F(LargePoolTest, TrimKeepsSlabsInUse) {
  const auto a = Take(5 * kMiB), b = Take(5 * kMiB);  // a slab each
  EXPECT_EQ(source_.mapped_bytes(), 16 * kMiB);
  pool_.Give(a.node);
  pool_.Trim();
  EXPECT_EQ(source_.mapped_bytes(), 8 * kMiB);
  pool_.Give(b.node);
  pool_.Trim();
  EXPECT_EQ(source_.mapped_bytes(), 0u);
}

TEST_F(LargePoolTest, GivesFreeSlabsBackBeforeItTakesALargerOne) {
  const auto kept = Take(1 * kMiB), small = Take(8 * kMiB);
  pool_.Give(small.node);
  Take(20 * kMiB);
  EXPECT_EQ(source_.mapped_bytes(), (8 + 20) * kMiB);  // kept's slab and the new one
  pool_.Give(kept.node);
}

TEST_F(LargePoolTest, MakesDoWithASmallerSlabUnderALimit) {
  source_.set_limit(3 * kMiB);
  const auto piece = Take(1 * kMiB);
  EXPECT_EQ(source_.mapped_bytes(), 1 * kMiB);
  EXPECT_FALSE(pool_.Take(2 * kMiB + 1).has_value());
  pool_.Give(piece.node);
}

TEST_F(LargePoolTest, RandomUseNeverOverlapsAndMergesCompletely) {
  std::mt19937 random(1);
  std::map<char*, LargePool::Piece> live;  // by address
  for (int step = 0; step < 20000; ++step) {
    if (live.size() < 60 && random() % 2 == 0) {
      const size_t bytes = 64 * kKiB + random() % (random() % 8 == 0 ? 6 * kMiB : 300 * kKiB);
      const auto piece = Take(bytes);
      ASSERT_GE(piece.bytes, bytes);
      const auto [it, inserted] = live.emplace(static_cast<char*>(piece.data), piece);
      ASSERT_TRUE(inserted);
      if (it != live.begin()) {
        ASSERT_LE(End(std::prev(it)->second), it->first);
      }
      if (std::next(it) != live.end()) {
        ASSERT_LE(End(piece), std::next(it)->first);
      }
    } else if (!live.empty()) {
      const auto it = std::next(live.begin(), static_cast<int64_t>(random() % live.size()));
      pool_.Give(it->second.node);
      live.erase(it);
    }
  }
  for (const auto& [address, piece] : live) pool_.Give(piece.node);
  pool_.Trim();
  EXPECT_EQ(source_.mapped_bytes(), 0u);
}

// A free piece holds zeros only if its pages are new.
TEST_F(LargePoolTest, TrimPagesDiscardsTheHugePagesThatNobodyUses) {
  const auto a = Take(1 * kMiB), b = Take(6 * kMiB), c = Take(1 * kMiB);  // all of a slab
  Permit(a.data, 8 * kMiB);
  std::memset(a.data, 1, 8 * kMiB);
  pool_.Give(b.node);
  pool_.Trim();
  const char* const all = static_cast<const char*>(a.data);
  EXPECT_EQ(all[3 * kMiB], 1);
  pool_.TrimPages();
  EXPECT_EQ(source_.mapped_bytes(), 8 * kMiB);
  for (size_t at = 0; at < 8 * kMiB; at += kPageBytes) {
    ASSERT_EQ(all[at], at < 2 * kMiB || at >= 6 * kMiB ? 1 : 0) << at;
  }
  EXPECT_EQ(Take(6 * kMiB).data, b.data);
  pool_.Give(c.node);
  pool_.TrimPages();  // a and what was b are in use
  EXPECT_EQ(all[8 * kMiB - 1], 1);
}

using LargePoolDeathTest = LargePoolTest;

TEST_F(LargePoolDeathTest, NoticesADoubleFree) {
  const auto piece = Take(1 * kMiB);
  pool_.Give(piece.node);
  EXPECT_DEATH(pool_.Give(piece.node), "given back twice");
}

}  // namespace
}  // namespace firn::inner::internal
