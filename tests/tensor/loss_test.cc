// What losses do beyond the operations that the conformance suite checks: probabilities as targets,
// and what a user sees when something is wrong.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/loss/similarity.h"
#include "tests/error_of.h"

namespace firn {
namespace {

const std::vector<double> kLogits = {0.5, -1.0, 2.0, 1.5, 0.0, -0.5};
const std::vector<double> kTarget = {0.2, 0.3, 0.5, 1.0, 0.0, 0.0};

Tensor Matrix(std::vector<double> v) { return FromVector(std::move(v), Shape({2, 3})); }

// -sum_j q_j log softmax(row)_j.
double LossOfRow(const double* x, const double* q) {
  double sum = 0, loss = 0;
  for (int j = 0; j < 3; ++j) sum += std::exp(x[j]);
  for (int j = 0; j < 3; ++j) loss -= q[j] * (x[j] - std::log(sum));
  return loss;
}

std::string MessageOf(const Tensor& logits, const Tensor& target, const Tensor& weight = {}) {
  return testing::ErrorOf([&] { CrossEntropy(logits, target, {.weight = weight}); });
}

TEST(SigmoidFocalLossTest, RefusesNumbersThatMeanNothing) {
  const Tensor x = Ones({2});
  const auto said = [&](const SigmoidFocalLossOptions& o) {
    return testing::ErrorOf([&] { SigmoidFocalLoss(x, x, o); });
  };
  EXPECT_EQ(said({.gamma = -1}), "sigmoid_focal_loss: gamma must be 0 or more, got -1");
  EXPECT_EQ(said({.gamma = std::nan("")}), "sigmoid_focal_loss: gamma must be 0 or more, got nan");
  EXPECT_EQ(said({.alpha = std::nan("")}),
            "sigmoid_focal_loss: alpha must be at most 1, or below 0 for none, got nan");
  EXPECT_EQ(said({.alpha = -1, .gamma = 0}), "");
}

// Losses that once took a reduction alone still do.
TEST(LossOptionsTest, AReductionIsAnOptionOfEachLoss) {
  const Tensor x = Matrix(kLogits), y = Matrix(kTarget);
  const Tensor labels = FromValues({{0, -1, 0}, {1, 2, -1}}).To(DType::kI64);
  constexpr Reduction kSum = Reduction::kSum, kNone = Reduction::kNone;
  EXPECT_TRUE(MseLoss(x, y, {.reduction = kSum}).Equals(Sum(Square(x - y))));
  EXPECT_TRUE(MseLoss(x, y, {.reduction = kNone}).Equals(MseLoss(x, y, kNone)));
  EXPECT_TRUE(MseLoss(x, y, {}).Equals(MseLoss(x, y)));
  EXPECT_TRUE(MseLoss(x, y, {}).Equals(MseLoss(x, y, Reduction::kMean)));
  EXPECT_TRUE(L1Loss(x, y, {.reduction = kSum}).Equals(L1Loss(x, y, kSum)));
  EXPECT_TRUE(L1Loss(x, y, {.reduction = kSum}).Equals(Sum(Abs(x - y))));
  EXPECT_TRUE(SoftMarginLoss(x, y, {.reduction = kNone}).Equals(SoftMarginLoss(x, y, kNone)));
  EXPECT_EQ(SoftMarginLoss(x, y, {.reduction = kNone}).shape(), x.shape());
  EXPECT_TRUE(MultilabelMarginLoss(x, labels, {.reduction = kNone})
                  .Equals(MultilabelMarginLoss(x, labels, kNone)));
  EXPECT_EQ(MultilabelMarginLoss(x, labels, {.reduction = kNone}).shape(), Shape{2});
  EXPECT_TRUE(EpsilonInsensitiveLoss(x, y, {.epsilon = 0.2, .reduction = kSum})
                  .Equals(EpsilonInsensitiveLoss(x, y, 0.2, kSum)));
  EXPECT_EQ(EpsilonInsensitiveLoss(x, y, {.epsilon = 0.2}).shape(), x.shape());
}

// The function takes a single sample as well; the operation takes only rows.
TEST(MultilabelMarginLossTest, SaysWhatWasExpected) {
  const auto said = [](const Tensor& x, const Tensor& target) {
    return testing::ErrorOf([&] { MultilabelMarginLoss(x, target); });
  };
  const Tensor labels = FromValues<int64_t>({0, 1});
  EXPECT_EQ(said(Ones({3}), labels), "multilabel_margin_loss: target [2] must have x's shape, [3]");
  EXPECT_EQ(said(Ones({2, 3}), labels),
            "multilabel_margin_loss: target [2] must have x's shape, [2, 3]");
  EXPECT_EQ(said(Ones({2, 3, 4}), labels),
            "multilabel_margin_loss: x must be [n, classes] or [classes], got [2, 3, 4]");
  EXPECT_EQ(said(Ones({3}), Ones({3})),
            "multilabel_margin_loss: target must be class indices, i32 or i64, got f32 [3] on cpu");
}

// HuberLoss is made of smooth_l1_loss.
TEST(HuberLossTest, SpeaksInItsOwnName) {
  const std::string said = testing::ErrorOf([] { HuberLoss(Ones({2}), Ones({3})); });
  EXPECT_TRUE(said.starts_with("huber_loss: ")) << said;
  EXPECT_NE(said.find("[3]"), std::string::npos) << said;
}

// The logarithm of the sum of their exponentials has no digits left of log 4.
TEST(CrossEntropyTest, LargeCommonLogitsHaveTheGradientOfSmallOnes) {
  const Tensor target = FromValues<int64_t>({2, 0, 1});
  for (const double size : {300.0, 1e12, -1e12, 1e30}) {
    for (const double smoothing : {0.0, 0.25}) {
      for (const bool across : {false, true}) {
        const CrossEntropyOptions o{.reduction = Reduction::kSum, .label_smoothing = smoothing};
        const auto gradient = [&](double logit) {
          Tensor x = Full(across ? Shape{1, 4, 3} : Shape{3, 4}, logit, DType::kF32);
          x.SetRequiresGrad();
          const Tensor loss = CrossEntropy(x, across ? Reshape(target, {1, 3}) : target, o);
          return Grad(loss, x).ToVector<float>();
        };
        const std::vector<float> got = gradient(size), want = gradient(0);
        for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << size;
      }
    }
  }
}

TEST(CrossEntropyTest, TakesProbabilities) {
  const Tensor x = Matrix(kLogits), p = Matrix(kTarget);
  const double first = LossOfRow(kLogits.data(), kTarget.data());
  const double second = LossOfRow(kLogits.data() + 3, kTarget.data() + 3);
  const std::vector<double> each =
      CrossEntropy(x, p, {.reduction = Reduction::kNone}).ToVector<double>();
  ASSERT_EQ(each.size(), 2u);
  EXPECT_NEAR(each[0], first, 1e-12);
  EXPECT_NEAR(each[1], second, 1e-12);
  EXPECT_NEAR(CrossEntropy(x, p).Item(), (first + second) / 2, 1e-12);
  EXPECT_NEAR(CrossEntropy(x, p, {.reduction = Reduction::kSum}).Item(), first + second, 1e-12);
}

TEST(CrossEntropyTest, WeighsAndSmoothsProbabilities) {
  const std::vector<double> w = {0.5, 1.0, 2.0};
  std::vector<double> q = kTarget;
  for (size_t i = 0; i < q.size(); ++i) q[i] = w[i % 3] * (0.9 * q[i] + 0.1 / 3);
  const double mean =
      (LossOfRow(kLogits.data(), q.data()) + LossOfRow(kLogits.data() + 3, q.data() + 3)) / 2;
  const Tensor loss = CrossEntropy(Matrix(kLogits), Matrix(kTarget),
                                   {.weight = FromVector(w), .label_smoothing = 0.1});
  EXPECT_NEAR(loss.Item(), mean, 1e-12);
}

TEST(CrossEntropyTest, LabelsAreProbabilitiesOfOne) {
  const Tensor labels = FromVector(std::vector<int64_t>{2, 0});
  const Tensor one_hot = Matrix({0, 0, 1, 1, 0, 0});
  for (double smoothing : {0.0, 0.2}) {
    Tensor x = Matrix(kLogits).SetRequiresGrad(), y = Matrix(kLogits).SetRequiresGrad();
    const Tensor a = CrossEntropy(x, labels, {.label_smoothing = smoothing});
    const Tensor b = CrossEntropy(y, one_hot, {.label_smoothing = smoothing});
    EXPECT_NEAR(a.Item(), b.Item(), 1e-12);
    const std::vector<double> da = Grad(a, x).ToVector<double>();
    const std::vector<double> db = Grad(b, y).ToVector<double>();
    for (size_t i = 0; i < da.size(); ++i) EXPECT_NEAR(da[i], db[i], 1e-12);
  }
}

TEST(CrossEntropyTest, GradientFlowsToProbabilities) {
  const Tensor x = Matrix(kLogits);
  Tensor p = Matrix(kTarget).SetRequiresGrad();
  const Tensor loss = CrossEntropy(x, p, {.reduction = Reduction::kSum});
  const std::vector<double> dp = Grad(loss, p).ToVector<double>();
  const std::vector<double> log_probs = LogSoftmax(x, 1).ToVector<double>();
  for (size_t i = 0; i < dp.size(); ++i) EXPECT_NEAR(dp[i], -log_probs[i], 1e-12);
}

TEST(CrossEntropyTest, SaysWhichLabelIsWrong) {
  std::vector<int64_t> labels(20, 3);
  labels[17] = 10;
  EXPECT_NE(MessageOf(Zeros({20, 10}), FromVector(labels))
                .find("label 10 at index 17 is outside [0, 10)"),
            std::string::npos);
}

TEST(CrossEntropyTest, RefusesProbabilitiesOfAnotherShape) {
  EXPECT_NE(MessageOf(Zeros({2, 3}), Zeros({2})).find("must have the shape of logits"),
            std::string::npos);
  EXPECT_NE(MessageOf(Zeros({2, 3}), Zeros({2, 3}), Zeros({4})).find("for each of 3 classes"),
            std::string::npos);
}

TEST(CrossEntropyTest, MeanOverIgnoredSamplesOnlyIsNan) {
  Tensor x = Matrix(kLogits).SetRequiresGrad();
  const Tensor loss = CrossEntropy(x, FromVector(std::vector<int64_t>{-100, -100}));
  EXPECT_TRUE(std::isnan(loss.Item()));
}

TEST(SoftminTest, IsSoftmaxOfTheNegative) {
  const Tensor x = Matrix(kLogits);
  EXPECT_EQ(Softmin(x, 1).ToVector<double>(), Softmax(Neg(x), 1).ToVector<double>());
}

TEST(HuberLossTest, IsAParabolaAndThenALine) {
  const Tensor x = FromVector(std::vector<double>{0, 1, 3}), y = Zeros({3}, DType::kF64);
  EXPECT_EQ(HuberLoss(x, y, {.reduction = Reduction::kNone, .delta = 2}).ToVector<double>(),
            (std::vector<double>{0, 0.5, 4}));
  EXPECT_THROW(HuberLoss(x, y, {.delta = 0}), Error);
  EXPECT_THROW(HuberLoss(x, y, {.delta = INFINITY}), Error);
}

TEST(BinaryCrossEntropyTest, WeightsMultiplyLosses) {
  const Tensor p = FromVector(std::vector<double>{0.25, 0.5}),
               t = FromVector(std::vector<double>{0, 1});
  const Tensor w = FromVector(std::vector<double>{2, 4});
  const double first = -2 * std::log(0.75), second = -4 * std::log(0.5);
  EXPECT_NEAR(BinaryCrossEntropy(p, t, {.weight = w}).Item(), (first + second) / 2, 1e-12);
  const Tensor logits = Sub(Log(p), Log(Sub(1, p)));
  EXPECT_NEAR(BinaryCrossEntropyWithLogits(logits, t, {.weight = w}).Item(), (first + second) / 2,
              1e-12);
  EXPECT_THROW(BinaryCrossEntropy(p, t, {.weight = Zeros({3})}), Error);
  EXPECT_THROW(BinaryCrossEntropy(p, t, {.weight = Zeros({2, 2}, DType::kF64)}), Error);
}

TEST(BinaryCrossEntropyTest, PositiveWeightsMultiplyPositiveTargets) {
  const Tensor x = FromVector(std::vector<double>{-1.5, 2}),
               t = FromVector(std::vector<double>{0.25, 1});
  const std::vector<double> each =
      BinaryCrossEntropyWithLogits(
          x, t, {.pos_weight = Full({}, 3, DType::kF64), .reduction = Reduction::kNone})
          .ToVector<double>();
  const auto log_sigmoid = [](double v) { return -std::log1p(std::exp(-v)); };
  EXPECT_NEAR(each[0], -(3 * 0.25 * log_sigmoid(-1.5) + 0.75 * log_sigmoid(1.5)), 1e-12);
  EXPECT_NEAR(each[1], -3 * log_sigmoid(2), 1e-12);
}

TEST(LossTest, TakesADistanceOfTheCallers) {
  const auto distance = [](const Tensor& a, const Tensor& b) { return Sum(Abs(a - b), -1); };
  const Tensor anchor = Matrix(kLogits), positive = Matrix(kTarget), negative = anchor * 2;
  for (bool swap : {false, true}) {
    const Tensor own = TripletMarginLoss(anchor, positive, negative, distance,
                                         {.margin = 3, .swap = swap, .reduction = Reduction::kSum});
    const Tensor built_in = TripletMarginLoss(
        anchor, positive, negative,
        {.margin = 3, .p = 1, .eps = 0, .swap = swap, .reduction = Reduction::kSum});
    EXPECT_NEAR(own.Item(), built_in.Item(), 1e-12);
    EXPECT_GT(own.Item(), 0);
  }
}

TEST(LossTest, RefusesADistanceThatGivesNoNumberForEachTriplet) {
  const Tensor x = Matrix(kLogits);
  const auto uneven = [&](const Tensor& a, const Tensor& b) {
    return a.Is(x) && b.Is(x) ? Sum(a, -1) : Sum(a);
  };
  EXPECT_EQ(testing::ErrorOf([&] { TripletMarginLoss(x, x, x * 2, uneven); }),
            "triplet_margin_loss: shapes [2] and [] differ: d(anchor, negative) must be like "
            "d(anchor, positive)");
}

}  // namespace
}  // namespace firn
