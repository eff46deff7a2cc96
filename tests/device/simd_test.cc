// The vector types are what their comments promise.
#include "firn/device/simd.h"

#include <cstring>

#include "firn/device/macros.h"
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

}  // namespace
}  // namespace firn
