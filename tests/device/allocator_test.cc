// Statistics as text.
#include "firn/device/allocator.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace firn {
namespace {

TEST(AllocatorTest, EachTagHasItsOwnName) {
  std::set<std::string> names;
  for (size_t i = 0; i < kNumAllocTags; ++i) {
    names.insert(AllocTagName(static_cast<AllocTag>(i)));
  }
  EXPECT_EQ(names.size(), kNumAllocTags);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(AllocatorTest, FormatsBytesWithBinaryUnits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(int64_t{3} << 20), "3.00 MiB");
  EXPECT_EQ(FormatBytes(int64_t{5} << 40), "5.00 TiB");
  EXPECT_EQ(FormatBytes(int64_t{5000} << 40), "5000.00 TiB");
  EXPECT_EQ(FormatBytes(-2048), "-2.00 KiB");
}

TEST(AllocatorTest, TableHasTotalsAndTheTagsInUse) {
  AllocatorStats stats;
  stats.live_bytes = 2048;
  stats.peak_bytes = 4096;
  stats.cached_bytes = 1024;
  stats.allocations = 7;
  stats.live_by_tag[static_cast<size_t>(AllocTag::kGradient)] = 2048;
  stats.peak_by_tag[static_cast<size_t>(AllocTag::kWorkspace)] = 4096;
  EXPECT_EQ(stats.ToString(),
            "memory               live         peak\n"
            "total            2.00 KiB     4.00 KiB\n"
            "gradient         2.00 KiB          0 B\n"
            "workspace             0 B     4.00 KiB\n"
            "cached 1.00 KiB, limit none, 7 allocations\n");
  EXPECT_EQ(stats.live(AllocTag::kGradient), 2048);
  EXPECT_EQ(stats.peak(AllocTag::kWorkspace), 4096);
  stats.limit_bytes = 1 << 20;
  EXPECT_NE(stats.ToString().find("limit 1.00 MiB"), std::string::npos);
}

TEST(AllocatorTest, DefaultBlockIsNull) {
  EXPECT_FALSE(Block{});
  int x = 0;
  EXPECT_TRUE((Block{.data = &x}));
}

}  // namespace
}  // namespace firn
