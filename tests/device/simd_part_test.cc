// Registers and parts of them touch no memory beside what is asked for.
#include "firn/device/simd_part.h"

#include <array>

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

template <class T>
class SimdPartTest : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SimdPartTest, Numbers, );

TYPED_TEST(SimdPartTest, FirstLanesComeAndGo) {
  using T = TypeParam;
  constexpr auto kLanes = static_cast<size_t>(kSimdLanes<T>);
  for (size_t n = 1; n <= kLanes; ++n) {
    std::array<T, kLanes + 1> from, to;
    for (size_t i = 0; i <= kLanes; ++i) from[i] = static_cast<T>(i + 1);
    to.fill(T(-1));
    const Vec<T> v = LoadPart(from.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < kLanes; ++i) EXPECT_EQ(v[i], i < n ? from[i] : T(0)) << n;
    StorePart<T>(v + T(10), static_cast<int64_t>(n), to.data());
    for (size_t i = 0; i <= kLanes; ++i) EXPECT_EQ(to[i], i < n ? from[i] + 10 : T(-1)) << n;
  }
}

TYPED_TEST(SimdPartTest, AllLanesComeAndGoFromAnyPlace) {
  using T = TypeParam;
  constexpr auto kLanes = static_cast<size_t>(kSimdLanes<T>);
  std::array<T, kLanes + 2> from, to;
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i + 1);
  to.fill(T(-1));
  StoreAll<T>(LoadAll(from.data() + 1) + T(10), to.data() + 1);
  for (size_t i = 0; i < to.size(); ++i) {
    EXPECT_EQ(to[i], i == 0 || i > kLanes ? T(-1) : from[i] + 10) << i;
  }
}

TYPED_TEST(SimdPartTest, NonTemporalStoresAreStores) {
  using T = TypeParam;
  constexpr auto kLanes = static_cast<size_t>(kSimdLanes<T>);
  alignas(kSimdBytes) std::array<T, 3 * kLanes> to;
  to.fill(T(-1));
  StoreNonTemporal<T>(Vec<T>{} + T(7), to.data() + kLanes);
  for (size_t i = 0; i < to.size(); ++i) EXPECT_EQ(to[i], i / kLanes == 1 ? T(7) : T(-1)) << i;
}

}  // namespace
}  // namespace firn::inner::internal
