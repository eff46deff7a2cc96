// Random crops, flips, shifts, rectangles and affine maps: that each sample is changed by itself
// and only as it may be, how often, and gradients. Counts lie within five standard deviations.

#include "firn/tensor/ops/vision/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

void ExpectNear(int64_t count, double n, double p) {
  EXPECT_NEAR(static_cast<double>(count), n * p, 5 * std::sqrt(n * p * (1 - p)));
}

// `samples` times 0, 1, .. in `shape`.
Tensor Counting(int64_t samples, const Shape& shape) {
  std::vector<int64_t> sizes = {samples};
  for (int64_t size : shape.span()) sizes.push_back(size);
  const Tensor one = Reshape(
      Arange(0., static_cast<double>(shape.num_elements()), 1., {.dtype = DType::kF64}), shape);
  return Contiguous(Expand(Unsqueeze(one, 0), absl::MakeConstSpan(sizes)));
}

std::vector<std::vector<double>> Rows(const Tensor& y) {
  const std::vector<double> all = y.Detach().ToVector<double>();
  const auto size = all.size() / static_cast<size_t>(y.size(0));
  std::vector<std::vector<double>> rows;
  for (size_t at = 0; at < all.size(); at += size) {
    rows.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                      all.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
  return rows;
}

TEST(RandomCropTest, TakesEveryWindowAlike) {
  RandomGenerator generator(1);
  const Tensor y = RandomCrop(Counting(900, {4, 5}), {2, 3}, 1, &generator);
  ASSERT_EQ(y.shape(), Shape({900, 2, 3}));
  std::map<double, int64_t> corners;
  for (const std::vector<double>& row : Rows(y)) {
    const double first = row[0];
    EXPECT_EQ(row,
              (std::vector<double>{first, first + 1, first + 2, first + 5, first + 6, first + 7}));
    ++corners[first];
  }
  EXPECT_EQ(corners.size(), 9u);
  for (const auto& [corner, count] : corners) ExpectNear(count, 900, 1.0 / 9);
}

TEST(RandomCropTest, GivesTheGradientToWhatItTook) {
  Tensor x = Counting(5, {2, 6});
  x.SetRequiresGrad();
  const Tensor y = RandomCrop(x, {3});
  ASSERT_EQ(y.shape(), Shape({5, 2, 3}));
  const std::vector<std::vector<double>> taken = Rows(y), grads = Rows(Grad(Sum(y), x));
  for (size_t i = 0; i < 5; ++i) {
    for (size_t e = 0; e < 12; ++e) {
      const bool was = std::count(taken[i].begin(), taken[i].end(), static_cast<double>(e)) > 0;
      EXPECT_EQ(grads[i][e], was ? 1 : 0);
    }
  }
}

TEST(RandomCropTest, TakesOneWindowOfAllWithoutSamples) {
  const Tensor x = Counting(3, {4}).To(DType::kI64);
  const Tensor y = RandomCrop(x, {2, 2}, 0);
  ASSERT_EQ(y.shape(), Shape({2, 2}));
  EXPECT_EQ(y.dtype(), DType::kI64);
  const std::vector<int64_t> v = y.ToVector<int64_t>();
  EXPECT_EQ(v[0], v[2]);  // of one column for both rows
  EXPECT_EQ(v[1], v[0] + 1);
}

TEST(RandomFlipTest, FlipsEachSampleAndDimensionByItself) {
  RandomGenerator generator(2);
  const Tensor y =
      RandomFlip(Counting(2000, {2, 2}), {.dims = {-1, 1}, .p = 0.25, .generator = &generator});
  std::map<std::vector<double>, int64_t> found;
  for (const std::vector<double>& row : Rows(y)) ++found[row];
  EXPECT_EQ(found.size(), 4u);
  ExpectNear(found[{0, 1, 2, 3}], 2000, 0.5625);
  ExpectNear(found[{1, 0, 3, 2}], 2000, 0.1875);
  ExpectNear(found[{2, 3, 0, 1}], 2000, 0.1875);
  ExpectNear(found[{3, 2, 1, 0}], 2000, 0.0625);
}

TEST(RandomShiftTest, FillsWithItsBorder) {
  const Tensor x = Counting(600, {4});
  const auto found = [&](ShiftBorder border) {
    RandomGenerator generator(3);
    std::map<std::vector<double>, int64_t> rows;
    const Tensor y = RandomShift(x, {1}, {.border = border, .value = 9, .generator = &generator});
    for (const std::vector<double>& row : Rows(y)) ++rows[row];
    return rows;
  };
  for (const auto& [border, left, right] :
       {std::tuple(ShiftBorder::kNearest, 0., 3.), std::tuple(ShiftBorder::kReflect, 0., 3.),
        std::tuple(ShiftBorder::kConstant, 9., 9.)}) {
    auto rows = found(border);
    EXPECT_EQ(rows.size(), 3u);
    ExpectNear(rows[{0, 1, 2, 3}], 600, 1.0 / 3);
    ExpectNear(rows[{left, 0, 1, 2}], 600, 1.0 / 3);
    ExpectNear(rows[{1, 2, 3, right}], 600, 1.0 / 3);
  }
}

TEST(RandomShiftTest, MirrorsAgainAndAgain) {
  RandomGenerator generator(4);
  const Tensor y = RandomShift(Counting(300, {3}), {7},
                               {.border = ShiftBorder::kReflect, .generator = &generator});
  const std::vector<double> mirror = {0, 1, 2, 2, 1, 0};
  for (const std::vector<double>& row : Rows(y)) {
    bool matches = false;
    for (size_t first = 0; first < 6; ++first) {
      bool all = true;
      for (size_t i = 0; i < 3; ++i) all = all && row[i] == mirror[(first + i) % 6];
      matches = matches || all;
    }
    EXPECT_TRUE(matches) << row[0] << " " << row[1] << " " << row[2];
  }
}

TEST(RandomShiftTest, MovesBothDimensions) {
  Tensor x = Counting(50, {3, 3});
  x.SetRequiresGrad();
  const Tensor y = RandomShift(x, {1, 2}, {.border = ShiftBorder::kConstant, .value = -1});
  const std::vector<std::vector<double>> rows = Rows(y), grads = Rows(Grad(Sum(y), x));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t e = 0; e < 9; ++e) {
      EXPECT_EQ(grads[i][e], std::count(rows[i].begin(), rows[i].end(), static_cast<double>(e)));
    }
  }
}

// The rectangle of an image whose elements are `value`, which must be all of it: top, left, height,
// width; {} where there is none.
std::vector<int64_t> RectangleOf(const std::vector<double>& image, int64_t width, double value) {
  int64_t top = 1 << 20, left = top, bottom = -1, right = -1, count = 0;
  for (size_t e = 0; e < image.size(); ++e) {
    if (image[e] != value) continue;
    const auto row = static_cast<int64_t>(e) / width, column = static_cast<int64_t>(e) % width;
    top = std::min(top, row);
    left = std::min(left, column);
    bottom = std::max(bottom, row);
    right = std::max(right, column);
    ++count;
  }
  if (count == 0) return {};
  EXPECT_EQ(count, (bottom - top + 1) * (right - left + 1));
  return {top, left, bottom - top + 1, right - left + 1};
}

TEST(RandomEraseTest, ErasesRectanglesOfTheirAreaAndAspect) {
  RandomGenerator generator(5);
  const Tensor x = Zeros({700, 2, 8, 9}, DType::kF64);
  // 72 elements: an area of 12.6 and an aspect of 2 are 5.02 x 2.51.
  const Tensor y = RandomErase(x, {.prob = 0.6,
                                   .area = {0.175, 0.175},
                                   .aspect = {2, 2},
                                   .value = {7, 7},
                                   .generator = &generator});
  std::map<int64_t, int64_t> tops, lefts;
  int64_t erased = 0;
  for (const std::vector<double>& row : Rows(y)) {
    const std::vector<double> a(row.begin(), row.begin() + 72), b(row.begin() + 72, row.end());
    EXPECT_EQ(a, b);
    const std::vector<int64_t> r = RectangleOf(a, 9, 7);
    if (r.empty()) continue;
    ++erased;
    EXPECT_EQ(r[2], 5);
    EXPECT_EQ(r[3], 2);
    ++tops[r[0]];
    ++lefts[r[1]];
  }
  ExpectNear(erased, 700, 0.6);
  EXPECT_EQ(tops.size(), 4u);
  EXPECT_EQ(lefts.size(), 8u);
  for (const auto& [top, count] : tops) ExpectNear(count, static_cast<double>(erased), 0.25);
}

TEST(RandomEraseTest, ErasesChannelsByThemselves) {
  RandomGenerator generator(6);
  const Tensor y = RandomErase(
      Zeros({200, 2, 6, 6}, DType::kF64),
      {.prob = 1, .area = {0.1, 0.3}, .value = {1, 2}, .share = false, .generator = &generator});
  int64_t differ = 0;
  for (const std::vector<double>& row : Rows(y)) {
    int64_t others = 0;
    for (size_t e = 0; e < 36; ++e) others += (row[e] == 0) != (row[36 + e] == 0) ? 1 : 0;
    differ += others > 0 ? 1 : 0;
    for (double v : row) EXPECT_TRUE(v == 0 || (v >= 1 && v < 2)) << v;
  }
  EXPECT_GT(differ, 150);
}

TEST(RandomEraseTest, ErasesSeveral) {
  RandomGenerator generator(7);
  const Tensor y = RandomErase(Zeros({100, 1, 10, 10}, DType::kF64), {.prob = 1,
                                                                      .area = {0.04, 0.04},
                                                                      .aspect = {1, 1},
                                                                      .value = {1, 1},
                                                                      .n = 3,
                                                                      .generator = &generator});
  std::map<int64_t, int64_t> counts;
  for (const std::vector<double>& row : Rows(y)) {
    ++counts[static_cast<int64_t>(std::count(row.begin(), row.end(), 1))];
  }
  EXPECT_GE(counts.begin()->first, 4);
  EXPECT_EQ(counts.rbegin()->first, 12);  // three apart
}

TEST(RandomEraseTest, GivesNoGradientToWhatItErasedOrAll) {
  for (const bool straight : {false, true}) {
    Tensor x = Ones({20, 1, 5, 5}, DType::kF64);
    x.SetRequiresGrad();
    const Tensor y = RandomErase(x, {.prob = 1, .value = {3, 4}, .straight_through = straight});
    const std::vector<double> values = y.Detach().ToVector<double>();
    const std::vector<double> dx = Grad(Sum(y), x).ToVector<double>();
    int64_t erased = 0;
    for (size_t i = 0; i < dx.size(); ++i) {
      EXPECT_TRUE(values[i] == 1 || (values[i] >= 3 && values[i] < 4)) << values[i];
      erased += values[i] != 1 ? 1 : 0;
      EXPECT_EQ(dx[i], straight || values[i] == 1 ? 1 : 0);
    }
    EXPECT_GT(erased, 0);
  }
}

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
    // Away from the edges, beyond which lies what is there.
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
  // Of a slope to the right, the differences to the right and down are cosine and sine.
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
  // Of a slope to the right, which a lens of at most 0.2 leaves one in each row.
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
  // Of a deviation uniform up to 2: E s^2 = 4 / 3, of which 100 draws have a deviation of 0.12.
  EXPECT_NEAR(Var(y).Item<double>(), 4.0 / 3, 0.6);
  EXPECT_NEAR(Mean(y).Item<double>(), 0, 5 * 1.2 / 200);
}

TEST(AugmentTest, TakesHalfTypesAndNothing) {
  const Tensor half = Ones({2, 3, 4, 4}, DType::kBF16);
  EXPECT_EQ(RandomErase(half).dtype(), DType::kBF16);
  EXPECT_EQ(ImageAugmentation(half, {.noise = 1}).dtype(), DType::kBF16);
  EXPECT_EQ(RandomCrop(half, {2, 2}).dtype(), DType::kBF16);
  const Tensor none = Zeros({0, 3, 4, 4});
  EXPECT_EQ(RandomErase(none).shape(), none.shape());
  EXPECT_EQ(RandomFlip(none).shape(), none.shape());
  EXPECT_EQ(RandomShift(none, {1, 1}).shape(), none.shape());
  EXPECT_EQ(RandomCrop(none, {2, 2}).shape(), Shape({0, 3, 2, 2}));
  EXPECT_EQ(ImageAugmentation(none).shape(), none.shape());
}

TEST(AugmentTest, SayWhatIsWrong) {
  const auto contains = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), text.npos) << text;
  };
  const Tensor x = Ones({2, 3, 4, 5});
  contains(ErrorOf([&] { RandomCrop(x, {5, 5}); }), "a window [5, 5] does not fit x [2, 3, 4, 5]");
  contains(ErrorOf([&] { RandomCrop(x, {2}, 5); }), "base_dim 5 is no dimension of x");
  contains(ErrorOf([&] { RandomFlip(x, {.dims = 0}); }), "dimension 0 stands before base_dim 1");
  contains(ErrorOf([&] { RandomFlip(x, {.p = 2}); }), "p 2 is outside [0, 1]");
  contains(ErrorOf([&] { RandomShift(x, {-1}); }), "expected at most 3 shifts of 0 or more");
  contains(ErrorOf([&] { RandomErase(x, {.base_dim = 2}); }), "x must be samples of [c, h, w]");
  contains(ErrorOf([&] { RandomErase(x, {.area = {0.5, 0.2}}); }), "area must be a range within 0");
  contains(ErrorOf([&] { RandomErase(x, {.n = -1}); }), "n must be 0 to 1000, got -1");
  contains(ErrorOf([&] { RandomErase(x, {.n = int64_t{1} << 60}); }), "n must be 0 to 1000");
  contains(ErrorOf([&] { ImageAugmentation(x, {.pad = int64_t{1} << 62}); }), "pad must be one or");
  contains(ErrorOf([&] {
             ImageAugmentation(x, {.shape = {2, 4, 4}});
           }),
           "shape must be [h, w] or [3, h, w], got [2, 4, 4]");
  contains(ErrorOf([&] { ImageAugmentation(x, {.contrast = 0.5}); }), "contrast must be a range");
}

}  // namespace
}  // namespace firn
