// The one-line functions: formats by name, and errors as exceptions.
#include "firn/io/parameters.h"

#include "firn/io/data/data_loader.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
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

using ::testing::HasSubstr;

TEST(ParametersTest, SavesAndLoadsByTheEndOfTheName) {
  for (const char* name :
       {"net.h5", "net.v2.hdf5", "net.safetensors", "net", "net.pt", "net.v3.pth", "net.npz"}) {
    const std::string path = TempPath(name);
    Save(path, {{"w", FromValues({1.f, 2.f})}});
    EXPECT_TRUE(Load(path)["w"].Equals(FromValues({1.f, 2.f})));
  }
}

TEST(ParametersTest, ReadsTheEntriesThatAreWanted) {
  for (const char* name : {"two.h5", "two.safetensors", "two.pt", "two.npz"}) {
    const std::string path = TempPath(name);
    Save(path, {{"net.w", FromValues({1.f})}, {"optimizer.w", FromValues({2.f})}});
    const StateDict state =
        Load(path, {.want = [](std::string_view entry) { return entry.starts_with("net."); }});
    EXPECT_EQ(state.size(), 1u);
    EXPECT_EQ(state.Part("net")["w"].Item(), 1);
  }
}

TEST(ParametersTest, ReadsByTheFirstBytesWhateverTheName) {
  for (const char* name : {"a.h5", "a.safetensors", "a.pt", "a.npz"}) {
    Save(TempPath(name), {{"w", FromValues({1.f, 2.f})}});
    for (const char* other : {"b.bin", "b.pkl", "b", "b.pt", "b.h5", "b.safetensors"}) {
      WriteFile(TempPath(other), ReadFile(TempPath(name)));
      EXPECT_TRUE(Load(TempPath(other))["w"].Equals(FromValues({1.f, 2.f}))) << name << other;
    }
  }
}

// A network with everything that a checkpoint has to hold: parameters, statistics, random numbers.
struct Training {
  struct Net : nn::Module {
    nn::Linear& in = Add<nn::Linear>("in", {.in = 4, .out = 8});
    nn::BatchNorm1d& norm = Add<nn::BatchNorm1d>("norm", {.channels = 8});
    nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.5});
    nn::Linear& out = Add<nn::Linear>("out", {.in = 8, .out = 1});
    Tensor Forward(const Tensor& x) { return out(drop(Relu(norm(in(x))))); }
  };
  Net net;
  optim::Adam adam{net.parameters(), {.lr = 1e-2}};
  DataLoader data{FromTensors(Reshape(Arange(48.f), {12, 4})),
                  {.batch = 4, .shuffle = true, .seed = 3}};

  double Epoch() {
    double sum = 0;
    for (auto [x, unused] : data) {
      adam.ZeroGrad();
      Tensor loss = Mean(Square(net.Forward(x * 0.1)));
      loss.Backward();
      adam.Step();
      sum += loss.Item();
    }
    return sum;
  }
};

TEST(ParametersTest, OneFileHoldsARunThatGoesOnToTheBit) {
  const std::string path = TempPath("run.h5");
  Training first;
  first.Epoch();
  StateDict run;
  run.InsertAll("net", first.net.state_dict());
  run.InsertAll("optimizer", first.adam.state_dict());
  run.Insert("random", DefaultGenerator().state());
  run.Insert("epoch", FromValues({first.data.epoch()}));
  Save(path, run);
  const double next = first.Epoch();

  ManualSeed(99);
  Training second;
  run = Load(path);
  second.net.LoadStateDict(run.Part("net"));
  second.adam.LoadStateDict(run.Part("optimizer"));
  DefaultGenerator().SetState(run["random"]);
  second.data.SetEpoch(run["epoch"].Item<int64_t>());
  EXPECT_EQ(second.data.epoch(), 1);
  EXPECT_EQ(second.Epoch(), next);
}

TEST(ParametersTest, ThrowsErrorsThatNameTheFile) {
  const auto error = [](const std::string& path) { return testing::ErrorOf([&] { Load(path); }); };
  WriteFile(TempPath("net.pkl"), "no tensors");
  EXPECT_THAT(error(TempPath("net.pkl")),
              HasSubstr("net.pkl' ends in '.pkl' (want .bin, .ckpt, .firn, .h5, .hdf5, .npy, .npz, "
                        ".pt, .pth or .safetensors)"));
  WriteFile(TempPath("table.csv"), "1,2");
  EXPECT_THAT(error(TempPath("table.csv")),
              HasSubstr("table.csv' is of the format CSV, which holds a table (want .bin, "));
  EXPECT_THAT(error("/nowhere/net.h5"), HasSubstr("load: cannot open /nowhere/net.h5"));
  EXPECT_THROW(Save("/nowhere/net.h5", {}), Error);
  EXPECT_THROW(Save("net.pkl", {}), Error);
  EXPECT_THROW(Save("net.png", {}), Error);
  EXPECT_THROW(Save("net.index.json", {}), Error);
}

}  // namespace
}  // namespace firn::io
