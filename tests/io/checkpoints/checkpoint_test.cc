// Everything of a run in one file: all of it comes back, or nothing changes.
#include "firn/io/checkpoints/checkpoint.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/loss_scaler.h"
#include "firn/optim/schedule.h"
#include "firn/optim/scheduler.h"
#include "firn/optim/weight_average.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
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
using ::testing::Pair;
using testing::StatusOf;

// A run with everything that a checkpoint has to hold.
struct Training {
  struct Net : nn::Module {
    nn::Linear& in = Add<nn::Linear>("in", {.in = 4, .out = 8});
    nn::BatchNorm1d& norm = Add<nn::BatchNorm1d>("norm", {.channels = 8});
    nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.5});
    nn::Linear& out = Add<nn::Linear>("out", {.in = 8, .out = 1});
    Tensor Forward(const Tensor& x) { return out(drop(Relu(norm(in(x))))); }
  };
  Net net;
  optim::Adam adam{net.named_parameters(), {.lr = 1e-2}};
  optim::Scheduler scheduler{adam, optim::StepLr({.interval = 3, .gamma = 0.5})};
  optim::LossScaler scaler{{.init_scale = 8, .growth_interval = 2}};
  optim::WeightAverage average{net.named_parameters()};
  DataLoader data{FromTensors(Reshape(Arange(48.f), {12, 4})),
                  {.batch = 4, .shuffle = true, .seed = 3}};
  CheckpointValues values;

  CheckpointParts Parts() {
    return {{"model", net},
            {"optimizer", adam},
            {"scheduler", scheduler},
            {"scaler", scaler},
            {"average", average},
            {"data", data},
            {"random", DefaultGenerator()},
            {"values", values}};
  }
  double Step(const Tensor& x) {
    adam.ZeroGrad();
    Tensor loss = Mean(Square(net.Forward(x * 0.1)));
    scaler.Scale(loss).Backward();
    scaler.Step(adam);
    scaler.Update();
    scheduler.Step();
    average.Update();
    return loss.Item();
  }
  // The losses of `steps` steps, through epochs.
  std::vector<double> Steps(int steps) {
    std::vector<double> losses;
    while (true) {
      for (auto [x, unused] : data) {
        losses.push_back(Step(x));
        if (static_cast<int>(losses.size()) == steps) return losses;
      }
    }
  }
};

TEST(CheckpointTest, ARunGoesOnToTheBitInTheMiddleOfAnEpoch) {
  const std::string path = TempPath("run.h5");
  ManualSeed(1);
  Training first;
  std::vector<double> after;
  int64_t steps = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto [x, unused] : first.data) {
      const double loss = first.Step(x);
      if (steps > 3) after.push_back(loss);
      if (steps == 3) SaveCheckpoint(path, first.Parts(), {.step = steps});
      ++steps;
    }
  }
  ManualSeed(99);
  Training second;
  EXPECT_EQ(LoadCheckpoint(path, second.Parts()).step, 3);
  EXPECT_EQ(second.data.position(), (DataLoader::Position{1, 1}));
  EXPECT_EQ(second.Steps(static_cast<int>(after.size())), after);
  const StateDict a = first.net.state_dict(), b = second.net.state_dict();
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.Equals(b[name])) << name;
  EXPECT_EQ(first.adam.lr(), second.adam.lr());
}

TEST(CheckpointTest, KeepsValuesOfAllKinds) {
  const std::string path = TempPath("values.h5");
  CheckpointValues saved, loaded;
  saved.Set("epoch", 7);
  saved.Set("done", true);
  saved.Set("loss", 0.25);
  saved.Set("note", "third try \xc3\xa9");
  saved.Set("empty", std::string());
  saved.Set("weights", FromValues({1.f, 2.f}));
  saved.Set("epoch", int64_t{1} << 60);
  SaveCheckpoint(path, {{"mine", saved}});
  loaded.Set("old", 1);
  LoadCheckpoint(path, {{"mine", loaded}});
  EXPECT_EQ(loaded.GetInteger("epoch"), int64_t{1} << 60);
  EXPECT_EQ(loaded.GetInteger("done"), 1);
  EXPECT_EQ(loaded.GetReal("loss"), 0.25);
  EXPECT_EQ(loaded.GetReal("done"), 1);
  EXPECT_EQ(loaded.GetText("note"), "third try \xc3\xa9");
  EXPECT_EQ(loaded.GetText("empty"), "");
  EXPECT_TRUE(loaded.GetTensor("weights").Equals(FromValues({1.f, 2.f})));
  EXPECT_FALSE(loaded.Contains("old"));
  EXPECT_THAT(ErrorOf([&] { loaded.GetText("loss"); }),
              HasSubstr("value 'loss' is f64 [] on cpu (want text: u8, 1-D)"));
  EXPECT_EQ(StatusOf([&] { loaded.GetReal("nothing"); }).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ErrorOf([&] { loaded.GetReal("los"); }),
              HasSubstr("there is no value 'los'; of 6 the nearest are loss, "));
  EXPECT_THAT(ErrorOf([&] { loaded.GetTensor("los"); }), HasSubstr("the nearest are loss, "));
  CheckpointValues third;
  third.LoadStateDict(loaded.state_dict());
  EXPECT_EQ(third.GetReal("loss"), 0.25);
  EXPECT_EQ(StatusOf([&] { loaded.GetTensor("nothing"); }).code(), absl::StatusCode::kNotFound);
}

TEST(CheckpointTest, SaysWhatItIs) {
  const std::string path = TempPath("info.h5");
  CheckpointValues a, b;
  a.Set("x", 1);
  SaveCheckpoint(path, {{"a", a}, {"b", b}},
                 {.step = 12, .metric = 0.5, .metadata = {{"model", "lenet"}, {"by", "me"}}});
  const CheckpointInfo info = ReadCheckpointInfo(path);
  EXPECT_EQ(info.version, kCheckpointVersion);
  EXPECT_EQ(info.step, 12);
  EXPECT_EQ(info.metric, 0.5);
  EXPECT_THAT(info.metadata, ElementsAre(Pair("model", "lenet"), Pair("by", "me")));
  EXPECT_THAT(info.parts, ElementsAre("a", "b"));
  // Plain datasets, for other programs.
  const absl::StatusOr<StateDict> plain = TryLoadHdf5(path);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ((*plain)["firn_checkpoint.step"].Item<int64_t>(), 12);
  EXPECT_EQ((*plain)["a.x"].Item<int64_t>(), 1);
}

TEST(CheckpointTest, LoadsSomeOfTheParts) {
  const std::string path = TempPath("some.h5");
  Training run;
  run.Steps(2);
  const Training& constant = run;
  SaveCheckpoint(path, {{"model", constant.net}, {"optimizer", constant.adam}});
  Training other;
  LoadCheckpoint(path, {{"model", other.net}});
  EXPECT_TRUE(other.net.out.weight().Equals(run.net.out.weight()));
  EXPECT_THAT(ErrorOf([&] {
                LoadCheckpoint(path, {{"model", constant.net}});
              }),
              HasSubstr("part 'model' is constant"));
  EXPECT_THAT(ErrorOf([&] {
                LoadCheckpoint(path, {{"model", other.net}, {"data", other.data}});
              }),
              HasSubstr("some.h5: there is no part 'data', it has 'model' 'optimizer'"));
}

// A part that refuses every state.
struct Refuses {
  StateDict state_dict() const { return {{"x", Ones({2})}}; }
  void LoadStateDict(const StateDict&) { RaiseStatus(absl::InvalidArgumentError("no"), "refuses"); }
};

TEST(CheckpointTest, ChangesNothingWhenAPartRefuses) {
  const std::string path = TempPath("refused.h5");
  Training saved, other;
  saved.Steps(4);
  other.Steps(2);
  Refuses refuses;
  CheckpointParts parts = saved.Parts();
  parts.emplace_back("bad", refuses);
  SaveCheckpoint(path, parts);
  parts = other.Parts();
  const std::string before = TempPath("before.h5"), after = TempPath("after.h5");
  SaveCheckpoint(before, parts);
  CheckpointParts all = parts;
  all.emplace_back("bad", refuses);
  EXPECT_THAT(ErrorOf([&] { LoadCheckpoint(path, all); }),
              ::testing::AllOf(HasSubstr("refused.h5"), HasSubstr("part 'bad'"), HasSubstr("no")));
  SaveCheckpoint(after, parts);
  EXPECT_EQ(ReadFile(before), ReadFile(after));
}

TEST(CheckpointTest, ALoopGoesOnAfterACheckpointThatCouldNotBeLoaded) {
  const std::string path = TempPath("refused.h5");
  Training run;
  Refuses refuses;
  CheckpointParts all = run.Parts();
  all.emplace_back("bad", refuses);
  SaveCheckpoint(path, all);
  int64_t batch = 0;
  for ([[maybe_unused]] const Sample& sample : run.data) {
    if (++batch == 2) {
      EXPECT_NE(ErrorOf([&] { LoadCheckpoint(path, all); }), "");
    }
    const DataLoader::Position next =
        batch < 3 ? DataLoader::Position{0, batch} : DataLoader::Position{1, 0};
    EXPECT_EQ(run.data.position(), next);
  }
  EXPECT_EQ(batch, 3);
  EXPECT_EQ(run.data.position(), (DataLoader::Position{1, 0}));
}

TEST(CheckpointTest, LoadsWhatWaitsForItsFirstForwardLast) {
  const std::string path = TempPath("pending.h5");
  Refuses refuses;
  nn::Linear saved({.in = 3, .out = 2}), pending({.out = 2});
  SaveCheckpoint(path, {{"net", saved}, {"bad", refuses}});
  EXPECT_NE(ErrorOf([&] { LoadCheckpoint(path, {{"net", pending}, {"bad", refuses}}); }), "");
  EXPECT_NE(ErrorOf([&] { pending.state_dict(); }), "") << "still pending";
  EXPECT_THAT(ErrorOf([&] {
                SaveCheckpoint(path, {{"net", pending}});
              }),
              HasSubstr("part 'net': "));
  LoadCheckpoint(path, {{"net", pending}});
  EXPECT_TRUE(pending.weight().Equals(saved.weight()));
}

TEST(CheckpointTest, RefusesNamesThatCannotBe) {
  const std::string path = TempPath("names.h5");
  CheckpointValues v;
  const auto error = [&](const CheckpointParts& parts) {
    return ErrorOf([&] { SaveCheckpoint(path, parts); });
  };
  EXPECT_THAT(error({{"", v}}), HasSubstr("name '' is empty"));
  EXPECT_THAT(error({{"a.b", v}}), HasSubstr("name 'a.b' has a dot"));
  EXPECT_THAT(error({{"a", v}, {"a", v}}), HasSubstr("name 'a' occurs twice"));
  EXPECT_THAT(error({{"firn_checkpoint", v}}), HasSubstr("is taken"));
  EXPECT_THAT(error({}), HasSubstr("there are no parts"));
}

TEST(CheckpointTest, RefusesOtherFiles) {
  const std::string path = TempPath("other.h5");
  CheckpointValues v;
  const auto status = [&] { return StatusOf([&] { LoadCheckpoint(path, {{"v", v}}); }); };
  std::remove(path.c_str());
  EXPECT_EQ(status().code(), absl::StatusCode::kNotFound);
  WriteFile(path, "hello");
  EXPECT_EQ(status().code(), absl::StatusCode::kDataLoss);
  const Tensor zero = FromVector(std::vector<int64_t>{0}, Shape());
  const Tensor one = FromVector(std::vector<int64_t>{1}, Shape());
  const Tensor two = FromVector(std::vector<int64_t>{2}, Shape());
  const auto written = [&](const StateDict& state) {
    EXPECT_TRUE(TrySaveHdf5(path, state).ok());
    return status();
  };
  EXPECT_THAT(std::string(written({{"v.x", one}}).message()),
              HasSubstr("other.h5: there is no firn_checkpoint.version"));
  absl::Status later = written({{"firn_checkpoint.version", two}});
  EXPECT_EQ(later.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(later.message()), HasSubstr("version is 2, this program reads 1"));
  EXPECT_THAT(std::string(written({{"firn_checkpoint.version", Ones({})}}).message()),
              HasSubstr("version: expected i64, 0-D, got f32 []"));
  // A header that claims 2^32 - 1 parts.
  EXPECT_THAT(
      std::string(written({{"firn_checkpoint.version", one},
                           {"firn_checkpoint.step", zero},
                           {"firn_checkpoint.header", FromVector(std::vector<uint8_t>(4, 255))}})
                      .message()),
      HasSubstr("firn_checkpoint.header: offset 4, parts: expected 4294967295"));
}

TEST(CheckpointTest, MissesDatasetsThatWereTakenOut) {
  const std::string path = TempPath("taken.h5");
  CheckpointValues v, w;
  v.Set("x", 1);
  v.Set("y", 2);
  w.Set("z", 2);
  SaveCheckpoint(path, {{"v", v}, {"w", w}});
  absl::StatusOr<StateDict> state = TryLoadHdf5(path);
  ASSERT_TRUE(state.ok());
  state->Erase("v.y");
  ASSERT_TRUE(TrySaveHdf5(path, *state).ok());
  EXPECT_THAT(ErrorOf([&] {
                LoadCheckpoint(path, {{"v", v}});
              }),
              HasSubstr("part 'v': expected 2 datasets, got 1"));
  LoadCheckpoint(path, {{"w", w}});
}

// Bytes by the name of a file. It uses no disk, where replacing a file takes milliseconds.
class FileInMemory {
 public:
  explicit FileInMemory(const std::string& path) : fd_(memfd_create("checkpoint", 0)) {
    fs::remove(path);
    fs::create_symlink("/proc/self/fd/" + std::to_string(fd_), path);
  }
  ~FileInMemory() { close(fd_); }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  void Hold(const std::string& bytes) {
    ASSERT_EQ(ftruncate(fd_, 0), 0);
    ASSERT_EQ(pwrite(fd_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

 private:
  const int fd_;
};

TEST(CheckpointTest, FindsEveryFlippedBitOfElementsAndNamesTheDataset) {
  const std::string path = TempPath("flipped.h5");
  CheckpointValues v;
  std::vector<int32_t> numbers;
  for (int32_t i = 0; i < 64; ++i) numbers.push_back(0x5eed0000 + i);
  v.Set("numbers", FromVector(numbers));
  SaveCheckpoint(path, {{"v", v}});
  const std::string whole = ReadFile(path);
  FileInMemory file(path);
  const std::string elements(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size());
  const size_t at = whole.find(elements);
  ASSERT_NE(at, std::string::npos);
  for (size_t bit = 0; bit < 8 * elements.size(); ++bit) {
    std::string damaged = whole;
    damaged[at + bit / 8] = static_cast<char>(damaged[at + bit / 8] ^ (1 << bit % 8));
    file.Hold(damaged);
    const absl::Status status = StatusOf([&] { LoadCheckpoint(path, {{"v", v}}); });
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss);
    ASSERT_THAT(std::string(status.message()),
                ::testing::AllOf(HasSubstr("flipped.h5"), HasSubstr("/v/numbers")));
  }
  // Whatever else is flipped or cut off: the right values, or an error.
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    file.Hold(damaged);
    StatusOf([&] { LoadCheckpoint(path, {{"v", v}}); }).IgnoreError();
    ASSERT_TRUE(v.GetTensor("numbers").Equals(FromVector(numbers))) << "byte " << i;
    file.Hold(whole.substr(0, i));
    ASSERT_NE(ErrorOf([&] { LoadCheckpoint(path, {{"v", v}}); }), "") << "cut at " << i;
  }
}

TEST(CheckpointTest, ARandomGeneratorWantsItsStateAlone) {
  RandomGenerator random(4);
  CheckpointPart part("random", random);
  EXPECT_EQ(part.name(), "random");
  EXPECT_TRUE(part.can_load());
  StateDict state = part.Save();
  EXPECT_EQ(state.size(), 1u);
  state.Insert("more", Ones({}));
  EXPECT_THAT(ErrorOf([&] { part.Load(state); }), HasSubstr("has 2 entries"));
}

TEST(CheckpointTest, AFolderInTheWayIsAnError) {
  CheckpointValues v;
  EXPECT_THAT(ErrorOf([&] {
                SaveCheckpoint(::testing::TempDir(), {{"v", v}});
              }),
              HasSubstr("cannot write"));
  EXPECT_NE(ErrorOf([&] { LoadCheckpoint(::testing::TempDir(), {{"v", v}}); }), "");
}

}  // namespace
}  // namespace firn::io
