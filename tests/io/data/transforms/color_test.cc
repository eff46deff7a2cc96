// Numbers are Pillow 13's of the same images (ImageEnhance, ImageOps), and of Python's colorsys.
#include "firn/io/data/transforms/color.h"

#include <cmath>
#include <map>
#include <vector>

#include "firn/io/data/transforms/tone.h"
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

// The first three pixels of each channel of the first row.
std::vector<int> Start(const Tensor& image) { return RowsOf(image, 0, 3); }

TEST(AdjustTest, MakesPillowsBytes) {
  const Tensor image = Pattern(3, 5, 7, 3);
  EXPECT_THAT(Start(AdjustBrightness(0.5)(image)),
              ElementsAre(0, 7, 15, 55, 63, 70, 111, 118, 126));
  EXPECT_THAT(Start(AdjustBrightness(1.7)(image)),
              ElementsAre(0, 25, 51, 188, 214, 239, 255, 255, 255));
  EXPECT_THAT(Start(AdjustContrast(0)(image)),
              ElementsAre(132, 132, 132, 132, 132, 132, 132, 132, 132));
  EXPECT_THAT(Start(AdjustContrast(0.5)(image)),
              ElementsAre(66, 73, 81, 121, 129, 136, 177, 184, 192));
  EXPECT_THAT(Start(AdjustContrast(1.7)(image)), ElementsAre(0, 0, 0, 96, 121, 147, 255, 255, 255));
  EXPECT_THAT(Start(AdjustSaturation(0)(image)),
              ElementsAre(90, 105, 120, 90, 105, 120, 90, 105, 120));
  EXPECT_THAT(Start(AdjustSaturation(0.5)(image)),
              ElementsAre(45, 60, 75, 100, 115, 130, 156, 171, 186));
  EXPECT_THAT(Start(AdjustSaturation(1.7)(image)),
              ElementsAre(0, 0, 0, 125, 140, 155, 255, 255, 255));
  for (const Transform& same :
       {AdjustBrightness(1), AdjustContrast(1), AdjustSaturation(1), AdjustSharpness(1)}) {
    EXPECT_TRUE(same(image).Equals(image));
  }
}

TEST(AdjustTest, SharpnessIsPillows) {
  const Tensor image = Pattern(1, 5, 7, 7);
  EXPECT_THAT(RowsOf(AdjustSharpness(0)(image), 1, 4), ElementsAre(77, 112, 127, 143));
  EXPECT_THAT(RowsOf(AdjustSharpness(0.5)(image), 1, 4), ElementsAre(77, 112, 137, 162));
  EXPECT_THAT(RowsOf(AdjustSharpness(1.7)(image), 1, 4), ElementsAre(77, 112, 161, 209));
  const Tensor narrow = Pattern(1, 2, 9);
  EXPECT_TRUE(AdjustSharpness(0)(narrow).Equals(narrow));
}

TEST(AdjustTest, FloatsAreClampedAndNotRounded) {
  const Tensor image = FromVector(std::vector<float>{0.5f, 0.25f, 1}, {3, 1, 1});
  EXPECT_THAT(AdjustBrightness(1.5)(image).ToVector<float>(), ElementsAre(0.75f, 0.375f, 1));
  const float grey = 0.2989f * 0.5f + 0.587f * 0.25f + 0.114f;
  const std::vector<float> half = AdjustSaturation(0.5)(image).ToVector<float>();
  EXPECT_NEAR(half[0], 0.5f * 0.5f + 0.5f * grey, 1e-6);
  EXPECT_NEAR(half[2], 0.5f + 0.5f * grey, 1e-6);
  EXPECT_NEAR(AdjustContrast(0.5)(image).ToVector<float>()[1], 0.125f + 0.5f * grey, 1e-6);
  EXPECT_NEAR(Grayscale()(image).Item<float>(), grey, 1e-6);
}

// Red, green and blue of colorsys.hsv_to_rgb, times 255.999.
struct Turned {
  double turn;
  std::vector<int> rgb;
};

TEST(AdjustTest, HueTurnsTheCircleOfColours) {
  const Tensor image = FromVector(
      std::vector<uint8_t>{200, 10, 128, 255, 50, 240, 128, 0, 100, 30, 128, 255}, {3, 1, 4});
  const Turned kCases[] = {
      {0.1, {200, 10, 128, 255, 90, 240, 128, 0, 50, 168, 128, 102}},
      {-0.25, {75, 240, 128, 0, 50, 145, 128, 127, 200, 10, 128, 255}},
      {0.5, {50, 240, 128, 0, 200, 10, 128, 255, 150, 220, 128, 0}},
  };
  for (const auto& [turn, rgb] : kCases) {
    const std::vector<int> made = ValuesOf(AdjustHue(turn)(image));
    // Fractions near a whole number fall to either side in f32.
    for (size_t i = 0; i < rgb.size(); ++i) EXPECT_NEAR(made[i], rgb[i], 1) << turn << ", " << i;
  }
  const Tensor floats = FromVector(std::vector<float>{1, 0, 0}, {3, 1, 1});
  const std::vector<float> cyan = AdjustHue(0.5)(floats).ToVector<float>();
  EXPECT_NEAR(cyan[0], 0, 1e-6);
  EXPECT_NEAR(cyan[1], 1, 1e-6);
  EXPECT_NEAR(cyan[2], 1, 1e-6);
  const Tensor bad = FromVector(std::vector<float>{NAN, INFINITY, -INFINITY}, {3, 1, 1});
  EXPECT_EQ(AdjustHue(0.5)(bad).num_elements(), 3);  // no crash
}

TEST(AdjustTest, GreyImagesKeepTheirColour) {
  const Tensor image = Pattern(1, 3, 4);
  EXPECT_TRUE(AdjustSaturation(0.3)(image).Equals(image));
  EXPECT_TRUE(AdjustHue(0.3)(image).Equals(image));
  EXPECT_FALSE(AdjustContrast(0.3)(image).Equals(image));
}

TEST(GrayscaleTest, IsPillowsLuma) {
  const Tensor image = Pattern(3, 5, 7, 3);
  EXPECT_THAT(RowsOf(Grayscale()(image), 0, 4), ElementsAre(90, 105, 120, 106));
  const Tensor three = Grayscale({.channels = 3})(image);
  EXPECT_THAT(RowsOf(three, 0, 2), ElementsAre(90, 105, 90, 105, 90, 105));
  RandomGenerator random(1);
  int grey = 0;
  for (int i = 0; i < 2000; ++i) {
    const Tensor made = RandomGrayscale()(image, random);
    if (made.Equals(three)) {
      ++grey;
    } else {
      ASSERT_TRUE(made.Equals(image));
    }
  }
  EXPECT_NEAR(grey, 200, 67);  // five standard deviations
}

TEST(ColorJitterTest, DrawsWithinItsRangesInAnyOrder) {
  RandomGenerator random(3);
  const Transform jitter = ColorJitter({.brightness = 0.3});
  const Tensor image = FromVector(std::vector<float>{0.5f}, {1, 1, 1});
  double least = 2, most = 0, sum = 0;
  for (int i = 0; i < 2000; ++i) {
    const double factor = jitter(image, random).Item<double>() / 0.5;
    least = std::min(least, factor);
    most = std::max(most, factor);
    sum += factor;
  }
  EXPECT_GE(least, 0.7 - 1e-6);
  EXPECT_LT(least, 0.71);
  EXPECT_LE(most, 1.3 + 1e-6);
  EXPECT_GT(most, 1.29);
  EXPECT_NEAR(sum / 2000, 1, 5 * 0.6 / std::sqrt(12.0 * 2000));
  // Beyond 1 the factor starts at 0.
  const Transform strong = ColorJitter({.brightness = 5});
  for (int i = 0; i < 100; ++i) EXPECT_GE(strong(image, random).Item<double>(), 0);
  // What is drawn does not depend on the image; what comes out depends on the order.
  const Tensor colored = Pattern(3, 4, 4, 3);
  const Transform all =
      ColorJitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1});
  RandomGenerator a(9), b(9);
  EXPECT_TRUE(all(colored, a).Equals(all(colored, b)));
  EXPECT_FALSE(all(colored, a).Equals(all(colored, random)));
  const Transform none = ColorJitter({});
  EXPECT_TRUE(none(colored, random).Equals(colored));
}

TEST(ToneTest, MakesPillowsBytes) {
  const Tensor image = Pattern(1, 5, 7, 7);
  EXPECT_THAT(RowsOf(Posterize(3)(image), 1, 7), ElementsAre(64, 96, 128, 160, 192, 224, 0));
  EXPECT_THAT(RowsOf(Posterize(0)(image), 1, 2), ElementsAre(0, 0));
  EXPECT_TRUE(Posterize(8)(image).Equals(image));
  EXPECT_THAT(RowsOf(Solarize(100)(image), 0, 7), ElementsAre(0, 35, 70, 150, 115, 80, 45));
  EXPECT_THAT(Start(AutoContrast()(Pattern(3, 5, 7, 3))),
              ElementsAre(0, 17, 34, 109, 124, 140, 220, 236, 251));
  const Tensor flat = Full({1, 3, 3}, 77).To(DType::kU8);
  EXPECT_TRUE(AutoContrast()(flat).Equals(flat));
  EXPECT_TRUE(Equalize()(flat).Equals(flat));
}

TEST(ToneTest, EqualizeIsPillows) {
  const Tensor image = Pattern(1, 20, 30);
  std::vector<uint8_t> values;
  for (const int v : ValuesOf(image)) values.push_back(static_cast<uint8_t>(v / 3 + 20));
  const Tensor made = Equalize()(Bytes(20, values));
  EXPECT_THAT(RowsOf(made, 0, 10), ElementsAre(0, 4, 10, 16, 19, 26, 31, 35, 41, 47));
  EXPECT_THAT(RowsOf(made, 1, 10), ElementsAre(10, 16, 22, 26, 31, 38, 41, 47, 53, 56));
}

TEST(ColorTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(ErrorOf([] { AdjustBrightness(-1); }),
              HasSubstr("adjust_brightness: factor is -1 (want >= 0)"));
  EXPECT_THAT(ErrorOf([] { AdjustContrast(1e300); }), HasSubstr("factor is 1e+300"));
  EXPECT_THAT(ErrorOf([] { AdjustHue(0.6); }), HasSubstr("turn is 0.6 (want -0.5 to 0.5)"));
  EXPECT_THAT(ErrorOf([] { AdjustHue(NAN); }), HasSubstr("turn is nan"));
  EXPECT_THAT(ErrorOf([] { ColorJitter({.saturation = -0.1}); }), HasSubstr("saturation is -0.1"));
  EXPECT_THAT(ErrorOf([] { ColorJitter({.hue = 0.7}); }), HasSubstr("hue is 0.7"));
  EXPECT_THAT(ErrorOf([] { Grayscale({.channels = 2}); }),
              HasSubstr("grayscale: channels is 2 (want 1 or 3)"));
  EXPECT_THAT(ErrorOf([] { RandomGrayscale({.p = 2}); }), HasSubstr("p is 2"));
  EXPECT_THAT(ErrorOf([] { Posterize(9); }), HasSubstr("posterize: bits is 9 (want 0 to 8)"));
  EXPECT_THAT(ErrorOf([] { Solarize(INFINITY); }), HasSubstr("solarize: threshold is inf"));
  EXPECT_THAT(
      Refusal(ColorJitter({}), Pattern(4, 2, 2)),
      HasSubstr("color_jitter: expected an image of 1 channel (grey) or 3 (RGB), got u8 [4"));
  EXPECT_THAT(
      Refusal(Equalize(), FloatPattern(3, 2, 2)),
      HasSubstr("equalize: expected an image u8 [channels, height, width] on the CPU, got f32"));
  EXPECT_THAT(Refusal(AutoContrast(), FloatPattern(3, 2, 2)), HasSubstr("auto_contrast"));
}

}  // namespace
}  // namespace firn::io
