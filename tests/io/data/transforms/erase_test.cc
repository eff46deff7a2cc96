// Which rectangles are erased, how often, and with what.
#include "firn/io/data/transforms/erase.h"

#include <algorithm>
#include <cmath>
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

struct Box {
  int64_t top = 1000, bottom = -1, left = 1000, right = -1, count = 0;
  int64_t height() const { return bottom - top + 1; }
  int64_t width() const { return right - left + 1; }
};

// The pixels where channel 0 is `value`.
Box Where(const Tensor& image, float value) {
  Box box;
  const std::vector<float> values = image.ToVector<float>();
  for (int64_t y = 0; y < image.size(1); ++y) {
    for (int64_t x = 0; x < image.size(2); ++x) {
      if (values[static_cast<size_t>(y * image.size(2) + x)] != value) continue;
      box.top = std::min(box.top, y);
      box.bottom = std::max(box.bottom, y);
      box.left = std::min(box.left, x);
      box.right = std::max(box.right, x);
      ++box.count;
    }
  }
  return box;
}

TEST(RandomErasingTest, ErasesARectangleOfItsIntervals) {
  const Tensor image = Full({3, 60, 80}, 0.5);
  const Transform erase = RandomErasing({.value = 7});
  RandomGenerator random(1);
  int erased = 0;
  double shares = 0;
  for (int i = 0; i < 1000; ++i) {
    const Tensor made = erase(image, random);
    const Box box = Where(made, 7);
    if (box.count == 0) {
      ASSERT_TRUE(made.Equals(image));
      continue;
    }
    ++erased;
    ASSERT_EQ(box.count, box.height() * box.width());
    ASSERT_LT(box.height(), 60);
    ASSERT_LT(box.width(), 80);
    const double share = static_cast<double>(box.count) / (60 * 80);
    shares += share;
    // The least side is sqrt(96 / 3.3) = 5.4 pixels, rounded by at most half of one.
    ASSERT_GT(share, 0.02 * 0.8);
    ASSERT_LT(share, 0.33 * 1.1);
    const double ratio = static_cast<double>(box.height()) / static_cast<double>(box.width());
    ASSERT_GT(ratio, 0.3 * 0.85);
    ASSERT_LT(ratio, 3.3 * 1.18);
    // All channels alike.
    EXPECT_EQ(Sum(made).Item<double>() - 0.5 * 3 * 60 * 80,
              6.5 * 3 * static_cast<double>(box.count));
  }
  EXPECT_NEAR(erased, 500, 80);  // five standard deviations
  EXPECT_NEAR(shares / erased, 0.175, 0.02);
}

TEST(RandomErasingTest, NoiseIsNormal) {
  const Tensor image = Full({1, 200, 200}, 100);
  RandomGenerator random(2);
  const Tensor made =
      RandomErasing({.p = 1, .scale = {0.3, 0.3}, .ratio = {1, 1}, .noise = true})(image, random);
  double n = 0, sum = 0, squares = 0;
  for (const float v : made.ToVector<float>()) {
    if (v == 100) continue;
    n += 1;
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  EXPECT_EQ(n, 110 * 110);  // sqrt(0.3 * 200 * 200) is 109.5
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n));
}

TEST(RandomErasingTest, LeavesImagesThatNothingFitsInto) {
  const Tensor image = Pattern(1, 1, 50);  // a rectangle must be lower than one row
  RandomGenerator random(1);
  EXPECT_TRUE(RandomErasing({.p = 1})(image, random).Equals(image));
}

TEST(RandomErasingTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(ErrorOf([] { RandomErasing({.p = -1}); }), HasSubstr("random_erasing: p is -1"));
  EXPECT_THAT(ErrorOf([] {
                RandomErasing({.scale = {0.1, 1.5}});
              }),
              HasSubstr("scale is 0.1 to 1.5 (want within 0 to 1)"));
  EXPECT_THAT(ErrorOf([] { RandomErasing({.ratio = {0, 1}}); }), HasSubstr("ratio is 0 to 1"));
  EXPECT_THAT(Refusal(RandomErasing({.noise = true}), Pattern(3, 4, 4)),
              HasSubstr("expected an image f32 for noise, got u8 [3, 4, 4]"));
  EXPECT_THAT(Refusal(RandomErasing({.value = 256}), Pattern(3, 4, 4)), HasSubstr("value is 256"));
}

}  // namespace
}  // namespace firn::io
