// What the samples of ctc_loss, which are short enough to write all paths out, do not test: a
// thousand steps in f32, how losses are reduced, one sample without a batch, and gradients out of
// reach.

#include "firn/tensor/ops/loss/ctc_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

Tensor Whole(const std::vector<int64_t>& v) { return FromVector(v); }

// At each time the probabilities of the paths at all places sum to 1, and are minus the loss's
// gradient.
TEST(CtcLossTest, CountsEachPathOnceAtEveryTimeOfLongSequences) {
  RandomGenerator generator(1);
  const int64_t steps = 1000, classes = 20, labels = 200;
  const Tensor logits = Randn({steps, 2, classes}, 0, 3, DType::kF32, {.generator = &generator});
  const Tensor targets = Randint(1, classes, {2, labels}, DType::kI32, {.generator = &generator});
  std::vector<std::vector<double>> losses;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Tensor x = Cast(LogSoftmax(logits, -1), DType::kF32);
    x = Cast(x, dtype);
    x.SetRequiresGrad();
    const Tensor loss = CtcLoss(x, targets, Whole({steps, 900}), Whole({labels, 150}),
                                {.reduction = Reduction::kNone});
    losses.push_back(loss.Detach().ToVector<double>());
    const Tensor at_times = Sum(Grad(Sum(loss), x), -1);
    const std::vector<double> sums = at_times.ToVector<double>();
    for (size_t t = 0; t < 1000; ++t) {
      EXPECT_NEAR(sums[2 * t], -1, 1e-5) << t;
      EXPECT_NEAR(sums[2 * t + 1], t < 900 ? -1 : 0, 1e-5) << t;
    }
  }
  // Both compute the same loss from equal numbers; f32 then rounds it.
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(static_cast<float>(losses[0][n]), static_cast<float>(losses[1][n]));
  }
}

TEST(CtcLossTest, DividesTheMeanByTheLengthsOfTargets) {
  const Tensor x = LogSoftmax(Randn({6, 3, 4}, DType::kF64), -1);
  const Tensor targets = FromVector(std::vector<int64_t>{1, 2, 3, 1, 0, 0, 0, 0, 0}, Shape({3, 3}));
  const Tensor inputs = Whole({6, 5, 6}), lengths = Whole({3, 1, 0});
  const std::vector<double> each =
      CtcLoss(x, targets, inputs, lengths, {.reduction = Reduction::kNone}).ToVector<double>();
  const double mean = CtcLoss(x, targets, inputs, lengths).Item<double>();
  EXPECT_NEAR(mean, (each[0] / 3 + each[1] + each[2]) / 3, 1e-12);
  EXPECT_NEAR(CtcLoss(x, targets, inputs, lengths, {.reduction = Reduction::kSum}).Item<double>(),
              each[0] + each[1] + each[2], 1e-12);
}

TEST(CtcLossTest, TakesOneSampleWithoutABatch) {
  const Tensor x = LogSoftmax(Randn({6, 4}, DType::kF64), -1);
  const Tensor alone = CtcLoss(x, Whole({1, 3, 3}), Full({}, 5, DType::kI64),
                               Full({}, 2, DType::kI64), {.reduction = Reduction::kNone});
  EXPECT_EQ(alone.shape(), Shape());
  const Tensor batch = CtcLoss(Unsqueeze(x, 1), Whole({1, 3}), Whole({5}), Whole({2}),
                               {.reduction = Reduction::kNone});
  EXPECT_EQ(alone.Item<double>(), batch.ToVector<double>()[0]);
}

TEST(CtcLossTest, HasNoGradientOutOfReachUnlessAsked) {
  const Tensor targets = Whole({1, 1});
  for (const bool zero : {false, true}) {
    Tensor x = LogSoftmax(Randn({2, 1, 3}, DType::kF64), -1).Detach();
    x.SetRequiresGrad();
    const Tensor loss = CtcLoss(x, targets, Whole({2}), Whole({2}),
                                {.reduction = Reduction::kSum, .zero_infinity = zero});
    EXPECT_EQ(loss.Detach().Item<double>(), zero ? 0 : INFINITY);
    const std::vector<double> dx = Grad(loss, x).ToVector<double>();
    EXPECT_EQ(std::isnan(dx[1]), !zero);
    if (zero) {
      EXPECT_EQ(dx, std::vector<double>(6, 0.0));
    }
  }
}

}  // namespace
}  // namespace firn
