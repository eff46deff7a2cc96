// Intermediate results that half types do not hold, on the way to results that they hold: sums of
// means, quotients by small lengths, quotients close to 1.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/index/embedding_bag.h"
#include "firn/tensor/ops/index/scatter.h"
#include "firn/tensor/ops/loss/regression.h"
#include "firn/tensor/ops/loss/similarity.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/moments.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

using Values = std::vector<double>;

Tensor Halves(Values values, const Shape& shape) {
  return FromVector(std::move(values), shape).To(DType::kF16);
}

TEST(HalfRangesTest, MeansOfWhatSumsDoNotHold) {
  const Tensor rows = Halves({4e4, 4e4, 49984}, {3, 1});
  const Tensor indices = FromVector<int64_t>({0, 1, 2, 2}, {2, 2});
  EXPECT_EQ(EmbeddingBag(indices, rows).ToVector<double>(), (Values{4e4, 49984}));
  const Tensor flat = FromVector<int64_t>({0, 1, 2, 2}), offsets = FromVector<int64_t>({0, 2});
  EXPECT_EQ(EmbeddingBag(flat, rows, {.offsets = offsets}).ToVector<double>(),
            (Values{4e4, 49984}));

  const auto mean = [](const Tensor& x) {
    return ScatterReduce(Zeros({1}, x.dtype()), 0, FromVector<int64_t>({0, 0}), x,
                         ScatterReduction::kMean, false);
  };
  EXPECT_EQ(mean(Halves({4e4, 49984}, {2})).Item(), 44992);
  EXPECT_EQ(mean(FromVector<int8_t>({100, 120})).Item<int64_t>(), 110);
}

// 70000 equal elements, a number that f16 does not hold and bf16 rounds.
TEST(HalfRangesTest, SharesOfWhatIsTooManyToCount) {
  constexpr int64_t kMany = 70000;
  const Tensor none = Zeros({kMany}, DType::kI64);
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const auto expect_share = [&](const char* what, const auto& f) {
      Tensor x = Ones({kMany}, dtype).SetRequiresGrad();
      f(x).Backward(Full({1}, 3.0 * kMany / 4, dtype));
      const double dy = Full({1}, 3.0 * kMany / 4, dtype).ToVector<double>()[0];
      const double want = Full({1}, dy / kMany, dtype).ToVector<double>()[0];
      EXPECT_EQ(x.grad().ToVector<double>()[0], want) << what << " " << DTypeName(dtype);
    };
    expect_share("mean", [](const Tensor& x) { return Mean(x, 0, true); });
    expect_share("var_mean", [](const Tensor& x) { return VarMean(x, 0, 1, true).mean; });
    expect_share("amax", [](const Tensor& x) { return Amax(x, 0, true); });
    expect_share("scatter_reduce", [&](const Tensor& x) {
      return ScatterReduce(Zeros({1}, x.dtype()), 0, none, x, ScatterReduction::kAmax);
    });
    expect_share("l1_loss", [](const Tensor& x) { return Reshape(L1Loss(x, ZerosLike(x)), {1}); });

    Tensor rows = Ones({2, 1}, dtype).SetRequiresGrad();
    EmbeddingBag(Reshape(none, {1, kMany}), rows).Backward(Ones({1, 1}, dtype));
    EXPECT_NEAR(rows.grad().ToVector<double>()[0], 1, 0x1p-7) << DTypeName(dtype);
  }
}

TEST(HalfRangesTest, ProductsAndQuotientsThatAreAdded) {
  const Tensor large = Halves({300}, {1}), small = Halves({0x1p-10}, {1});
  EXPECT_EQ(Addcmul(Halves({-6e4}, {1}), large, large).Item(), 3e4);
  EXPECT_EQ(Addcdiv(Halves({1}, {1}), small, Halves({0x1p15}, {1}), 0x1p20).Item(), 1 + 0x1p-5);
}

// Lengths of 5 * 2^-20, below which a gradient of 1 is infinite, and 5 * 2^13, below which one of
// 2^-12 is 0.
TEST(HalfRangesTest, GradientsOfLengths) {
  Tensor x = Halves({0x3p-20, 0x3p13}, {2}).SetRequiresGrad();
  Tensor y = Halves({0x4p-20, 0x4p13}, {2}).SetRequiresGrad();
  Hypot(x, y).Backward(Halves({1, 0x1p-12}, {2}));
  const Values dx = x.grad().ToVector<double>(), dy = y.grad().ToVector<double>();
  EXPECT_NEAR(dx[0], 0.6, 3e-4);
  EXPECT_NEAR(dy[0], 0.8, 4e-4);
  EXPECT_NEAR(dx[1], 0.6 * 0x1p-12, 1e-7);
  EXPECT_NEAR(dy[1], 0.8 * 0x1p-12, 1e-7);
}

TEST(HalfRangesTest, GradientsOfDistancesOfEqualRows) {
  const Tensor other = Ones({1, 4}, DType::kF16);
  Tensor x = Ones({1, 4}, DType::kF16).SetRequiresGrad();
  PairwiseDistance(x, other).Backward();
  for (double v : x.grad().ToVector<double>()) EXPECT_EQ(v, 0.5);
}

TEST(HalfRangesTest, LogitsCloseToZero) {
  for (DType dtype : {DType::kF16, DType::kBF16}) {
    const double unit = dtype == DType::kF16 ? 0x1p-11 : 0x1p-8;
    for (int i = 1; i < 40; ++i) {
      const double p = 0.5 + i * unit, want = std::log(p / (1 - p));
      const double got = Logit(FromValues<double>({p}).To(dtype)).ToVector<double>()[0];
      EXPECT_NEAR(got, want, unit * want) << DTypeName(dtype) << " " << p;
    }
  }
}

}  // namespace
}  // namespace firn
