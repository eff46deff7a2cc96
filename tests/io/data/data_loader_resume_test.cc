// Going on in the middle of an epoch.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

using ::testing::HasSubstr;

DataLoader Shuffled(int threads = 0, uint64_t seed = 5) {
  return DataLoader(Numbers(23), {.batch = 4, .shuffle = true, .seed = seed, .prefetch = threads});
}

// The state after `batches` batches of a second epoch, taken inside the loop.
StateDict StateInside(DataLoader& loader, int64_t batches) {
  Epoch(loader);
  for ([[maybe_unused]] const Sample& batch : loader) {
    if (--batches == 0) return loader.state_dict();
  }
  return {};
}

TEST(DataLoaderResumeTest, GoesOnAfterAnyBatchOfAnEpoch) {
  DataLoader undisturbed = Shuffled();
  Epoch(undisturbed);
  const std::vector<int64_t> second = Flat(Epoch(undisturbed)), third = Flat(Epoch(undisturbed));
  for (const int threads : {0, 2}) {
    for (int64_t given = 1; given <= 6; ++given) {
      DataLoader saved = Shuffled(threads), resumed = Shuffled(threads);
      resumed.LoadStateDict(StateInside(saved, given));
      std::vector<int64_t> want = given == 6 ? third : second;
      if (given < 6) want.erase(want.begin(), want.begin() + 4 * given);
      EXPECT_EQ(Flat(Epoch(resumed)), want) << given << " batches, " << threads << " threads";
      if (given == 6) continue;
      EXPECT_EQ(Flat(Epoch(resumed)), third);
    }
  }
}

TEST(DataLoaderResumeTest, PositionIsWhatComesNext) {
  using Position = DataLoader::Position;
  DataLoader loader = Shuffled();
  EXPECT_EQ(loader.position(), (Position{0, 0}));
  {
    DataLoader::Iterator at = loader.begin();
    EXPECT_EQ(loader.position(), (Position{0, 1}));
    ++at;
    EXPECT_EQ(loader.position(), (Position{0, 2}));
    EXPECT_EQ(loader.epoch(), 1);
  }
  EXPECT_EQ(loader.position(), (Position{1, 0})) << "a loop that was left is over";
  loader.SetPosition({.epoch = 3, .batch = 5});
  EXPECT_EQ(loader.position(), (Position{3, 5}));
  EXPECT_EQ(Epoch(loader).size(), 1u);
  EXPECT_EQ(loader.position(), (Position{4, 0}));
  EXPECT_EQ(Epoch(loader).size(), 6u);
  loader.SetPosition({.epoch = 3, .batch = 5});
  loader.SetEpoch(2);
  EXPECT_EQ(loader.position(), (Position{2, 0}));
}

// The loader gets a state, then its own back, as from a checkpoint when one of its parts refuses.
TEST(DataLoaderResumeTest, ALoopCountsOnWhenItsPositionIsPutBack) {
  using Position = DataLoader::Position;
  for (const int threads : {0, 2}) {
    DataLoader loader = Shuffled(threads), other = Shuffled(threads), resumed = Shuffled(threads);
    const StateDict foreign = StateInside(other, 4);
    Epoch(loader);
    int64_t given = 0;
    StateDict after_five;
    for ([[maybe_unused]] const Sample& batch : loader) {
      ++given;
      EXPECT_EQ(loader.position(), given < 6 ? (Position{1, given}) : (Position{2, 0}));
      if (given == 2) {
        const StateDict own = loader.state_dict();
        loader.LoadStateDict(foreign);
        EXPECT_EQ(loader.position(), (Position{1, 4}));
        loader.LoadStateDict(own);
        EXPECT_EQ(loader.position(), (Position{1, 2}));
      }
      if (given == 5) after_five = loader.state_dict();
    }
    EXPECT_EQ(given, 6);
    EXPECT_EQ(loader.position(), (Position{2, 0}));
    resumed.LoadStateDict(after_five);
    EXPECT_EQ(Epoch(resumed).size(), 1u);
    EXPECT_EQ(Epoch(resumed), Epoch(loader)) << "both are in the third epoch";
  }
}

TEST(DataLoaderResumeTest, APositionHoldsUntilALoopGoesOn) {
  using Position = DataLoader::Position;
  DataLoader loader = Shuffled();
  {
    DataLoader::Iterator at = loader.begin();
    ++at;
    loader.SetPosition({0, 2});  // where this loop is
  }
  EXPECT_EQ(loader.position(), (Position{0, 2})) << "set, and the loop gave nothing since";
  EXPECT_EQ(Epoch(loader).size(), 4u);
  EXPECT_EQ(loader.position(), (Position{1, 0}));
  DataLoader::Iterator at = loader.begin();
  loader.SetPosition({0, 3});  // elsewhere: the loop goes its own way
  ++at;
  EXPECT_EQ(loader.position(), (Position{0, 3}));
  EXPECT_EQ(Epoch(loader).size(), 3u);
}

TEST(DataLoaderResumeTest, IteratorsSayWhichBatchOfTheEpochTheyHave) {
  DataLoader loader = Shuffled();
  loader.SetPosition({0, 4});
  DataLoader::Iterator at = loader.begin();
  EXPECT_EQ(at.batch(), 4);
  ++at;
  EXPECT_EQ(at.batch(), 5);
  ++at;
  EXPECT_EQ(at.batch(), loader.size());
  const DataLoader::Iterator moved = std::move(at);
  EXPECT_EQ(moved.batch(), loader.size());
}

TEST(DataLoaderResumeTest, MapDrawsTheSameNumbersAfterResuming) {
  const auto draw = [](Sample batch, RandomGenerator& random) {
    batch.target = Rand({2}, kDefaultFloat, {.generator = &random});
    return batch;
  };
  const DataLoaderOptions options = {.batch = 4, .shuffle = true, .map = draw};
  DataLoader all(Numbers(12), options), rest(Numbers(12), options);
  rest.SetPosition({.epoch = 0, .batch = 2});
  std::vector<float> last;
  for (const Sample& batch : all) last = batch.target.ToVector<float>();
  for (const Sample& batch : rest) EXPECT_EQ(batch.target.ToVector<float>(), last);
}

TEST(DataLoaderResumeTest, RefusesStatesOfOtherOrders) {
  DataLoader saved = Shuffled();
  const StateDict middle = StateInside(saved, 2);
  DataLoader other = Shuffled(0, 6);
  EXPECT_THAT(testing::ErrorOf([&] { other.LoadStateDict(middle); }),
              HasSubstr("batch 2 of an epoch: seed was 5, here it is 6"));
  EXPECT_EQ(other.position(), DataLoader::Position());
  other.LoadStateDict(Shuffled().state_dict());  // a whole epoch may be another one
  EXPECT_THAT(testing::ErrorOf([&] { other.LoadStateDict({}); }), HasSubstr("no epoch"));
  StateDict wrong = middle;
  wrong.Set("batch", Ones({2}));
  EXPECT_THAT(testing::ErrorOf([&] { saved.LoadStateDict(wrong); }),
              HasSubstr("batch is f32 [2] (want one i64)"));
  wrong.Set("batch", FromVector(std::vector<int64_t>{6}, Shape()));
  EXPECT_THAT(testing::ErrorOf([&] { saved.LoadStateDict(wrong); }),
              HasSubstr("batch is 6 (want 0 to 5)"));
  wrong = Shuffled().state_dict();
  for (const int64_t epoch : {int64_t{-1}, (int64_t{1} << 62) + 1, INT64_MAX}) {
    wrong.Set("epoch", FromVector(std::vector<int64_t>{epoch}, Shape()));
    EXPECT_THAT(testing::ErrorOf([&] { other.LoadStateDict(wrong); }),
                HasSubstr("epoch is " + std::to_string(epoch) + " (want 0 to 2^62)"));
  }
  wrong.Set("epoch", FromVector(std::vector<int64_t>{int64_t{1} << 62}, Shape()));
  other.LoadStateDict(wrong);
  EXPECT_EQ(Epoch(other).size(), 6u);
  EXPECT_EQ(Epoch(other).size(), 6u);
  EXPECT_EQ(other.epoch(), (int64_t{1} << 62) + 2);
  wrong = middle;
  wrong.Insert("more", Ones({}));
  EXPECT_THAT(testing::ErrorOf([&] { saved.LoadStateDict(wrong); }), HasSubstr("has 8 entries"));
}

}  // namespace
}  // namespace firn::io
