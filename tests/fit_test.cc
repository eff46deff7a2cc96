// Fit as programs call it: it learns, and an interruption leaves no trace in the result.
#include "firn/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "firn/firn.h"
#include "firn/io/monitors/record_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/fit_training.h"
#include "tests/io/test_files.h"

namespace firn {
namespace {

using ::testing::HasSubstr;
using namespace fit_testing;

TEST(FitTest, LearnsDigits) {
  for (const bool frozen : {false, true}) {
    Training t(1500);
    const FitResult result = t.Run({.epochs = 4, .frozen = frozen, .validation = &t.validation});
    ASSERT_EQ(result.epochs.size(), 4u);
    const FitEpoch& last = result.epochs.back();
    EXPECT_EQ(last.epoch, 3);
    EXPECT_EQ(last.step, 4 * 47);
    EXPECT_EQ(last.samples, 1500);
    EXPECT_LT(last.loss, result.epochs.front().loss / 2);
    EXPECT_EQ(last.validation.samples, 297);
    EXPECT_GT(last.validation.metric, 0.85) << frozen;
    EXPECT_FALSE(result.stopped_early);
    EXPECT_EQ(result.best_checkpoint, "");
    // The reported numbers are those of the network.
    const Evaluation again = Evaluate(t.net, t.validation);
    EXPECT_EQ(again.loss, last.validation.loss);
    EXPECT_EQ(again.metric, last.validation.metric);
    EXPECT_TRUE(t.net.training());
  }
}

TEST(FitTest, FrozenStepsAndOrdinaryOnesGiveTheSameBits) {
  Training ordinary, frozen;  // 200 samples: the last batch of each epoch is smaller
  ManualSeed(5);
  ordinary.Run({.epochs = 3});
  ManualSeed(5);
  frozen.Run({.epochs = 3, .frozen = true});
  EXPECT_TRUE(Same(ordinary.net.state_dict(), frozen.net.state_dict()));
}

// The loss of a program that fails after so many batches.
LossFunction FailsAfter(int64_t calls) {
  return [calls](const Tensor& y, const Tensor& target) mutable {
    if (calls-- == 0) throw Interrupted();
    return CrossEntropy(y, target);
  };
}

FitOptions WholeRun(const std::string& folder, Training& t) {
  return {.epochs = 4,
          .schedule = optim::CosineLr({.steps = 28}),
          .validation = &t.validation,
          .folder = folder,
          .checkpoint_every = 3};
}

TEST(FitTest, GoesOnAfterAnInterruptionToTheSameBits) {
  const std::string alone = Folder("alone"), broken = Folder("broken");
  Training undisturbed;
  const FitResult whole = undisturbed.Run(WholeRun(alone, undisturbed));

  // Seven steps an epoch. The first run fails at step 11 and leaves that of step 9, from which the
  // second one gets to step 25 and leaves that of step 24: each is in the middle of an epoch.
  for (const int64_t calls : {11, 16}) {
    Training t;
    FitOptions options = WholeRun(broken, t);
    options.loss = FailsAfter(calls);
    options.metric = [](const Tensor& y, const Tensor& target) {
      io::Accuracy accuracy;
      accuracy.Update(y, target);
      return accuracy.Value();
    };
    EXPECT_THROW(t.Run(options), Interrupted);
  }
  Training t;
  ManualSeed(77);  // the checkpoint's counts
  const FitResult rest = t.Run(WholeRun(broken, t));
  EXPECT_EQ(rest.resumed_at, 24);
  ASSERT_EQ(rest.epochs.size(), 1u);
  EXPECT_EQ(rest.epochs[0].loss, whole.epochs[3].loss);
  EXPECT_EQ(rest.epochs[0].validation.loss, whole.epochs[3].validation.loss);
  EXPECT_TRUE(Same(t.net.state_dict(), undisturbed.net.state_dict()));
  EXPECT_TRUE(Same(t.adam.state_dict(), undisturbed.adam.state_dict()));
  for (const char* file : {"/epochs.csv", "/training-loss.series.txt"}) {
    EXPECT_EQ(io::ReadFile(broken + file), io::ReadFile(alone + file)) << file;
  }
}

TEST(FitTest, AFrozenRunGoesOnToTheSameBits) {
  const std::string folder = Folder("frozen");
  Training undisturbed, before, after;
  ManualSeed(5);
  undisturbed.Run({.epochs = 3, .frozen = true});
  ManualSeed(5);
  before.Run({.epochs = 1, .frozen = true, .folder = folder});
  EXPECT_EQ(after.Run({.epochs = 3, .frozen = true, .folder = folder}).resumed_at, 7);
  EXPECT_TRUE(Same(after.net.state_dict(), undisturbed.net.state_dict()));
}

// An interrupted validation is made again: the checkpoint of an epoch comes after its validation.
TEST(FitTest, GoesOnAfterAnInterruptionOfTheValidation) {
  const std::string alone = Folder("validated"), broken = Folder("not_validated");
  const auto run = [](const std::string& folder, MetricFunction metric) {
    Training t;
    return t.Run({.epochs = 2,
                  .validation = &t.validation,
                  .metric = std::move(metric),
                  .folder = folder,
                  .checkpoint_every = 1});
  };
  const auto one = [](const Tensor&, const Tensor&) { return 1.0; };
  run(alone, one);
  EXPECT_THROW(run(broken, [](const Tensor&, const Tensor&) -> double { throw Interrupted(); }),
               Interrupted);
  EXPECT_EQ(run(broken, one).resumed_at, 6);
  EXPECT_EQ(io::ReadFile(broken + "/epochs.csv"), io::ReadFile(alone + "/epochs.csv"));
}

TEST(FitTest, FrozenStepsRunTheProgramOnceForEachKindOfBatch) {
  Training t;  // 200 samples in batches of 32: those of 32, and one of 8
  int calls = 0;
  t.Run({.epochs = 3,
         .loss =
             [&](const Tensor& y, const Tensor& target) {
               ++calls;
               return CrossEntropy(y, target);
             },
         .frozen = true});
  EXPECT_EQ(calls, 2);
}

// Newcomers read fit.cc before they write a loop of their own.
TEST(FitTest, IsShort) {
  const std::string source = io::ReadFile("fit.cc");
  EXPECT_THAT(source, HasSubstr("optimizer.Step();"));
  EXPECT_LE(std::count(source.begin(), source.end(), '\n'), 132);
}

// A network that is fine-tuned often keeps the running statistics of its batch norms.
TEST(FitTest, KeepsTheModesOfModules) {
  Training t(100);
  t.Run({.epochs = 1});  // it learns its sizes
  t.net.norm.Eval();
  t.net.drop.Eval();
  const Tensor mean = Clone(t.net.norm.state_dict()["running_mean"]);
  t.Run({.epochs = 2, .validation = &t.validation});
  EXPECT_TRUE(t.net.training());
  EXPECT_FALSE(t.net.norm.training());
  EXPECT_FALSE(t.net.drop.training());
  EXPECT_TRUE(t.net.norm.state_dict()["running_mean"].Equals(mean));
  // All of a network in eval mode, for example one that was loaded, is trained.
  t.net.Eval();
  t.Run({.epochs = 1});
  EXPECT_TRUE(t.net.norm.training());
  EXPECT_FALSE(t.net.norm.state_dict()["running_mean"].Equals(mean));
}

TEST(EvaluateTest, SeesTheSameEachTime) {
  Training t;
  io::DataLoader disturbed(Digits(64), {.batch = 16, .map = [](io::Sample s, RandomGenerator& r) {
                                          s.input = s.input + Rand(s.input.shape(), kDefaultFloat,
                                                                   {.generator = &r});
                                          return s;
                                        }});
  const Evaluation once = Evaluate(t.net, disturbed);
  EXPECT_EQ(once.samples, 64);
  EXPECT_EQ(Evaluate(t.net, disturbed).loss, once.loss);
  // A metric of one's own, and a loss alone.
  const MetricFunction sum = [](const Tensor&, const Tensor& target) { return Sum(target).Item(); };
  const LossFunction zero = [](const Tensor&, const Tensor&) { return Zeros({}); };
  EXPECT_GT(Evaluate(t.net, disturbed, {.metric = sum}).metric, 1);
  EXPECT_EQ(Evaluate(t.net, disturbed, {.loss = zero}).loss, 0);
  EXPECT_TRUE(std::isnan(Evaluate(t.net, disturbed, {.loss = zero}).metric));
}

TEST(FitTest, ARunThatIsOverStaysAsItIs) {
  const std::string folder = Folder("over");
  Training first;
  first.Run({.epochs = 2, .folder = folder});
  Training second;
  const FitResult result = second.Run({.epochs = 2, .folder = folder});
  EXPECT_EQ(result.resumed_at, 14);
  EXPECT_TRUE(result.epochs.empty());
  EXPECT_TRUE(Same(first.net.state_dict(), second.net.state_dict()));
}

TEST(FitTest, SaysWhichCheckpointsAreDamaged) {
  const std::string folder = Folder("damaged");
  Training first;
  first.Run({.epochs = 2, .folder = folder});
  io::WriteFile(folder + "/checkpoint_000000000014.h5", "damaged");
  Training second;
  const FitResult result = second.Run({.epochs = 2, .folder = folder});
  EXPECT_EQ(result.resumed_at, 7);
  ASSERT_EQ(result.skipped.size(), 1u);
  EXPECT_THAT(result.skipped[0].reason, HasSubstr("checkpoint_000000000014.h5"));
  EXPECT_TRUE(Same(first.net.state_dict(), second.net.state_dict()));
}

TEST(FitTest, StopsWhenNothingGetsBetter) {
  Stuck s;
  s.options.folder = Folder("early");
  const FitResult result = Fit(s.net, s.sgd, s.train, s.options);
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(result.epochs.size(), 4u);  // the first is the best, three are no better
  EXPECT_EQ(result.best_checkpoint, s.options.folder + "/checkpoint_000000000008.h5");
  // It stays stopped.
  Stuck again;
  again.options.folder = s.options.folder;
  const FitResult nothing = Fit(again.net, again.sgd, again.train, again.options);
  EXPECT_TRUE(nothing.stopped_early);
  EXPECT_TRUE(nothing.epochs.empty());
  // With more patience it goes on.
  Stuck patient;
  patient.options.folder = s.options.folder;
  patient.options.patience += 2;
  const FitResult more = Fit(patient.net, patient.sgd, patient.train, patient.options);
  EXPECT_TRUE(more.stopped_early);
  EXPECT_EQ(more.epochs.size(), 2u);
}

TEST(FitTest, WatchesTheTrainingLossWithoutValidation) {
  Stuck s;
  s.options.validation = nullptr;
  s.options.patience = 2;
  const FitResult result = Fit(s.net, s.sgd, s.train, s.options);
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(result.epochs.size(), 3u);
  EXPECT_EQ(result.epochs[0].watched(), result.epochs[0].loss);
  EXPECT_TRUE(std::isnan(result.epochs[0].validation.loss));
}

TEST(FitTest, FollowsALossAndAMetricOfOnesOwn) {
  ManualSeed(2);
  const Tensor x = Randn({64, 3});
  nn::Sequential net{nn::New<nn::Linear>({.in = 3, .out = 1})};
  optim::Adam adam(net.named_parameters(), {.lr = 0.1});
  io::DataLoader train(io::FromTensors(x, Sum(x, {1}, true)), {.batch = 16, .shuffle = true});
  io::DataLoader validation(io::FromTensors(x, Sum(x, {1}, true)), {.batch = 64});
  const FitResult result =
      Fit(net, adam, train,
          {.epochs = 30,
           .loss = [](const Tensor& y, const Tensor& target) { return MseLoss(y, target); },
           .validation = &validation,
           .metric = [](const Tensor& y, const Tensor& t) { return Amax(Abs(y - t)).Item(); },
           .progress = {.quiet = true}});
  EXPECT_LT(result.epochs.back().validation.loss, 1e-3);
  EXPECT_LT(result.epochs.back().validation.metric, 0.1);
  EXPECT_GE(result.epochs.back().validation.metric,
            std::sqrt(result.epochs.back().validation.loss));
}

TEST(FitTest, TellsWhatItDoes) {
  Training t;
  std::ostringstream out;
  std::vector<double> rates;
  FitOptions options = {.epochs = 2,
                        .schedule = optim::StepLr({.interval = 7, .gamma = 0.5}),
                        .validation = &t.validation,
                        .folder = Folder("told")};
  options.progress.out = &out;
  options.on_epoch = [&](const FitEpoch& epoch) { rates.push_back(epoch.lr); };
  const FitResult result = Fit(t.net, t.adam, t.train, options);
  EXPECT_EQ(rates, (std::vector<double>{1e-2, 5e-3}));
  EXPECT_THAT(out.str(), HasSubstr("epoch 1 7/7  100.0%"));
  EXPECT_THAT(out.str(), HasSubstr("\n" + result.epochs[1].ToString() + "\n"));
  EXPECT_THAT(result.epochs[1].ToString(), HasSubstr("epoch 2: loss "));
  EXPECT_THAT(result.epochs[1].ToString(), HasSubstr(", metric 0."));

  const std::vector<io::Series> table =
      io::SeriesOf(io::LoadRecords(options.folder + "/epochs.csv"));
  ASSERT_EQ(table.size(), 5u);
  EXPECT_EQ(table[0].name, "step");
  EXPECT_EQ(table[0].y, (std::vector<double>{7, 14}));
  EXPECT_EQ(table[1].y.back(), result.epochs[1].loss);
  EXPECT_EQ(table[2].y, rates);
  EXPECT_EQ(table[3].y.back(), result.epochs[1].validation.loss);
  EXPECT_EQ(table[4].y.back(), result.epochs[1].validation.metric);
  EXPECT_EQ(io::LoadSeries(options.folder + "/training-loss.series.txt").x.size(), 14u);
  // The file has the parameters of the best epoch.
  const auto info = io::ReadCheckpointInfo(result.best_checkpoint);
  EXPECT_EQ(info.metric, std::min(result.epochs[0].watched(), result.epochs[1].watched()));
}

TEST(FitTest, RefusesOptionsThatMakeNoSense) {
  Training t;
  io::DataLoader none(Digits(0), {.batch = 4});
  const auto error = [&](const FitOptions& options) {
    return testing::ErrorOf([&] { Fit(t.net, t.adam, t.train, options); });
  };
  EXPECT_EQ(error({.epochs = -1}), "fit: epochs is -1 (want >= 0)");
  EXPECT_EQ(error({.patience = -2}), "fit: patience is -2 (want >= 0)");
  EXPECT_EQ(error({.accumulate = 0}), "fit: accumulate is 0 (want >= 1)");
  EXPECT_THAT(error({.schedule = optim::CosineLr({}), .plateau = optim::ReduceOnPlateauOptions()}),
              HasSubstr("there are a schedule and a plateau"));
  EXPECT_THAT(error({.plateau = optim::ReduceOnPlateauOptions{.maximize = true}}),
              HasSubstr("plateau.maximize is set"));
  EXPECT_THAT(error({.plateau = optim::ReduceOnPlateauOptions{.factor = 2}}),
              HasSubstr("factor 2 must be in (0, 1)"));
  EXPECT_THAT(error({.checkpoint_every = -1}), HasSubstr("checkpoint_every is -1 (want >= 0)"));
  EXPECT_THAT(error({.checkpoint_every = 5}), HasSubstr("there is no folder for checkpoints"));
  EXPECT_THAT(error({.validation = &none}), HasSubstr("the validation loader has no batches"));
  EXPECT_THAT(error({.validation = &t.train}),
              HasSubstr("training and validation have one loader"));
  EXPECT_THAT(error({.metric = [](const Tensor&, const Tensor&) { return 0.0; }}),
              HasSubstr("there is a metric, but no validation"));
  EXPECT_THAT(error({.progress = {.out = nullptr}}), HasSubstr("progress.out is null"));
  EXPECT_THAT(testing::ErrorOf([&] { Fit(t.net, t.adam, none, {}); }),
              HasSubstr("the training loader has no batches"));
  io::DataLoader wraps(Digits(3), {.batch = 4, .last = io::LastBatch::kWrap});
  EXPECT_THAT(testing::ErrorOf([&] { Fit(t.net, t.adam, wraps, {}); }),
              HasSubstr("wraps batches of 4 around 3 samples"));
  io::WriteFile(::testing::TempDir() + "/file", "in the way");
  EXPECT_THAT(error({.folder = ::testing::TempDir() + "/file", .progress = {.quiet = true}}),
              HasSubstr("/file"));
  EXPECT_EQ(t.train.epoch(), 0);
}

TEST(FitTest, AnEpochInProgressIsAPartOfACheckpoint) {
  const FitEpoch half = {.epoch = 3, .step = 31, .samples = 40, .loss = 0.5};
  FitEpoch other = {.epoch = 1, .lr = 7};
  other.LoadStateDict(half.state_dict());
  EXPECT_EQ(other.epoch, 3);
  EXPECT_EQ(other.samples, 40);
  EXPECT_EQ(other.loss, 0.5);
  EXPECT_THAT(testing::ErrorOf([&] { other.LoadStateDict({}); }), HasSubstr("number"));
}

// Fit does not go on from checkpoints of another network or of another loader.
TEST(FitTest, RefusesToGoOnFromAnotherRun) {
  const std::string folder = Folder("another");
  Training t;
  FitOptions options = WholeRun(folder, t);
  options.loss = FailsAfter(4);
  EXPECT_THROW(t.Run(options), Interrupted);
  Stuck s;
  s.options.folder = folder;
  EXPECT_THAT(testing::ErrorOf([&] { Fit(s.net, s.sgd, s.train, s.options); }), HasSubstr("model"));
  Training other(100);
  EXPECT_THAT(testing::ErrorOf([&] { other.Run(WholeRun(folder, other)); }),
              HasSubstr("samples was 200, here it is 100"));
}

}  // namespace
}  // namespace firn
