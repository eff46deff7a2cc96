// Several ranks, threads here, that keep one folder of checkpoints.
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/io/data/data_loader.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/error_of.h"
#include "tests/io/data/numbers.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::OnRanks;

class CheckpointRanksTest : public ::testing::Test {
 protected:
  CheckpointRanksTest()
      : folder_(
            TempPath(std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
                     ".run")) {
    fs::remove_all(folder_);
    fs::create_directories(fs::path(folder_).parent_path());
  }

  const std::string folder_;
};

TEST_F(CheckpointRanksTest, RankZeroWritesAndAllGoOnFromTheSame) {
  for (const bool background : {false, true}) {
    OnRanks(3, [&](comm::Communicator& comm) {
      CheckpointManager manager(
          folder_, {.keep_last = 2, .keep_best = 1, .background = background, .ranks = &comm});
      CheckpointValues values;
      for (int64_t step = 1; step <= 5; ++step) {
        values.Set("rank and step", 10 * comm.rank() + step);
        manager.Save({{"values", values}}, {.step = step, .metric = step == 2 ? 0.1 : 1.0 / 3});
      }
      manager.Wait();
      std::vector<int64_t> steps;
      for (const auto& file : manager.files()) {
        steps.push_back(file.step);
        EXPECT_EQ(file.metric, file.step == 2 ? 0.1 : 1.0 / 3);
      }
      EXPECT_THAT(steps, ElementsAre(2, 4, 5));
      EXPECT_EQ(manager.best()->step, 2);
      EXPECT_EQ(manager.best()->path, folder_ + "/checkpoint_000000000002.h5");
      const auto loaded = manager.LoadLatest({{"values", values}});
      EXPECT_EQ(loaded->info.step, 5);
      EXPECT_EQ(values.GetInteger("rank and step"), 5);
    });
    EXPECT_EQ(List(folder_).size(), 3u);
    fs::remove_all(folder_);
  }
}

TEST_F(CheckpointRanksTest, AllPassTheSameDamagedFileOver) {
  OnRanks(2, [&](comm::Communicator& comm) {
    CheckpointManager manager(folder_, {.ranks = &comm});
    CheckpointValues values;
    EXPECT_FALSE(manager.LoadLatest({{"values", values}}));
    EXPECT_FALSE(manager.best());
    for (const int64_t step : {1, 2}) {
      values.Set("step", step);
      manager.Save({{"values", values}}, {.step = step});
    }
    manager.Wait();
    const std::string newest = manager.files().back().path;
    if (comm.rank() == 0) WriteFile(newest, ReadFile(newest).substr(0, 100));
    const auto loaded = manager.LoadLatest({{"values", values}});
    EXPECT_EQ(loaded->info.step, 1);
    EXPECT_EQ(values.GetInteger("step"), 1);
    ASSERT_EQ(loaded->skipped.size(), 1u);
    EXPECT_EQ(loaded->skipped[0].path, newest);
    EXPECT_THAT(loaded->skipped[0].reason, HasSubstr(newest));
  });
}

// A limit on the size of files stands for a full disk.
TEST_F(CheckpointRanksTest, AFullDiskOfRankZeroIsAnErrorOfAll) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  for (const bool background : {false, true}) {
    OnRanks(2, [&](comm::Communicator& comm) {
      CheckpointManager manager(folder_, {.background = background, .ranks = &comm});
      CheckpointValues values;
      values.Set("large", Zeros({1 << 16}));
      const auto limit = [&](rlim_t bytes) {
        ASSERT_TRUE(comm.Barrier().ok());
        const rlimit small = {bytes, before.rlim_max};
        if (comm.rank() == 0) setrlimit(RLIMIT_FSIZE, &small);
        ASSERT_TRUE(comm.Barrier().ok());
      };
      limit(1 << 14);
      const absl::Status status = testing::StatusOf([&] {
        manager.Save({{"values", values}}, {.step = 1});
        manager.Wait();
      });
      limit(before.rlim_cur);
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0: "));
      EXPECT_THAT(manager.files(), ::testing::IsEmpty());
      manager.Save({{"values", values}}, {.step = 2});
      manager.Wait();
      EXPECT_EQ(manager.files().size(), 1u) << "training may go on";
    });
    fs::remove_all(folder_);
  }
}

// A part that fails on one rank only, when it gives or takes its state.
struct Fragile {
  bool saves = true, loads = true;
  StateDict state_dict() const {
    if (!saves) throw std::runtime_error("has no state");
    StateDict state;
    state.Insert("x", Ones({2}));
    return state;
  }
  void LoadStateDict(const StateDict&) {
    if (!loads) throw std::runtime_error("wants another state");
  }
};

TEST_F(CheckpointRanksTest, APartThatFailsOnOneRankIsAnErrorOfAll) {
  OnRanks(3, [&](comm::Communicator& comm) {
    CheckpointManager manager(folder_, {.ranks = &comm});
    Fragile part = {.saves = comm.rank() != 2};
    EXPECT_THAT(ErrorOf([&] {
                  manager.Save({{"part", part}}, {.step = 1});
                }),
                HasSubstr("checkpoint manager: rank 2: part 'part': has no state"));
    part = {.loads = comm.rank() != 1};
    manager.Save({{"part", part}}, {.step = 1});
    EXPECT_THAT(ErrorOf([&] {
                  manager.LoadLatest({{"part", part}});
                }),
                HasSubstr("checkpoint manager: rank 1: "));
    EXPECT_THAT(ErrorOf([&] {
                  manager.Save({{"part", part}}, {.step = -1});
                }),
                HasSubstr("checkpoint manager: rank 0: step is -1"));
    RandomGenerator random(7);  // a part that all ranks give together
    EXPECT_THAT(ErrorOf([&] {
                  manager.Save({{"random", random, &comm}}, {.step = -1});
                }),
                HasSubstr("step is -1"));
    manager.Save({{"random", random, &comm}}, {.step = 2});
  });
  OnRanks(2, [&](comm::Communicator& comm) {
    EXPECT_THAT(ErrorOf([&] { CheckpointManager(folder_, {.keep_last = 0, .ranks = &comm}); }),
                HasSubstr("checkpoint manager: rank 0: keep_last is 0"));
  });
}

TEST_F(CheckpointRanksTest, EachRankHasItsOwnRandomNumbers) {
  std::vector<std::vector<float>> next(3);
  OnRanks(2, [&](comm::Communicator& comm) {
    CheckpointManager manager(folder_, {.ranks = &comm});
    RandomGenerator random(5 + comm.rank());
    Rand({3}, DType::kF32, {.generator = &random});
    manager.Save({{"random", random, &comm}}, {.step = 1});
    next[static_cast<size_t>(comm.rank())] =
        Rand({3}, DType::kF32, {.generator = &random}).ToVector<float>();
    manager.Wait();
  });
  EXPECT_NE(next[0], next[1]);
  OnRanks(3, [&](comm::Communicator& comm) {
    CheckpointManager manager(folder_, {.ranks = &comm});
    RandomGenerator random(0);
    manager.LoadLatest({{"random", random, &comm}});
    const auto drawn = Rand({3}, DType::kF32, {.generator = &random}).ToVector<float>();
    if (comm.rank() < 2) {
      EXPECT_EQ(drawn, next[static_cast<size_t>(comm.rank())]);
    } else {
      EXPECT_NE(drawn, next[0]);
      EXPECT_NE(drawn, next[1]);
    }
  });
  RandomGenerator alone(0);
  LoadCheckpoint(folder_ + "/checkpoint_000000000001.h5", {{"random", alone}});
  EXPECT_EQ(Rand({3}, DType::kF32, {.generator = &alone}).ToVector<float>(), next[0]);
}

TEST_F(CheckpointRanksTest, AnotherNumberOfRanksGoesThroughTheRestOfTheEpoch) {
  const auto loader_of = [](comm::Communicator& comm) {
    return DataLoader(Numbers(29), {.batch = 2,
                                    .shuffle = true,
                                    .seed = 3,
                                    .shard = {.rank = comm.rank(), .count = comm.size()}});
  };
  std::vector<int64_t> seen(29);
  const auto count = [&](comm::Communicator& comm, std::vector<int64_t> own) {
    EXPECT_TRUE(
        comm.AllReduce(own.data(), std::ssize(own), comm::Element::kI64, comm::Reduction::kSum)
            .ok());
    for (size_t i = 0; comm.rank() == 0 && i < own.size(); ++i) seen[i] += own[i];
  };
  OnRanks(4, [&](comm::Communicator& comm) {
    CheckpointManager manager(folder_, {.ranks = &comm});
    DataLoader loader = loader_of(comm);
    std::vector<int64_t> own(29);
    for (auto i = loader.begin(); i.batch() < 2; ++i) {
      for (const int64_t sample : i->input.ToVector<int64_t>()) ++own[static_cast<size_t>(sample)];
      manager.Save({{"data", loader}}, {.step = i.batch()});
    }
    manager.Wait();
    count(comm, own);
  });
  OnRanks(3, [&](comm::Communicator& comm) {
    CheckpointManager manager(folder_, {.ranks = &comm});
    DataLoader loader = loader_of(comm);
    EXPECT_EQ(manager.LoadLatest({{"data", loader}})->info.step, 1);
    std::vector<int64_t> own(29);
    for (const int64_t sample : Flat(Epoch(loader))) ++own[static_cast<size_t>(sample)];
    count(comm, own);
  });
  EXPECT_EQ(seen, std::vector<int64_t>(29, 1)) << "each sample once, by both";
}

}  // namespace
}  // namespace firn::io
