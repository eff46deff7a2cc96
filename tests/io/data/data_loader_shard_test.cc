// Several ranks that go through one dataset: together they see what one rank with as many times the
// batch sees.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/io/data/collate.h"
#include "firn/io/data/data_loader.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/data/numbers.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Batches = std::vector<std::vector<int64_t>>;

DataLoaderOptions Options(int64_t batch, LastBatch last = LastBatch::kKeep) {
  return {.batch = batch, .shuffle = true, .seed = 5, .last = last};
}

std::vector<DataLoader> Ranks(int64_t samples, int64_t count, DataLoaderOptions options) {
  std::vector<DataLoader> ranks;
  for (int64_t r = 0; r < count; ++r) {
    options.shard = {.rank = r, .count = count};
    ranks.emplace_back(Numbers(samples), options);
  }
  return ranks;
}

// The next epoch's batches of all ranks, which all make equally many, one of each in a row.
Batches Together(std::vector<DataLoader>& ranks) {
  Batches all;
  for (DataLoader& loader : ranks) {
    const Batches own = Epoch(loader);
    if (all.empty()) all.resize(own.size());
    EXPECT_EQ(own.size(), all.size());
    for (size_t i = 0; i < own.size(); ++i)
      all[i].insert(all[i].end(), own[i].begin(), own[i].end());
  }
  return all;
}

// Takes this many batches of the next epoch on each rank; returns the states of all within that
// loop.
StateDict StateAfter(std::vector<DataLoader>& ranks, int64_t batches) {
  std::vector<StateDict> states;
  for (DataLoader& loader : ranks) {
    int64_t left = batches;
    for ([[maybe_unused]] const Sample& batch : loader) {
      if (--left == 0) {
        states.push_back(loader.state_dict());
        break;
      }
    }
  }
  for (const StateDict& state : states) {
    for (const auto& [name, value] : state)
      EXPECT_TRUE(value.Equals(*states[0].Find(name))) << name;
  }
  return states.at(0);
}

// (ranks, samples, batch of each, handling of the last batch)
class ShardTest
    : public ::testing::TestWithParam<std::tuple<int64_t, int64_t, int64_t, LastBatch>> {};

TEST_P(ShardTest, RanksSeeWhatOneWithTheirBatchesTogetherSees) {
  const auto [count, samples, batch, last] = GetParam();
  std::vector<DataLoader> ranks = Ranks(samples, count, Options(batch, last));
  DataLoader one(Numbers(samples), Options(batch * count, last));
  for (int epoch = 0; epoch < 3; ++epoch) {
    const int64_t size = one.size();
    for (const DataLoader& loader : ranks) EXPECT_EQ(loader.size(), size);
    const Batches want = Epoch(one), got = Together(ranks);
    EXPECT_EQ(got, want);
    if (last != LastBatch::kKeep) continue;
    std::vector<int64_t> seen = Flat(got), all;
    for (int64_t i = 0; i < samples; ++i) all.push_back(i);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, all) << "each once";
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShardTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 5),
                                            ::testing::Values(0, 1, 4, 23, 24, 25, 29, 30, 31, 60),
                                            ::testing::Values(1, 3),
                                            ::testing::Values(LastBatch::kKeep, LastBatch::kDrop,
                                                              LastBatch::kWrap)));

TEST(DataLoaderShardTest, AnUnevenLastBatchIsCutAsEvenlyAsCanBe) {
  const auto last_sizes = [](int64_t samples) {
    std::vector<size_t> sizes;
    std::vector<DataLoader> ranks = Ranks(samples, 4, Options(3));
    for (DataLoader& loader : ranks) {
      const Batches batches = Epoch(loader);
      for (size_t i = 0; i + 1 < batches.size(); ++i) EXPECT_EQ(batches[i].size(), 3u);
      sizes.push_back(batches.back().size());
    }
    return sizes;
  };
  EXPECT_THAT(last_sizes(24), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(last_sizes(19), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(last_sizes(14), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(last_sizes(3), ElementsAre(1, 1, 1, 0));
}

TEST(DataLoaderShardTest, ABatchWithoutRowsHasTheShapesOfOthers) {
  const auto images = FromTensors({{"x", Zeros({5, 3, 2})}, {"y", Zeros({5}, DType::kI64)}});
  for (const int threads : {0, 2}) {
    DataLoaderOptions options = {.batch = 2, .shard = {.rank = 1, .count = 2}, .prefetch = threads};
    const auto last = [&] {
      std::vector<std::string> shapes;
      DataLoader loader(images, options);
      for (const Sample& batch : loader) {
        shapes.clear();
        for (const Tensor& t : batch) shapes.push_back(t.spec().ToString());
      }
      return shapes;
    };
    EXPECT_THAT(last(), ElementsAre("f32 [0, 3, 2] on cpu", "i64 [0] on cpu"));
    options.transform = [](Sample sample, RandomGenerator&) {
      return Sample::Named({{"x", sample.input.Flatten()}, {"y", sample.target}});
    };
    EXPECT_THAT(last(), ElementsAre("f32 [0, 6] on cpu", "i64 [0] on cpu"));
    options.collate = PadTo({.name = "x"});
    EXPECT_THAT(last(), ElementsAre("f32 [0, 6] on cpu", "i64 [0] on cpu", "i64 [0] on cpu"));
    options.map = [](Sample batch, RandomGenerator&) {
      EXPECT_GT(batch.input.size(0), 0) << "programs need not take a batch without rows here";
      batch.input = batch.input.To(DType::kF64);
      return batch;
    };
    EXPECT_THAT(last(), ElementsAre("f64 [0, 6] on cpu", "i64 [0] on cpu", "i64 [0] on cpu"));
  }
}

TEST(DataLoaderShardTest, WhatSamplesDrawDependsOnThemAndWhatBatchesDrawOnTheRank) {
  const auto draw = [](Sample sample, RandomGenerator& random) {
    sample.target = Rand(sample.input.shape(), kDefaultFloat, {.generator = &random});
    return sample;
  };
  const auto targets = [](std::vector<DataLoader> ranks) {
    std::vector<std::vector<float>> all;
    for (DataLoader& loader : ranks) {
      all.push_back(loader.begin()->target.ToVector<float>());
    }
    return all;
  };
  DataLoaderOptions options = Options(2);
  options.transform = draw;
  const auto parts = targets(Ranks(8, 2, options));
  options.batch = 4;
  const auto whole = targets(Ranks(8, 1, options))[0];
  EXPECT_THAT(parts, ElementsAre(ElementsAre(whole[0], whole[1]), ElementsAre(whole[2], whole[3])));
  options.transform = {};
  options.map = draw;
  const auto drawn = targets(Ranks(8, 2, options));
  EXPECT_NE(drawn[0], drawn[1]);
}

// A run of some number of ranks goes through the samples that a run of another number has left.
void ExpectGoesOn(int64_t samples, int64_t before, int64_t after, int64_t batches, LastBatch last) {
  std::vector<DataLoader> saved = Ranks(samples, before, Options(2, last)),
                          resumed = Ranks(samples, after, Options(2, last)),
                          undisturbed = Ranks(samples, after, Options(2, last));
  const std::string which =
      absl::StrCat(before, " ranks, then ", after, ", after ", batches, " batches");
  const bool over = last != LastBatch::kWrap && batches == saved[0].size();
  const StateDict state = StateAfter(saved, batches);
  for (DataLoader& loader : resumed) {
    // The state passes through a loader that takes no batch, as in a run that ends at once.
    loader.LoadStateDict(state);
    const StateDict again = loader.state_dict();
    loader.SetEpoch(7);
    loader.LoadStateDict(again);
  }
  // Compares two epochs, since batches that wrap take samples of the next one.
  std::vector<int64_t> want = Flat(Together(undisturbed)), got = Flat(Together(resumed));
  want.erase(want.begin(),
             want.begin() + std::min<int64_t>(2 * before * batches, std::ssize(want)));
  if (want.empty() || over) want = Flat(Together(undisturbed));
  if (last == LastBatch::kWrap) {
    // The epoch of a batch depends on its size; the order of samples does not.
    for (int i = 0; i < 2; ++i) {
      const auto more = Flat(Together(undisturbed)), too = Flat(Together(resumed));
      want.insert(want.end(), more.begin(), more.end());
      got.insert(got.end(), too.begin(), too.end());
    }
    const auto common = std::min(want.size(), got.size());
    ASSERT_GT(common, static_cast<size_t>(samples)) << which;
    want.resize(common);
    got.resize(common);
  }
  EXPECT_EQ(got, want) << which;
}

TEST(DataLoaderShardTest, AnotherNumberOfRanksGoesOnWithTheSampleThatWasNext) {
  for (const LastBatch last : {LastBatch::kKeep, LastBatch::kDrop, LastBatch::kWrap}) {
    for (int64_t before = 1; before <= 5; ++before) {
      for (int64_t after = 1; after <= 5; ++after) {
        for (int64_t batches = 1; batches * 2 * before < 37; ++batches) {
          ExpectGoesOn(37, before, after, batches, last);
        }
      }
    }
  }
}

TEST(DataLoaderShardTest, TheFirstBatchAfterwardsEndsWhereOthersDo) {
  std::vector<DataLoader> saved = Ranks(23, 3, Options(2)), resumed = Ranks(23, 2, Options(4));
  const StateDict state = StateAfter(saved, 2);  // 12 samples
  for (DataLoader& loader : resumed) {
    loader.LoadStateDict(state);
    EXPECT_EQ(loader.position(), (DataLoader::Position{.epoch = 0, .batch = 1, .begin = 4}));
  }
  const Batches rest = Together(resumed);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].size(), 4u);
  EXPECT_EQ(rest[1].size(), 7u);
  EXPECT_EQ(resumed[0].position(), (DataLoader::Position{.epoch = 1}));
}

TEST(DataLoaderShardTest, RefusesStatesOfOtherOrdersAndPlacesThatAreNot) {
  std::vector<DataLoader> saved = Ranks(23, 2, Options(2)), others = Ranks(24, 3, Options(2));
  StateDict state = StateAfter(saved, 2);
  EXPECT_THAT(testing::ErrorOf([&] { others[1].LoadStateDict(state); }),
              HasSubstr("batch 2 of an epoch: samples was 23, here it is 24"));
  std::vector<DataLoader> more = Ranks(23, 3, Options(2));
  const auto set = [&](const char* name, int64_t value) {
    state.Set(name, FromVector(std::vector<int64_t>{value}, Shape()));
  };
  set("batch", 6);
  EXPECT_THAT(testing::ErrorOf([&] { more[1].LoadStateDict(state); }),
              HasSubstr("batch is 6 (want 0 to 5)"));
  set("batch_size", 0);
  EXPECT_THAT(testing::ErrorOf([&] { more[1].LoadStateDict(state); }),
              HasSubstr("batch_size is 0 (want >= 1)"));
  for (const int64_t begin : {-1, 6}) {
    EXPECT_THAT(
        testing::ErrorOf([&] { more[1].SetPosition({.epoch = 0, .batch = 1, .begin = begin}); }),
        HasSubstr("begin is " + std::to_string(begin) + " (want 0 to 5)"));
  }
  EXPECT_EQ(more[1].position(), DataLoader::Position());
}

TEST(DataLoaderShardTest, RefusesRanksThatAreNot) {
  const auto error = [](int64_t batch, Shard shard) {
    return testing::ErrorOf([&] { DataLoader(Numbers(4), {.batch = batch, .shard = shard}); });
  };
  EXPECT_THAT(error(1, {0, 0}), HasSubstr("shard.count is 0 (want >= 1)"));
  EXPECT_THAT(error(1, {0, -3}), HasSubstr("shard.count is -3 (want >= 1)"));
  EXPECT_THAT(error(1, {2, 2}), HasSubstr("shard.rank is 2 (want 0 to 1)"));
  EXPECT_THAT(error(1, {-1, 2}), HasSubstr("shard.rank is -1 (want 0 to 1)"));
  EXPECT_THAT(error(int64_t{1} << 62, {0, 2}), HasSubstr("want a product below 2^63"));
}

TEST(DataLoaderShardTest, ThreadsThatAreRanksSeeEachSampleOnce) {
  constexpr int64_t kSamples = 31;
  std::vector<std::thread> threads;
  for (auto& owned : comm::ThreadRanks(3)) {
    threads.emplace_back([comm = std::move(owned)] {
      DataLoaderOptions options = Options(4);
      options.shard = {comm->rank(), comm->size()};
      DataLoader loader(Numbers(kSamples), options);
      std::vector<int64_t> seen(kSamples);
      for (auto [inputs, targets] : loader) {
        for (const int64_t i : inputs.ToVector<int64_t>()) ++seen[static_cast<size_t>(i)];
        EXPECT_TRUE(comm->Barrier().ok()) << "all make the same number of steps";
      }
      EXPECT_TRUE(
          comm->AllReduce(seen.data(), kSamples, comm::Element::kI64, comm::Reduction::kSum).ok());
      EXPECT_EQ(seen, std::vector<int64_t>(kSamples, 1));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace firn::io
