// ImageAugmentation: each image is changed by itself and only as it may be, and how often.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/vision/augment.h"
#include "tests/tensor/each_sample.h"

namespace firn {
namespace {

using testing::Counting;
using testing::ExpectNear;
using testing::Rows;

TEST(ImageAugmentationTest, ChangesNothingUnlessAsked) {
  Tensor x = Randn({2, 3, 5, 4}, DType::kF64);
  x.SetRequiresGrad();
  const Tensor y = ImageAugmentation(x);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_EQ(y.ToVector<double>(), x.Detach().ToVector<double>());
}

TEST(ImageAugmentationTest, FlipsHalfOfTheSamples) {
  RandomGenerator generator(8);
  const Tensor x = Counting(800, {1, 2, 2});
  std::map<std::vector<double>, int64_t> found;
  for (const std::vector<double>& row :
       Rows(ImageAugmentation(x, {.flip_lr = true, .flip_ud = true, .generator = &generator}))) {
    ++found[row];
  }
  EXPECT_EQ(found.size(), 4u);
  for (const auto& [row, count] : found) ExpectNear(count, 800, 0.25);
}

TEST(ImageAugmentationTest, CutsAPartOfTheScaledImage) {
  RandomGenerator generator(9);
  // A slope of 1 to the right and 10 down is one of 1 / scale in the result, wherever it lies.
  const Tensor x = Counting(50, {1, 10, 10});
  const Tensor y = ImageAugmentation(
      x, {.shape = {4, 3}, .min_scale = 2, .max_scale = 2, .generator = &generator});
  ASSERT_EQ(y.shape(), Shape({50, 1, 4, 3}));
  std::vector<double> corners;
  for (const std::vector<double>& row : Rows(y)) {
    // These places are away from the edges, where the slope ends.
    EXPECT_NEAR(row[5] - row[4], 0.5, 0.5 + 1e-9);
    EXPECT_NEAR(row[7] - row[4], 5, 5 + 1e-9);
    EXPECT_GE(row[0], -1e-9);
    EXPECT_LE(row[11], 99 + 1e-9);
    corners.push_back(row[4]);
  }
  std::sort(corners.begin(), corners.end());
  EXPECT_LT(corners.front(), 30);
  EXPECT_GT(corners.back(), 65);
}

TEST(ImageAugmentationTest, TurnsAtMostByItsAngle) {
  RandomGenerator generator(10);
  // On a slope to the right, the differences to the right and down are cosine and sine.
  const Tensor line = Reshape(Arange(0., 21., 1., {.dtype = DType::kF64}), {1, 1, 1, 21});
  const Tensor x = Contiguous(Expand(line, {100, 1, 21, 21}));
  const Tensor y = ImageAugmentation(x, {.shape = {3, 3},
                                         .pad = 0,
                                         .min_scale = 1.0 / 7,
                                         .max_scale = 1.0 / 7,
                                         .angle = 0.5,
                                         .generator = &generator});
  double least = 0, most = 0;
  for (const std::vector<double>& row : Rows(y)) {
    const double across = (row[5] - row[3]) / 14, down = (row[7] - row[1]) / 14;
    EXPECT_NEAR(across * across + down * down, 1, 1e-9);
    const double angle = std::atan2(-down, across);
    EXPECT_LE(std::abs(angle), 0.5 + 1e-9);
    least = std::min(least, angle);
    most = std::max(most, angle);
  }
  EXPECT_LT(least, -0.3);
  EXPECT_GT(most, 0.3);
}

TEST(ImageAugmentationTest, StretchesByItsAspectRatio) {
  RandomGenerator generator(11);
  const Tensor x = Counting(60, {1, 31, 31});
  const Tensor y =
      ImageAugmentation(x, {.shape = {3, 3}, .aspect_ratio = 4, .generator = &generator});
  double least = 10, most = 0;
  for (const std::vector<double>& row : Rows(y)) {
    const double stretch = row[4] - row[3], along = (row[4] - row[1]) / 31;
    EXPECT_NEAR(stretch * along, 1, 1e-6);  // 1 / scale_x times 1 / scale_y
    least = std::min(least, stretch);
    most = std::max(most, stretch);
  }
  EXPECT_GE(least, 0.5 - 1e-9);
  EXPECT_LT(least, 0.7);
  EXPECT_LE(most, 2 + 1e-9);
  EXPECT_GT(most, 1.5);
}

TEST(ImageAugmentationTest, DistortsAroundTheMiddle) {
  RandomGenerator generator(12);
  // On a slope to the right, every row stays a slope under a lens of at most 0.2.
  const Tensor line = Reshape(Arange(0., 9., 1., {.dtype = DType::kF64}), {1, 1, 1, 9});
  const Tensor x = Contiguous(Expand(line, {40, 1, 9, 9}));
  int64_t wider = 0, narrower = 0;
  for (const std::vector<double>& row :
       Rows(ImageAugmentation(x, {.distortion = 0.2, .generator = &generator}))) {
    wider += row[2 * 9 + 2] < 1.98 ? 1 : 0;
    narrower += row[2 * 9 + 2] > 2.02 ? 1 : 0;
    for (size_t i = 1; i < 81; ++i) {
      EXPECT_TRUE(i % 9 == 0 || row[i] >= row[i - 1] - 1e-9) << i;
    }
  }
  EXPECT_GT(wider, 5);
  EXPECT_GT(narrower, 5);
}

TEST(ImageAugmentationTest, ChangesBrightnessAndContrast) {
  RandomGenerator generator(13);
  const Tensor x = Counting(100, {2, 1, 2});
  double most = 0;
  for (const bool each : {false, true}) {
    for (const std::vector<double>& row : Rows(ImageAugmentation(
             x, {.brightness = 3, .brightness_each = each, .generator = &generator}))) {
      EXPECT_NEAR(row[1] - row[0], 1, 1e-9);
      EXPECT_EQ(std::abs(row[2] - row[0] - 2) > 1e-9, each);
      EXPECT_LE(std::abs(row[0]), 3);
      most = std::max(most, std::abs(row[0]));
    }
    for (const std::vector<double>& row : Rows(ImageAugmentation(x, {.contrast = 2,
                                                                    .contrast_center = 1,
                                                                    .contrast_each = each,
                                                                    .generator = &generator}))) {
      const double factor = row[1] - row[0];
      EXPECT_NEAR(row[1], 1, 1e-9);  // the centre
      EXPECT_GE(factor, 0.5 - 1e-9);
      EXPECT_LE(factor, 2 + 1e-9);
      EXPECT_EQ(std::abs(row[3] - row[2] - factor) > 1e-9, each);
    }
  }
  EXPECT_GT(most, 2.5);
}

TEST(ImageAugmentationTest, AddsNoise) {
  RandomGenerator generator(14);
  const Tensor y = ImageAugmentation(Zeros({100, 1, 20, 20}, DType::kF64),
                                     {.noise = 2, .generator = &generator});
  // The deviation s is uniform up to 2, so E s^2 = 4 / 3, and the mean of 100 draws has a deviation
  // of 0.12.
  EXPECT_NEAR(Var(y).Item<double>(), 4.0 / 3, 0.6);
  EXPECT_NEAR(Mean(y).Item<double>(), 0, 5 * 1.2 / 200);
}

}  // namespace
}  // namespace firn
