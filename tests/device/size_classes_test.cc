// The sizes small blocks are rounded to.
#include "firn/device/internal/size_classes.h"

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

TEST(SizeClassesTest, EachSizeGetsTheSmallestClassThatHoldsIt) {
  for (size_t bytes = 1; bytes <= kMaxSmallBytes; ++bytes) {
    const uint32_t c = SizeClassOf(bytes);
    ASSERT_LT(c, static_cast<uint32_t>(kNumSizeClasses));
    ASSERT_GE(kSizeClassBytes[c], bytes);
    if (c > 0) {
      ASSERT_LT(kSizeClassBytes[c - 1], bytes);
    }
  }
  EXPECT_EQ(SizeClassOf(0), 0u);
}

TEST(SizeClassesTest, StepsAreMultiplesOfTheAlignmentAndAtMostAQuarter) {
  EXPECT_EQ(kSizeClassBytes.front(), 64u);
  EXPECT_EQ(kSizeClassBytes.back(), kMaxSmallBytes);
  for (size_t c = 0; c < kSizeClassBytes.size(); ++c) {
    EXPECT_EQ(kSizeClassBytes[c] % kBlockAlignment, 0u);
    if (c >= 4) {
      EXPECT_LE(kSizeClassBytes[c], kSizeClassBytes[c - 1] + kSizeClassBytes[c - 1] / 4);
    }
  }
}

TEST(SizeClassesTest, MagazinesHoldAtMostHalfAMebibyte) {
  for (uint32_t c = 0; c < static_cast<uint32_t>(kNumSizeClasses); ++c) {
    EXPECT_GE(MagazineCapacity(c), 8u);
    EXPECT_LE(MagazineCapacity(c), kMaxMagazine);
    EXPECT_LE(MagazineCapacity(c) * kSizeClassBytes[c], 512u * 1024);
  }
}

}  // namespace
}  // namespace firn::inner::internal
