// A loop over a loader sees each sample once, in an order that threads do not change.
#include "firn/io/data/data_loader.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "firn/device/inner.h"
#include "firn/device/parallel.h"
#include "firn/device/philox.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/data/numbers.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  none.SetEpoch(int64_t{1} << 62);
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

TEST(DataLoaderTest, GivesAsManyTensorsAsSamplesHave) {
  const Tensor numbers = FromVector<int64_t>({0, 1, 2, 3});
  DataLoader loader(FromTensors({{"image", numbers}, {"boxes", -numbers}, {"mask", 2 * numbers}}),
                    {.batch = 2, .prefetch = 1});
  std::vector<int64_t> masks;
  DataLoader::Tensors<3> batches = loader.As<3>();
  EXPECT_EQ(batches.size(), 2);
  for (auto [image, boxes, mask] : batches) {
    EXPECT_TRUE((image + boxes + mask).Equals(mask));
    for (const int64_t m : mask.ToVector<int64_t>()) masks.push_back(m);
  }
  EXPECT_THAT(masks, ElementsAre(0, 2, 4, 6));
  for (const Sample& batch : loader) EXPECT_TRUE(batch["mask"].Equals(2 * batch["image"]));
  EXPECT_EQ(loader.epoch(), 2);
  EXPECT_THAT(testing::ErrorOf([&] {
                for ([[maybe_unused]] auto [image, boxes] : loader.As<2>()) break;
              }),
              HasSubstr("got 3: image, boxes, mask"));
}

}  // namespace
}  // namespace firn::io
