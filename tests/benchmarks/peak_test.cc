// A process that freezes takes no more memory at any time than one that does not, with everything
// counted: the captured run, what is kept to undo it, the arena, what the allocator caches. Each
// runs in its own child process; the parent has computed nothing.
//
// Runs without sanitizers, which take memory of their own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "benchmarks/process_memory.h"
#include "benchmarks/trainer.h"
#include "benchmarks/versus_config.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/nn/static_module.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::benchmarks {
namespace {

constexpr int kRuns = 4;

// Skips the test where the system does not say what a process takes.
#define PEAK_OR_SKIP(peak, work)                                \
  const absl::StatusOr<double> peak##_or = PeakMbOfChild(work); \
  if (absl::IsUnavailable(peak##_or.status())) {                \
    GTEST_SKIP() << peak##_or.status();                         \
  }                                                             \
  ASSERT_TRUE(peak##_or.ok()) << peak##_or.status();            \
  const double peak = *peak##_or

absl::Status Train(const VersusConfig& config, bool frozen) {
  SetNumThreads(2);
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                        Trainer::Make(config.Options(frozen)));
  for (int i = 0; i < kRuns; ++i) trainer->Step();
  return absl::OkStatus();
}

class TrainingPeakTest : public ::testing::TestWithParam<VersusConfig> {};

TEST_P(TrainingPeakTest, IsNoHigherFrozen) {
  PEAK_OR_SKIP(ordinary, [&] { return Train(GetParam(), false); });
  PEAK_OR_SKIP(frozen, [&] { return Train(GetParam(), true); });
  RecordProperty("ordinary_mb", std::to_string(ordinary));
  RecordProperty("frozen_mb", std::to_string(frozen));
  EXPECT_LE(frozen, ordinary * 1.05);
}

// Nearly all memory of the first model is parameters and Adam's state, that of the others
// activations. The model resnet is left out: its 65 MiB vary by a slab of the allocator (8 MiB)
// with the order in which blocks are given back, while at most 35 MiB are in use.
INSTANTIATE_TEST_SUITE_P(Models, TrainingPeakTest,
                         ::testing::Values(VersusConfig{"deep_cnn", 10, 16},
                                           VersusConfig{"deep_cnn", 10, 64},
                                           VersusConfig{"deep_cnn", 2, 256}),
                         [](const auto& test) {
                           const VersusConfig& c = test.param;
                           return c.workload + std::to_string(c.depth) + "Of" +
                                  std::to_string(c.batch);
                         });

absl::Status Infer(bool frozen) {
  SetNumThreads(2);
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                        Trainer::Make({.workload = "deep_cnn", .depth = 4, .batch = 1}));
  trainer->net().Eval();
  const NoGradScope no_grad;
  const Tensor images = Randn({128, 1, 8, 8});
  nn::StaticModule fast(trainer->net());
  for (int i = 0; i < kRuns; ++i) frozen ? fast(images) : trainer->net()(images);
  return absl::OkStatus();
}

TEST(InferencePeakTest, IsNoHigherFrozen) {
  PEAK_OR_SKIP(ordinary, [] { return Infer(false); });
  PEAK_OR_SKIP(frozen, [] { return Infer(true); });
  EXPECT_LE(frozen, ordinary * 1.05) << ordinary;
}

TEST(PeakMbOfChildTest, SeesWhatAChildTakesAndGivesBack) {
  constexpr int64_t kMiB = 1 << 20;
  PEAK_OR_SKIP(idle, [] { return absl::OkStatus(); });
  PEAK_OR_SKIP(busy, [] {
    Zeros({64 * kMiB}, DType::kU8);
    return absl::OkStatus();
  });
  EXPECT_GE(busy - idle, 60);  // less than all: Linux adds small pages up a few dozen at a time
  EXPECT_LE(busy - idle, 80);
}

TEST(PeakMbOfChildTest, SaysWhatWentWrongInAChild) {
  const auto failed = PeakMbOfChild([] { return InvalidArgument("no such model"); });
  if (absl::IsUnavailable(failed.status())) GTEST_SKIP() << failed.status();
  EXPECT_EQ(failed.status().message(), "no such model");
  const auto threw = PeakMbOfChild([] {
    Ones({2}) + Ones({3});
    return absl::OkStatus();
  });
  EXPECT_NE(threw.status().message().find("add"), std::string::npos) << threw.status();
  const auto ended = PeakMbOfChild([]() -> absl::Status { _exit(3); });
  EXPECT_NE(ended.status().message().find("the child was ended"), std::string::npos);
}

}  // namespace
}  // namespace firn::benchmarks
