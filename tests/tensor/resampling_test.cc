// Cases for which the samples of interpolate and grid_sample are too small: results that are many
// times smaller, images whose places a float cannot count, and places that are no numbers.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/vision/grid_sample.h"
#include "firn/tensor/ops/vision/interpolate.h"
#include "firn/tensor/ops/vision/resize.h"

namespace firn {
namespace {

// In time that grows with x alone: work for every pair of elements would take minutes.
TEST(InterpolateTest, MakesAFewElementsOfAMillion) {
  const int64_t n = 1'000'000;
  const Tensor x = Reshape(Arange(0, n, 1, {.dtype = DType::kF64}), {1, 1, n});
  const Tensor y = Interpolate(x, {.size = 2, .mode = InterpolateMode::kLinear, .antialias = true});
  // Triangles around a quarter and three quarters, as wide as the line and cut off at its ends: the
  // means of their places are 25/84 and 59/84.
  const std::vector<double> got = y.ToVector<double>();
  const double middle = (static_cast<double>(n) - 1) / 2;
  EXPECT_NEAR(got[0] + got[1], 2 * middle, 1e-3);
  EXPECT_NEAR((got[1] - got[0]) / static_cast<double>(n), 34.0 / 84, 1e-5);
}

// 2^24 + 3, the number of the last element, is no float, and is rounded up to the next.
TEST(GridSampleTest, StaysInsideOfImagesOfMoreElementsThanFloatsCount) {
  const int64_t n = (int64_t{1} << 24) + 4;
  const Tensor x = Ones({1, 1, 1, n});
  const Tensor grid = FromVector(std::vector<float>{1, 0, 1, 0.5}, Shape({1, 1, 2, 2}));
  for (const GridSampleMode mode :
       {GridSampleMode::kLinear, GridSampleMode::kNearest, GridSampleMode::kCubic}) {
    const Tensor y = GridSample(
        x, grid, {.mode = mode, .padding = GridSamplePadding::kBorder, .align_corners = true});
    EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{1, 1})) << static_cast<int>(mode);
  }
}

TEST(GridSampleTest, TakesPlacesThatAreNone) {
  const Tensor x = FromVector(std::vector<double>{1, 2, 3, 4}, Shape({1, 1, 1, 4}));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = HUGE_VAL;
  const Tensor grid = FromVector(std::vector<double>{kNan, 0, kInf, 0, -kInf, 0, 1e300, 0, 0, kNan},
                                 Shape({1, 1, 5, 2}));
  for (const GridSampleMode mode : {GridSampleMode::kLinear, GridSampleMode::kNearest}) {
    EXPECT_EQ(GridSample(x, grid, {.mode = mode}).ToVector<double>(), std::vector<double>(5, 0));
    const std::vector<double> border =
        GridSample(x, grid, {.mode = mode, .padding = GridSamplePadding::kBorder})
            .ToVector<double>();
    EXPECT_EQ(std::vector<double>(border.begin(), border.begin() + 4),
              (std::vector<double>{1, 4, 1, 4}));
    EXPECT_EQ(border[4], mode == GridSampleMode::kLinear ? 2.5 : 3);
  }
  const GridSampleOptions cubic{.mode = GridSampleMode::kCubic,
                                .padding = GridSamplePadding::kBorder};
  EXPECT_EQ(GridSample(x, grid, {.mode = cubic.mode}).ToVector<double>(),
            std::vector<double>(5, 0));
  const std::vector<double> border = GridSample(x, grid, cubic).ToVector<double>();
  for (const size_t none : {0u, 1u, 2u, 4u}) EXPECT_TRUE(std::isnan(border[none])) << none;
  EXPECT_EQ(border[3], 4);
}

// Places that are whole numbers are exact although quotients are rounded: computed with integers.
TEST(ResizeTest, TakesTheElementThatWholeNumbersSay) {
  for (int64_t n = 2; n <= 30; ++n) {
    const Tensor x = Arange(0, n, 1, {.dtype = DType::kI64});
    for (int64_t m = 2; m <= 60; ++m) {
      const auto got = [&](ResizeCoordinates coordinates, ResizeNearest nearest, bool scaled) {
        ResizeOptions o{.coordinates = coordinates, .nearest = nearest};
        // The scale as files have it, which is not smaller than the quotient.
        float scale = static_cast<float>(m) / static_cast<float>(n);
        while (static_cast<double>(scale) * static_cast<double>(n) < static_cast<double>(m)) {
          scale = std::nextafter(scale, 1e9f);
        }
        if (scaled) o.scales = {scale};
        if (!scaled) o.sizes = {m};
        return Resize(x, o).ToVector<int64_t>();
      };
      std::vector<int64_t> ends, first, middle;
      for (int64_t i = 0; i < m; ++i) {
        ends.push_back(i * (n - 1) / (m - 1));
        first.push_back(i * n / m);
        // (i + 1/2) n / m - 1/2, rounded to the nearest, halves down.
        middle.push_back(((2 * i + 1) * n - 1) / (2 * m));
      }
      for (const bool scaled : {false, true}) {
        EXPECT_EQ(got(ResizeCoordinates::kAlignCorners, ResizeNearest::kFloor, scaled), ends)
            << n << " to " << m << (scaled ? ", scaled" : "");
      }
      EXPECT_EQ(got(ResizeCoordinates::kAsymmetric, ResizeNearest::kFloor, false), first)
          << n << " to " << m;
      EXPECT_EQ(got(ResizeCoordinates::kHalfPixel, ResizeNearest::kRoundPreferFloor, false), middle)
          << n << " to " << m;
    }
  }
}

}  // namespace
}  // namespace firn
