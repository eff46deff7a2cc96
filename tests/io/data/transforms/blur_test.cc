// Sums written out, and the definition over all places.
#include "firn/io/data/transforms/blur.h"

#include <cmath>
#include <set>
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
using ::testing::HasSubstr;

int64_t Inside(int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

TEST(GaussianBlurTest, IsTheWeightedMeanWithReflectedBorders) {
  const int64_t h = 9, w = 21;
  const Tensor image = Pattern(2, h, w, 7);
  const std::vector<float> from = image.ToVector<float>();
  for (const auto& [kernel, sigma] : {std::pair<int64_t, double>{3, 0.8}, {5, 1.5}, {7, 0.5}}) {
    const Interval only = {sigma, sigma};
    const std::vector<int> bytes = ValuesOf(GaussianBlur({.kernel = kernel, .sigma = only})(image));
    const std::vector<float> floats =
        GaussianBlur({.kernel = kernel, .sigma = only})(image.To(DType::kF32)).ToVector<float>();
    for (int64_t at = 0; at < 2 * h * w; ++at) {
      const int64_t x = at % w, y = at / w % h, plane = at / (h * w) * h * w;
      double sum = 0, weights = 0;
      for (int64_t j = -kernel / 2; j <= kernel / 2; ++j) {
        for (int64_t i = -kernel / 2; i <= kernel / 2; ++i) {
          const double weight = std::exp(-static_cast<double>(i * i + j * j) / (2 * sigma * sigma));
          sum += weight *
                 static_cast<double>(
                     from[static_cast<size_t>(plane + Inside(y + j, h) * w + Inside(x + i, w))]);
          weights += weight;
        }
      }
      const auto k = static_cast<size_t>(at);
      ASSERT_NEAR(floats[k], sum / weights, 255 * 4e-7) << kernel << ", element " << at;
      ASSERT_NEAR(bytes[k], sum / weights, 0.5001) << kernel << ", element " << at;
    }
  }
}

TEST(GaussianBlurTest, DrawsSigma) {
  // Blurring a single bright pixel in a row makes its neighbour exp(-1 / (2 sigma^2)) times as
  // bright as the pixel.
  const Tensor image = FromVector(std::vector<float>{0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, {1, 2, 5});
  const Transform blur = GaussianBlur({.kernel = 3, .sigma = {0.5, 2}});
  RandomGenerator random(6);
  double least = 9, most = 0;
  for (int i = 0; i < 500; ++i) {
    const std::vector<float> made = blur(image, random).ToVector<float>();
    const double sigma = std::sqrt(-0.5 / std::log(static_cast<double>(made[1] / made[2])));
    least = std::min(least, sigma);
    most = std::max(most, sigma);
  }
  EXPECT_NEAR(least, 0.5, 0.02);
  EXPECT_NEAR(most, 2, 0.02);
}

TEST(GaussianBlurTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(ErrorOf([] { GaussianBlur({.kernel = 4}); }),
              HasSubstr("gaussian_blur: kernel is 4 (want an odd number, 1 to 1023)"));
  EXPECT_THAT(ErrorOf([] { GaussianBlur({.kernel = -3}); }), HasSubstr("kernel is -3"));
  EXPECT_THAT(ErrorOf([] { GaussianBlur({.sigma = {0, 1}}); }), HasSubstr("sigma is 0 to 1"));
  EXPECT_THAT(Refusal(GaussianBlur({.kernel = 9}), Pattern(3, 20, 4)),
              HasSubstr("expected an image of more than 4 pixels in each direction for a kernel of "
                        "9, got 20 x 4"));
}

}  // namespace
}  // namespace firn::io
