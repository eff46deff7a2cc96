// The contents of mixed batches, and the distribution of their shares.
#include "firn/io/data/transforms/mix.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/data/transforms/pattern.h"

namespace firn::io {
namespace {

using firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

// Image i is all i, its label i.
Sample Batch(int64_t n, int64_t side = 1) {
  std::vector<float> values;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i) {
    values.insert(values.end(), static_cast<size_t>(2 * side * side), static_cast<float>(i));
    labels.push_back(i);
  }
  return {FromVector(values, {n, 2, side, side}), FromVector(labels)};
}

TEST(MixUpTest, MixesEachWithTheOneBefore) {
  RandomGenerator random(1);
  const Sample made = MixUp({.classes = 4})(Batch(3), random);
  ASSERT_EQ(made.input.shape(), (Shape{3, 2, 1, 1}));
  ASSERT_EQ(made.target.shape(), (Shape{3, 4}));
  const std::vector<float> x = made.input.ToVector<float>(), y = made.target.ToVector<float>();
  const float share = y[0];
  EXPECT_GT(share, 0);
  EXPECT_LT(share, 1);
  EXPECT_THAT(y, ElementsAre(share, 0, FloatNear(1 - share, 1e-6f), 0,  //
                             FloatNear(1 - share, 1e-6f), share, 0, 0,  //
                             0, FloatNear(1 - share, 1e-6f), share, 0));
  // 0 with 2, 1 with 0, 2 with 1.
  EXPECT_NEAR(x[0], 2 * (1 - share), 1e-6);
  EXPECT_NEAR(x[2], share, 1e-6);
  EXPECT_NEAR(x[5], 2 * share + (1 - share), 1e-6);
}

TEST(MixUpTest, SharesAreBetaDistributed) {
  RandomGenerator random(5);
  for (const double alpha : {0.01, 0.2, 1.0, 4.0}) {
    const BatchTransform mix = MixUp({.classes = 2, .alpha = alpha});
    const int n = 4000;
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      const double share = mix(Batch(2), random).target.ToVector<double>()[0];
      ASSERT_GE(share, 0);
      ASSERT_LE(share, 1);
      sum += share - 0.5;
      squares += (share - 0.5) * (share - 0.5);
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(variance / n)) << alpha;
    // A fourth power is at most a quarter of a square here.
    EXPECT_NEAR(squares / n, variance, 5 * std::sqrt(variance / 4 / n)) << alpha;
  }
}

TEST(MixUpTest, TakesSharesAsTargets) {
  RandomGenerator random(1);
  const Tensor shares = FromVector(std::vector<float>{0.5f, 0.5f, 1, 0}, {2, 2});
  const Sample made = MixUp({})({Zeros({2, 3}), shares}, random);
  const std::vector<float> y = made.target.ToVector<float>();
  EXPECT_NEAR(y[0] + y[1], 1, 1e-6);
  EXPECT_NEAR(y[2] + y[3], 1, 1e-6);
  EXPECT_GT(y[0], 0.5);
}

TEST(CutMixTest, PastesARectangleAndMixesByItsArea) {
  RandomGenerator random(3);
  const int64_t side = 16;
  const BatchTransform mix = CutMix({.classes = 3});
  double area = 0;
  const int n = 500;
  for (int k = 0; k < n; ++k) {
    const Sample made = mix(Batch(3, side), random);
    const std::vector<float> x = made.input.ToVector<float>(), y = made.target.ToVector<float>();
    // Image 2: pixels are 2 or, of the image before, 1.
    const size_t plane = side * side;
    const auto begin = x.begin() + 4 * static_cast<std::ptrdiff_t>(plane);
    const auto pasted = std::count(begin, begin + static_cast<std::ptrdiff_t>(plane), 1.0f);
    const double share = 1 - static_cast<double>(pasted) / static_cast<double>(plane);
    ASSERT_NEAR(y[8], share, 1e-6);
    ASSERT_NEAR(y[7], 1 - share, 1e-6);
    ASSERT_EQ(y[6], 0);
    // All images and channels have the same rectangle.
    for (size_t i = 0; i < plane; ++i) {
      const bool other = begin[static_cast<std::ptrdiff_t>(i)] == 1;
      ASSERT_EQ(x[5 * plane + i], other ? 1 : 2);
      ASSERT_EQ(x[i], other ? 2 : 0);
      ASSERT_EQ(x[3 * plane + i], other ? 0 : 1);
    }
    area += 1 - share;
  }
  // Half of the image less what is cut off at borders.
  EXPECT_GT(area / n, 0.2);
  EXPECT_LT(area / n, 0.45);
}

TEST(MixTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ErrorOf([] { MixUp({.classes = -1}); }), HasSubstr("mix_up: classes is -1"));
  EXPECT_THAT(ErrorOf([] { CutMix({.alpha = 0}); }), HasSubstr("cut_mix: alpha is 0"));
  RandomGenerator random(1);
  const auto refused = [&](const BatchTransform& mix, const Sample& batch) {
    return ErrorOf([&] { mix(batch, random); });
  };
  Sample bytes = Batch(2);
  bytes.input = bytes.input.To(DType::kU8);
  EXPECT_THAT(refused(MixUp({.classes = 2}), bytes),
              HasSubstr("expected a batch f32 [N, ...] on the CPU, got u8 [2, 2, 1, 1]"));
  EXPECT_THAT(refused(CutMix({.classes = 2}), {Zeros({2, 3}), Batch(2).target}),
              HasSubstr("expected a batch f32 [N, channels, height, width] on the CPU, got f32"));
  EXPECT_THAT(refused(MixUp({.classes = 2}), Batch(3)), HasSubstr("target 2 is 2 (want 0 to 1)"));
  EXPECT_THAT(refused(MixUp({}), Batch(3)), HasSubstr("and classes 0"));
  EXPECT_THAT(refused(MixUp({.classes = 3}), {Zeros({2, 3}), Batch(3).target}),
              HasSubstr("expected targets i64 [2]"));
  EXPECT_THAT(refused(MixUp({.classes = 3}), {Zeros({2, 3}), {}}), HasSubstr("undefined"));
}

}  // namespace
}  // namespace firn::io
