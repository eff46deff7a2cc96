// What the samples of interpolate and grid_sample are too small to show: results that are many
// times smaller, images whose places a float cannot count, and places that are none.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/vision/grid_sample.h"
#include "firn/tensor/ops/vision/interpolate.h"

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

}  // namespace
}  // namespace firn
