// Rearrangements that the conformance suite does not see: counts that are read on the host,
// dimensions that the operation's attributes do not have.

#include "firn/tensor/ops/shape/rearrange.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/diagonal.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

TEST(RearrangeTest, RepeatsEachElementAsOftenAsATensorSays) {
  Tensor x = FromValues<float>({1, 2, 3}).SetRequiresGrad();
  const Tensor counts = FromValues<int64_t>({2, 0, 3});
  const Tensor y = RepeatInterleave(x, counts, 0);
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{1, 1, 3, 3, 3}));
  Sum(y).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{2, 0, 3}));
}

TEST(RearrangeTest, RepeatsAllAsOftenAsATensorOfOneElementSays) {
  const Tensor x = Reshape(Arange(4), {2, 2});
  EXPECT_EQ(RepeatInterleave(x, FromValues<int32_t>({2})).ToVector<int64_t>(),
            (std::vector<int64_t>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(RearrangeTest, RefusesRepeatsThatDoNotFit) {
  const Tensor x = Arange(3);
  EXPECT_EQ(ErrorOf([&] {
              RepeatInterleave(x, FromValues<int64_t>({1, 2}), 0);
            }),
            "repeat_interleave: repeats [2] must have 1 or 3 elements for dim 0 of x [3]");
  EXPECT_EQ(ErrorOf([&] {
              RepeatInterleave(x, FromValues<int64_t>({1, -2, 0}), 0);
            }),
            "repeat_interleave: repeats must be at least 0 and few enough, got -2");
  EXPECT_NE(ErrorOf([&] { RepeatInterleave(x, 1.5, 0); }), "");
}

TEST(RearrangeTest, PutsDiagonalsIntoAnyTwoDimensions) {
  const Tensor x = FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = DiagEmbed(x, 1, 0, 2);
  EXPECT_EQ(y.shape(), Shape({4, 2, 4}));
  EXPECT_TRUE(Diagonal(y, 1, 0, 2).Equals(x));
  EXPECT_EQ(Sum(y).Item(), 21);
}

TEST(RearrangeTest, SwapsAxes) {
  EXPECT_EQ(Swapaxes(Reshape(Arange(24), {2, 3, 4}), 0, -1).shape(), Shape({4, 3, 2}));
}

}  // namespace
}  // namespace firn
