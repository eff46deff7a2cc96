// Squares of numbers are turned over, and nothing beside them is written.
#include "firn/device/simd_transpose.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace firn::inner::internal {
namespace {

template <class T>
class SimdTransposeTest : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SimdTransposeTest, Numbers, );

TYPED_TEST(SimdTransposeTest, RowsBecomeColumns) {
  using T = TypeParam;
  constexpr auto kSide = static_cast<size_t>(kSimdLanes<T>), kStep = kSide + 1;
  std::vector<T> from(kSide * kStep), to(kSide * kStep, T(-1));
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i);
  TransposeSquare<T>([&](int i) { return &from[static_cast<size_t>(i) * kStep]; },
                     [&](int i) { return &to[static_cast<size_t>(i) * kStep]; });
  for (size_t i = 0; i < kSide; ++i) {
    for (size_t j = 0; j < kSide; ++j) EXPECT_EQ(to[i * kStep + j], from[j * kStep + i]);
    EXPECT_EQ(to[i * kStep + kSide], T(-1));
  }
}

}  // namespace
}  // namespace firn::inner::internal
