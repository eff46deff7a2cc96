// A sample as two tensors, as any number of them, and by their names.
#include "firn/io/data/sample.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

Sample Detection() {
  return Sample::Named({{"image", Tensor(1)}, {"boxes", Tensor(2)}, {"labels", Tensor(3)}});
}

TEST(SampleTest, TwoNamesTakeTheFirstTwoApart) {
  auto [input, target] = Sample{Tensor(5), Tensor(6)};
  EXPECT_EQ(input.Item<int>() + target.Item<int>(), 11);
  auto [image, boxes] = Detection();
  EXPECT_EQ(image.Item<int>() + boxes.Item<int>(), 3);
  Sample sample{Tensor(7), {}};
  auto& [x, y] = sample;
  y = x;
  EXPECT_TRUE(sample.target.Is(sample.input));
  const auto& [kept, same] = std::as_const(sample);
  EXPECT_TRUE(kept.Is(same));
}

TEST(SampleTest, MoreNamesTakeAllOfThemApart) {
  const auto [image, boxes, labels] = Detection().As<3>();
  EXPECT_EQ(image.Item<int>(), 1);
  EXPECT_EQ(boxes.Item<int>(), 2);
  EXPECT_EQ(labels.Item<int>(), 3);
  const auto [only] = Sample{Tensor(4), {}}.As<1>();
  EXPECT_EQ(only.Item<int>(), 4);
  EXPECT_THAT(ErrorOf([] { Detection().As<4>(); }),
              HasSubstr("expected 4 tensors, as many as there are names for them, got 3: image, "
                        "boxes, labels"));
  EXPECT_THAT(ErrorOf([] { Sample().As<2>(); }), HasSubstr("got 1: input"));
}

TEST(SampleTest, TensorsHaveNamesAndPlaces) {
  Sample sample = Detection();
  EXPECT_EQ(sample.size(), 3);
  EXPECT_THAT(sample.variables(), ElementsAre("image", "boxes", "labels"));
  sample["boxes"] = Tensor(8);
  EXPECT_EQ(sample.target.Item<int>(), 8);
  EXPECT_TRUE(std::as_const(sample)["labels"].Is(std::as_const(sample)[2]));
  EXPECT_EQ(Detection()["image"].Item<int>(), 1);
  EXPECT_EQ(Detection()[1].Item<int>(), 2);
  EXPECT_TRUE(sample.At(2).Is(sample["labels"]));
  EXPECT_TRUE(sample.Has("image"));
  EXPECT_FALSE(sample.Has("input"));
  EXPECT_THAT(ErrorOf([&] { sample["mask"]; }),
              HasSubstr("expected a tensor called mask, got image, boxes, labels"));
  EXPECT_THAT(ErrorOf([&] { sample[3]; }), HasSubstr("tensor 3 is outside [0, 3)"));
  EXPECT_THAT(ErrorOf([&] { sample[-1]; }), HasSubstr("tensor -1"));
}

TEST(SampleTest, WithoutNamesTheyAreInputAndTarget) {
  Sample sample{Tensor(1), Tensor(2)};
  EXPECT_EQ(sample["target"].Item<int>(), 2);
  EXPECT_THAT(Sample().variables(), ElementsAre("input"));
  sample.more.emplace_back(3);
  EXPECT_THAT(sample.variables(), ElementsAre("input", "target", "2"));
  EXPECT_EQ(sample["2"].Item<int>(), 3);
}

TEST(SampleTest, GoesThroughAllTensors) {
  Sample sample = Detection();
  for (Tensor& t : sample) t = Tensor(10 * t.Item<int>());
  std::vector<int> all;
  for (const Tensor& t : std::as_const(sample)) all.push_back(t.Item<int>());
  EXPECT_THAT(all, ElementsAre(10, 20, 30));
  const Sample twice = sample.EachBy([](const Tensor& t) { return Tensor(2 * t.Item<int>()); });
  EXPECT_EQ(twice["labels"].Item<int>(), 60);
  EXPECT_EQ(twice.names, sample.names);
}

TEST(SampleTest, OneNamedTensorHasNoTarget) {
  const Sample sample = Sample::Named({{"x", Tensor(1)}});
  EXPECT_EQ(sample.size(), 1);
  EXPECT_FALSE(sample.target.defined());
}

TEST(SampleTest, RefusesNamesThatDoNotFit) {
  EXPECT_THAT(ErrorOf([] { Sample::Named(NamedTensors()); }), HasSubstr("there is no tensor"));
  EXPECT_THAT(ErrorOf([] {
                Sample::Named({{"x", Tensor(1)}, {"x", Tensor(2)}});
              }),
              HasSubstr("two tensors are called x"));
  EXPECT_THAT(ErrorOf([] { Sample::Named({{"", Tensor(1)}}); }), HasSubstr("a name is empty"));
  const auto two = std::make_shared<const std::vector<std::string>>(2, "x");
  EXPECT_THAT(ErrorOf([&] { Sample::Named(two, {Tensor(1)}); }),
              HasSubstr("expected a name for each of 1 tensors, got 2 names"));
  Sample hidden = Sample::Named({{"x", Tensor(1)}});
  hidden.target = Tensor(2);
  EXPECT_THAT(ErrorOf([&] { hidden.size(); }), HasSubstr("each of 2 tensors, got 1 names"));
  Sample wrong = Detection();
  wrong.more.clear();
  EXPECT_THAT(ErrorOf([&] { wrong["image"]; }), HasSubstr("each of 2 tensors, got 3 names"));
}

}  // namespace
}  // namespace firn::io
