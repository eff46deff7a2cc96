// Numbers are Pillow 13's resize of the same images (BILINEAR, BICUBIC, NEAREST), and for f32 and
// without antialias PyTorch 2.15's interpolate.
#include "firn/io/data/transforms/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>
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
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(ResizeTest, MakesPillowsBytes) {
  const Tensor image = Pattern(1, 5, 7, 7);
  EXPECT_THAT(ValuesOf(Resize({.height = 3, .width = 4})(image)),
              ElementsAre(51, 106, 170, 168, 145, 130, 92, 117, 94, 92, 156, 134));
  EXPECT_THAT(ValuesOf(Resize({.height = 7, .width = 9})(image)),
              ElementsAre(0, 23, 51, 78, 105, 132, 159, 187, 210, 44, 67, 95, 122, 149, 176, 203,
                          182, 108, 99, 122, 150, 161, 131, 158, 185, 151, 53, 154, 177, 205, 175,
                          3, 30, 57, 85, 108, 209, 111, 77, 88, 58, 85, 112, 140, 163, 154, 80, 59,
                          86, 113, 140, 167, 158, 108, 52, 75, 103, 130, 157, 184, 211, 153, 6));
  EXPECT_THAT(ValuesOf(Resize({.height = 2, .width = 2})(Pattern(3, 5, 7, 3))),
              ElementsAre(57, 99, 123, 165, 167, 189, 162, 102, 107, 71, 91, 131));
}

TEST(ResizeTest, MakesPillowsBytesByCubics) {
  const auto cubic = [](int64_t height, int64_t width) {
    return Resize({.height = height, .width = width, .interpolation = Interpolation::kBicubic});
  };
  const Tensor image = Pattern(1, 5, 7, 7);
  EXPECT_THAT(ValuesOf(cubic(3, 4)(image)),
              ElementsAre(45, 108, 177, 168, 155, 130, 85, 118, 94, 85, 159, 135));
  // Enlarged, with results that were cut to 0 and 255 between the passes.
  EXPECT_THAT(ValuesOf(cubic(7, 9)(image)),
              ElementsAre(0, 17, 47, 74, 101, 128, 153, 189, 223, 37, 59, 88, 119, 160, 187, 225,
                          192, 99, 97, 125, 162, 172, 142, 168, 211, 157, 26, 152, 175, 219, 187, 3,
                          25, 57, 87, 110, 236, 105, 55, 81, 51, 76, 103, 143, 185, 163, 70, 36, 78,
                          119, 146, 181, 166, 110, 39, 73, 109, 134, 161, 188, 235, 158, 0));
  EXPECT_THAT(ValuesOf(cubic(2, 2)(Pattern(3, 5, 7, 3))),
              ElementsAre(49, 97, 125, 173, 168, 196, 166, 93, 111, 63, 86, 138));
  const Tensor large = cubic(20, 25)(Pattern(3, 48, 61, 7));
  const std::vector<int> bytes = ValuesOf(large);
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), 0), 191182);
  const std::vector<int> last(bytes.end() - 6, bytes.end());
  EXPECT_THAT(last, ElementsAre(124, 160, 140, 118, 151, 123));
  EXPECT_TRUE(cubic(5, 7)(image).Equals(image));  // of the same size
}

TEST(ResizeTest, CubicsOfFloatsArePyTorchs) {
  const Tensor line = FromVector(std::vector<float>{0, 10, 20, 30, 40, 50, 60, 200}, {1, 1, 8});
  const auto cubic = [](int64_t height, int64_t width, bool antialias) {
    return Resize({.height = height,
                   .width = width,
                   .interpolation = Interpolation::kBicubic,
                   .antialias = antialias});
  };
  // PyTorch makes weights in f32, of which each sum has at most twelve or sixteen: roundings of the
  // largest number, 200 or 16, by 2^-23.
  EXPECT_THAT(cubic(1, 3, true)(line).ToVector<float>(),
              Pointwise(FloatNear(200 * 0x1p-18),
                        {8.964649200439453f, 31.477516174316406f, 103.12525939941406f}));
  EXPECT_THAT(cubic(1, 3, false)(line).ToVector<float>(),
              Pointwise(FloatNear(200 * 0x1p-18), {7.696759223937988f, 35.0f, 80.96067810058594f}));
  const Tensor small = FromVector(std::vector<float>{1, 2, 4, 8, 16, 5}, {1, 2, 3});
  EXPECT_THAT(cubic(3, 5, false)(small).ToVector<float>(),
              Pointwise(FloatNear(16 * 0x1p-18),
                        {0.35469451546669006f, 0.31934791803359985f, 0.7847223281860352f,
                         2.727597951889038f, 4.213528633117676f, 4.068000793457031f,
                         6.570000171661377f, 9.0f, 6.569999694824219f, 4.068000793457031f,
                         7.781306743621826f, 12.82065200805664f, 17.21527671813965f,
                         10.412400245666504f, 3.9224741458892822f}));
}

TEST(ResizeTest, NearestTakesThePixelAroundThePlace) {
  const Tensor image = Pattern(1, 5, 7, 7);
  EXPECT_THAT(
      ValuesOf(Resize({.height = 3, .width = 4, .interpolation = Interpolation::kNearest})(image)),
      ElementsAre(0, 70, 140, 210, 154, 224, 38, 108, 52, 122, 192, 6));
  EXPECT_THAT(
      RowsOf(Resize({.height = 8, .width = 10, .interpolation = Interpolation::kNearest})(image), 3,
             10),
      ElementsAre(154, 189, 189, 224, 3, 3, 38, 73, 73, 108));
}

TEST(ResizeTest, WithoutAntialiasTakesTwoNeighbours) {
  // Places 0.75 and 2.75 + 0.5 * k: of 8 pixels to 2, (i + 0.5) * 4 - 0.5 is 1.5 and 5.5.
  const Tensor image = Bytes(1, {0, 10, 20, 30, 40, 50, 60, 200});
  const Transform plain = Resize({.height = 1, .width = 2, .antialias = false});
  EXPECT_THAT(ValuesOf(plain(image)), ElementsAre(15, 55));
  const Tensor floats = plain(image.To(DType::kF32));
  EXPECT_THAT(floats.ToVector<float>(), ElementsAre(15, 55));
  // Enlarged, what lies beyond the first and the last pixel is that pixel.
  const Tensor wide = Resize({.height = 1, .width = 4, .antialias = false})(
      FromVector(std::vector<float>{1, 2}, {1, 1, 2}));
  EXPECT_THAT(wide.ToVector<float>(), ElementsAre(1, 1.25, 1.75, 2));
}

TEST(ResizeTest, FloatsAreWeightedMeans) {
  // From 4 pixels to 2 the window is 4 wide: weights at the border are 0.75, 0.75 and 0.25 of 1.75.
  const Tensor image = FromVector(std::vector<float>{7, 14, 28, 70}, {1, 1, 4});
  const std::vector<float> made = Resize({.height = 1, .width = 2})(image).ToVector<float>();
  EXPECT_NEAR(made[0], (0.75 * 7 + 0.75 * 14 + 0.25 * 28) / 1.75, 1e-5);
  EXPECT_NEAR(made[1], (0.25 * 14 + 0.75 * 28 + 0.75 * 70) / 1.75, 1e-5);
}

// The definition, in doubles and pixel by pixel, at sizes where rows do not fill whole blocks.
double Slow(const Tensor& image, int64_t c, double y, double x, double high, double wide) {
  double sum = 0, weights = 0;
  for (int64_t j = 0; j < image.size(1); ++j) {
    for (int64_t i = 0; i < image.size(2); ++i) {
      const double dy = std::abs(static_cast<double>(j) + 0.5 - y) / high;
      const double dx = std::abs(static_cast<double>(i) + 0.5 - x) / wide;
      const double w = std::max(1 - dy, 0.0) * std::max(1 - dx, 0.0);
      const int64_t at = (c * image.size(1) + j) * image.size(2) + i;
      sum += w * static_cast<double>(image.host_view<float>()[static_cast<size_t>(at)]);
      weights += w;
    }
  }
  return sum / weights;
}

TEST(ResizeTest, AnySizeIsTheDefinition) {
  const struct {
    int64_t h, w, height, width;
  } kCases[] = {{1, 1, 3, 2}, {2, 3, 70, 65}, {37, 70, 17, 5}, {33, 16, 33, 16}, {18, 90, 4, 130}};
  for (const auto& [h, w, height, width] : kCases) {
    const Tensor image = FloatPattern(2, h, w, 3);
    const Tensor made = Resize({.height = height, .width = width})(image);
    ASSERT_EQ(made.shape(), (Shape{2, height, width}));
    const double down = static_cast<double>(h) / static_cast<double>(height);
    const double right = static_cast<double>(w) / static_cast<double>(width);
    const std::vector<float> values = made.ToVector<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto k = static_cast<int64_t>(i);
      const double want =
          Slow(image, k / (height * width), (static_cast<double>(k / width % height) + 0.5) * down,
               (static_cast<double>(k % width) + 0.5) * right, std::max(down, 1.0),
               std::max(right, 1.0));
      ASSERT_NEAR(values[i], want, 2e-6) << h << " x " << w << ", element " << i;
    }
  }
}

TEST(ResizeTest, TheShorterSideSetsTheOther) {
  EXPECT_EQ(Resize({.shorter = 10})(Pattern(3, 20, 33)).shape(), (Shape{3, 10, 16}));
  EXPECT_EQ(Resize({.shorter = 10})(Pattern(3, 33, 20)).shape(), (Shape{3, 16, 10}));
  EXPECT_EQ(Resize({.shorter = 10})(Pattern(3, 20, 20)).shape(), (Shape{3, 10, 10}));
}

TEST(ResizeTest, RefusesOptionsAndImagesThatMakeNoSense) {
  const auto making = [](const ResizeOptions& o) {
    return firn::testing::ErrorOf([&] { Resize(o); });
  };
  EXPECT_THAT(making({}), HasSubstr("resize: height is 0 (want 1 to 1048576)"));
  EXPECT_THAT(making({.height = 4}), HasSubstr("width is 0"));
  EXPECT_THAT(making({.height = 4, .width = -1}), HasSubstr("width is -1"));
  EXPECT_THAT(making({.shorter = int64_t{1} << 40}), HasSubstr("shorter is 1099511627776"));
  EXPECT_THAT(making({.shorter = 4, .height = 4, .width = 4}),
              HasSubstr("expected either shorter or height and width, got shorter 4, height 4"));
  const Transform resize = Resize({.height = 4, .width = 4});
  EXPECT_THAT(Refusal(resize, Zeros({3, 4})),
              HasSubstr("resize: expected an image u8 or f32 [channels, height, width] on the CPU, "
                        "got f32 [3, 4]"));
  EXPECT_THAT(Refusal(resize, Zeros({1, 2, 2}).To(DType::kI64)), HasSubstr("got i64 [1, 2, 2]"));
  EXPECT_THAT(Refusal(resize, Zeros({3, 0, 4})), HasSubstr("at least one channel and one pixel"));
  EXPECT_THAT(Refusal(resize, Tensor()), HasSubstr("got an undefined tensor"));
}

TEST(ResizeTest, TakesViewsAndLeavesThemAsTheyAre) {
  const Tensor image = Pattern(3, 8, 6);
  const Tensor turned = Transpose(image, 1, 2), before = turned.Clone();
  const Tensor made = Resize({.height = 3, .width = 4})(turned);
  EXPECT_TRUE(made.Equals(Resize({.height = 3, .width = 4})(before)));
  EXPECT_TRUE(turned.Equals(before));
}

}  // namespace
}  // namespace firn::io
