// The vector types are what their comments promise.
#include "device/simd.h"

#include <cstring>

#include "device/macros.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Square(float x) { return x * x; }

TEST(SimdTest, ChannelBlockIsAPowerOfTwoThatRegistersDivide) {
  EXPECT_TRUE(kChannelBlock == 8 || kChannelBlock == 16);
  EXPECT_EQ(kChannelBlock % kSimdLanes<float>, 0);
  EXPECT_EQ(sizeof(Vec<float>), kSimdBytes);
  EXPECT_EQ(alignof(Vec<double>), kSimdBytes);
  EXPECT_EQ(kSimdLanes<double> * 2, kSimdLanes<float>);
}

TEST(SimdTest, OperatorsWorkByLane) {
  float in[kSimdBytes / sizeof(float) + 1];
  for (int64_t i = 0; i <= kSimdLanes<float>; ++i) in[i] = static_cast<float>(i) - 2;
  Vec<float> v;
  std::memcpy(&v, in + 1, sizeof v);  // not aligned
  const Vec<float> relu = v > 0 ? v * v : Vec<float>{};
  for (int64_t i = 0; i < kSimdLanes<float>; ++i) {
    const float x = static_cast<float>(i) - 1;
    EXPECT_EQ(relu[i], x > 0 ? Square(x) : 0);
  }
}

TEST(SimdTest, ProductsOfLowerHalvesIgnoreTheUpper) {
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
