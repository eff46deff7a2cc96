// Tests what Fit does beside the plain step: half types, clipping, averages, metrics, and runs that
// diverge.
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
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

// A line with noise: one number in, one out.
struct Line {
  Line() {
    ManualSeed(4);
    x = Randn({64, 2});
    y = Sum(x, {1}, true) + Randn({64, 1}) * 0.3;
  }
  Tensor x, y;
  nn::Sequential net{nn::New<nn::Linear>({.in = 2, .out = 1})};
  optim::Sgd sgd{net.named_parameters(), {.lr = 0.1}};
};

Tensor Mse(const Tensor& y, const Tensor& t) { return MseLoss(y, t); }

TEST(FitOptionsTest, NumbersWithoutALossAreRefused) {
  Line l;
  io::DataLoader train(io::FromTensors(l.x, l.y), {.batch = 16});
  const std::vector<float> before = l.net.parameters()[0].ToVector<float>();
  const std::string error =
      testing::ErrorOf([&] { Fit(l.net, l.sgd, train, {.progress = {.quiet = true}}); });
  EXPECT_THAT(error,
              HasSubstr("the output is [16, 1]: one number a sample, of which cross entropy is "
                        "always 0. Give one: MseLoss"));
  EXPECT_EQ(l.net.parameters()[0].ToVector<float>(), before);
  EXPECT_THAT(testing::ErrorOf([&] { Evaluate(l.net, train); }), HasSubstr("always 0"));
  // Scores of one sample must not be taken for one number of each of many samples.
  const Tensor scores = Randn({5}), number = Ones({5});
  EXPECT_EQ(inner::internal::DefaultLoss(scores, Full({}, 2, DType::kI64)).rank(), 0);
  EXPECT_THAT(testing::ErrorOf([&] { inner::internal::DefaultLoss(scores, number); }),
              HasSubstr("always 0"));
}

// Cross entropy would take three numbers to be learnt for shares of three classes.
TEST(FitOptionsTest, SeveralNumbersWithoutALossAreRefused) {
  nn::Sequential net{nn::New<nn::Linear>({.in = 2, .out = 3})};
  optim::Sgd sgd(net.named_parameters(), {.lr = 0.1});
  const Tensor x = Randn({32, 2}), ones = Ones({32, 3}), shares = Softmax(Randn({32, 3}), 1);
  const std::vector<float> before = net.parameters()[0].ToVector<float>();
  for (const bool frozen : {false, true}) {
    const auto fit = [&](const Tensor& y) {
      io::DataLoader train(io::FromTensors(x, y), {.batch = 16});
      Fit(net, sgd, train, {.epochs = 1, .frozen = frozen, .progress = {.quiet = true}});
    };
    EXPECT_THAT(testing::ErrorOf([&] { fit(ones); }),
                HasSubstr("loss: none is given, which stands for cross entropy, whose f32 targets "
                          "[16, 3] would be the shares of classes in a sample, which add up to 1, "
                          "but there is a sum that is 2 from 1. Give one: MseLoss"));
    EXPECT_THAT(testing::ErrorOf([&] { fit(shares - 0.5); }), HasSubstr("among them. Give one"));
    EXPECT_THAT(testing::ErrorOf([&] { fit(shares * std::nan("")); }), HasSubstr("Give one"));
    EXPECT_EQ(net.parameters()[0].ToVector<float>(), before);
    // Only the second batch has such targets.
    EXPECT_THAT(testing::ErrorOf([&] {
                  fit(Concat({Slice(shares, 0, 0, 16), Ones({16, 3})}));
                }),
                HasSubstr("Give one: MseLoss"));
    const NoGradScope no_grad;
    net.parameters()[0].CopyFrom(FromVector(before, {3, 2}));
  }
  io::DataLoader mixed(io::FromTensors(x, Concat({Slice(shares, 0, 0, 16), Ones({16, 3})})),
                       {.batch = 16});
  const MetricFunction none = [](const Tensor&, const Tensor&) { return 0.0; };
  EXPECT_THAT(testing::ErrorOf([&] { Evaluate(net, mixed, {.metric = none}); }),
              HasSubstr("Give one: MseLoss"));
  io::DataLoader numbers(io::FromTensors(x, ones), {.batch = 16});
  EXPECT_THAT(testing::ErrorOf([&] { Evaluate(net, numbers); }), HasSubstr("Give one: MseLoss"));
  io::DataLoader classes(io::FromTensors(x, shares.To(DType::kF16).To(DType::kF32)), {.batch = 16});
  Fit(net, sgd, classes, {.epochs = 1, .progress = {.quiet = true}});
  EXPECT_NE(net.parameters()[0].ToVector<float>(), before);
}

TEST(FitOptionsTest, MetricsDoNotDependOnTheSizeOfBatches) {
  Line l;
  io::DataLoader train(io::FromTensors(l.x, l.y), {.batch = 16});
  double whole = 0;
  for (const int64_t batch : {64, 33, 7, 1}) {
    io::DataLoader test(io::FromTensors(l.x, l.y), {.batch = batch});
    const double r2 = Evaluate(l.net, test, {.loss = Mse, .metric = io::R2()}).metric;
    if (batch == 64) whole = r2;
    EXPECT_NEAR(r2, whole, 1e-6) << batch;
  }
  io::DataLoader test(io::FromTensors(l.x, l.y), {.batch = 7});
  const FitResult result = Fit(l.net, l.sgd, train,
                               {.epochs = 20,
                                .loss = Mse,
                                .validation = &test,
                                .metric = io::R2(),
                                .progress = {.quiet = true}});
  EXPECT_GT(result.epochs.back().validation.metric, 0.9);
  EXPECT_EQ(result.epochs.back().validation.metric,
            Evaluate(l.net, test, {.loss = Mse, .metric = io::R2()}).metric);
}

// The best epoch by metric is not the best one by loss.
TEST(FitOptionsTest, TheBestEpochIsThatOfWhatIsWatched) {
  for (const FitWatch watch :
       {FitWatch::kHighestMetric, FitWatch::kLowestMetric, FitWatch::kLoss}) {
    Training t;
    double number = 0;
    const double values[] = {0, 7, 1, 5};
    const FitResult result =
        t.Run({.epochs = 4,
               .validation = &t.validation,
               .metric = [&](const Tensor&, const Tensor&) { return number; },
               .watch = watch,
               .folder = Folder("watched"),
               .on_epoch = [&, i = 0](const FitEpoch&) mutable { number = values[++i % 4]; }});
    const int64_t step = io::ReadCheckpointInfo(result.best_checkpoint).step;
    if (watch != FitWatch::kLoss) {
      EXPECT_EQ(step, watch == FitWatch::kHighestMetric ? 2 * 7 : 1 * 7);
    }
    EXPECT_EQ(result.epochs[1].watched(),
              watch == FitWatch::kLoss ? result.epochs[1].validation.loss : 7);
  }
}

TEST(FitOptionsTest, PatienceFollowsWhatIsWatched) {
  Stuck s;
  double number = 0;
  s.options.watch = FitWatch::kHighestMetric;
  s.options.metric = [&](const Tensor&, const Tensor&) { return number; };
  s.options.on_epoch = [&](const FitEpoch& e) { number = e.epoch < 5 ? number + 1 : 0; };
  EXPECT_EQ(Fit(s.net, s.sgd, s.train, s.options).epochs.size(), 6u + 3u);
}

TEST(FitOptionsTest, ClipsTheNormOfAllGradients) {
  Line clipped, unlimited;
  const auto run = [](Line& l, double most) {
    io::DataLoader train(io::FromTensors(l.x, l.y * 100), {.batch = 64});
    const Tensor before = l.net.parameters()[0].Clone();
    Fit(l.net, l.sgd, train,
        {.epochs = 1, .loss = Mse, .clip_norm = most, .progress = {.quiet = true}});
    return Norm(l.net.parameters()[0] - before).Item();
  };
  EXPECT_LE(run(clipped, 0.5), 0.5 * 0.1 + 1e-6);  // times the rate
  EXPECT_GT(run(unlimited, 0), 1);
}

TEST(FitOptionsTest, HalfTypesTrainFrozenAndNotToTheSameBits) {
  for (const DType half : {DType::kBF16, DType::kF16}) {
    Training ordinary(600), frozen(600);
    FitOptions options = {
        .epochs = 3, .autocast = half, .clip_norm = 5, .validation = &ordinary.validation};
    ManualSeed(5);
    const FitResult result = ordinary.Run(options);
    EXPECT_GT(result.epochs.back().validation.metric, 0.75) << DTypeName(half);
    EXPECT_EQ(ordinary.net.parameters()[0].dtype(), DType::kF32);
    options.frozen = true;
    options.validation = &frozen.validation;
    ManualSeed(5);
    frozen.Run(options);
    EXPECT_TRUE(Same(ordinary.net.state_dict(), frozen.net.state_dict())) << DTypeName(half);
  }
}

// A step whose gradients overflow is left out, and does not make the run one that has diverged.
TEST(FitOptionsTest, AScaleThatIsTooLargeIsMadeSmaller) {
  Training t;
  const FitResult result = t.Run(
      {.epochs = 2,
       .loss = [](const Tensor& y, const Tensor& target) { return CrossEntropy(y, target) * 1e34; },
       .autocast = DType::kF16});
  EXPECT_EQ(result.epochs.size(), 2u);
}

TEST(FitOptionsTest, ValidatesAndKeepsTheAverage) {
  const auto run = [](Training& t, optim::WeightAverage& average, const std::string& folder,
                      int64_t epochs) {
    ManualSeed(5);
    return t.Run({.epochs = epochs,
                  .average = &average,
                  .validation = &t.validation,
                  .folder = folder,
                  .checkpoint_every = 3});
  };
  Training whole, before, after;
  optim::WeightAverage of_whole(whole.net.named_parameters(), {.decay = 0.9});
  optim::WeightAverage of_before(before.net.named_parameters(), {.decay = 0.9});
  optim::WeightAverage of_after(after.net.named_parameters(), {.decay = 0.9});
  const FitResult result = run(whole, of_whole, Folder("whole_average"), 4);
  EXPECT_TRUE(result.epochs.back().averaged);
  EXPECT_THAT(result.epochs.back().ToString(), HasSubstr(" of the average"));
  {
    const optim::WeightAverage::Scope averaged(of_whole);
    EXPECT_EQ(Evaluate(whole.net, whole.validation).loss, result.epochs.back().validation.loss);
  }
  EXPECT_NE(Evaluate(whole.net, whole.validation).loss, result.epochs.back().validation.loss);
  // Every size of the network that goes on is still open when the checkpoint is read.
  const std::string folder = Folder("broken_average");
  run(before, of_before, folder, 2);
  EXPECT_EQ(run(after, of_after, folder, 4).resumed_at, 14);
  EXPECT_TRUE(Same(whole.net.state_dict(), after.net.state_dict()));
  EXPECT_TRUE(Same(of_whole.state_dict(), of_after.state_dict()));
}

TEST(FitOptionsTest, ARunThatDivergesSaysWhere) {
  for (const bool frozen : {false, true}) {
    Line l;
    l.sgd.SetLr(1e30);
    io::DataLoader train(io::FromTensors(l.x, l.y), {.batch = 16});
    EXPECT_THAT(
        testing::ErrorOf([&] {
          Fit(l.net, l.sgd, train, {.loss = Mse, .frozen = frozen, .progress = {.quiet = true}});
        }),
        HasSubstr("fit: the run has diverged: the loss is infinite in epoch 1, step 2, at a "
                  "rate of 1e+30. Try a smaller rate"));
  }
}

// In f16 a step whose loss is no number is left out, and a run in which all steps are such ends.
TEST(FitOptionsTest, AHalfRunLeavesOutWhatIsNoNumber) {
  const auto run = [](int from, int to) {  // the loss of these steps is no number
    Training t(320);
    int step = 0;
    const auto loss = [&step, from, to](const Tensor& y, const Tensor& target) {
      const bool lost = ++step >= from && step < to;
      return lost ? CrossEntropy(y, target) * std::nan("") : CrossEntropy(y, target);
    };
    return t.Run({.epochs = 4, .loss = loss, .autocast = DType::kF16});
  };
  const FitResult one = run(3, 4);
  ASSERT_EQ(one.epochs.size(), 4u);
  EXPECT_EQ(one.epochs[0].step, 10);
  EXPECT_EQ(one.epochs[0].samples, 9 * 32);
  EXPECT_LT(one.epochs[0].loss, 3);
  const FitResult many = run(6, 25);  // more than an epoch of them
  ASSERT_EQ(many.epochs.size(), 4u);
  EXPECT_TRUE(std::isnan(many.epochs[1].loss));
  EXPECT_LT(many.epochs[2].loss, 3);
  EXPECT_THAT(testing::ErrorOf([&] { run(6, 100); }),
              HasSubstr("the loss is NaN in epoch 3, step 25"));
}

TEST(FitOptionsTest, AHalfRunThatGoesOnKnowsWhatWasLeftOutBefore) {
  const std::string folder = Folder("left_out");
  const auto run = [&folder](int interrupted) {
    Training t(320);
    int step = 0;
    const auto loss = [&](const Tensor& y, const Tensor& target) {
      if (++step == interrupted) throw std::runtime_error("interrupted");
      return CrossEntropy(y, target) * std::nan("");
    };
    return t.Run({.epochs = 4,
                  .loss = loss,
                  .autocast = DType::kF16,
                  .folder = folder,
                  .checkpoint_every = 1});
  };
  EXPECT_THROW(run(15), std::runtime_error);
  EXPECT_THAT(testing::ErrorOf([&] { run(0); }), HasSubstr("the loss is NaN in epoch 2, step 20"));
}

// Steps follow the switches that on_epoch turns, although they are frozen.
TEST(FitOptionsTest, FrozenStepsFollowWhatIsTurnedBetweenEpochs) {
  const auto run = [](bool frozen) {
    auto t = std::make_unique<Training>();
    t->net.in.SetTrainable(false);
    ManualSeed(5);
    t->Run({.epochs = 3, .frozen = frozen, .on_epoch = [&](const FitEpoch& e) {
              if (e.epoch == 0) t->net.in.SetTrainable();
            }});
    return t;
  };
  EXPECT_TRUE(Same(run(true)->net.state_dict(), run(false)->net.state_dict()));
}

TEST(FitOptionsTest, RefusesOptionsThatMakeNoSense) {
  Training t;
  const auto error = [&](const FitOptions& options) {
    return testing::ErrorOf([&] { Fit(t.net, t.adam, t.train, options); });
  };
  EXPECT_THAT(error({.autocast = DType::kF64}), HasSubstr("want kF16 or kBF16"));
  EXPECT_THAT(error({.clip_norm = -1}), HasSubstr("clip_norm is -1 (want >= 0)"));
  EXPECT_THAT(error({.clip_norm = std::nan("")}), HasSubstr("clip_norm"));
  EXPECT_THAT(error({.watch = FitWatch::kHighestMetric}),
              HasSubstr("watch asks for a metric, but there is no validation with one"));
  EXPECT_THAT(error({.loss = Mse, .validation = &t.validation, .watch = FitWatch::kLowestMetric}),
              HasSubstr("watch asks for a metric"));
}

}  // namespace
}  // namespace firn
