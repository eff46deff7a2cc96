// Each bit is its own byte's, by the processor's instruction and by arithmetic.
#include "firn/device/byte_mask.h"

#include <random>

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

TEST(ByteMaskTest, EachBitIsWhetherABytesAreEqual) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Vec<uint8_t> a, b;
    uint64_t want = 0;
    for (int i = 0; i < static_cast<int>(kSimdBytes); ++i) {
      a[i] = static_cast<uint8_t>(random());
      // Others, too, that differ in one bit alone.
      const bool equal = random() % 2 == 0;
      b[i] = static_cast<uint8_t>(equal ? a[i] : a[i] ^ 1u << random() % 8);
      want |= uint64_t{equal} << i;
    }
    EXPECT_EQ(EqualBytes(a, b), want);
    EXPECT_EQ(MaskByProducts(a == b), want);
  }
  const Vec<uint8_t> zeros = {};
  EXPECT_EQ(EqualBytes(zeros, zeros), ~uint64_t{0} >> (64 - kSimdBytes));
  EXPECT_EQ(EqualBytes(zeros, ~zeros), 0u);
}

}  // namespace
}  // namespace firn::inner::internal
