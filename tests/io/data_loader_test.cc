// What a loop over a loader sees: each sample once, in an order that threads do not change.
#include "io/data_loader.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device/context.h"
#include "device/cuda.h"
#include "device/inner.h"
#include "device/internal/cuda_context.h"
#include "device/parallel.h"
#include "device/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensor/error.h"
#include "tensor/from.h"
#include "tensor/ops.h"
#include "tests/device/fake_cuda.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DatasetPtr Numbers(int64_t n) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(i);
  return FromTensors(FromVector(values), FromVector(values));
}

std::vector<std::vector<int64_t>> Epoch(DataLoader& loader) {
  std::vector<std::vector<int64_t>> batches;
  for (auto [inputs, targets] : loader) {
    EXPECT_TRUE(inputs.Equals(targets));
    batches.push_back(inputs.ToVector<int64_t>());
  }
  return batches;
}

std::vector<int64_t> Flat(const std::vector<std::vector<int64_t>>& batches) {
  std::vector<int64_t> all;
  for (const auto& b : batches) all.insert(all.end(), b.begin(), b.end());
  return all;
}

// (n, batch, threads, drop_last)
class EachIndexOnceTest : public ::testing::TestWithParam<std::tuple<int64_t, int64_t, int, bool>> {
};

TEST_P(EachIndexOnceTest, ForAnyCombination) {
  const auto [n, batch, threads, drop_last] = GetParam();
  DataLoader loader(Numbers(n), {.batch = batch,
                                 .shuffle = true,
                                 .seed = 3,
                                 .last = drop_last ? LastBatch::kDrop : LastBatch::kKeep,
                                 .prefetch = threads,
                                 .ahead = 2});
  for (int epoch = 0; epoch < 2; ++epoch) {
    const auto batches = Epoch(loader);
    EXPECT_EQ(static_cast<int64_t>(batches.size()), loader.size());
    for (size_t i = 0; i + 1 < batches.size(); ++i) {
      EXPECT_EQ(static_cast<int64_t>(batches[i].size()), batch);
    }
    std::vector<int64_t> seen = Flat(batches);
    const int64_t expected = drop_last ? n / batch * batch : n;
    EXPECT_EQ(static_cast<int64_t>(seen.size()), expected);
    std::sort(seen.begin(), seen.end());
    EXPECT_TRUE(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
    EXPECT_TRUE(seen.empty() || (seen.front() >= 0 && seen.back() < n));
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachIndexOnceTest,
                         ::testing::Combine(::testing::Values(0, 1, 7, 12, 33),
                                            ::testing::Values(1, 3, 4, 100),
                                            ::testing::Values(0, 1, 3), ::testing::Bool()));

TEST(DataLoaderTest, OrderDependsOnSeedAndEpochOnly) {
  DataLoader plain(Numbers(30), {.batch = 4, .shuffle = true, .seed = 1});
  DataLoader threads(Numbers(30), {.batch = 4, .shuffle = true, .seed = 1, .prefetch = 3});
  DataLoader other(Numbers(30), {.batch = 4, .shuffle = true, .seed = 2});
  const auto first = Epoch(plain), second = Epoch(plain);
  EXPECT_NE(first, second);
  EXPECT_EQ(Epoch(threads), first);
  EXPECT_EQ(Epoch(threads), second);
  EXPECT_NE(Epoch(other), first);
  plain.SetEpoch(1);
  EXPECT_EQ(Epoch(plain), second);
  EXPECT_EQ(plain.epoch(), 2);
}

TEST(DataLoaderTest, KeepsTheOrderWithoutShuffle) {
  DataLoader loader(Numbers(5), {.batch = 2});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_THAT(Epoch(loader), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(DataLoaderTest, EndsEarlyWithoutWaiting) {
  for (int taken = 0; taken < 5; ++taken) {
    DataLoader loader(Numbers(1000), {.batch = 2, .prefetch = 3, .ahead = 5});
    int batches = 0;
    for (const auto& batch : loader) {
      EXPECT_EQ(batch.input.ToVector<int64_t>()[0], 2 * batches);
      if (batches++ == taken) break;
    }
    EXPECT_EQ(Flat(Epoch(loader)).size(), 1000u);  // the next loop starts afresh
  }
}

TEST(DataLoaderTest, LoopsMayBeNested) {
  DataLoader loader(Numbers(4), {.batch = 2, .prefetch = 1});
  int64_t pairs = 0;
  for (auto [a, unused] : loader) {
    for (auto [b, unused2] : loader) pairs += a.num_elements() * b.num_elements();
  }
  EXPECT_EQ(pairs, 16);
}

TEST(DataLoaderTest, ALoopOutlivesItsLoader) {
  auto loader =
      std::make_unique<DataLoader>(Numbers(6), DataLoaderOptions{.batch = 2, .prefetch = 2});
  DataLoader::Iterator i = loader->begin();
  loader.reset();
  std::vector<int64_t> seen;
  for (; i != std::default_sentinel; ++i) seen.push_back(i->input.ToVector<int64_t>()[0]);
  EXPECT_THAT(seen, ElementsAre(0, 2, 4));
}

TEST(DataLoaderTest, MapRunsOncePerBatchOnOneThread) {
  for (const int threads : {0, 2}) {
    DataLoader loader(
        Numbers(5), {.batch = 2, .prefetch = threads, .map = [threads](Sample s, RandomGenerator&) {
                       if (threads > 0) {
                         EXPECT_EQ(NumChunks(1 << 20, 1), 1);
                       }
                       return Sample{FromValues({s.input.num_elements()}),
                                     FromValues({s.input.num_elements()})};
                     }});
    EXPECT_THAT(Flat(Epoch(loader)), ElementsAre(2, 2, 1));
  }
}

TEST(DataLoaderTest, MapDrawsNumbersThatThreadsDoNotChange) {
  const auto draw = [](Sample, RandomGenerator& random) {
    const auto word = static_cast<int64_t>(PhiloxAt(random.Reserve(1), 0).v[0]);
    return Sample{FromValues({word}), FromValues({word})};
  };
  DataLoader plain(Numbers(20), {.batch = 2, .seed = 5, .map = draw});
  DataLoader threads(Numbers(20), {.batch = 2, .seed = 5, .prefetch = 3, .map = draw});
  DataLoader other(Numbers(20), {.batch = 2, .seed = 6, .map = draw});
  const auto first = Flat(Epoch(plain)), second = Flat(Epoch(plain));
  std::vector<int64_t> all = first;
  all.insert(all.end(), second.begin(), second.end());
  const std::vector<int64_t> theirs = Flat(Epoch(other));
  all.insert(all.end(), theirs.begin(), theirs.end());
  std::sort(all.begin(), all.end());
  EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());  // no two batches share
  EXPECT_EQ(Flat(Epoch(threads)), first);
  EXPECT_EQ(Flat(Epoch(threads)), second);
}

TEST(DataLoaderTest, ExceptionsReachTheLoopAtTheirBatch) {
  const DatasetPtr bad = Map(Numbers(10), [](Sample s) {
    if (s.input.Item<int64_t>() == 5) throw std::domain_error("five");
    return s;
  });
  for (const int threads : {0, 1, 4}) {
    DataLoader loader(bad, {.batch = 2, .prefetch = threads});
    std::vector<int64_t> seen;
    try {
      for (auto [x, y] : loader) seen.push_back(x.ToVector<int64_t>()[0]);
      FAIL() << "no exception";
    } catch (const std::domain_error& e) {
      EXPECT_STREQ(e.what(), "five");
    }
    EXPECT_THAT(seen, ElementsAre(0, 2));
  }
}

class CudaDataLoaderTest : public ::testing::Test {
 protected:
  FakeCuda cuda_;
  internal::ScopedCudaApi scope_{cuda_};
  const Device device_ = Device::Cuda(0);
  DeviceContext& context_ = **GetDeviceContext(device_);
};

TEST_F(CudaDataLoaderTest, BatchesArriveOnTheDevice) {
  for (const int threads : {0, 2}) {
    DataLoader here(Numbers(10), {.batch = 3, .shuffle = true, .seed = 2});
    DataLoader there(
        Numbers(10),
        {.batch = 3, .shuffle = true, .seed = 2, .prefetch = threads, .device = device_});
    for (int epoch = 0; epoch < 3; ++epoch) {
      const auto want = Epoch(here);
      std::vector<std::vector<int64_t>> got;
      for (auto [inputs, targets] : there) {
        EXPECT_EQ(inputs.device(), device_);
        EXPECT_EQ(targets.ToVector<int64_t>(), inputs.ToVector<int64_t>());
        got.push_back(inputs.ToVector<int64_t>());
      }
      EXPECT_EQ(got, want);
    }
  }
  EXPECT_EQ(context_.allocator().stats().live_bytes, 0);
}

TEST_F(CudaDataLoaderTest, BatchesOutliveTheLoopAndTheirMemoryIsNotUsedAgain) {
  std::vector<Sample> kept;
  {
    DataLoader loader(Numbers(12), {.batch = 2, .device = device_});
    for (Sample& batch : loader) kept.push_back(std::move(batch));
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    const auto first = static_cast<int64_t>(2 * i);
    EXPECT_THAT(kept[i].input.ToVector<int64_t>(), ElementsAre(first, first + 1));
  }
  kept.clear();
  EXPECT_EQ(context_.allocator().stats().live_bytes, 0);
}

TEST_F(CudaDataLoaderTest, NeverWaitsAndUsesMemoryInTurn) {
  DataLoader loader(Numbers(40), {.batch = 2, .device = device_});
  const int64_t waited = CudaSynchronizations();
  int64_t most = 0;
  for (auto [inputs, targets] : loader) {
    most = std::max(most, context_.allocator().stats().allocations);
  }
  EXPECT_EQ(CudaSynchronizations(), waited);
  EXPECT_EQ(cuda_.calls("SynchronizeEvent"), 0);
  EXPECT_EQ(most, 4) << "two batches of two tensors at a time";
}

TEST_F(CudaDataLoaderTest, ALoopMayEndEarly) {
  for (int taken = 0; taken < 3; ++taken) {
    DataLoader loader(Numbers(100), {.batch = 2, .prefetch = taken, .device = device_});
    int batches = 0;
    for (const Sample& batch : loader) {
      EXPECT_EQ(batch.input.ToVector<int64_t>()[0], 2 * batches);
      if (batches++ == taken) break;
    }
  }
  EXPECT_EQ(context_.allocator().stats().live_bytes, 0);
}

TEST_F(CudaDataLoaderTest, ExceptionsReachTheLoopAtTheirBatchAndItGoesOn) {
  const DatasetPtr bad = Map(Numbers(10), [](Sample s) {
    if (s.input.Item<int64_t>() == 5) throw std::domain_error("five");
    return s;
  });
  for (const int threads : {0, 2}) {
    DataLoader loader(bad, {.batch = 2, .prefetch = threads, .device = device_});
    DataLoader::Iterator i = loader.begin();
    EXPECT_THAT(i->input.ToVector<int64_t>(), ElementsAre(0, 1));
    ++i;
    EXPECT_THAT(i->input.ToVector<int64_t>(), ElementsAre(2, 3));
    EXPECT_THROW(++i, std::domain_error);
    ++i;
    EXPECT_THAT(i->input.ToVector<int64_t>(), ElementsAre(6, 7));
  }
}

TEST_F(CudaDataLoaderTest, ADeviceThatIsFullIsAnErrorOfThatBatch) {
  DataLoader loader(Numbers(10), {.batch = 2, .device = device_});
  DataLoader::Iterator i = loader.begin();
  const Sample kept = *i;  // its memory cannot be used again
  context_.allocator().SetLimit(0);
  ++i;  // this one was there
  const std::string error = testing::ErrorOf([&] { ++i; });
  EXPECT_THAT(error, HasSubstr("data loader: "));
  EXPECT_THAT(error, HasSubstr("cuda:0"));
}

TEST(DataLoaderTest, RefusesADeviceThatIsNotThere) {
  FakeCuda cuda(1);
  const internal::ScopedCudaApi scope(cuda);
  EXPECT_THAT(testing::ErrorOf([] { DataLoader(Numbers(3), {.device = Device::Cuda(4)}); }),
              HasSubstr("data loader: device cuda:4 cannot be used"));
}

TEST(DataLoaderTest, RefusesOptionsThatMakeNoSense) {
  const auto error = [](DataLoaderOptions options) {
    return testing::ErrorOf([&] { DataLoader loader(Numbers(3), options); });
  };
  EXPECT_THAT(error({.batch = 0}), HasSubstr("batch is 0 (want >= 1)"));
  EXPECT_THAT(error({.prefetch = -1}), HasSubstr("prefetch is -1"));
  EXPECT_THAT(error({.ahead = 0}), HasSubstr("ahead is 0"));
  EXPECT_THROW(DataLoader(nullptr), Error);
}

TEST(DataLoaderTest, WrapsIntoTheNextEpoch) {
  DataLoader loader(Numbers(10), {.batch = 4, .last = LastBatch::kWrap});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_THAT(Epoch(loader), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7),
                                         ElementsAre(8, 9, 0, 1)));
  EXPECT_EQ(loader.size(), 2);
  EXPECT_THAT(Epoch(loader), ElementsAre(ElementsAre(2, 3, 4, 5), ElementsAre(6, 7, 8, 9)));
  EXPECT_THAT(Epoch(loader).back(), ElementsAre(8, 9, 0, 1));
}

TEST(DataLoaderTest, WrappingBatchesAreShuffledAndLeaveNothingOut) {
  DataLoader plain(Numbers(10), {.batch = 10, .shuffle = true, .seed = 4});
  std::vector<int64_t> one_by_one;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const int64_t i : Flat(Epoch(plain))) one_by_one.push_back(i);
  }
  for (const int threads : {0, 2}) {
    DataLoader loader(
        Numbers(10),
        {.batch = 4, .shuffle = true, .seed = 4, .last = LastBatch::kWrap, .prefetch = threads});
    std::vector<int64_t> seen;
    for (int epoch = 0; epoch < 4; ++epoch) {
      for (const int64_t i : Flat(Epoch(loader))) seen.push_back(i);
    }
    EXPECT_EQ(seen, one_by_one);
  }
}

TEST(DataLoaderTest, ABatchMaySpanSeveralEpochs) {
  DataLoader loader(Numbers(3), {.batch = 8, .last = LastBatch::kWrap});
  EXPECT_THAT(Epoch(loader), ElementsAre(ElementsAre(0, 1, 2, 0, 1, 2, 0, 1)));
  EXPECT_TRUE(Epoch(loader).empty());  // all of the second was in that batch
  EXPECT_THAT(Epoch(loader), ElementsAre(ElementsAre(2, 0, 1, 2, 0, 1, 2, 0)));
  DataLoader none(Numbers(0), {.batch = 8, .last = LastBatch::kWrap});
  EXPECT_TRUE(Epoch(none).empty());
  none.SetEpoch(INT64_MAX - 1);
  EXPECT_EQ(none.size(), 0);
}

TEST(DataLoaderTest, GoesOnInsideAnEpochThatWraps) {
  const DataLoaderOptions options = {.batch = 4, .shuffle = true, .last = LastBatch::kWrap};
  DataLoader all(Numbers(10), options), rest(Numbers(10), options);
  Epoch(all);
  rest.SetPosition({.epoch = 1, .batch = 1});
  EXPECT_THAT(testing::ErrorOf([&] { rest.SetPosition({.epoch = 1, .batch = 2}); }),
              HasSubstr("batch is 2 (want 0 to 1)"));
  EXPECT_EQ(Epoch(rest), std::vector(1, Epoch(all).back()));
  EXPECT_EQ(Epoch(rest), Epoch(all));
  DataLoader keeps(Numbers(10), {.batch = 4, .shuffle = true});
  rest.SetPosition({.epoch = 1, .batch = 1});
  EXPECT_THAT(testing::ErrorOf([&] { keeps.LoadStateDict(rest.state_dict()); }),
              HasSubstr("drop_last was 2, here it is 0"));
}

TEST(DataLoaderTest, TakesAnOrderOfTheProgramsOwn) {
  DataLoader loader(
      Numbers(4),
      {.batch = 2, .order = [](int64_t epoch) {
         return epoch == 0 ? std::vector<int64_t>{3, 3, 1, 0} : std::vector<int64_t>{0, 1, 2, 4};
       }});
  EXPECT_THAT(Flat(Epoch(loader)), ElementsAre(3, 3, 1, 0));
  EXPECT_THAT(testing::ErrorOf([&] { Epoch(loader); }), HasSubstr("index 4, outside [0, 4)"));
  EXPECT_EQ(loader.epoch(), 1);
  DataLoader wrong(Numbers(4), {.order = [](int64_t) { return std::vector<int64_t>{1}; }});
  EXPECT_THAT(testing::ErrorOf([&] { Epoch(wrong); }), HasSubstr("has 1 indices (want 4)"));
  EXPECT_THAT(testing::ErrorOf([&] {
                DataLoader(Numbers(4), {.shuffle = true, .order = loader.options().order});
              }),
              HasSubstr("shuffle and order"));
}

TEST(DataLoaderTest, ShufflesBlocksAndWhatIsInThem) {
  const std::vector<int64_t> sizes = {40, 0, 40, 5, 40};
  const EpochOrder order = ShuffleBlocks(sizes, 1);
  const auto first = order(0);
  EXPECT_EQ(order(0), first);
  EXPECT_NE(order(1), first);
  EXPECT_NE(ShuffleBlocks(sizes, 2)(0), first);
  std::vector<int64_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], static_cast<int64_t>(i));
  const auto block = [](int64_t i) { return i < 40 ? 0 : i < 80 ? 2 : i < 85 ? 3 : 4; };
  int64_t changes = 0, turns = 0;
  for (size_t i = 1; i < first.size(); ++i) {
    changes += block(first[i]) != block(first[i - 1]) ? 1 : 0;
    turns += first[i] != first[i - 1] + 1 ? 1 : 0;
  }
  EXPECT_EQ(changes, 3);
  EXPECT_GT(turns, 100);
  // Blocks of one size are not shuffled alike.
  std::vector<int64_t> inside[2];
  for (const int64_t i : first) {
    if (i < 40) inside[0].push_back(i);
    if (i >= 40 && i < 80) inside[1].push_back(i - 40);
  }
  EXPECT_NE(inside[0], inside[1]);
  EXPECT_THAT(testing::ErrorOf([] { ShuffleBlocks({3, -1}); }), HasSubstr("a block of -1"));
}

TEST(DataLoaderTest, TellsWhereEpochsBeginAndEnd) {
  std::vector<std::string> seen;
  DataLoader loader(
      Numbers(4),
      {.batch = 2,
       .on_epoch_begin = [&](int64_t e) { seen.push_back("begin " + std::to_string(e)); },
       .on_epoch_end = [&](int64_t e) { seen.push_back("end " + std::to_string(e)); }});
  for (int epoch = 0; epoch < 2; ++epoch) {
    for ([[maybe_unused]] const Sample& batch : loader) seen.push_back("batch");
  }
  EXPECT_THAT(seen, ElementsAre("begin 0", "batch", "batch", "end 0", "begin 1", "batch", "batch",
                                "end 1"));
  seen.clear();
  for ([[maybe_unused]] const Sample& batch : loader) break;
  EXPECT_THAT(seen, ElementsAre("begin 2"));
}

// --- Resuming in the middle of an epoch ----------------------------------------------------------

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

TEST(DataLoaderTest, GoesOnAfterAnyBatchOfAnEpoch) {
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

TEST(DataLoaderTest, PositionIsWhatComesNext) {
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

// As a checkpoint does when one of its parts refuses: the loader gets a state, then its own back.
TEST(DataLoaderTest, ALoopCountsOnWhenItsPositionIsPutBack) {
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

TEST(DataLoaderTest, APositionHoldsUntilALoopGoesOn) {
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

TEST(DataLoaderTest, IteratorsSayWhichBatchOfTheEpochTheyHave) {
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

TEST(DataLoaderTest, MapDrawsTheSameNumbersAfterResuming) {
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

TEST_F(CudaDataLoaderTest, ResumesInsideAnEpoch) {
  DataLoaderOptions options = {.batch = 4, .shuffle = true, .device = device_};
  DataLoader there(Numbers(23), options), here = Shuffled(0, 0);
  there.SetPosition({.epoch = 1, .batch = 3});
  here.SetPosition({.epoch = 1, .batch = 3});
  std::vector<int64_t> on_device;
  for (const Sample& batch : there) {
    for (const int64_t v : batch.input.To(Device::Cpu()).ToVector<int64_t>()) {
      on_device.push_back(v);
    }
  }
  EXPECT_EQ(on_device, Flat(Epoch(here)));
}

TEST(DataLoaderTest, RefusesStatesOfOtherOrders) {
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
  wrong = middle;
  wrong.Insert("more", Ones({}));
  EXPECT_THAT(testing::ErrorOf([&] { saved.LoadStateDict(wrong); }), HasSubstr("has 8 entries"));
}

}  // namespace
}  // namespace firn::io
