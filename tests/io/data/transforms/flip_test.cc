#include "firn/io/data/transforms/flip.h"

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

TEST(FlipTest, SidesChangePlaces) {
  const Tensor image =
      FromVector(std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 2, 3});
  EXPECT_THAT(ValuesOf(RandomHorizontalFlip({.p = 1})(image)),
              ElementsAre(3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10));
  EXPECT_THAT(ValuesOf(RandomVerticalFlip({.p = 1})(image)),
              ElementsAre(4, 5, 6, 1, 2, 3, 10, 11, 12, 7, 8, 9));
  EXPECT_THAT(RandomVerticalFlip({.p = 1})(image.To(DType::kF32)).ToVector<int>(),
              ElementsAre(4, 5, 6, 1, 2, 3, 10, 11, 12, 7, 8, 9));
  EXPECT_TRUE(RandomHorizontalFlip({.p = 0})(image).Equals(image));
}

TEST(FlipTest, HappensAsOftenAsAsked) {
  RandomGenerator random(5);
  for (const double p : {0.5, 0.1}) {
    int flipped[2] = {};
    for (int i = 0; i < 10000; ++i) {
      const Tensor image = Bytes(2, {1, 2, 3, 4});
      flipped[0] += RandomHorizontalFlip({.p = p})(image, random).ToVector<int>()[0] == 2;
      flipped[1] += RandomVerticalFlip({.p = p})(image, random).ToVector<int>()[0] == 3;
    }
    // Standard deviation at most 50; five of them.
    EXPECT_NEAR(flipped[0], 10000 * p, 250);
    EXPECT_NEAR(flipped[1], 10000 * p, 250);
  }
}

TEST(FlipTest, RefusesWhatIsNoProbabilityOrNoImage) {
  EXPECT_THAT(firn::testing::ErrorOf([] { RandomHorizontalFlip({.p = 1.5}); }),
              HasSubstr("random_horizontal_flip: p is 1.5 (want 0 to 1)"));
  EXPECT_THAT(firn::testing::ErrorOf([] { RandomVerticalFlip({.p = -0.1}); }),
              HasSubstr("random_vertical_flip: p is -0.1"));
  EXPECT_THAT(Refusal(RandomHorizontalFlip(), Zeros({4})), HasSubstr("got f32 [4]"));
}

}  // namespace
}  // namespace firn::io
