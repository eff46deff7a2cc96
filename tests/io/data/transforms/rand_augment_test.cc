// Each operation is recognised by its result, which one of the other transforms makes.
#include "firn/io/data/transforms/rand_augment.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/data/transforms/affine.h"
#include "firn/io/data/transforms/color.h"
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
using ::testing::HasSubstr;

// torchvision's fourteen at magnitude 9 of 31 bins, m = 0.3, of an image of 40 x 60.
std::vector<std::pair<std::string, Transform>> Fourteen() {
  const double m = 0.3, shear = std::atan(0.3 * m) * 180 / M_PI;
  std::vector<std::pair<std::string, Transform>> all = {
      {"identity", Compose({})},         {"posterize", Posterize(7)},  // 8 - round(1.2)
      {"solarize", Solarize(255 * 0.7)}, {"auto_contrast", AutoContrast()},
      {"equalize", Equalize()},
  };
  for (const double way : {1.0, -1.0}) {
    const Point corner = {0, 0};
    all.emplace_back("shear_x", Affine({.shear_x = way * shear, .center = corner}));
    all.emplace_back("shear_y", Affine({.shear_y = way * shear, .center = corner}));
    all.emplace_back("translate_x",
                     Affine({.translate_x = way * 8}));  // 150 / 331 * 60 * 0.3 = 8.2
    all.emplace_back("translate_y", Affine({.translate_y = way * 5}));
    all.emplace_back("rotate", Rotate({.degrees = way * 9}));
    all.emplace_back("brightness", AdjustBrightness(1 + way * 0.27));
    all.emplace_back("saturation", AdjustSaturation(1 + way * 0.27));
    all.emplace_back("contrast", AdjustContrast(1 + way * 0.27));
    all.emplace_back("sharpness", AdjustSharpness(1 + way * 0.27));
  }
  return all;
}

TEST(RandAugmentTest, DrawsEachOfFourteenAsOften) {
  std::vector<uint8_t> values;
  for (const int v : ValuesOf(Pattern(3, 40, 60, 3)))
    values.push_back(static_cast<uint8_t>(v * 2 / 3 + 30));
  const Tensor image = FromVector(values, {3, 40, 60});
  const auto operations = Fourteen();
  std::vector<Tensor> made;
  for (const auto& [name, transform] : operations) made.push_back(transform(image));
  std::vector<int> counts(operations.size(), 0);
  const Transform augment = RandAugment({.operations = 1});
  RandomGenerator random(11);
  const int n = 5600;
  for (int i = 0; i < n; ++i) {
    const Tensor result = augment(image, random);
    size_t found = 0;
    while (found < made.size() && !result.Equals(made[found])) ++found;
    ASSERT_LT(found, made.size()) << "a result that none of them makes";
    ++counts[found];
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = i < 5 ? n / 14.0 : n / 28.0;
    EXPECT_NEAR(counts[i], expected, 5 * std::sqrt(expected)) << operations[i].first << " " << i;
  }
}

TEST(RandAugmentTest, AppliesSeveralOneAfterTheOther) {
  const Tensor image = Pattern(3, 20, 20, 3);
  RandomGenerator random(1);
  EXPECT_TRUE(RandAugment({.operations = 0})(image, random).Equals(image));
  RandomGenerator a(4), b(4);
  const Tensor twice = RandAugment({.operations = 2})(image, a);
  const Transform one = RandAugment({.operations = 1});
  EXPECT_TRUE(one(one(image, b), b).Equals(twice));
}

TEST(RandAugmentTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(ErrorOf([] { RandAugment({.operations = -1}); }),
              HasSubstr("rand_augment: operations is -1 (want >= 0)"));
  EXPECT_THAT(ErrorOf([] { RandAugment({.magnitude = 31}); }),
              HasSubstr("magnitude is 31 (want 0 to 30)"));
  EXPECT_THAT(ErrorOf([] { RandAugment({.bins = 1}); }), HasSubstr("bins is 1 (want >= 2)"));
  EXPECT_THAT(ErrorOf([] { RandAugment({.fill = 256}); }), HasSubstr("fill is 256"));
  EXPECT_THAT(Refusal(RandAugment(), FloatPattern(3, 4, 4)), HasSubstr("expected an image u8"));
  EXPECT_THAT(Refusal(RandAugment(), Pattern(2, 4, 4)), HasSubstr("1 channel (grey) or 3 (RGB)"));
}

}  // namespace
}  // namespace firn::io
