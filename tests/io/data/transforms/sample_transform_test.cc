// Boxes and masks are compared with their image: a mask and a box describe a white rectangle on
// black, and still do so after any transform.
#include "firn/io/data/transforms/sample_transform.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "firn/io/data/transforms/affine.h"
#include "firn/io/data/transforms/color.h"
#include "firn/io/data/transforms/crop.h"
#include "firn/io/data/transforms/flip.h"
#include "firn/io/data/transforms/rand_augment.h"
#include "firn/io/data/transforms/resize.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

constexpr int64_t kHeight = 24, kWidth = 32;

// An image of one white rectangle, its box, its mask i64 and its label.
Sample Drawn(int64_t x1, int64_t y1, int64_t x2, int64_t y2) {
  std::vector<uint8_t> pixels;
  std::vector<int64_t> mask;
  for (int64_t y = 0; y < kHeight; ++y) {
    for (int64_t x = 0; x < kWidth; ++x) {
      const bool inside = x >= x1 && x < x2 && y >= y1 && y < y2;
      pixels.push_back(inside ? 255 : 0);
      mask.push_back(inside ? 1 : 0);
    }
  }
  const std::vector<float> box = {float(x1), float(y1), float(x2), float(y2)};
  return Sample::Named({{"image", FromVector(pixels, {1, kHeight, kWidth})},
                        {"boxes", FromVector(box, {1, 4})},
                        {"mask", FromVector(mask, {kHeight, kWidth})},
                        {"labels", FromVector<int64_t>({7})}});
}

const TransformSampleOptions kAll = {.boxes = "boxes", .masks = {"mask"}, .labels = {"labels"}};

std::vector<float> BoxAfter(const Transform& transform, const Sample& sample) {
  RandomGenerator random(3);
  return TransformSample(transform, kAll)(sample, random)["boxes"].ToVector<float>();
}

// x1, y1, x2, y2 of the bright part.
std::vector<float> BoundsOf(const Tensor& image) {
  const std::vector<double> v = image.ToVector<double>();
  const int64_t width = image.size(-1);
  int64_t x1 = width, y1 = image.size(-2), x2 = 0, y2 = 0;
  for (int64_t i = 0; i < image.num_elements(); ++i) {
    if (v[static_cast<size_t>(i)] * 2 <= Max(image).Item()) continue;
    x1 = std::min(x1, i % width);
    x2 = std::max(x2, i % width + 1);
    y1 = std::min(y1, i / width);
    y2 = std::max(y2, i / width + 1);
  }
  return {float(x1), float(y1), float(x2), float(y2)};
}

TEST(SampleTransformTest, BoxesMoveWithTheirImage) {
  const Sample sample = Drawn(4, 6, 14, 12);
  EXPECT_THAT(BoxAfter(RandomHorizontalFlip({.p = 1}), sample), ElementsAre(18, 6, 28, 12));
  EXPECT_THAT(BoxAfter(RandomVerticalFlip({.p = 1}), sample), ElementsAre(4, 12, 14, 18));
  EXPECT_THAT(BoxAfter(CenterCrop({.height = 12, .width = 24}), sample), ElementsAre(0, 0, 10, 6));
  EXPECT_THAT(BoxAfter(Resize({.height = 48, .width = 16}), sample), ElementsAre(2, 12, 7, 24));
  EXPECT_THAT(BoxAfter(RandomCrop({.height = 28, .width = 36, .padding = 2}), sample),
              ElementsAre(6, 8, 16, 14));
  EXPECT_THAT(BoxAfter(Rotate({.degrees = 90, .expand = true}), sample),
              ElementsAre(6, 18, 12, 28));
  EXPECT_THAT(BoxAfter(ColorJitter({.brightness = 0.5}), sample), ElementsAre(4, 6, 14, 12));
  EXPECT_THAT(BoxAfter(Compose({RandomHorizontalFlip({.p = 1}), Resize({.height = 48, .width = 64}),
                                RandomApply(RandomVerticalFlip({.p = 1}), {.p = 1})}),
                       sample),
              ElementsAre(36, 24, 56, 36));
}

// The three agree for all random numbers: to the pixel if no pixel is mixed of several.
TEST(SampleTransformTest, ImageMaskAndBoxAgree) {
  const Transform transforms[] = {
      RandomHorizontalFlip(),
      RandomCrop({.height = 20, .width = 20, .padding = 4}),
      RandomRotation({.degrees = {-30, 30}, .interpolation = Interpolation::kNearest}),
      RandomAffine({.degrees = {-20, 20},
                    .translate_x = 0.1,
                    .scale = {0.8, 1.2},
                    .shear_x = {-10, 10},
                    .interpolation = Interpolation::kNearest}),
      Compose({RandomVerticalFlip(), RandomResizedCrop({.height = 40,
                                                        .width = 40,
                                                        .scale = {0.7, 1},
                                                        .interpolation = Interpolation::kNearest,
                                                        .antialias = false})}),
  };
  for (const Transform& transform : transforms) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      RandomGenerator random(seed), same(seed);
      const Sample sample = Drawn(10, 8, 22, 16);
      const Sample moved = TransformSample(transform, kAll)(sample, random);
      EXPECT_TRUE(moved["image"].Equals(transform(sample["image"], same)));
      EXPECT_EQ(random.position().offset, same.position().offset);
      ASSERT_EQ(moved["mask"].shape(), (Shape{moved["image"].size(1), moved["image"].size(2)}));
      EXPECT_EQ(moved["mask"].dtype(), DType::kI64);
      const std::vector<float> seen = BoundsOf(moved["image"]),
                               box = moved["boxes"].ToVector<float>();
      const std::vector<float> masked = BoundsOf(moved["mask"]);
      for (size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(seen[k], masked[k], 1);
        EXPECT_NEAR(seen[k], box[k], 1.5);
      }
    }
  }
}

TEST(SampleTransformTest, RandAugmentMovesThemToo) {
  const Sample sample = Drawn(10, 8, 22, 16);
  int moved = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    RandomGenerator random(seed);
    const Sample s = TransformSample(RandAugment({.operations = 1}), kAll)(sample, random);
    moved += s["mask"].Equals(sample["mask"]) ? 0 : 1;
    EXPECT_EQ(s["mask"].Equals(sample["mask"]), s["boxes"].Equals(sample["boxes"])) << seed;
  }
  EXPECT_GT(moved, 3);
  EXPECT_LT(moved, 25);
}

TEST(SampleTransformTest, BoxesOutOfSightGoWithTheirLabels) {
  Sample sample = Drawn(1, 1, 5, 5);
  sample["boxes"] =
      FromVector(std::vector<double>{1, 1, 5, 5, 12, 10, 20, 14, 3, 3, 8.5, 9}, {3, 4});
  sample["labels"] = FromVector<int64_t>({1, 2, 3});
  const Transform middle = CenterCrop({.height = 8, .width = 16});  // from 8, 8
  RandomGenerator random(1);
  const Sample left = TransformSample(middle, kAll)(sample, random);
  EXPECT_THAT(left["labels"].ToVector<int64_t>(), ElementsAre(2));
  EXPECT_THAT(left["boxes"].ToVector<double>(), ElementsAre(4, 2, 12, 6));
  EXPECT_EQ(left["boxes"].dtype(), DType::kF64);
  TransformSampleOptions keep = kAll;
  keep.least_side = 0;
  EXPECT_THAT(TransformSample(middle, keep)(sample, random)["labels"].ToVector<int64_t>(),
              ElementsAre(1, 2, 3));
  Sample none = Drawn(1, 1, 5, 5);
  none["boxes"] = Zeros({0, 4});
  none["labels"] = Zeros({0}, DType::kI64);
  EXPECT_EQ(TransformSample(middle, kAll)(none, random)["boxes"].shape(), (Shape{0, 4}));
}

TEST(SampleTransformTest, NamesWhatDoesNotFit) {
  const auto error = [](const char* name, const Tensor& t) {
    Sample sample = Drawn(1, 1, 5, 5);
    sample[name] = t;
    return ErrorOf([&] {
      RandomGenerator random;
      TransformSample(RandomHorizontalFlip(), kAll)(sample, random);
    });
  };
  EXPECT_THAT(error("boxes", Zeros({4})), HasSubstr("boxes: expected boxes f32 or f64 [n, 4]"));
  EXPECT_THAT(error("mask", Zeros({24, 31})), HasSubstr("mask: expected a mask [..., 24, 32]"));
  EXPECT_THAT(error("labels", Zeros({2})), HasSubstr("labels: expected a row for each of 1 boxes"));
  EXPECT_THAT(error("image", Zeros({24, 32})), HasSubstr("transform_sample: "));
  EXPECT_THAT(ErrorOf([] {
                RandomGenerator random;
                TransformSample(RandomHorizontalFlip())({Zeros({1, 2, 2}), {}}, random);
              }),
              HasSubstr("called image, got input"));
  EXPECT_THAT(ErrorOf([] { TransformSample(RandomHorizontalFlip(), {.least_side = -1}); }),
              HasSubstr("least_side is -1"));
  EXPECT_THAT(ErrorOf([] { TransformSample(RandomHorizontalFlip(), {.labels = {"classes"}}); }),
              HasSubstr("labels names classes, which goes where boxes go, but boxes names none"));
}

}  // namespace
}  // namespace firn::io
