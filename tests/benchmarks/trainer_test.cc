// What static_vs_dynamic builds on: both modes of one training agree, and a network that changes
// has only one.
#include "benchmarks/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "benchmarks/changing_cnn.h"
#include "tensor/ops/randn.h"

namespace firn::benchmarks {
namespace {

std::unique_ptr<Trainer> Make(const TrainerOptions& options) {
  auto trainer = Trainer::Make(options);
  EXPECT_TRUE(trainer.ok()) << trainer.status();
  return *std::move(trainer);
}

TEST(TrainerTest, FrozenStepsLearnTheDigitsAsOrdinaryOnesDo) {
  TrainerOptions options{.workload = "deep_cnn", .depth = 1, .batch = 50};
  options.data = TrainerData::kDigits;
  const auto dynamic = Make(options);
  options.frozen = true;
  const auto frozen = Make(options);
  EXPECT_EQ(frozen->graph(), nullptr);
  const double first = dynamic->Step().Item();
  EXPECT_EQ(frozen->Step().Item(), first);
  double last = first;
  for (int i = 0; i < 9; ++i) {
    last = dynamic->Step().Item();
    EXPECT_NEAR(frozen->Step().Item(), last, 1e-5 * last) << i;
  }
  EXPECT_LT(last, first);
  EXPECT_NE(frozen->graph(), nullptr);
  EXPECT_EQ(dynamic->graph(), nullptr);
  EXPECT_GT(frozen->capture_ms(), 0);
  EXPECT_GT(frozen->compile_ms(), 0);
}

TEST(TrainerTest, DigitsFitEveryModel) {
  for (const char* workload : {"mlp", "lenet", "resnet", "changing_cnn"}) {
    TrainerOptions options{.workload = workload, .depth = 2, .batch = 3};
    options.data = TrainerData::kDigits;
    EXPECT_TRUE(std::isfinite(Make(options)->Step().Item())) << workload;
  }
}

TEST(TrainerTest, WhatMakesNoTrainingIsRefused) {
  TrainerOptions options{.workload = "mlp", .batch = 1501};
  options.data = TrainerData::kDigits;
  EXPECT_EQ(Trainer::Make(options).status().code(), absl::StatusCode::kInvalidArgument);
  options = {.workload = "changing_cnn", .frozen = true};
  EXPECT_EQ(Trainer::Make(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ChangingCnnTest, LeavesOutOneBlockInFive) {
  ChangingCnn net({.depth = 31});
  const Tensor x = Randn({1, 1, 2, 2});
  net.Eval();
  net(x);
  EXPECT_EQ(net.dropped(), 0);
  net.Train();
  int64_t dropped = 0, other = 0, before = 0;
  for (int i = 0; i < 20; ++i) {
    net(x);
    other += net.dropped() != before ? 1 : 0;
    before = net.dropped();
    dropped += before;
  }
  // Of 600 blocks: 120, give or take three standard deviations.
  EXPECT_NEAR(static_cast<double>(dropped), 120, 30);
  EXPECT_GT(other, 5);
}

TEST(ChangingCnnTest, LearnsThoughItIsAnotherNetworkInEveryStep) {
  TrainerOptions options{.workload = "changing_cnn", .depth = 3, .batch = 100};
  options.data = TrainerData::kDigits;
  const auto trainer = Make(options);
  const double first = trainer->Step().Item();
  double last = first;
  for (int i = 0; i < 29; ++i) last = trainer->Step().Item();
  EXPECT_LT(last, first / 2);
}

}  // namespace
}  // namespace firn::benchmarks
