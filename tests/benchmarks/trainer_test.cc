// What static_vs_dynamic builds on: both modes of one training agree, and a network that changes
// has only one.
#include "benchmarks/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/changing_cnn.h"
#include "firn/device/parallel.h"
#include "firn/tensor/ops/random/draws.h"

namespace firn::benchmarks {
namespace {

std::unique_ptr<Trainer> Make(const TrainerOptions& options) {
  SetNumThreads(1);         // quick, whatever else runs on the machine
  SetFlushDenormals(true);  // as every benchmark does: the second moments of Adam are tiny
  auto trainer = Trainer::Make(options);
  EXPECT_TRUE(trainer.ok()) << trainer.status();
  return *std::move(trainer);
}

TEST(TrainerTest, FrozenStepsTrainOnDigitsAsOrdinaryOnesDo) {
  TrainerOptions options{.workload = "deep_cnn", .depth = 1, .batch = 5};
  options.data = TrainerData::kDigits;
  const auto dynamic = Make(options);
  options.frozen = true;
  const auto frozen = Make(options);
  EXPECT_EQ(frozen->graph(), nullptr);
  const double first = dynamic->Step().Item();
  EXPECT_EQ(frozen->Step().Item(), first);
  double last = first;
  for (int i = 0; i < 7; ++i) {
    last = dynamic->Step().Item();
    EXPECT_NEAR(frozen->Step().Item(), last, 1e-5 * last) << i;
  }
  EXPECT_NE(last, first);
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

TEST(TrainerTest, Resnet18HasItsParametersAndLearns) {
  const auto trainer = Make({.workload = "resnet18", .batch = 1});
  int64_t count = 0;
  for (const Tensor& p : trainer->net().parameters()) count += p.num_elements();
  EXPECT_EQ(count, 11173962);  // the known number for 32x32 pixels and ten classes
  EXPECT_EQ(trainer->net().named_parameters()[3].name, "layer1.0.conv1.weight");
  const double first = trainer->Step().Item();
  EXPECT_TRUE(std::isfinite(first));
  EXPECT_NE(trainer->Step().Item(), first);
}

// Losses of peers/torch_worker.py (PyTorch 2.15, mode eager) for these workloads and batches.
struct PeerLosses {
  const char* workload;
  int64_t batch;
  double losses[2];
};
class SequencesTest : public ::testing::TestWithParam<PeerLosses> {};

TEST_P(SequencesTest, BothModesDoAsPyTorch) {
  const PeerLosses& peer = GetParam();
  for (const bool frozen : {false, true}) {
    SCOPED_TRACE(frozen);
    const auto trainer = Make({.workload = peer.workload, .batch = peer.batch, .frozen = frozen});
    for (const double loss : peer.losses) EXPECT_NEAR(trainer->Step().Item(), loss, 1e-4 * loss);
    EXPECT_EQ(trainer->graph() != nullptr, frozen);
  }
}

INSTANTIATE_TEST_SUITE_P(Peer, SequencesTest,
                         ::testing::Values(PeerLosses{"lstm", 2, {0.008427777, 0.008067230}},
                                           PeerLosses{"lstm_loop", 2, {0.008427777, 0.008067230}},
                                           PeerLosses{"gpt", 1, {5.765731812, 5.746578693}},
                                           PeerLosses{
                                               "attention", 1, {0.000191749597, 0.000191749597}},
                                           PeerLosses{"decode", 2, {0.354511201, 0.343757987}}),
                         [](const auto& test) { return std::string(test.param.workload); });

TEST(TrainerTest, StepsThatUpdateNothingLeaveParametersAlone) {
  const auto trainer = Make({.workload = "decode", .batch = 1});
  const Tensor before = trainer->net().parameters()[0].Detach().Clone();
  trainer->Step();
  EXPECT_TRUE(trainer->net().parameters()[0].Equals(before));
  EXPECT_FALSE(trainer->net().parameters()[0].grad().defined());
}

TEST(TrainerTest, WhatMakesNoTrainingIsRefused) {
  TrainerOptions options{.workload = "mlp", .batch = 1501};
  options.data = TrainerData::kDigits;
  EXPECT_EQ(Trainer::Make(options).status().code(), absl::StatusCode::kInvalidArgument);
  options = {.workload = "changing_cnn", .frozen = true};
  EXPECT_EQ(Trainer::Make(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ChangingCnnTest, LeavesOutOneBlockInFive) {
  SetNumThreads(1);
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
  // The expected number is 120 of 600 blocks; allows three standard deviations.
  EXPECT_NEAR(static_cast<double>(dropped), 120, 30);
  EXPECT_GT(other, 5);
}

TEST(ChangingCnnTest, AStepMovesTheBlocksThatItUses) {
  const auto trainer = Make({.workload = "changing_cnn", .depth = 12, .batch = 2});
  auto& net = dynamic_cast<ChangingCnn&>(trainer->net());
  int64_t dropped = 0;
  for (int i = 0; i < 3; ++i) {
    std::vector<Tensor> before;
    for (const Tensor& p : net.parameters()) before.push_back(p.Detach().Clone());
    EXPECT_TRUE(std::isfinite(trainer->Step().Item()));
    int64_t still = 0;
    for (size_t p = 0; p < before.size(); ++p) still += before[p].Equals(net.parameters()[p]);
    EXPECT_EQ(still, 4 * net.dropped());  // weight and bias, of a convolution and a norm
    dropped += net.dropped();
  }
  EXPECT_GT(dropped, 0);
}

}  // namespace
}  // namespace firn::benchmarks
