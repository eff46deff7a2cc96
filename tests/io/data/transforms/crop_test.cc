// Where crops lie, what padding shows, and how often each place is drawn.
#include "firn/io/data/transforms/crop.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/data/transforms/pattern.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CenterCropTest, TakesTheMiddle) {
  const Tensor image = Pattern(2, 5, 7);
  // (5 - 2) / 2 is 1.5, rounded to 2; (7 - 3) / 2 is 2.
  EXPECT_THAT(ValuesOf(CenterCrop({.height = 2, .width = 3})(image)),
              ElementsAre(32, 37, 42, 43, 48, 53, 69, 74, 79, 80, 85, 90));
  // (5 - 4) / 2 is 0.5, rounded to 0.
  EXPECT_THAT(RowsOf(CenterCrop({.height = 4, .width = 7})(image), 0, 2),
              ElementsAre(0, 5, 37, 42));
  EXPECT_TRUE(CenterCrop({.height = 5, .width = 7})(image).Equals(image));
}

TEST(RandomCropTest, EveryPlaceIsEquallyLikely) {
  const Tensor image = Pattern(1, 4, 5);
  const Transform crop = RandomCrop({.height = 2, .width = 3});
  RandomGenerator random(7);
  std::map<int, int> seen;  // by the upper left pixel, 11 y + 5 x
  for (int i = 0; i < 9000; ++i) {
    const std::vector<int> values = ValuesOf(crop(image, random));
    ++seen[values[0]];
    ASSERT_THAT(values, ElementsAre(values[0], values[0] + 5, values[0] + 10, values[0] + 11,
                                    values[0] + 16, values[0] + 21));
  }
  ASSERT_EQ(seen.size(), 9u);
  // Standard deviation sqrt(9000 / 9 * 8 / 9) = 30; five of them.
  for (const auto& [first, count] : seen) EXPECT_NEAR(count, 1000, 150) << first;
}

TEST(RandomCropTest, PadsAsTheModeSays) {
  // The crop is as large as the padded image, so it has only one place.
  const auto whole = [](const Tensor& of, PadMode mode) {
    const int64_t w = of.size(2) + 4;
    return ValuesOf(RandomCrop(
        {.height = of.size(1) + 4, .width = w, .padding = 2, .mode = mode, .value = 9})(of));
  };
  const Tensor square = Bytes(3, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto line = [&](PadMode mode, int y) {
    const std::vector<int> all = whole(square, mode);
    return std::vector<int>(all.begin() + 7 * y, all.begin() + 7 * (y + 1));
  };
  EXPECT_THAT(line(PadMode::kConstant, 1), ElementsAre(9, 9, 9, 9, 9, 9, 9));
  EXPECT_THAT(line(PadMode::kConstant, 2), ElementsAre(9, 9, 1, 2, 3, 9, 9));
  EXPECT_THAT(line(PadMode::kReflect, 0), ElementsAre(9, 8, 7, 8, 9, 8, 7));
  EXPECT_THAT(line(PadMode::kReplicate, 6), ElementsAre(7, 7, 7, 8, 9, 9, 9));
  EXPECT_THAT(line(PadMode::kCircular, 1), ElementsAre(8, 9, 7, 8, 9, 7, 8));
  EXPECT_THAT(line(PadMode::kSymmetric, 5), ElementsAre(8, 7, 7, 8, 9, 9, 8));
}

TEST(RandomCropTest, PadsWhereTheImageIsSmaller) {
  const Transform crop = RandomCrop({.height = 1, .width = 4, .pad_if_needed = true, .value = 5});
  RandomGenerator random(1);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 100; ++i) ++seen[ValuesOf(crop(Bytes(1, {1, 2, 3}), random))];
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_GT((seen[{5, 1, 2, 3}]), 20);
  EXPECT_GT((seen[{1, 2, 3, 5}]), 20);
}

TEST(CropTest, RefusesImagesThatAreTooSmall) {
  EXPECT_THAT(Refusal(CenterCrop({.height = 9, .width = 3}), Pattern(3, 5, 7)),
              HasSubstr("center_crop: expected an image of at least 9 x 3 pixels, got 5 x 7"));
  EXPECT_THAT(Refusal(RandomCrop({.height = 8, .width = 8, .padding = 1}), Pattern(3, 5, 7)),
              HasSubstr("random_crop: expected an image of at least 8 x 8 pixels with 1 added at "
                        "each side, got 5 x 7"));
  EXPECT_THAT(
      Refusal(RandomCrop({.height = 2, .width = 2, .padding = 5, .mode = PadMode::kReflect}),
              Pattern(3, 5, 7)),
      HasSubstr("large enough to add 5 rows and 5 columns"));
  EXPECT_THAT(
      Refusal(RandomCrop({.height = 2, .width = 2, .padding = 1, .value = 300}), Pattern(3, 5, 7)),
      HasSubstr("value is 300 (want 0 to 255 for an image of u8)"));
}

TEST(CropTest, RefusesOptionsThatMakeNoSense) {
  using firn::testing::ErrorOf;
  EXPECT_THAT(ErrorOf([] { CenterCrop({.width = 3}); }),
              HasSubstr("center_crop: height is 0 (want 1 to 1048576)"));
  EXPECT_THAT(ErrorOf([] { RandomCrop({.height = 3, .width = 3, .padding = -1}); }),
              HasSubstr("padding is -1"));
  EXPECT_THAT(ErrorOf([] {
                RandomResizedCrop({.height = 3, .width = 3, .scale = {0, 1}});
              }),
              HasSubstr("scale is 0 to 1"));
  EXPECT_THAT(ErrorOf([] {
                RandomResizedCrop({.height = 3, .width = 3, .ratio = {2, 1}});
              }),
              HasSubstr("ratio is 2 to 1 (want an interval that rises"));
  EXPECT_THAT(ErrorOf([] {
                RandomResizedCrop({.height = 3, .width = 3, .scale = {0.5, NAN}});
              }),
              HasSubstr("scale is nan"));
}

// An image that says where it came from: channel 0 the row, channel 1 the column, in pixels.
Tensor Coordinates(int64_t h, int64_t w) {
  std::vector<float> values(static_cast<size_t>(2 * h * w));
  for (int64_t i = 0; i < h * w; ++i) {
    values[static_cast<size_t>(i)] = static_cast<float>(i / w);
    values[static_cast<size_t>(h * w + i)] = static_cast<float>(i % w);
  }
  return FromVector(values, {2, h, w});
}

TEST(RandomResizedCropTest, DrawsAreasAndShapesFromTheirIntervals) {
  const int64_t h = 100, w = 120;
  const Tensor image = Coordinates(h, w);
  // Nearest of 100 x 120 pixels of the part: the first and the last of each direction are its ends.
  const Transform crop =
      RandomResizedCrop({.height = h, .width = w, .interpolation = Interpolation::kNearest});
  RandomGenerator random(3);
  double share = 0;
  const int n = 400;
  for (int i = 0; i < n; ++i) {
    const Tensor made = crop(image, random);
    const auto v = made.host_view<float>();
    const double height = static_cast<double>(v[static_cast<size_t>(h * w - 1)] - v[0]) + 1;
    const double width =
        static_cast<double>(v[static_cast<size_t>(2 * h * w - 1)] - v[static_cast<size_t>(h * w)]) +
        1;
    const double area = height * width / static_cast<double>(h * w);
    share += area;
    // Sides are rounded to whole pixels: the least side is 27 of them, so by less than 4 %.
    EXPECT_GT(area, 0.08 * 0.96);
    EXPECT_LT(area, 1.04);
    EXPECT_GT(width / height, 0.75 * 0.96);
    EXPECT_LT(width / height, 4.0 / 3 * 1.04);
  }
  // Uniform in 0.08 to 1 is 0.54 in the mean; draws of large areas that do not fit are drawn anew.
  EXPECT_NEAR(share / n, 0.5, 0.05);
}

TEST(RandomResizedCropTest, FallsBackToTheMiddle) {
  // No square has at least half of the area of 1 x 100 pixels.
  const Tensor image = Coordinates(1, 100);
  const Tensor made = RandomResizedCrop({.height = 1,
                                         .width = 1,
                                         .scale = {0.5, 1},
                                         .ratio = {1, 1},
                                         .interpolation = Interpolation::kNearest})(
      image, *std::make_unique<RandomGenerator>(1));
  EXPECT_EQ(made.ToVector<float>()[1], 49);  // 1 x 1 pixels from (100 - 1) / 2
}

TEST(RandomResizedCropTest, WholeImagesAreResized) {
  const Tensor image = Pattern(3, 20, 30);
  RandomGenerator random(1);
  const Tensor made = RandomResizedCrop(
      {.height = 7, .width = 9, .scale = {1, 1}, .ratio = {1.5, 1.5}})(image, random);
  EXPECT_TRUE(made.Equals(Resize({.height = 7, .width = 9})(image)));
}

}  // namespace
}  // namespace firn::io
