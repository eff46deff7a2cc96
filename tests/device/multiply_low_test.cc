#include "firn/device/multiply_low.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

TEST(MultiplyLowTest, ProductsIgnoreTheUpperHalves) {
  Vec<uint64_t> a, b;
  for (int64_t i = 0; i < kSimdLanes<uint64_t>; ++i) {
    a[i] = 0xabcdef0100000000u + 0xffffffffu - static_cast<uint64_t>(i);
    b[i] = 0x1234567800000000u + 0xD2511F53u * static_cast<uint64_t>(i + 1);
  }
  const Vec<uint64_t> product = MultiplyLow32(a, b);
  for (int64_t i = 0; i < kSimdLanes<uint64_t>; ++i) {
    EXPECT_EQ(product[i], (a[i] & 0xffffffffu) * (b[i] & 0xffffffffu));
  }
}

}  // namespace
}  // namespace firn
