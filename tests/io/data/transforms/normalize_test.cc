#include "firn/io/data/transforms/normalize.h"

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

TEST(ToFloatTest, DividesBytesBy255) {
  EXPECT_THAT(ToFloat()(Bytes(1, {0, 51, 255})).ToVector<float>(), ElementsAre(0, 51.0f / 255, 1));
  const Tensor floats = FromVector(std::vector<float>{-3, 300}, {1, 1, 2});
  EXPECT_TRUE(ToFloat()(floats).Equals(floats));
}

TEST(NormalizeTest, SubtractsMeansAndDividesByDeviations) {
  const Tensor bytes = FromVector(std::vector<uint8_t>{0, 255, 102, 204, 51, 153}, {3, 1, 2});
  const NormalizeOptions imagenet = {.mean = {0.485, 0.456, 0.406},
                                     .stddev = {0.229, 0.224, 0.225}};
  const auto of = [](float v, float mean, float stddev) { return (v - mean) / stddev; };
  EXPECT_THAT(Normalize(imagenet)(bytes).ToVector<float>(),
              ElementsAre(of(0, 0.485f, 0.229f), of(1, 0.485f, 0.229f),
                          of(102.0f / 255, 0.456f, 0.224f), of(204.0f / 255, 0.456f, 0.224f),
                          of(51.0f / 255, 0.406f, 0.225f), of(153.0f / 255, 0.406f, 0.225f)));
  EXPECT_TRUE(Normalize(imagenet)(ToFloat()(bytes)).Equals(Normalize(imagenet)(bytes)));
  // One for all channels.
  EXPECT_THAT(Normalize({.mean = {0.5}, .stddev = {0.5}})(bytes).ToVector<float>(),
              ElementsAre(-1, 1, of(102.0f / 255, 0.5f, 0.5f), of(204.0f / 255, 0.5f, 0.5f),
                          of(51.0f / 255, 0.5f, 0.5f), of(153.0f / 255, 0.5f, 0.5f)));
}

TEST(NormalizeTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(ErrorOf([] { Normalize({}); }), HasSubstr("got 0 and 0"));
  EXPECT_THAT(ErrorOf([] {
                Normalize({.mean = {1, 2}, .stddev = {1}});
              }),
              HasSubstr("got 2 and 1"));
  EXPECT_THAT(ErrorOf([] { Normalize({.mean = {1}, .stddev = {0}}); }),
              HasSubstr("a standard deviation is 0"));
  EXPECT_THAT(Refusal(Normalize({.mean = {0, 0, 0}, .stddev = {1, 1, 1}}), Pattern(4, 2, 2)),
              HasSubstr("normalize: expected an image of 3 channels, got u8 [4, 2, 2]"));
}

}  // namespace
}  // namespace firn::io
