// Random crops, flips, shifts, rectangles and affine maps: each sample is changed by itself and
// only as it may be, how often, and gradients. Counts lie within five standard deviations.

#include "firn/tensor/ops/vision/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/tensor/each_sample.h"

namespace firn {
namespace {

using testing::Counting;
using testing::ErrorOf;
using testing::ExpectNear;
using testing::Rows;

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

TEST(RandomEraseTest, ErasesWhatIsNoNumberStraightThroughToo) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = Full({1, 1, 2, 2}, inf, DType::kF32).SetRequiresGrad();
  const RandomEraseOptions all = {
      .prob = 1, .area = {1, 1}, .aspect = {1, 1}, .value = {3, 3}, .straight_through = true};
  EXPECT_TRUE(RandomErase(x, all).Equals(Full({1, 1, 2, 2}, 3., DType::kF32)));
  RandomEraseOptions none = all;
  none.prob = 0;
  EXPECT_TRUE(RandomErase(x, none).Equals(x));
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
  const Tensor deep = Ones({1, 1, 1, 1, 1, 1, 1, 2});
  contains(ErrorOf([&] { RandomCrop(deep, {1}, 0); }), "expected x of less than 8 dimensions");
  EXPECT_EQ(RandomCrop(deep, {1}, 1).shape(), Shape({1, 1, 1, 1, 1, 1, 1, 1}));
  contains(ErrorOf([&] { RandomFlip(x, {.dims = 0}); }), "dimension 0 stands before base_dim 1");
  contains(ErrorOf([&] { RandomFlip(x, {.p = 2}); }), "p 2 is outside [0, 1]");
  contains(ErrorOf([&] { RandomShift(x, {-1}); }), "expected at most 3 shifts of 0 or more");
  contains(ErrorOf([&] { RandomShift(x, {2, -1}); }), ", got [2, -1]");
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
