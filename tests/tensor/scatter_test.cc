// ScatterReduce with each of its operations: sums, means, and results in which x does not count;
// gradients at ties and zeros, which differences do not find.

#include "firn/tensor/ops/index/scatter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/gradcheck.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

const std::vector<int64_t> kIndices = {0, 0, 2};

Tensor Reduced(const Tensor& x, ScatterReduction reduce, bool include_self) {
  return ScatterReduce(x, 0, FromVector(kIndices), FromValues<float>({3, 5, -4}), reduce,
                       include_self);
}

TEST(ScatterTest, BringsElementsTogetherWithAndWithoutX) {
  const Tensor x = FromValues<float>({10, 20, 30});
  const auto got = [&](ScatterReduction reduce, bool include_self) {
    return Reduced(x, reduce, include_self).ToVector<float>();
  };
  using V = std::vector<float>;
  EXPECT_EQ(got(ScatterReduction::kSum, true), (V{18, 20, 26}));
  EXPECT_EQ(got(ScatterReduction::kSum, false), (V{8, 20, -4}));
  EXPECT_EQ(got(ScatterReduction::kProd, true), (V{150, 20, -120}));
  EXPECT_EQ(got(ScatterReduction::kProd, false), (V{15, 20, -4}));
  EXPECT_EQ(got(ScatterReduction::kMean, true), (V{6, 20, 13}));
  EXPECT_EQ(got(ScatterReduction::kMean, false), (V{4, 20, -4}));
  EXPECT_EQ(got(ScatterReduction::kAmax, true), (V{10, 20, 30}));
  EXPECT_EQ(got(ScatterReduction::kAmax, false), (V{5, 20, -4}));
  EXPECT_EQ(got(ScatterReduction::kAmin, true), (V{3, 20, -4}));
  EXPECT_EQ(got(ScatterReduction::kAmin, false), (V{3, 20, -4}));
}

TEST(ScatterTest, RoundsMeansOfIntegersDown) {
  const Tensor x = FromValues<int8_t>({0, 1}), source = FromValues<int8_t>({-1, 0, 3});
  const Tensor y =
      ScatterReduce(x, 0, FromValues<int64_t>({0, 0, 1}), source, ScatterReduction::kMean, false);
  EXPECT_EQ(y.ToVector<int>(), (std::vector<int>{-1, 3}));
}

TEST(ScatterTest, HasGradientsInEveryWay) {
  for (int r = 0; r < 5; ++r) {
    for (bool include_self : {false, true}) {
      const auto f = [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{ScatterReduce(in[0], 0, FromVector(kIndices), in[1],
                                                 static_cast<ScatterReduction>(r), include_self)};
      };
      Tensor x = FromValues<double>({1.5, 2.5, -3.25}), source = FromValues<double>({2, -1.25, 4});
      x.SetRequiresGrad();
      source.SetRequiresGrad();
      const absl::Status status = GradCheck(f, {x, source});
      EXPECT_TRUE(status.ok()) << r << include_self << ": " << status;
    }
  }
}

TEST(ScatterTest, SharesTheGradientOfAnExtremeAmongEquals) {
  Tensor x = FromValues<float>({5, 0}).SetRequiresGrad();
  Tensor source = FromValues<float>({5, 5, 2}).SetRequiresGrad();
  Sum(ScatterReduce(x, 0, FromValues<int64_t>({0, 0, 0}), source, ScatterReduction::kAmax))
      .Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{1.0f / 3, 1}));
  EXPECT_EQ(source.grad().ToVector<float>(), (std::vector<float>{1.0f / 3, 1.0f / 3, 0}));
}

TEST(ScatterTest, HasTheGradientOfProductsWithZeros) {
  Tensor x = FromValues<float>({2, 0, 3}).SetRequiresGrad();
  Tensor source = FromValues<float>({0, 5, 0, 0}).SetRequiresGrad();
  Sum(ScatterReduce(x, 0, FromValues<int64_t>({0, 0, 1, 2}), source, ScatterReduction::kProd))
      .Backward();
  // 2 * 0 * 5: only the zero has a gradient; 0 * 0: neither has; 3 * 0: the zero has.
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(source.grad().ToVector<float>(), (std::vector<float>{10, 0, 0, 3}));
}

TEST(ScatterTest, WritesNumbersAndTheFirstElementsOfALargerSource) {
  const Tensor x = FromVector<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  const Tensor indices = FromVector<int64_t>({2, 0}, {2, 1});
  EXPECT_EQ(Scatter(x, 1, indices, 9).ToVector<float>(), (std::vector<float>{0, 1, 9, 9, 4, 5}));
  const Tensor source = FromVector<float>({6, 7, 8, 9}, {2, 2});
  EXPECT_EQ(Scatter(x, 1, indices, source).ToVector<float>(),
            (std::vector<float>{0, 1, 6, 8, 4, 5}));
  EXPECT_EQ(
      ErrorOf([&] {
        Scatter(x, 1, FromVector<int64_t>({0, 0, 0, 0}, {2, 2}), FromVector<float>({1, 2}, {2, 1}));
      }),
      "scatter: indices [2, 2] are more than source [2, 1] in dim 1");
}

}  // namespace
}  // namespace firn
