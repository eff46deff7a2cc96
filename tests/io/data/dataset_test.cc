// Combining datasets, by samples that carry their own number.
#include "firn/io/data/dataset.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "firn/tensor/error.h"
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

// Rows {i, 10 * i} with target i.
DatasetPtr Numbers(int64_t n) {
  std::vector<float> rows;
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < n; ++i) {
    rows.insert(rows.end(), {static_cast<float>(i), static_cast<float>(10 * i)});
    targets.push_back(i);
  }
  return FromTensors(FromVector(rows, {n, 2}), FromVector(targets));
}

std::vector<int64_t> Targets(const Dataset& dataset) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    for (const int64_t t : dataset.Get(i).target.ToVector<int64_t>()) all.push_back(t);
  }
  return all;
}

TEST(DatasetTest, GivesRowsOfTensors) {
  const Sample s = Numbers(5)->Get(3);
  EXPECT_EQ(s.input.shape(), Shape{2});
  EXPECT_THAT(s.input.ToVector<float>(), ElementsAre(3, 30));
  EXPECT_EQ(s.target.shape(), Shape());
  EXPECT_FALSE(FromTensors(FromValues({1.f, 2.f}))->Get(0).target.defined());
}

TEST(DatasetTest, BatchesStackSamples) {
  const Sample b = Numbers(5)->GetBatch({4, 0, 4});
  EXPECT_EQ(b.input.shape(), (Shape{3, 2}));
  EXPECT_THAT(b.input.ToVector<float>(), ElementsAre(4, 40, 0, 0, 4, 40));
  EXPECT_THAT(b.target.ToVector<int64_t>(), ElementsAre(4, 0, 4));
}

TEST(DatasetTest, MakesSamplesByAFunction) {
  const DatasetPtr squares = FromFunction(4, [](int64_t i) {
    return Sample{Full({1}, static_cast<double>(i)), FromVector(std::vector<int64_t>{i * i}, {})};
  });
  EXPECT_THAT(Targets(*squares), ElementsAre(0, 1, 4, 9));
  EXPECT_THAT(squares->GetBatch({3, 1}).target.ToVector<int64_t>(), ElementsAre(9, 1));
  EXPECT_THAT(ErrorOf([&] { squares->Get(4); }), HasSubstr("outside [0, 4)"));
  EXPECT_THAT(ErrorOf([] { FromFunction(4, {}); }), HasSubstr("the function is empty"));
  EXPECT_THAT(ErrorOf([] { FromFunction(-1, [](int64_t) { return Sample(); }); }),
              HasSubstr("size is -1"));
}

std::vector<std::vector<int64_t>> Slices(int64_t n, int64_t count, bool drop_last) {
  std::vector<std::vector<int64_t>> all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(
        Targets(*Slice(Numbers(n), {.count = count, .index = i, .drop_last = drop_last})));
  }
  return all;
}

TEST(DatasetTest, SlicesAreOfOneSizeAndTheLastOnesOverlap) {
  EXPECT_THAT(Slices(6, 3, false),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  EXPECT_THAT(Slices(7, 3, false),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5), ElementsAre(4, 5, 6)));
  EXPECT_THAT(Slices(5, 4, false), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                               ElementsAre(3, 4), ElementsAre(1, 2)));
  EXPECT_THAT(Slices(2, 3, false), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(0)));
}

TEST(DatasetTest, SlicesMayLeaveSamplesOut) {
  EXPECT_THAT(Slices(7, 3, true),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  EXPECT_THAT(Slices(2, 3, true), ElementsAre(ElementsAre(), ElementsAre(), ElementsAre()));
  const auto error = [](SliceOptions options) {
    return ErrorOf([&] { Slice(Numbers(3), options); });
  };
  EXPECT_THAT(error({.count = 0}), HasSubstr("slice 0 of 0"));
  EXPECT_THAT(error({.count = 2, .index = 2}), HasSubstr("slice 2 of 2"));
  EXPECT_THAT(error({.count = 2, .index = -1}), HasSubstr("slice -1 of 2"));
}

std::vector<std::vector<int64_t>> Parts(int64_t n, const SplitOptions& options) {
  std::vector<std::vector<int64_t>> all;
  for (const DatasetPtr& part : Split(Numbers(n), options)) all.push_back(Targets(*part));
  return all;
}

TEST(DatasetTest, PartsArePiecesOfTheShuffledDataset) {
  EXPECT_THAT(Parts(5, {.lengths = {2, 0, 3}, .shuffle = false}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(), ElementsAre(2, 3, 4)));
  std::vector<int64_t> joined;
  for (const auto& part : Parts(20, {.lengths = {11, 2, 7}, .seed = 3})) {
    joined.insert(joined.end(), part.begin(), part.end());
  }
  EXPECT_EQ(joined, Targets(*Shuffle(Numbers(20), 3)));
  // Written down, so that a split stays what it was in files of earlier runs.
  EXPECT_THAT(Parts(8, {.fractions = {0.5, 0.5}}),
              ElementsAre(ElementsAre(1, 2, 5, 3), ElementsAre(0, 4, 6, 7)));
}

TEST(DatasetTest, FractionsLeaveNoSampleOut) {
  const auto sizes = [](int64_t n, std::vector<double> fractions) {
    std::vector<int64_t> all;
    for (const auto& part : Parts(n, {.fractions = std::move(fractions)})) {
      all.push_back(static_cast<int64_t>(part.size()));
    }
    return all;
  };
  EXPECT_THAT(sizes(10, {0.7, 0.2, 0.1}), ElementsAre(7, 2, 1));
  EXPECT_THAT(sizes(11, {0.5, 0.25, 0.25}), ElementsAre(6, 3, 2));  // of 5, 2 and 2
  EXPECT_THAT(sizes(2, {1. / 3, 1. / 3, 1. / 3}), ElementsAre(1, 1, 0));
  EXPECT_THAT(sizes(0, {0.5, 0.5}), ElementsAre(0, 0));
}

TEST(DatasetTest, RefusesPartsThatAreNotAllOfIt) {
  const auto error = [](SplitOptions options) {
    return ErrorOf([&] { Split(Numbers(4), options); });
  };
  EXPECT_THAT(error({}), HasSubstr("neither fractions nor lengths"));
  EXPECT_THAT(error({.fractions = {1}, .lengths = {4}}), HasSubstr("both fractions and lengths"));
  EXPECT_THAT(error({.fractions = {0.8, 0.1}}), HasSubstr("0.8, 0.1, whose sum is 0.9"));
  EXPECT_THAT(error({.fractions = {1.5, -0.5}}), HasSubstr("none negative"));
  EXPECT_THAT(error({.fractions = {0.5, std::nan("")}}), HasSubstr("none negative"));
  EXPECT_THAT(error({.lengths = {2, 1}}), HasSubstr("2, 1, whose sum is 3 (want 4"));
  EXPECT_THAT(error({.lengths = {4, 1}}), HasSubstr("a sum of 4"));
  EXPECT_THAT(error({.lengths = {5, -1}}), HasSubstr("none negative"));
  EXPECT_THAT(ErrorOf([] { Split(nullptr, {.fractions = {1}}); }), HasSubstr("null"));
}

TEST(DatasetTest, TheDefaultBatchEqualsTheFastOne) {
  const DatasetPtr same = Map(Numbers(6), [](Sample s) { return s; });
  const Sample slow = same->GetBatch({5, 2});
  const Sample fast = Numbers(6)->GetBatch({5, 2});
  EXPECT_TRUE(slow.input.Equals(fast.input));
  EXPECT_TRUE(slow.target.Equals(fast.target));
}

TEST(DatasetTest, MapAppliesWhenASampleIsAskedFor) {
  std::atomic<int> calls = 0;
  const DatasetPtr mapped = Map(Numbers(4), [&](Sample s) {
    ++calls;
    return Sample{s.target, s.target};
  });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(mapped->Get(2).input.Item<int64_t>(), 2);
  EXPECT_EQ(calls, 1);
}

TEST(DatasetTest, SubsetShuffleAndConcatChooseSamples) {
  EXPECT_THAT(Targets(*Subset(Numbers(9), {7, 7, 1})), ElementsAre(7, 7, 1));
  EXPECT_THAT(Targets(*Subset(Numbers(9), 2, 5)), ElementsAre(2, 3, 4));
  const DatasetPtr joined = Concat({Numbers(2), Numbers(0), Numbers(3)});
  EXPECT_THAT(Targets(*joined), ElementsAre(0, 1, 0, 1, 2));
  EXPECT_THAT(joined->GetBatch({4, 1, 0}).target.ToVector<int64_t>(), ElementsAre(2, 1, 0));
  EXPECT_THAT(joined->GetBatch({4, 2}).target.ToVector<int64_t>(), ElementsAre(2, 0));
  EXPECT_EQ(Concat({})->size(), 0);
}

TEST(DatasetTest, ShuffleDependsOnTheSeedAlone) {
  const std::vector<int64_t> once = Targets(*Shuffle(Numbers(50), 7));
  EXPECT_EQ(once, Targets(*Shuffle(Numbers(50), 7)));
  EXPECT_NE(once, Targets(*Shuffle(Numbers(50), 8)));
  std::vector<int64_t> sorted = once;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, Targets(*Numbers(50)));
  EXPECT_NE(once, sorted);
}

TEST(DatasetTest, BatchKeepsOrDropsTheRest) {
  EXPECT_EQ(Batch(Numbers(7), 3)->size(), 3);
  EXPECT_EQ(Batch(Numbers(7), 3, true)->size(), 2);
  EXPECT_EQ(Batch(Numbers(6), 3)->size(), 2);
  EXPECT_EQ(Batch(Numbers(0), 3)->size(), 0);
  EXPECT_EQ(Batch(Numbers(2), 1)->size(), 2);
  EXPECT_EQ(Batch(Numbers(7), 3)->Get(2).input.shape(), (Shape{1, 2}));
  EXPECT_THAT(Targets(*Batch(Numbers(7), 3)), ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(DatasetTest, PrefetchGivesTheSameSamplesInAnyOrderOfAsking) {
  const DatasetPtr ahead = Prefetch(Numbers(20), {.threads = 3, .ahead = 2});
  EXPECT_EQ(Targets(*ahead), Targets(*Numbers(20)));
  EXPECT_EQ(Targets(*ahead), Targets(*Numbers(20)));  // from the start again
  EXPECT_EQ(ahead->Get(15).target.Item<int64_t>(), 15);
  EXPECT_EQ(ahead->Get(16).target.Item<int64_t>(), 16);
  EXPECT_EQ(ahead->Get(3).target.Item<int64_t>(), 3);
  EXPECT_THROW(ahead->Get(20), Error);
}

TEST(DatasetTest, PrefetchServesSeveralThreads) {
  const DatasetPtr ahead = Prefetch(Numbers(40), {.threads = 2, .ahead = 3});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = t; i < 40; i += 4) wrong += ahead->Get(i).target.Item<int64_t>() != i;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(DatasetTest, PrefetchPassesExceptionsOn) {
  const DatasetPtr bad = Map(Numbers(5), [](Sample s) {
    if (s.target.Item<int64_t>() == 2) throw std::runtime_error("sample 2 is bad");
    return s;
  });
  const DatasetPtr ahead = Prefetch(bad, {.threads = 2, .ahead = 4});
  EXPECT_EQ(ahead->Get(1).target.Item<int64_t>(), 1);
  EXPECT_THROW(ahead->Get(2), std::runtime_error);
  EXPECT_EQ(ahead->Get(3).target.Item<int64_t>(), 3);
}

TEST(DatasetTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(ErrorOf([] { Numbers(3)->Get(3); }), HasSubstr("index 3 is outside [0, 3)"));
  EXPECT_THAT(ErrorOf([] { Numbers(3)->GetBatch({0, -1}); }), HasSubstr("index -1"));
  EXPECT_THAT(ErrorOf([] { Batch(Numbers(3), 2)->Get(2); }), HasSubstr("index 2"));
  EXPECT_THAT(ErrorOf([] { Subset(Numbers(3), {0, 3}); }), HasSubstr("index 3"));
  EXPECT_THAT(ErrorOf([] { Subset(Numbers(3), 2, 4); }), HasSubstr("[2, 4) is outside [0, 3)"));
  EXPECT_THAT(ErrorOf([] { Subset(Numbers(3), 2, 1); }),
              HasSubstr("it begins at 2 and ends at 1, before it begins"));
  EXPECT_THAT(ErrorOf([] { Batch(Numbers(3), 0); }), HasSubstr("batch is 0 (want >= 1)"));
  EXPECT_THAT(ErrorOf([] { Map(nullptr, nullptr); }), HasSubstr("null"));
  EXPECT_THAT(ErrorOf([] { Concat({nullptr}); }), HasSubstr("null"));
  EXPECT_THAT(ErrorOf([] { Prefetch(Numbers(1), {.threads = -1}); }), HasSubstr("threads is -1"));
  EXPECT_THAT(ErrorOf([] { FromTensors(Tensor(2.f)); }), HasSubstr("rank 1 or more"));
  EXPECT_THAT(ErrorOf([] {
                FromTensors(FromValues({1.f}), FromValues({1.f, 2.f}));
              }),
              HasSubstr("input has 1 rows, target 2"));
}

// Sample i has the name of a file.
class Files final : public Dataset {
 public:
  int64_t size() const override { return 4; }
  Sample Get(int64_t i) const override { return {Zeros({i < 3 ? 2 : 5}), {}}; }
  std::string NameOf(int64_t i) const override { return "file" + std::to_string(i); }
};

TEST(DatasetTest, ErrorsNameTheSampleThroughAnyCombination) {
  const DatasetPtr files = std::make_shared<Files>();
  EXPECT_EQ(Numbers(3)->NameOf(2), "sample 2");
  EXPECT_EQ(Subset(files, {3, 1})->NameOf(0), "file3");
  EXPECT_EQ(Concat({Numbers(2), Subset(files, 1, 4)})->NameOf(2), "file1");
  EXPECT_EQ(Prefetch(files)->NameOf(2), "file2");
  EXPECT_EQ(Batch(files, 2)->NameOf(1), "batch 1");
  const DatasetPtr bad = Map(files, [](Sample s) { return Sample{s.input.Reshape({2}), {}}; });
  EXPECT_EQ(bad->NameOf(1), "file1");
  EXPECT_EQ(bad->Get(2).input.size(0), 2);
  EXPECT_THAT(ErrorOf([&] { Subset(bad, {0, 3})->Get(1); }), HasSubstr("map: file3: reshape"));
  EXPECT_THAT(ErrorOf([&] {
                Subset(files, {2, 0, 3})->GetBatch({1, 2});
              }),
              HasSubstr("file3 is f32 [5] on cpu, file0 is f32 [2] on cpu"));
}

TEST(DatasetTest, StackNamesTheSampleThatDiffers) {
  const Tensor two = FromValues({1.f, 2.f}), three = FromValues({1.f, 2.f, 3.f});
  EXPECT_THAT(ErrorOf([&] {
                Stack({{two, {}}, {three, {}}});
              }),
              HasSubstr("sample 1 of the batch is f32 [3] on cpu, sample 0 is f32 [2] on cpu"));
  EXPECT_THAT(ErrorOf([&] { Stack({{two, {}}, {two, two}}); }), HasSubstr("sample 0 is undefined"));
  EXPECT_THAT(ErrorOf([] { Stack({}); }), HasSubstr("there is no sample"));
  EXPECT_EQ(Stack({{FromVector<float>({}, {0, 4}), {}}}).input.shape(), (Shape{1, 0, 4}));
}

// Row i: image {i, i}, boxes {10 i}, labels i.
DatasetPtr Detections(int64_t n) {
  std::vector<float> images, boxes;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i) {
    images.insert(images.end(), 2, static_cast<float>(i));
    boxes.push_back(static_cast<float>(10 * i));
    labels.push_back(i);
  }
  return FromTensors({{"image", FromVector(images, {n, 2})},
                      {"boxes", FromVector(boxes, {n, 1})},
                      {"labels", FromVector(labels)}});
}

void ExpectDetection(const Sample& s, int64_t i) {
  EXPECT_THAT(s.variables(), ElementsAre("image", "boxes", "labels"));
  const auto x = static_cast<float>(i);
  EXPECT_THAT(s["image"].ToVector<float>(), ElementsAre(x, x));
  EXPECT_THAT(s["boxes"].ToVector<float>(), ElementsAre(10 * x));
  EXPECT_THAT(s["labels"].ToVector<int64_t>(), ElementsAre(i));
}

TEST(DatasetTest, EveryCombinationKeepsAllTensorsAndTheirNames) {
  const DatasetPtr all = Detections(5);
  ExpectDetection(all->Get(3), 3);
  ExpectDetection(Subset(all, {4, 1})->GetBatch({1}), 1);
  ExpectDetection(Concat({Detections(2), all})->Get(4), 2);
  ExpectDetection(Prefetch(all)->Get(1), 1);
  ExpectDetection(Map(all, [](Sample s) { return s; })->GetBatch({2}), 2);
  ExpectDetection(Batch(all, 1)->Get(4), 4);
  for (const DatasetPtr& d : {Subset(all, {4}), Concat({all}), Prefetch(all), Batch(all, 2)}) {
    EXPECT_THAT(d->variables(), ElementsAre("image", "boxes", "labels"));
  }
  EXPECT_THAT(Numbers(2)->variables(), ElementsAre("input", "target"));
  EXPECT_THAT(Subset(Numbers(2), 0, 0)->variables(), ElementsAre("input", "target"));
  const Sample batch = Map(all, [](Sample s) { return s; })->GetBatch({2, 0});
  EXPECT_EQ(batch["image"].shape(), (Shape{2, 2}));
  EXPECT_THAT(batch["labels"].ToVector<int64_t>(), ElementsAre(2, 0));
  EXPECT_TRUE(all->GetBatch({2, 0})["boxes"].Equals(batch["boxes"]));
}

TEST(DatasetTest, ZipPutsDatasetsTogether) {
  const auto one = [](const char* name) {
    return Map(Detections(4), [name](const Sample& s) { return Sample{s[name], {}}; });
  };
  const DatasetPtr all =
      Zip({{"image", one("image")}, {"boxes", one("boxes")}, {"labels", one("labels")}});
  EXPECT_EQ(all->size(), 4);
  ExpectDetection(all->Get(2), 2);
  ExpectDetection(all->GetBatch({3}), 3);
  EXPECT_THAT(all->variables(), ElementsAre("image", "boxes", "labels"));
  EXPECT_EQ(all->NameOf(1), "sample 1");
  EXPECT_THAT(ErrorOf([&] {
                Zip({{"a", one("image")}, {"b", Numbers(3)}});
              }),
              HasSubstr("a has 4 samples, b 3"));
  EXPECT_THAT(ErrorOf([&] {
                Zip({{"a", one("image")}, {"b", Numbers(4)}})->Get(0);
              }),
              HasSubstr("b: expected samples of one tensor, got input, target"));
  EXPECT_THAT(ErrorOf([&] {
                Zip({{"a", one("image")}, {"a", one("image")}});
              }),
              HasSubstr("called a"));
  EXPECT_THAT(ErrorOf([] { Zip({}); }), HasSubstr("there is no tensor"));
}

TEST(DatasetTest, SamplesOfABatchHaveTheSameNames) {
  const Tensor x(1.f);
  const auto error = [](const Sample& a, const Sample& b) {
    return ErrorOf([&] { Stack({a, b}); });
  };
  const Sample pair = Sample::Named({{"image", x}, {"boxes", x}});
  EXPECT_THAT(error(pair, Sample::Named({{"image", x}, {"mask", x}})),
              HasSubstr("sample 1 of the batch has the tensors image, mask; sample 0 has image, "
                        "boxes"));
  EXPECT_THAT(error({x, x}, pair), HasSubstr("sample 0 has input, target"));
  EXPECT_THAT(error({x, x}, {x, x, {x}}), HasSubstr("has the tensors input, target, 2;"));
  EXPECT_THAT(error(pair, Sample::Named({{"image", x}, {"boxes", Zeros({2})}})),
              HasSubstr("boxes: sample 1 of the batch is f32 [2] on cpu, sample 0 is f32 []"));
  EXPECT_EQ(Stack({pair, Sample::Named({{"image", x}, {"boxes", x}})})["boxes"].size(0), 2);
  EXPECT_THAT(ErrorOf([&] {
                FromTensors({{"image", Zeros({2})}, {"boxes", Zeros({2})}, {"labels", Zeros({3})}});
              }),
              HasSubstr("image has 2 rows, labels 3"));
  EXPECT_THAT(ErrorOf([&] {
                FromTensors({{"image", Zeros({2})}, {"mask", Tensor()}});
              }),
              HasSubstr("got undefined as mask"));
}

}  // namespace
}  // namespace firn::io
