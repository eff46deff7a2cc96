// Transforms as values: put together, asked with and without a generator, for images and samples.
#include "firn/io/data/transforms/transform.h"

#include <functional>
#include <stdexcept>

#include "firn/io/data/transforms/flip.h"
#include "firn/io/data/transforms/normalize.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
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

TEST(TransformTest, IsMadeOfFunctionsWithAndWithoutAGenerator) {
  const Transform negative = [](const Tensor& image) { return 1 - image; };
  const Transform moved = [](const Tensor& image, RandomGenerator& random) {
    return image + Rand({1}, DType::kF32, {.generator = &random});
  };
  const Tensor image = FromVector(std::vector<float>{0.25f, 1}, {1, 1, 2});
  EXPECT_THAT(negative(image).ToVector<float>(), ElementsAre(0.75f, 0));
  RandomGenerator a(3), b(3);
  EXPECT_TRUE(moved(image, a).Equals(moved(image, b)));
  EXPECT_FALSE(moved(image, a).Equals(negative(image)));
  const std::function<Tensor(Tensor)> of_image = negative;  // what ImageFolder takes
  EXPECT_TRUE(of_image(image).Equals(negative(image)));
}

TEST(TransformTest, WithoutAGeneratorNothingIsDrawn) {
  EXPECT_THAT(ErrorOf([] { RandomHorizontalFlip()(Pattern(1, 2, 2)); }),
              HasSubstr("transform: it draws random numbers: call it with a generator"));
  EXPECT_EQ(RandomHorizontalFlip({.p = 1})(Pattern(1, 2, 2)).num_elements(), 4);
}

TEST(TransformTest, OfASampleItChangesTheInput) {
  RandomGenerator random;
  const Sample made = ToFloat()(Sample{Bytes(1, {255}), Tensor(7)}, random);
  EXPECT_EQ(made.input.Item<float>(), 1);
  EXPECT_EQ(made.target.Item<int64_t>(), 7);
}

TEST(ComposeTest, AppliesOneAfterTheOtherFromOneGenerator) {
  const Transform word = [](const Tensor& image, RandomGenerator& random) {
    return image * 10 + static_cast<double>(random.Reserve(1).offset);
  };
  RandomGenerator random;
  EXPECT_EQ(Compose({word, word, [](const Tensor& x) { return x + 0.5; }})(Ones({1}), random)
                .Item<float>(),
            101.5);
  EXPECT_EQ(random.position().offset, 2u);
  EXPECT_EQ(Compose({})(Ones({1})).Item<float>(), 1);
}

TEST(RandomApplyTest, AppliesAsOftenAsAsked) {
  const Transform add = RandomApply([](const Tensor& x) { return x + 1; }, {.p = 0.2});
  RandomGenerator random(1);
  int applied = 0;
  for (int i = 0; i < 2000; ++i) applied += add(Zeros({1}), random).Item<int>();
  EXPECT_NEAR(applied, 400, 90);  // five standard deviations
  EXPECT_THAT(ErrorOf([&] { RandomApply(add, {.p = 7}); }), HasSubstr("random_apply: p is 7"));
}

}  // namespace
}  // namespace firn::io
