// Lanes are read from places in memory; a negative place reads nothing.
#include "firn/device/simd_gather.h"

#include <array>

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

template <class T>
class SimdGatherTest : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SimdGatherTest, Numbers, );

TYPED_TEST(SimdGatherTest, NegativePlacesAreZeros) {
  using T = TypeParam;
  constexpr auto kLanes = static_cast<size_t>(kSimdLanes<T>);
  std::array<T, 40> from;
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i + 1);
  std::array<int32_t, kLanes> at;
  for (size_t i = 0; i < kLanes; ++i) {
    at[i] = i % 3 == 2 ? -1 - static_cast<int32_t>(i) : static_cast<int32_t>(39 - 2 * i);
  }
  const Vec<T> v = Gather(from.data(), at.data());
  for (size_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(v[i], at[i] < 0 ? T(0) : static_cast<T>(at[i] + 1)) << i;
  }
}

}  // namespace
}  // namespace firn::inner::internal
