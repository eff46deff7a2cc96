// Which files a folder of checkpoints holds, and the errors if they cannot be written.
#include "firn/io/checkpoints/checkpoint_manager.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CheckpointManagerTest : public ::testing::TestWithParam<bool> {
 protected:
  CheckpointManagerTest()
      : folder_(
            TempPath(std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
                     ".run")) {
    fs::remove_all(folder_);
    fs::create_directories(fs::path(folder_).parent_path());
    values_.Set("step", 0);
  }
  CheckpointManagerOptions Options() const { return {.background = GetParam()}; }
  CheckpointParts Parts() { return {{"values", values_}}; }
  void Save(CheckpointManager& manager, int64_t step, std::optional<double> metric = {}) {
    values_.Set("step", step);
    manager.Save(Parts(), {.step = step, .metric = metric});
  }
  static std::vector<int64_t> Steps(const CheckpointManager& manager) {
    std::vector<int64_t> steps;
    for (const CheckpointManager::File& f : manager.files()) steps.push_back(f.step);
    return steps;
  }
  std::string PathOf(int64_t step) const {
    std::string digits = std::to_string(step);
    digits.insert(0, 12 - digits.size(), '0');
    return folder_ + "/checkpoint_" + digits + ".h5";
  }
  void Damage(int64_t step) {
    const std::string bytes = ReadFile(PathOf(step));
    WriteFile(PathOf(step), bytes.substr(0, bytes.size() / 2));
  }

  const std::string folder_;
  CheckpointValues values_;
};
INSTANTIATE_TEST_SUITE_P(Background, CheckpointManagerTest, ::testing::Bool());

TEST_P(CheckpointManagerTest, KeepsTheLastAndTheBest) {
  CheckpointManagerOptions options = Options();
  options.keep_last = 2;
  options.keep_best = 2;
  {
    CheckpointManager manager(folder_, options);
    EXPECT_EQ(manager.best(), std::nullopt);
    const double losses[] = {0.3, 0.1, 0.9, 0.2, 0.8, 0.7};
    for (int64_t i = 0; i < 6; ++i) Save(manager, i, losses[i]);
    Save(manager, 6, std::numeric_limits<double>::quiet_NaN());
    Save(manager, 7);
    manager.Wait();
    EXPECT_THAT(Steps(manager), ElementsAre(1, 3, 6, 7));
    ASSERT_TRUE(manager.best().has_value());
    EXPECT_EQ(manager.best()->step, 1);
    EXPECT_EQ(manager.best()->path, PathOf(1));
  }
  EXPECT_THAT(List(folder_), SizeIs(4));
  options.maximize = true;
  CheckpointManager again(folder_, options);  // reads the metrics of what is there
  EXPECT_EQ(again.best()->step, 3);
  Save(again, 8, 0.15);
  EXPECT_THAT(Steps(again), ElementsAre(3, 7, 8));
}

TEST_P(CheckpointManagerTest, NeverRemovesWhatWasJustWritten) {
  CheckpointManagerOptions options = Options();
  options.keep_last = 1;
  CheckpointManager manager(folder_, options);
  Save(manager, 9);
  Save(manager, 5);
  EXPECT_THAT(Steps(manager), ElementsAre(5, 9));
  Save(manager, 5);
  EXPECT_THAT(Steps(manager), ElementsAre(5, 9));
}

TEST_P(CheckpointManagerTest, LoadsTheNewestThatIsIntactAndSaysWhatItPassedOver) {
  CheckpointManager manager(folder_, Options());
  EXPECT_FALSE(manager.LoadLatest(Parts()).has_value());
  for (int64_t step = 1; step <= 3; ++step) Save(manager, step);
  manager.Wait();
  Damage(3);
  fs::create_directory(PathOf(4));
  CheckpointManager again(folder_, Options());
  EXPECT_THAT(Steps(again), ElementsAre(1, 2));
  const std::optional<CheckpointManager::Loaded> loaded = again.LoadLatest(Parts());
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->path, PathOf(2));
  EXPECT_EQ(loaded->info.step, 2);
  EXPECT_EQ(values_.GetInteger("step"), 2);
  ASSERT_THAT(loaded->skipped, SizeIs(2));
  EXPECT_EQ(loaded->skipped[0].path, PathOf(4));
  EXPECT_EQ(loaded->skipped[1].path, PathOf(3));
  EXPECT_THAT(loaded->skipped[1].reason, HasSubstr(PathOf(3)));
  EXPECT_TRUE(fs::exists(PathOf(3))) << "damaged files are left to people";
  Save(again, 3);  // and may be written anew
  EXPECT_THAT(Steps(again), ElementsAre(1, 2, 3));
  Damage(1);
  Damage(2);
  Damage(3);
  EXPECT_THAT(ErrorOf([&] { again.LoadLatest(Parts()); }),
              ::testing::AllOf(HasSubstr("no checkpoint in"), HasSubstr(PathOf(1)),
                               HasSubstr(PathOf(2)), HasSubstr(PathOf(3))));
}

TEST_P(CheckpointManagerTest, AnIntactFileThatDoesNotFitIsAnError) {
  CheckpointManager manager(folder_, Options());
  Save(manager, 1);
  nn::Linear net({.in = 2, .out = 2});
  EXPECT_THAT(ErrorOf([&] {
                manager.LoadLatest({{"net", net}});
              }),
              HasSubstr("there is no part 'net'"));
  EXPECT_THAT(ErrorOf([&] { manager.LoadLatest({{"values", net}}); }), HasSubstr("part 'values'"));
}

TEST_P(CheckpointManagerTest, RemovesLeftoversOfKilledWritesAndNothingElse) {
  fs::create_directories(folder_);
  const timespec long_ago[2] = {{0, 0}, {0, 0}};
  for (const std::string& name :
       {PathOf(7) + ".tmp.0123456789ab.1.0", PathOf(8) + ".tmp.0123456789ab.22.3",
        folder_ + "/mine.h5.tmp.0123456789ab.1.0", folder_ + "/checkpoint_1.h5"}) {
    WriteFile(name, "half of");
    ASSERT_EQ(utimensat(AT_FDCWD, name.c_str(), long_ago, 0), 0);
  }
  CheckpointManager manager(folder_, Options());
  EXPECT_THAT(List(folder_), ElementsAre("checkpoint_1.h5", "mine.h5.tmp.0123456789ab.1.0"));
  EXPECT_THAT(manager.files(), IsEmpty());
}

TEST_P(CheckpointManagerTest, AFailedWriteComesOutAndTheNextOneWorks) {
  CheckpointManager manager(folder_, Options());
  Save(manager, 1);
  manager.Wait();
  fs::remove_all(folder_);
  WriteFile(folder_, "a file where the folder was");
  const std::string error = ErrorOf([&] {
    Save(manager, 2);
    manager.Wait();
  });
  EXPECT_THAT(error, ::testing::AllOf(HasSubstr("checkpoint manager"), HasSubstr(PathOf(2))));
  manager.Wait();  // said once
  fs::remove(folder_);
  fs::create_directory(folder_);
  Save(manager, 3);
  manager.Wait();
  EXPECT_TRUE(fs::exists(PathOf(3)));
}

// A limit on the size of files stands for a full disk.
TEST_P(CheckpointManagerTest, AFullDiskLeavesTheCheckpointsThatAreThere) {
  CheckpointManager manager(folder_, Options());
  Save(manager, 1);
  manager.Wait();
  values_.Set("large", Zeros({1 << 16}));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {1 << 14, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const absl::Status status = testing::StatusOf([&] {
    Save(manager, 2);
    manager.Wait();
  });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(List(folder_), ElementsAre("checkpoint_000000000001.h5"));
  EXPECT_THAT(Steps(manager), ElementsAre(1));
}

TEST_P(CheckpointManagerTest, RefusesWhatMakesNoSense) {
  CheckpointManagerOptions options = Options();
  options.keep_last = 0;
  EXPECT_THAT(ErrorOf([&] { CheckpointManager(folder_, options); }), HasSubstr("keep_last is 0"));
  options.keep_last = 1;
  options.keep_best = -1;
  EXPECT_THAT(ErrorOf([&] { CheckpointManager(folder_, options); }), HasSubstr("keep_best is -1"));
  WriteFile(folder_, "a file");
  EXPECT_THAT(ErrorOf([&] { CheckpointManager(folder_, Options()); }), HasSubstr(folder_));
  fs::remove(folder_);
  CheckpointManager manager(folder_, Options());
  EXPECT_THAT(ErrorOf([&] { Save(manager, -1); }), HasSubstr("step is -1"));
  EXPECT_THAT(ErrorOf([&] { manager.Save({}, {}); }), HasSubstr("there are no parts"));
}

// --- In the background ---------------------------------------------------------------------------

class BackgroundTest : public CheckpointManagerTest {};
INSTANTIATE_TEST_SUITE_P(Background, BackgroundTest, ::testing::Values(true));

// The thread rests for eleven parts of twelve, so that some megabytes take it longer than the few
// microseconds until the next line; unless the machine stops this thread, for which there are more
// tries.
TEST_P(BackgroundTest, SaveComesBackBeforeTheFileIsThere) {
  CheckpointManager manager(folder_, Options());
  values_.Set("large", Zeros({4 << 20}));
  bool before = false;
  for (int64_t step = 1; step <= 10 && !before; ++step) {
    Save(manager, step);
    before = !fs::exists(PathOf(step));
    manager.Wait();
    EXPECT_TRUE(fs::exists(PathOf(step)));
  }
  EXPECT_TRUE(before);
}

TEST_P(BackgroundTest, WhatGoesWrongWithAWriteIsSaidByTheNextCall) {
  CheckpointManager manager(folder_, Options());
  const auto break_folder = [&] {
    fs::remove_all(folder_);
    WriteFile(folder_, "a file where the folder was");
  };
  break_folder();
  EXPECT_EQ(ErrorOf([&] { Save(manager, 1); }), "");
  EXPECT_THAT(ErrorOf([&] { manager.Wait(); }), HasSubstr(PathOf(1)));
  EXPECT_EQ(ErrorOf([&] { Save(manager, 2); }), "");
  EXPECT_THAT(ErrorOf([&] { Save(manager, 3); }), HasSubstr(PathOf(2)));
  EXPECT_EQ(ErrorOf([&] { manager.Wait(); }), "") << "nothing was saved by the call that threw";
  EXPECT_EQ(ErrorOf([&] { Save(manager, 4); }), "");
  EXPECT_THAT(ErrorOf([&] { manager.LoadLatest(Parts()); }), HasSubstr(PathOf(4)));
  fs::remove(folder_);
  fs::create_directory(folder_);
  Save(manager, 5);
  EXPECT_THAT(Steps(manager), ElementsAre(5));
}

// The file has the values that the tensors held at the call, whatever training does meanwhile.
TEST(CheckpointManagerCopyTest, WritesWhatWasThereAtTheCall) {
  const std::string folder = TempPath("copies");
  fs::remove_all(folder);
  nn::Linear net({.in = 300, .out = 300});
  optim::Adam adam(net.named_parameters());
  const CheckpointParts parts = {{"net", net}, {"optimizer", adam}};
  CheckpointManager manager(folder, {.keep_last = 50});
  std::vector<Tensor> weights;
  for (int64_t step = 0; step < 20; ++step) {
    adam.ZeroGrad();
    Sum(net(Ones({1, 300}))).Backward();
    adam.Step();
    weights.push_back(net.weight().Detach().Clone());
    manager.Save(parts, {.step = step});
  }
  manager.Wait();
  for (const CheckpointManager::File& f : manager.files()) {
    LoadCheckpoint(f.path, parts);
    EXPECT_TRUE(net.weight().Equals(weights[static_cast<size_t>(f.step)])) << f.step;
    EXPECT_TRUE(net.weight().requires_grad());
  }
  EXPECT_THAT(manager.files(), SizeIs(20));
}

}  // namespace
}  // namespace firn::io
