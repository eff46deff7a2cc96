// Steps of Fit that are more than one batch and its update: several batches, rates that follow the
// validation, and a program's own parts.
#include <string>
#include <vector>

#include "firn/firn.h"
#include "gtest/gtest.h"
#include "tests/fit_training.h"
#include "tests/io/test_files.h"

namespace firn {
namespace {

using namespace fit_testing;

nn::Sequential TwoLayers() {
  ManualSeed(6);
  return nn::Sequential{nn::New<nn::Flatten>(), nn::New<nn::Linear>({.in = 64, .out = 16}),
                        nn::New<nn::Relu>(), nn::New<nn::Linear>({.in = 16, .out = 10})};
}

// Three epochs of 36 samples.
struct Accumulated {
  Accumulated(int64_t batch, int64_t accumulate, bool frozen)
      : train(Digits(36), {.batch = batch, .shuffle = true, .seed = 3}) {
    optim::Sgd sgd(net.named_parameters(), {.lr = 0.1, .momentum = 0.9, .weight_decay = 1e-3});
    result = Fit(net, sgd, train,
                 {.epochs = 3,
                  .schedule = optim::StepLr({.interval = 5, .gamma = 0.5}),
                  .accumulate = accumulate,
                  .frozen = frozen,
                  .progress = {.quiet = true}});
  }
  io::DataLoader train;
  nn::Sequential net = TwoLayers();
  FitResult result;
};

TEST(FitStepTest, AccumulatedBatchesMakeTheStepOfALargeOne) {
  const Accumulated large(8, 1, false), small(2, 4, false);  // 8, 8, 8, 8 and 4 samples a step
  const Accumulated frozen(2, 4, true);
  for (size_t e = 0; e < 3; ++e) {
    EXPECT_EQ(small.result.epochs[e].step, 5 * (static_cast<int64_t>(e) + 1));
    EXPECT_EQ(small.result.epochs[e].lr, large.result.epochs[e].lr);
    EXPECT_EQ(small.result.epochs[e].samples, 36);
    EXPECT_NEAR(small.result.epochs[e].loss, large.result.epochs[e].loss, 1e-5);
  }
  for (const auto& [name, tensor] : small.net.state_dict()) {
    EXPECT_LT(Amax(Abs(tensor - large.net.state_dict()[name])).Item(), 1e-6) << name;
  }
  EXPECT_TRUE(Same(small.net.state_dict(), frozen.net.state_dict()));
  // Steps of the small batches would give other parameters.
  const Accumulated apart(2, 1, false);
  EXPECT_EQ(apart.result.epochs[2].step, 54);
  EXPECT_GT(Amax(Abs(apart.net.state_dict()["3.bias"] - large.net.state_dict()["3.bias"])).Item(),
            1e-3);
}

TEST(FitStepTest, GoesOnBetweenAccumulatedBatchesToTheSameBits) {
  for (const bool frozen : {false, true}) {
    const std::string alone = Folder("accumulated"), broken = Folder("accumulated_broken");
    const auto options = [&](const std::string& folder) -> FitOptions {
      return {.epochs = 3,
              .schedule = optim::CosineLr({.steps = 9}),
              .accumulate = 3,
              .frozen = frozen,
              .folder = folder,
              .checkpoint_every = 1};
    };
    Training undisturbed, before, after;  // seven batches an epoch make three steps
    ManualSeed(5);
    const FitResult whole = undisturbed.Run(options(alone));
    EXPECT_EQ(whole.epochs.back().step, 9);
    ManualSeed(5);
    FitOptions fails = options(broken);
    int64_t batches = 0;  // the twelfth is the second of its step
    fails.progress.log_lines = 0;
    before.train = io::DataLoader(
        Digits(200), {.batch = 32, .shuffle = true, .seed = 3, .map = [&](io::Sample s, auto&) {
                        if (batches++ == 11) throw Interrupted();
                        return s;
                      }});
    EXPECT_THROW(before.Run(fails), Interrupted);
    const FitResult rest = after.Run(options(broken));
    EXPECT_EQ(rest.resumed_at, 4);
    EXPECT_EQ(rest.epochs.back().loss, whole.epochs.back().loss);
    EXPECT_TRUE(Same(after.net.state_dict(), undisturbed.net.state_dict())) << frozen;
    for (const char* file : {"/epochs.csv", "/training-loss.series.txt"}) {
      EXPECT_EQ(io::ReadFile(broken + file), io::ReadFile(alone + file)) << file;
    }
  }
}

TEST(FitStepTest, LowersTheRateOnAPlateau) {
  const auto rates = [](const std::string& folder, int64_t epochs) {
    Stuck s;
    s.sgd.SetLr(0.8);
    s.options = {.epochs = epochs,
                 .loss = [](const Tensor& y, const Tensor&) { return Mean(y) * 0; },
                 .plateau = optim::ReduceOnPlateauOptions{.factor = 0.5, .patience = 1},
                 .validation = &s.validation,
                 .folder = folder,
                 .progress = {.quiet = true}};
    std::vector<double> all;
    for (const FitEpoch& e : Fit(s.net, s.sgd, s.train, s.options).epochs) all.push_back(e.lr);
    return all;
  };
  const std::string whole = Folder("plateau"), parts = Folder("plateau_in_parts");
  EXPECT_EQ(rates(whole, 6), (std::vector<double>{0.8, 0.8, 0.8, 0.4, 0.4, 0.2}));
  EXPECT_EQ(rates(parts, 2), (std::vector<double>{0.8, 0.8}));
  EXPECT_EQ(rates(parts, 6), (std::vector<double>{0.8, 0.4, 0.4, 0.2}));
}

TEST(FitStepTest, KeepsPartsOfOnesOwn) {
  const auto run = [](const std::string& folder, int64_t epochs, StateDict* average) {
    Training t;
    t.net(Digits(2)->GetBatch({0, 1}).input);  // tells the sizes
    optim::WeightAverage ema(t.net.named_parameters(), {.decay = 0.9});
    t.adam.AddHooks({}, [&] { ema.Update(); });
    t.Run({.epochs = epochs, .frozen = true, .folder = folder, .parts = {{"average", ema}}});
    for (const auto& [name, tensor] : ema.state_dict()) average->Insert(name, tensor.Clone());
  };
  StateDict whole, first, rest;
  run(Folder("average"), 3, &whole);
  const std::string folder = Folder("average_in_parts");
  run(folder, 1, &first);
  run(folder, 3, &rest);
  EXPECT_EQ(whole["updates"].Item(), 21);
  EXPECT_TRUE(Same(whole, rest));
}

}  // namespace
}  // namespace firn
