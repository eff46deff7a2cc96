// Compares Fit and Evaluate on several ranks (threads here), each with its part of the samples,
// with one rank that has all.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firn/firn.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/error_of.h"
#include "tests/fit_training.h"

namespace firn {
namespace {

namespace fs = std::filesystem;
using fit_testing::Digits;
using fit_testing::Folder;
using ::testing::HasSubstr;
using testing::OnRanks;

// The training of one rank, or of a whole run without a communicator. All instances are equal.
struct Rank {
  explicit Rank(comm::Communicator* c, int64_t batch, int64_t samples = 100)
      : comm(c),
        train(Digits(samples), {.batch = batch, .shuffle = true, .seed = 3, .shard = Shard()}),
        validation(io::Digits({.part = io::DigitsOptions::Part::kTest}),
                   {.batch = 100, .shard = Shard()}) {
    const NoGradScope no_grad;
    RandomGenerator random(7);
    for (const NamedTensor& p : net.named_parameters()) {
      inner::Assign(p.tensor, 0.1 * Randn(p.tensor.shape(), DType::kF32, {.generator = &random}));
    }
    if (c == nullptr) return;
    // Stands for a network that adds up the gradients of all ranks.
    sgd.AddHooks(
        [this, all = OfAllRanks(*c)] {
          const double samples_of_all = all.sum(Full({}, weight, DType::kF64)).Item();
          for (Tensor p : sgd.parameters()) {
            const Tensor own = weight > 0 ? p.grad() * weight : ZerosLike(p.grad());
            p.SetGrad(all.sum(own) / samples_of_all);
          }
        },
        {});
  }
  io::Shard Shard() const { return comm ? io::Shard{comm->rank(), comm->size()} : io::Shard(); }
  FitResult Run(FitOptions options) {
    options.validation = &validation;
    options.ranks = comm;
    options.on_batch = [this](const io::Sample& batch) {
      weight = static_cast<double>(batch.input.size(0));
    };
    return Fit(net, sgd, train, options);
  }

  comm::Communicator* comm;
  nn::Sequential net{nn::New<nn::Flatten>(), nn::New<nn::Linear>({.in = 64, .out = 16}),
                     nn::New<nn::Relu>(), nn::New<nn::Linear>({.in = 16, .out = 10})};
  optim::Sgd sgd{net.named_parameters(), {.lr = 0.05}};
  io::DataLoader train, validation;
  double weight = 0;
};

TEST(FitRanksTest, RanksTrainAsOneWithTheirBatchesTogether) {
  Rank one(nullptr, 12);
  const FitResult want = one.Run({.epochs = 3, .progress = {.quiet = true}});
  for (const int count : {2, 3}) {
    OnRanks(count, [&](comm::Communicator& comm) {
      Rank own(&comm, 12 / count);  // the last batch of 100 has 4 samples
      const FitResult got = own.Run({.epochs = 3, .progress = {.quiet = true}});
      ASSERT_EQ(got.epochs.size(), 3u);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(got.epochs[i].samples, 100);
        EXPECT_EQ(got.epochs[i].step, want.epochs[i].step);
        // Sums of f32 in another order, through 27 steps.
        EXPECT_NEAR(got.epochs[i].loss, want.epochs[i].loss, 1e-5);
        EXPECT_NEAR(got.epochs[i].validation.loss, want.epochs[i].validation.loss, 1e-5);
        EXPECT_NEAR(got.epochs[i].validation.metric, want.epochs[i].validation.metric, 2.5 / 360);
        EXPECT_EQ(got.epochs[i].validation.samples, want.epochs[i].validation.samples);
        for (const double mine : {got.epochs[i].loss, got.epochs[i].validation.loss}) {
          double of_zero = mine;
          ASSERT_TRUE(comm.Broadcast(&of_zero, 1, comm::Element::kF64, 0).ok());
          EXPECT_EQ(mine, of_zero) << "the same on all";
        }
      }
    });
  }
}

TEST(FitRanksTest, OneWritesAndAllStopTogetherAndGoOn) {
  const std::string folder = Folder("fit_ranks");
  OnRanks(2, [&](comm::Communicator& comm) {
    Rank own(&comm, 8);
    own.sgd.SetLr(0);  // nothing gets better
    std::ostringstream out;
    FitOptions options = {.epochs = 9, .patience = 2, .folder = folder, .checkpoint_every = 3};
    options.progress.out = &out;
    const FitResult result = own.Run(options);
    EXPECT_TRUE(result.stopped_early);
    EXPECT_EQ(result.epochs.size(), 3u);
    EXPECT_EQ(out.str().empty(), comm.rank() != 0) << out.str();
    EXPECT_EQ(fs::path(result.best_checkpoint).parent_path(), folder);
    EXPECT_TRUE(fs::exists(result.best_checkpoint));
  });
  std::ifstream table(folder + "/epochs.csv");
  int lines = 0;
  for (std::string line; std::getline(table, line); ++lines) {
  }
  EXPECT_EQ(lines, 4) << "the names, and an epoch each";
  // Three ranks go on with a run of two: 100 / 16 is 7 steps, 100 / 24 is 5.
  OnRanks(3, [&](comm::Communicator& comm) {
    Rank own(&comm, 8);
    const FitResult result = own.Run({.epochs = 4, .folder = folder, .progress = {.quiet = true}});
    EXPECT_EQ(result.resumed_at, 21);
    ASSERT_EQ(result.epochs.size(), 1u);
    EXPECT_EQ(result.epochs[0].step, 26);
    EXPECT_EQ(result.epochs[0].samples, 100);
  });
}

TEST(FitRanksTest, ALossThatIsNoNumberOnOneRankEndsTheRunOnAll) {
  OnRanks(2, [&](comm::Communicator& comm) {
    Rank own(&comm, 8);
    const LossFunction loss = [&](const Tensor& y, const Tensor& t) {
      return CrossEntropy(y, t) * (comm.rank() == 1 ? NAN : 1);
    };
    EXPECT_THAT(testing::ErrorOf([&] { own.Run({.loss = loss, .progress = {.quiet = true}}); }),
                HasSubstr("the run has diverged: the loss is NaN in epoch 1, step 1"));
    EXPECT_TRUE(comm.Barrier().ok()) << "the ranks can go on";
  });
}

TEST(FitRanksTest, WhatOneRankThrowsEndsTheCallOfAll) {
  OnRanks(3, [&](comm::Communicator& comm) {
    Rank own(&comm, 4);
    int64_t losses = 0;
    const LossFunction loss = [&](const Tensor& y, const Tensor& t) {
      if (comm.rank() == 1 && ++losses == 3) throw std::runtime_error("the data are damaged");
      return CrossEntropy(y, t);
    };
    const auto run = [&] { own.Run({.loss = loss, .progress = {.quiet = true}}); };
    if (comm.rank() == 1) {
      EXPECT_THROW(run(), std::runtime_error);
    } else {
      EXPECT_THAT(testing::ErrorOf(run), HasSubstr("rank 1 gave up: the data are damaged"));
    }
  });
}

TEST(FitRanksTest, OptionsThatOneRankCannotTakeAreRefusedByAll) {
  OnRanks(2, [&](comm::Communicator& comm) {
    Rank own(&comm, 8);
    const FitOptions options = {.clip_norm = comm.rank() == 1 ? -1.0 : 1.0};
    const std::string said = testing::ErrorOf([&] { own.Run(options); });
    EXPECT_THAT(said, HasSubstr("clip_norm"));
    EXPECT_EQ(said.find("rank 1: ") != std::string::npos, comm.rank() == 0) << said;
    EXPECT_TRUE(comm.Barrier().ok()) << "the ranks can go on";
  });
}

TEST(FitRanksTest, RefusesLoadersOfOtherRanks) {
  OnRanks(2, [&](comm::Communicator& comm) {
    Rank own(&comm, 8);
    io::DataLoader whole(Digits(10), {.batch = 2});
    EXPECT_THAT(testing::ErrorOf([&] { Fit(own.net, own.sgd, whole, {.ranks = &comm}); }),
                HasSubstr(std::string("a loader's shard is {0, 1}, this is rank ") +
                          std::to_string(comm.rank()) + " of 2"));
  });
}

// What both ranks hear if rank 1 alone has been changed.
void ExpectDiffer(const std::function<void(Rank& own, FitOptions& options)>& change,
                  const std::string& first, const std::string& second) {
  OnRanks(2, [&](comm::Communicator& comm) {
    Rank own(&comm, 8);
    FitOptions options = {.epochs = 1, .progress = {.quiet = true}};
    if (comm.rank() == 1) change(own, options);
    EXPECT_THAT(testing::ErrorOf([&] { own.Run(options); }),
                HasSubstr("fit: ranks differ: rank 0 has \"" + first + "\", rank 1 has \"" +
                          second + "\""));
    EXPECT_TRUE(comm.Barrier().ok()) << "the ranks can go on";
  });
}

TEST(FitRanksTest, RanksThatDifferAreToldSoBeforeTheyTrain) {
  ExpectDiffer(
      [](Rank& own, FitOptions&) {
        own.train = io::DataLoader(Digits(90),
                                   {.batch = 8, .shuffle = true, .seed = 3, .shard = own.Shard()});
      },
      "training of 100 samples, batch 8, shuffled, seed 3, last batch kept",
      "training of 90 samples, batch 8, shuffled, seed 3, last batch kept");
  ExpectDiffer(
      [](Rank& own, FitOptions&) {
        own.train = io::DataLoader(Digits(100),
                                   {.batch = 8, .shuffle = true, .seed = 4, .shard = own.Shard()});
      },
      "training of 100 samples, batch 8, shuffled, seed 3, last batch kept",
      "training of 100 samples, batch 8, shuffled, seed 4, last batch kept");
  ExpectDiffer([](Rank& own, FitOptions&) { own.train.SetEpoch(1); },
               "begins in epoch 0, batch 0, sample 0", "begins in epoch 1, batch 0, sample 0");
  ExpectDiffer([](Rank&, FitOptions& options) { options.epochs = 2; }, "epochs 1", "epochs 2");
  ExpectDiffer([](Rank&, FitOptions& options) { options.accumulate = 2; }, "accumulate 1",
               "accumulate 2");
  ExpectDiffer([](Rank&, FitOptions& options) { options.clip_norm = 0.5; }, "clip_norm 0",
               "clip_norm 0.5");
  ExpectDiffer([](Rank&, FitOptions& options) { options.frozen = true; }, "not frozen", "frozen");
  ExpectDiffer([](Rank&, FitOptions& options) { options.autocast = DType::kBF16; }, "autocast none",
               "autocast bf16");
  ExpectDiffer([](Rank& own, FitOptions&) { own.sgd.SetLr(0.25); },
               "group 0 lr 0.050000000000000003", "group 0 lr 0.25");
}

TEST(FitRanksTest, RefusesAFrozenStepWhoseLastBatchIsUneven) {
  OnRanks(2, [&](comm::Communicator& comm) {
    Rank own(&comm, 8, 101);
    EXPECT_THAT(testing::ErrorOf([&] { own.Run({.frozen = true, .progress = {.quiet = true}}); }),
                HasSubstr("fit: frozen with 2 ranks: the last batch of an epoch has 5 samples"));
    EXPECT_TRUE(comm.Barrier().ok()) << "the ranks can go on";
  });
}

TEST(EvaluateRanksTest, RanksThatDifferAreToldSo) {
  OnRanks(2, [&](comm::Communicator& comm) {
    Rank own(&comm, 8);
    io::DataLoader data(Digits(10 + comm.rank()), {.batch = 2, .shard = own.Shard()});
    EXPECT_THAT(testing::ErrorOf([&] { Evaluate(own.net, data, {.ranks = &comm}); }),
                HasSubstr("evaluate: ranks differ: rank 0 has \"data of 10 samples, batch 2, not "
                          "shuffled, seed 0, last batch kept\", rank 1 has \"data of 11 samples"));
  });
}

TEST(EvaluateRanksTest, SaysWhatOneRankWouldOfAllSamples) {
  Rank one(nullptr, 8);
  const Evaluation want = Evaluate(one.net, one.validation);
  // This holds even with more ranks than the last batch has samples.
  for (const int count : {1, 2, 7}) {
    OnRanks(count, [&](comm::Communicator& comm) {
      Rank own(&comm, 8);
      const Evaluation got = Evaluate(own.net, own.validation, {.ranks = &comm});
      EXPECT_EQ(got.samples, want.samples);
      EXPECT_EQ(got.metric, want.metric);
      EXPECT_NEAR(got.loss, want.loss, 1e-6);
    });
  }
}

}  // namespace
}  // namespace firn
