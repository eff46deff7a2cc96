#include "firn/device/simd_sums.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

template <class T>
class SimdSumsTest : public ::testing::Test {};
using Types = ::testing::Types<float, double, int32_t>;
TYPED_TEST_SUITE(SimdSumsTest, Types);

TYPED_TEST(SimdSumsTest, LaneIHasTheSumOfVectorI) {
  using T = TypeParam;
  constexpr int64_t kLanes = kSimdLanes<T>;
  Vec<T> v[kLanes];
  T expected[kLanes] = {};
  for (int64_t i = 0; i < kLanes; ++i) {
    for (int64_t j = 0; j < kLanes; ++j) {
      v[i][j] = static_cast<T>((i * 31 + j * j * 7) % 53);  // their sums are exact
      expected[i] += v[i][j];
    }
  }
  const Vec<T> sums = SumOfLanes<T>(v);
  for (int64_t i = 0; i < kLanes; ++i) EXPECT_EQ(sums[i], expected[i]) << i;
}

TYPED_TEST(SimdSumsTest, LaneIHasTheLargestOfVectorI) {
  using T = TypeParam;
  constexpr int64_t kLanes = kSimdLanes<T>;
  Vec<T> v[kLanes];
  T expected[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    for (int64_t j = 0; j < kLanes; ++j) v[i][j] = static_cast<T>((i * 31 + j * 17) % 53) - 60;
    expected[i] = v[i][0];
    for (int64_t j = 1; j < kLanes; ++j) expected[i] = std::max(expected[i], T{v[i][j]});
  }
  const Vec<T> tops = CombineLanes<T>(v, [](Vec<T> x, Vec<T> y) { return x > y ? x : y; });
  for (int64_t i = 0; i < kLanes; ++i) EXPECT_EQ(tops[i], expected[i]) << i;
}

// Halves are added to halves, as the comment says: 1 is lost beside 2^24, unless it is first added
// to another 1.
TEST(SimdSumsTest, AddsHalvesToHalves) {
  constexpr int64_t kLanes = kSimdLanes<float>;
  Vec<float> v[kLanes] = {};
  v[0][0] = v[0][1] = 1;
  v[0][2] = 0x1p24f;
  v[1][0] = v[1][kLanes / 2] = 1;
  v[1][1] = 0x1p24f;
  const Vec<float> sums = SumOfLanes<float>(v);
  EXPECT_EQ(sums[1], 0x1p24f + 2);
  EXPECT_EQ(sums[0], (1 + 0x1p24f) + 1);
}

}  // namespace
}  // namespace firn::inner::internal
