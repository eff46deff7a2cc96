// Rearrangements that the conformance suite does not test: counts that are read on the host,
// dimensions that the operation's attributes do not have.

#include "firn/tensor/ops/shape/rearrange.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
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

// Windows add up a row of elements at a time, as many as divide them and their steps: with and
// without rows, gaps and elements that no window has, along each dimension.
TEST(RearrangeTest, AddsUpTheGradientsOfWindows) {
  const struct {
    int64_t size, step;
  } cases[] = {{6, 4}, {4, 4}, {4, 6}, {5, 3}, {8, 2}, {17, 40}, {16, 1}};
  for (const auto& c : cases) {
    for (const int dim : {0, 1, 2}) {
      SCOPED_TRACE(::testing::Message() << c.size << " every " << c.step << " along " << dim);
      int64_t sizes[] = {2, 3, 2};
      sizes[dim] = 17;
      const int64_t behind = dim == 2 ? 1 : dim == 1 ? sizes[2] : sizes[1] * sizes[2];
      const Tensor x = Zeros({sizes[0], sizes[1], sizes[2]}).SetRequiresGrad();
      const Tensor y = SlidingWindow(x, dim, c.size, c.step);
      const Tensor dy = Reshape(Arange(y.num_elements()), y.shape()).To(DType::kF32);
      std::vector<float> want(static_cast<size_t>(x.num_elements()));
      for (int64_t at = 0; at < y.num_elements(); ++at) {
        const int64_t i = at % c.size, inner = at / c.size % behind;
        const int64_t w = at / c.size / behind % y.size(dim);
        const int64_t outer = at / c.size / behind / y.size(dim);
        want[static_cast<size_t>((outer * 17 + w * c.step + i) * behind + inner)] +=
            static_cast<float>(at);
      }
      const Tensor dx = Grad(y, x, {.seeds = {dy}});
      EXPECT_EQ(dx.ToVector<float>(), want);
    }
  }
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
