// Fit and Evaluate with batches of any tensors: all of them reach the step, frozen or not, and code
// that cannot use them gives an error.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/firn.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/fit_training.h"

namespace firn {
namespace {

using ::testing::HasSubstr;
using namespace fit_testing;

// A plane whose samples count by weights: y = x . (1, -2) where the weight is 1, nonsense where it
// is 0. The network takes two tensors, so it is no Layer.
struct Weighted {
  struct Net final : nn::Module {
    nn::Linear& plane = Add<nn::Linear>("plane", {.in = 2, .out = 1, .bias = false});
    Tensor Forward(const Tensor& x, const Tensor& weight) { return plane(x) * weight; }
  };

  explicit Weighted(int64_t samples = 50) {
    const Tensor x = Randn({samples, 2});
    const Tensor weight = Gt(Rand({samples, 1}), 0.3).To(DType::kF32);
    const Tensor y = Matmul(x, FromVector<float>({1, -2}, {2, 1})) * weight + 100 * (1 - weight);
    data = io::FromTensors({{"x", x}, {"weight", weight}, {"y", y}});
    train.emplace(data, io::DataLoaderOptions{.batch = 16, .shuffle = true, .seed = 3});
    validation.emplace(data, io::DataLoaderOptions{.batch = 20});
  }
  BatchResult Loss(const io::Sample& batch) {
    const auto [x, weight, y] = batch.As<3>();
    const Tensor output = net.Forward(x, weight), target = batch["y"] * batch["weight"];
    return {MseLoss(output, target), output, target};
  }
  FitResult Run(FitOptions options) {
    options.forward = [this](const io::Sample& batch) { return Loss(batch); };
    options.progress.quiet = true;
    return Fit(net, sgd, *train, options);
  }

  const bool seeded = (ManualSeed(7), true);  // before the network is made
  Net net;
  optim::Sgd sgd{net.named_parameters(), {.lr = 0.2}};
  io::DatasetPtr data;
  std::optional<io::DataLoader> train, validation;
};

TEST(FitSamplesTest, StepsSeeAllTensorsFrozenAndNotToTheSameBits) {
  Weighted ordinary, frozen;
  const auto options = [](Weighted& w) -> FitOptions {
    return {.epochs = 10, .validation = &*w.validation, .metric = io::R2()};
  };
  const FitResult result = ordinary.Run(options(ordinary));
  EXPECT_GT(result.epochs.back().validation.metric, 0.999);
  EXPECT_LT(result.epochs.back().validation.loss, 1e-2);
  EXPECT_EQ(result.epochs.back().validation.samples, 50);
  EXPECT_EQ(result.epochs.back().samples, 50);
  FitOptions again = options(frozen);
  again.frozen = true;
  const FitResult other = frozen.Run(again);
  EXPECT_TRUE(Same(ordinary.net.state_dict(), frozen.net.state_dict()));
  EXPECT_EQ(result.epochs.back().validation.loss, other.epochs.back().validation.loss);
}

TEST(FitSamplesTest, GoesOnFromCheckpointsToTheSameBits) {
  for (const bool frozen : {false, true}) {
    const auto options = [&](Weighted& w, int64_t epochs, const char* folder) -> FitOptions {
      return {.epochs = epochs,
              .accumulate = 2,
              .frozen = frozen,
              .validation = &*w.validation,
              .metric = io::R2(),
              .watch = FitWatch::kHighestMetric,
              .folder = folder};
    };
    Weighted whole, before, after;
    const std::string alone = Folder("samples"), parts = Folder("samples_in_parts");
    const FitResult result = whole.Run(options(whole, 4, alone.c_str()));
    before.Run(options(before, 2, parts.c_str()));
    const FitResult rest = after.Run(options(after, 4, parts.c_str()));
    EXPECT_EQ(rest.resumed_at, 4);
    EXPECT_EQ(rest.epochs.back().validation.metric, result.epochs.back().validation.metric);
    EXPECT_TRUE(Same(whole.net.state_dict(), after.net.state_dict())) << frozen;
    EXPECT_FALSE(rest.best_checkpoint.empty());
  }
}

// Batches of the same shapes under other names count as different.
TEST(FitSamplesTest, FrozenStepsTellNamesApart) {
  const Tensor one = Ones({4, 1}), two = Full({4, 1}, 2);
  const auto run = [&](bool frozen) {
    ManualSeed(1);
    nn::Linear net({.in = 1, .out = 1});
    optim::Sgd sgd(net.named_parameters(), {.lr = 0.1});
    io::DataLoader train(io::Concat({io::FromTensors({{"x", one}, {"y", two}}),
                                     io::FromTensors({{"y", one}, {"x", two}})}),
                         {.batch = 4});
    int calls = 0;
    Fit(net, sgd, train,
        {.epochs = 3,
         .forward =
             [&](const io::Sample& batch) {
               ++calls;
               return MseLoss(net(batch["x"]), batch["y"]);  // a loss alone
             },
         .frozen = frozen,
         .progress = {.quiet = true}});
    EXPECT_EQ(calls, frozen ? 2 : 6);
    return net.weight().ToVector<float>();
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(FitSamplesTest, BatchesOfOneTensorTrain) {
  ManualSeed(2);
  nn::Sequential net{nn::New<nn::Linear>({.in = 3, .out = 1}),
                     nn::New<nn::Linear>({.in = 1, .out = 3})};
  optim::Adam adam(net.named_parameters(), {.lr = 0.05});
  const Tensor x = Randn({32, 1}) * FromVector<float>({1, 2, 3}, {1, 3});
  io::DataLoader train(io::FromTensors(x), {.batch = 32});
  const auto error = [&](const io::Sample& batch) {
    return MseLoss(net(batch["input"]), batch.input);
  };
  const FitResult result =
      Fit(net, adam, train,
          {.epochs = 200, .forward = error, .frozen = true, .progress = {.quiet = true}});
  EXPECT_LT(result.epochs.back().loss, result.epochs.front().loss / 100);
}

TEST(FitSamplesTest, TensorsThatNobodyWouldSeeAreRefusedByName) {
  Weighted w;
  nn::Linear net({.in = 2, .out = 1});
  optim::Sgd sgd(net.named_parameters(), {.lr = 0.1});
  const Tensor before = net.weight().Clone();
  const LossFunction mse = [](const Tensor& y, const Tensor& t) { return MseLoss(y, t); };
  const char* expected =
      "batch: expected two tensors, an input and a target, got x, weight, y. FitOptions::forward";
  for (const bool frozen : {false, true}) {
    for (const LossFunction& loss : {mse, LossFunction()}) {
      EXPECT_THAT(testing::ErrorOf([&] {
                    Fit(net, sgd, *w.train,
                        {.loss = loss, .frozen = frozen, .progress = {.quiet = true}});
                  }),
                  HasSubstr(expected));
    }
  }
  EXPECT_TRUE(net.weight().Equals(before));
  EXPECT_THAT(testing::ErrorOf([&] { Evaluate(net, *w.validation, {.loss = mse}); }),
              HasSubstr(expected));
  io::DataLoader alone(io::FromTensors(Ones({4, 2})), {.batch = 4});
  EXPECT_THAT(testing::ErrorOf([&] { Evaluate(net, alone); }), HasSubstr("got input. "));
}

TEST(FitSamplesTest, RefusesOptionsThatMakeNoSense) {
  Weighted w;
  const ForwardFunction forward = [&](const io::Sample& batch) { return w.Loss(batch); };
  const auto error = [&](const FitOptions& options) {
    return testing::ErrorOf([&] { Fit(w.net, w.sgd, *w.train, options); });
  };
  const LossFunction loss = [](const Tensor& y, const Tensor& t) { return MseLoss(y, t); };
  EXPECT_THAT(error({.loss = loss, .forward = forward}),
              HasSubstr("fit: there are a loss and a forward"));
  EXPECT_THAT(error({.loss = loss}), HasSubstr("fit: Net is no nn::Layer"));
  EXPECT_THAT(
      error({.forward = forward, .validation = &*w.validation, .watch = FitWatch::kHighestMetric}),
      HasSubstr("watch asks for a metric"));
  EXPECT_THAT(testing::ErrorOf([&] { Evaluate(w.net, *w.validation); }),
              HasSubstr("evaluate: Net is no nn::Layer"));
  const ForwardFunction loss_alone = [&](const io::Sample& batch) { return w.Loss(batch).loss; };
  EXPECT_TRUE(std::isnan(Evaluate(w.net, *w.validation, {.forward = loss_alone}).metric));
  EXPECT_THAT(testing::ErrorOf([&] {
                Evaluate(w.net, *w.validation, {.metric = io::R2(), .forward = loss_alone});
              }),
              HasSubstr("evaluate: there is a metric, but forward gives a loss alone"));
  EXPECT_EQ(w.train->epoch(), 0);
}

}  // namespace
}  // namespace firn
