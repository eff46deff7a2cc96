// Batches of samples that differ in size.
#include "firn/io/data/collate.h"

#include <cstdint>
#include <string>
#include <vector>

#include "firn/io/data/data_loader.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

// Sample i has i boxes {i, i} and as many labels i.
DatasetPtr Boxes(int64_t n) {
  return FromFunction(n, [](int64_t i) {
    return Sample::Named({{"image", Full({2}, static_cast<double>(i))},
                          {"boxes", Full({i, 2}, static_cast<double>(i))},
                          {"labels", Full({i}, i, DType::kI64)}});
  });
}

TEST(CollateTest, PadsToTheLongestAndSaysHowLongEachWas) {
  const DatasetPtr data = Boxes(3);
  const Sample batch = PadTo({{.name = "boxes", .value = -1}, {.name = "labels", .value = -2}})(
      std::vector<Sample>{data->Get(1), data->Get(0), data->Get(2)});
  EXPECT_THAT(batch.variables(),
              ElementsAre("image", "boxes", "labels", "boxes_length", "labels_length"));
  EXPECT_EQ(batch["boxes"].shape(), (Shape{3, 2, 2}));
  EXPECT_THAT(batch["boxes"].ToVector<float>(),
              ElementsAre(1, 1, -1, -1, -1, -1, -1, -1, 2, 2, 2, 2));
  EXPECT_EQ(batch["labels"].dtype(), DType::kI64);
  EXPECT_THAT(batch["labels"].ToVector<int64_t>(), ElementsAre(1, -2, -2, -2, 2, 2));
  EXPECT_THAT(batch["boxes_length"].ToVector<int64_t>(), ElementsAre(1, 0, 2));
  EXPECT_THAT(batch["image"].ToVector<float>(), ElementsAre(1, 1, 0, 0, 2, 2));
}

TEST(CollateTest, LoadersTakeIt) {
  for (const int threads : {0, 2}) {
    DataLoader loader(
        Boxes(5), {.batch = 2,
                   .prefetch = threads,
                   .transform =
                       [](Sample s, RandomGenerator&) {
                         return Sample::Named({{"image", s["image"]}, {"boxes", s["boxes"] + 1}});
                       },
                   .collate = PadTo({.name = "boxes", .value = -1})});
    std::vector<int64_t> lengths, longest;
    for (auto [image, boxes, boxes_length] : loader.As<3>()) {
      for (const int64_t n : boxes_length.ToVector<int64_t>()) lengths.push_back(n);
      longest.push_back(boxes.size(1));
    }
    EXPECT_THAT(lengths, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(longest, ElementsAre(1, 3, 4));
  }
  DataLoader counted(Boxes(4), {.batch = 4, .collate = [](absl::Span<const Sample> samples) {
                                  return Sample{Tensor(static_cast<int64_t>(samples.size())), {}};
                                }});
  EXPECT_EQ((*counted.begin()).input.Item<int64_t>(), 4);
}

TEST(CollateTest, PadsToAGivenSizeWithoutLengths) {
  const DatasetPtr data = Boxes(3);
  const Collate collate = PadTo({.name = "labels", .value = 7, .size = 4, .lengths = false});
  const std::vector<Sample> one = {data->Get(2)};
  EXPECT_THAT(collate(one)["labels"].ToVector<int64_t>(), ElementsAre(2, 2, 7, 7));
  EXPECT_THAT(collate(one).variables(), ElementsAre("image", "boxes", "labels"));
  EXPECT_EQ(collate(one).names, one[0].names);
  EXPECT_THAT(ErrorOf([&] { collate(std::vector<Sample>{Boxes(6)->Get(5)}); }),
              HasSubstr("labels: sample 0 is i64 [5] on cpu, longer than the 4 asked for "
                        "(PadToOptions::size)"));
}

TEST(CollateTest, PadsInputsWithoutNames) {
  const std::vector<Sample> words = {{Ones({3}), Tensor(0)}, {Ones({1}), Tensor(1)}};
  const auto [input, target, length] = PadTo()(words).As<3>();
  EXPECT_THAT(input.ToVector<float>(), ElementsAre(1, 1, 1, 1, 0, 0));
  EXPECT_THAT(target.ToVector<int64_t>(), ElementsAre(0, 1));
  EXPECT_THAT(length.ToVector<int64_t>(), ElementsAre(3, 1));
}

TEST(CollateTest, WhatIsPaddedIsPackedByItsLengths) {
  const DatasetPtr words = FromFunction(3, [](int64_t i) {
    return Sample::Named({{"x", Full({i + 1, 1}, static_cast<double>(i))}});
  });
  DataLoader loader(words, {.batch = 3, .collate = PadTo({.name = "x"})});
  for (auto [x, length] : loader.As<2>()) {
    const PackedSequence packed =
        PackPaddedSequence(x, length, {.batch_first = true, .enforce_sorted = false});
    EXPECT_THAT(packed.data.ToVector<float>(), ElementsAre(2, 1, 0, 2, 1, 2));
    EXPECT_THAT(packed.batch_sizes, ElementsAre(3, 2, 1));
  }
}

TEST(CollateTest, RefusesWhatItCannotPad) {
  const auto error = [](const PadToOptions& options, const std::vector<Sample>& samples) {
    return ErrorOf([&] { PadTo(options)(samples); });
  };
  const Sample two = Boxes(3)->Get(2);
  EXPECT_THAT(error({.name = "mask"}, {two}), HasSubstr("called mask, got image, boxes, labels"));
  EXPECT_THAT(error({.size = -1}, {two}), HasSubstr("size is -1"));
  EXPECT_THAT(error({}, {}), HasSubstr("there is no sample"));
  EXPECT_THAT(error({}, {{Tensor(1.f), {}}}), HasSubstr("input: sample 0 is f32 [] on cpu"));
  EXPECT_THAT(error({}, {{Ones({2, 3}), {}}, {Ones({2, 4}), {}}}),
              HasSubstr("sample 1 of the batch is f32 [2, 4] on cpu, sample 0 is f32 [2, 3] on "
                        "cpu: only first dimensions may differ"));
  EXPECT_THAT(error({.value = 300}, {{Ones({1}, DType::kU8), {}}, {Ones({2}, DType::kU8), {}}}),
              HasSubstr("is 300"));
  EXPECT_THAT(error({.value = 0.5}, {{Ones({1}, DType::kI64), {}}}),
              HasSubstr("input: value is 0.5, which i64 [1] on cpu does not hold"));
  EXPECT_THAT(error({.name = "boxes"}, {two, Boxes(3)->Get(1)}), HasSubstr("labels: sample 1"));
  EXPECT_THAT(ErrorOf([] {
                PadTo({{.name = "x"}, {.name = "x"}});
              }),
              HasSubstr("x is to be padded twice"));
  EXPECT_THAT(error({.name = "x"}, {Sample::Named({{"x_length", Tensor(1)}, {"x", Ones({2})}})}),
              HasSubstr("x: its lengths would be called x_length, as a tensor is already"));
}

}  // namespace
}  // namespace firn::io
