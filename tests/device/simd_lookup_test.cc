// Lanes are looked up by their last bits.
#include "firn/device/simd_lookup.h"

#include <limits>

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

template <class T>
class SimdLookupTest : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SimdLookupTest, Numbers, );

TYPED_TEST(SimdLookupTest, FindsEntriesByLastBits) {
  using T = TypeParam;
  constexpr int kLanes = static_cast<int>(kSimdLanes<T>), kSize = kTableSize<T>;
  Table<T> squares;
  for (int i = 0; i < kSize; ++i) squares.lanes[i / kLanes][i % kLanes] = static_cast<T>(i * i);
  for (const int base : {0, 7, 31, 1016, -64}) {
    Vec<IntOf<T>> at = {};
    for (int j = 0; j < kLanes; ++j) at[j] = base + 5 * j;
    const Vec<T> found = LookUp<T>(squares, at);
    for (int j = 0; j < kLanes; ++j) {
      const int entry = (base + 5 * j) & (kSize - 1);
      EXPECT_EQ(found[j], static_cast<T>(entry * entry)) << base << " " << j;
    }
  }
}

TYPED_TEST(SimdLookupTest, ProductsOfLanesHaveTheirRests) {
  using T = TypeParam;
  constexpr int kLanes = static_cast<int>(kSimdLanes<T>);
  constexpr T kUnit = std::numeric_limits<T>::epsilon();
  Vec<T> a = {}, b = {};
  for (int j = 0; j < kLanes; ++j) {
    a[j] = T(1) + static_cast<T>(j) * kUnit;
    b[j] = T(1) + T(0x1p-12);
  }
  const Vec<T> product = a * b, rest = ProductRest(a, b, product);
  for (int j = 0; j < kLanes; ++j) {
    const long double exact = static_cast<long double>(a[j]) * static_cast<long double>(b[j]);
    EXPECT_EQ(static_cast<long double>(product[j]) + static_cast<long double>(rest[j]), exact) << j;
  }
}

}  // namespace
}  // namespace firn::inner::internal
