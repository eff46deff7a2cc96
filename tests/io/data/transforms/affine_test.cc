// Numbers are Pillow 13's, of the same images: Image.rotate, and Image.transform by the matrices of
// torchvision's affine.
#include "firn/io/data/transforms/affine.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "firn/io/data/transforms/rand_augment.h"
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
using ::testing::HasSubstr;

// Pillow cuts bilinear bytes off where they are rounded here.
void ExpectRounded(const Tensor& image, const std::vector<int>& cut_off) {
  const std::vector<int> values = ValuesOf(image);
  ASSERT_EQ(values.size(), cut_off.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_GE(values[i], cut_off[i]) << i;
    EXPECT_LE(values[i], cut_off[i] + 1) << i;
  }
}

TEST(RotateTest, TurnsCounterClockwise) {
  const Tensor image = Pattern(1, 5, 7, 7);
  EXPECT_THAT(
      ValuesOf(Rotate({.degrees = 30})(image)),
      ElementsAre(0, 0, 105, 140, 252, 31, 0, 35, 70, 182, 217, 38, 73, 185, 77, 112, 224, 3, 115,
                  150, 6, 77, 189, 224, 80, 80, 192, 227, 0, 231, 10, 122, 157, 0, 0));
  EXPECT_THAT(ValuesOf(Rotate({.degrees = 90})(image)),
              ElementsAre(0, 175, 252, 73, 150, 227, 0, 0, 140, 217, 38, 115, 192, 0, 0, 105, 182,
                          3, 80, 157, 0, 0, 70, 147, 224, 45, 122, 0, 0, 35, 112, 189, 10, 87, 0));
  ExpectRounded(
      Rotate({.degrees = 30, .interpolation = Interpolation::kBilinear})(image),
      {0,  0,   109, 160, 229, 92,  0,  31,  72,  141, 175, 116, 91, 156, 52,  121, 173, 3,
       71, 140, 132, 105, 170, 145, 69, 120, 189, 205, 0,   169, 32, 101, 152, 0,   0});
  EXPECT_TRUE(Rotate({.degrees = 720})(image).Equals(image));
}

TEST(RotateTest, ExpandMakesRoomForAllOfIt) {
  const Tensor image = Pattern(1, 5, 7, 7);
  const Tensor made = Rotate({.degrees = -45, .expand = true})(image);
  ASSERT_EQ(made.shape(), (Shape{1, 9, 9}));
  EXPECT_THAT(RowsOf(made, 4, 9), ElementsAre(0, 87, 45, 45, 3, 217, 217, 175, 0));
  EXPECT_THAT(RowsOf(made, 1, 9), ElementsAre(0, 0, 0, 77, 35, 0, 0, 0, 0));
  const Tensor quarter = Rotate({.degrees = 90, .expand = true})(image);
  ASSERT_EQ(quarter.shape(), (Shape{1, 7, 5}));
  EXPECT_THAT(RowsOf(quarter, 0, 5), ElementsAre(210, 31, 108, 185, 6));
}

TEST(RotateTest, ExpandRefusesMoreThanAnyPictureNeeds) {
  // 60,000 bytes would become 1.8 GB.
  EXPECT_THAT(ErrorOf([] { Rotate({.degrees = 45, .expand = true})(Pattern(1, 1, 60000, 1)); }),
              HasSubstr("rotate: expected at most 134217728 pixels, got 42429 x 42428 of an image "
                        "of 1 x 60000 turned by 45 degrees"));
  EXPECT_EQ(Rotate({.degrees = 45, .expand = true})(Pattern(1, 1, 10000, 1)).size(2), 7072);
}

TEST(RotateTest, AroundACenterOfOnesOwn) {
  // A half turn around the border of the second and the third pixel reverses the first four and
  // leaves fill in the last two places.
  const Tensor made =
      Rotate({.degrees = 180, .center = Point{2, 0.5}, .fill = 9})(Bytes(1, {1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(ValuesOf(made), ElementsAre(4, 3, 2, 1, 9, 9));
}

TEST(AffineTest, MakesPillowsPixels) {
  const Tensor image = Pattern(1, 5, 7, 7);
  AffineOptions all = {.degrees = 20,
                       .translate_x = 1,
                       .translate_y = -1,
                       .scale = 1.2,
                       .shear_x = 10,
                       .shear_y = 5,
                       .fill = 9};
  EXPECT_THAT(
      ValuesOf(Affine(all)(image)),
      ElementsAre(154, 154, 189, 147, 182, 182, 217, 231, 10, 224, 224, 3, 38, 38, 52, 10, 45, 80,
                  80, 115, 73, 87, 122, 122, 157, 192, 150, 150, 9, 9, 9, 9, 192, 227, 6));
  all.interpolation = Interpolation::kBilinear;
  ExpectRounded(Affine(all)(image), {158, 153, 163, 172, 153, 191, 200, 216, 103, 129, 143, 3,
                                     67,  132, 88,  51,  61,  70,  80,  89,  98,  82,  108, 134,
                                     147, 157, 166, 160, 9,   9,   9,   9,   201, 220, 57});
  ExpectRounded(
      Affine({.shear_x = 30, .interpolation = Interpolation::kBilinear, .fill = 9})(image),
      {9,  0,  29,  64,  99, 134, 169, 9,   91,  126, 161, 196, 231, 158, 154, 189, 224, 3,
       38, 73, 108, 103, 30, 65,  100, 135, 170, 9,   92,  127, 162, 197, 192, 6,   9});
}

TEST(AffineTest, FloatsAreNotRounded) {
  const Tensor image = FromVector(std::vector<float>{0, 1, 3}, {1, 1, 3});
  const Tensor made =
      Affine({.translate_x = 0.25, .interpolation = Interpolation::kBilinear, .fill = -1})(image);
  // Places 0.25, 1.25 and 2.25: a quarter before the middle of each pixel.
  EXPECT_THAT(made.ToVector<float>(), ElementsAre(0, 0.75, 2.5));
}

// How far each of 200 draws moved a single bright row of pixels.
TEST(RandomAffineTest, MovesWithinItsShare) {
  std::vector<uint8_t> values(20 * 20, 0);
  values[10 * 20 + 10] = 1;
  const Tensor image = Bytes(20, values);
  const Transform move = RandomAffine({.translate_x = 0.2, .translate_y = 0.1});
  RandomGenerator random(2);
  std::set<int> columns, rows;
  for (int i = 0; i < 300; ++i) {
    const std::vector<int> made = ValuesOf(move(image, random));
    const auto at = std::find(made.begin(), made.end(), 1) - made.begin();
    columns.insert(static_cast<int>(at % 20));
    rows.insert(static_cast<int>(at / 20));
  }
  EXPECT_THAT(columns, ElementsAre(6, 7, 8, 9, 10, 11, 12, 13, 14));
  EXPECT_THAT(rows, ElementsAre(8, 9, 10, 11, 12));
}

TEST(RandomAffineTest, EqualBoundsAreAffine) {
  const Tensor image = Pattern(3, 12, 9, 3);
  RandomGenerator random(4);
  EXPECT_TRUE(
      RandomAffine(
          {.degrees = {20, 20}, .scale = {1.2, 1.2}, .shear_x = {10, 10}, .shear_y = {5, 5}})(
          image, random)
          .Equals(Affine({.degrees = 20, .scale = 1.2, .shear_x = 10, .shear_y = 5})(image)));
  EXPECT_TRUE(RandomRotation({.degrees = {-30, -30}})(image, random)
                  .Equals(Rotate({.degrees = -30})(image)));
}

TEST(RandomRotationTest, DrawsFromItsInterval) {
  // A bright pixel right of the middle: its angle says how far it was turned.
  std::vector<uint8_t> values(101 * 101, 0);
  values[50 * 101 + 90] = 255;
  const Tensor image = Bytes(101, values);
  const Transform turn = RandomRotation({.degrees = {10, 50}});
  RandomGenerator random(2);
  double least = 90, most = -90;
  for (int i = 0; i < 200; ++i) {
    const std::vector<int> made = ValuesOf(turn(image, random));
    const auto found = std::find(made.begin(), made.end(), 255);
    if (found == made.end()) continue;  // nearest pixels may leave out a single one
    const auto at = found - made.begin();
    const double up = 50.0 - static_cast<double>(at / 101),
                 right = static_cast<double>(at % 101) - 50.0;
    const double angle = std::atan2(up, right) * 180 / 3.14159265;
    least = std::min(least, angle);
    most = std::max(most, angle);
  }
  EXPECT_NEAR(least, 10, 3);
  EXPECT_NEAR(most, 50, 3);
}

TEST(AffineTest, RefusesWhatMakesNoSense) {
  constexpr auto kCubic = Interpolation::kBicubic;
  const char* const no_cubic = ": expected nearest or bilinear interpolation, got bicubic";
  EXPECT_THAT(ErrorOf([] { Affine({.interpolation = kCubic}); }), HasSubstr(no_cubic));
  EXPECT_THAT(ErrorOf([] { Rotate({.interpolation = kCubic}); }), HasSubstr(no_cubic));
  EXPECT_THAT(ErrorOf([] { RandomAffine({.interpolation = kCubic}); }), HasSubstr(no_cubic));
  EXPECT_THAT(ErrorOf([] { RandAugment({.interpolation = kCubic}); }), HasSubstr(no_cubic));
  EXPECT_THAT(ErrorOf([] { Affine({.scale = 0}); }), HasSubstr("affine: scale is 0"));
  EXPECT_THAT(ErrorOf([] { Affine({.degrees = NAN}); }), HasSubstr("degrees is nan"));
  EXPECT_THAT(ErrorOf([] { Affine({.shear_x = 90}); }), HasSubstr("shear_x is 90 to 90"));
  EXPECT_THAT(ErrorOf([] { Rotate({.degrees = INFINITY}); }), HasSubstr("rotate: degrees is inf"));
  EXPECT_THAT(ErrorOf([] {
                Rotate({.expand = true, .center = Point{1, 1}});
              }),
              HasSubstr("expected center or expand, got both"));
  EXPECT_THAT(ErrorOf([] {
                RandomRotation({.degrees = {10, -10}});
              }),
              HasSubstr("random_rotation: degrees is 10 to -10"));
  EXPECT_THAT(ErrorOf([] { RandomAffine({.translate_x = 1.5}); }),
              HasSubstr("translate_x is 1.5 (want 0 to 1"));
  EXPECT_THAT(ErrorOf([] { RandomAffine({.scale = {0, 1}}); }), HasSubstr("scale is 0"));
  EXPECT_THAT(Refusal(Rotate({.degrees = 1, .fill = -1}), Pattern(1, 3, 3)),
              HasSubstr("fill is -1 (want 0 to 255"));
  // A scale beyond all numbers shows nothing but fill.
  EXPECT_THAT(ValuesOf(Affine({.scale = 1e-300, .fill = 7})(Bytes(1, {1, 2}))), ElementsAre(7, 7));
}

}  // namespace
}  // namespace firn::io
