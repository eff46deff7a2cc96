// Lanes are looked up by their last five bits.
#include "device/simd_lookup.h"

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

constexpr int kLanes = static_cast<int>(kSimdLanes<float>);

TEST(SimdLookupTest, FindsEntriesByLastBits) {
  Table squares;
  for (int i = 0; i < kTableSize; ++i) {
    squares.lanes[i / kLanes][i % kLanes] = static_cast<float>(i * i);
  }
  for (const int base : {0, 7, 31, 1016, -64}) {
    Vec<int32_t> at = {};
    for (int j = 0; j < kLanes; ++j) at[j] = base + 5 * j;
    const Vec<float> found = LookUp(squares, at);
    for (int j = 0; j < kLanes; ++j) {
      const int entry = (base + 5 * j) & 31;
      EXPECT_EQ(found[j], static_cast<float>(entry * entry)) << base << " " << j;
    }
  }
}

TEST(SimdLookupTest, ProductsOfLanesHaveTheirRests) {
  Vec<float> a = {}, b = {};
  for (int j = 0; j < kLanes; ++j) {
    a[j] = 1.0f + static_cast<float>(j) * 0x1p-23f;
    b[j] = 1.0f + 0x1p-12f;
  }
  const Vec<float> product = a * b, rest = ProductRest(a, b, product);
  for (int j = 0; j < kLanes; ++j) {
    const double exact = static_cast<double>(a[j]) * static_cast<double>(b[j]);
    EXPECT_EQ(static_cast<double>(product[j]) + static_cast<double>(rest[j]), exact) << j;
  }
}

}  // namespace
}  // namespace firn::inner::internal
