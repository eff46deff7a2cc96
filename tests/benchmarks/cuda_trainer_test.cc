// Timed training on a CUDA device: on a GPU, or on the stand-in, where libraries refuse and kernels
// run on the host.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/precision.h"
#include "benchmarks/step_timer.h"
#include "benchmarks/trainer.h"
#include "benchmarks/versus_run.h"
#include "firn/device/context.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/parallel.h"
#include "tests/on_cuda.h"

namespace firn::benchmarks {
namespace {

class OnDevice {
 public:
  OnDevice() {
    SetNumThreads(1);
    SetFlushDenormals(true);
    SetPrecision(Precision::kStrict);
  }
  ~OnDevice() { SetPrecision(Precision::kDefault); }

 private:
  testing::CudaOrFake device_;
};

std::unique_ptr<Trainer> Make(TrainerOptions options, Device device) {
  options.device = device;
  auto trainer = Trainer::Make(options);
  EXPECT_TRUE(trainer.ok()) << trainer.status();
  return *std::move(trainer);
}

// (workload, frozen)
class CudaTrainerTest : public ::testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  void SetUp() override {
    if (!testing::BuiltWithCuda()) GTEST_SKIP() << testing::kWithoutCuda;
    on_.emplace();
    std::tie(options_.workload, options_.frozen) = GetParam();
  }

  std::optional<OnDevice> on_;
  TrainerOptions options_{.workload = "", .batch = 2};
};

TEST_P(CudaTrainerTest, LearnsWhatTheCpuLearns) {
  const auto there = Make(options_, Device::Cuda(0)), here = Make(options_, Device::Cpu());
  for (const Tensor& p : there->net().parameters()) EXPECT_EQ(p.device(), Device::Cuda(0));
  double first = 0, last = 0;
  for (int i = 0; i < 6; ++i) {
    last = here->Step().Item();
    if (i == 0) first = last;
    EXPECT_NEAR(there->Step().Item(), last, 1e-3 * first) << "step " << i;
  }
  EXPECT_NE(first, last);
}

TEST_P(CudaTrainerTest, StepsDoNotWaitForTheDevice) {
  const auto trainer = Make(options_, Device::Cuda(0));
  const auto context = GetDeviceContext(Device::Cuda(0));
  ASSERT_TRUE(context.ok());
  StepTimer timer(**context);
  ASSERT_TRUE(timer.Run(*trainer, 4).ok());  // makes the optimizer's state, or captures and records
  const auto timed = timer.Run(*trainer, 5);
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_EQ(timed->waits, 0);
  EXPECT_EQ(timed->ms.size(), 5u);
  for (const double ms : timed->ms) EXPECT_GT(ms, 0);
  EXPECT_GT(timed->wall_ms, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, CudaTrainerTest,
                         ::testing::Combine(::testing::Values("mlp", "lenet"), ::testing::Bool()),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) +
                                  (std::get<1>(test.param) ? "Static" : "Dynamic");
                         });

class CudaVersusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::BuiltWithCuda()) GTEST_SKIP() << testing::kWithoutCuda;
    on_.emplace();
  }

  std::optional<OnDevice> on_;
};

TEST_F(CudaVersusTest, ARecordedStepServesMoreBatchesThanAreRecorded) {
  TrainerOptions options{.workload = "mlp", .batch = 100, .frozen = true};
  options.data = TrainerData::kDigits;  // 15 batches
  const auto trainer = Make(options, Device::Cuda(0));
  const auto reference = Make(options, Device::Cpu());
  for (int i = 0; i < 20; ++i) {
    const double want = reference->Step().Item();
    EXPECT_NEAR(trainer->Step().Item(), want, 1e-3) << "step " << i;
  }
  EXPECT_GE(trainer->graph()->device_graph_runs(), 17);
}

// Networks with batch norms, which count their batches on the device.
TEST_F(CudaVersusTest, FrozenStepsOfEveryNetworkAreRecorded) {
  for (const char* workload : {"mlp", "lenet", "resnet", "deep_cnn", "resnet18"}) {
    SCOPED_TRACE(workload);
    const auto trainer = Make({.workload = workload, .batch = 1, .frozen = true}, Device::Cuda(0));
    for (int i = 0; i < 4; ++i) trainer->Step();
    EXPECT_GT(trainer->graph()->device_graph_runs(), 0) << trainer->graph()->Explain();
    EXPECT_NE(trainer->graph()->Explain().find("cuda graph: from the second run"),
              std::string::npos);
  }
}

TEST_F(CudaVersusTest, MeasuresTheMemoryOfTheDevice) {
  VersusSettings settings;
  settings.rounds = 2;
  settings.steps = 2;
  settings.block_seconds = 0.01;
  settings.captures = 1;
  settings.loss_steps = 3;
  settings.device = Device::Cuda(0);
  CpuAllocator().ResetPeak();
  const auto result = RunVersus({.workload = "mlp", .batch = 50}, settings);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->frozen.has_value());
  for (const VersusMode* mode : {&result->dynamic, &*result->frozen}) {
    EXPECT_EQ(mode->blocks.size(), 2u);
    EXPECT_EQ(mode->wall_ms.size(), 2u);
    EXPECT_EQ(mode->waits, 0);
    // Parameters, both moments of Adam and 30 batches of 64 numbers.
    EXPECT_GT(mode->peak_mb, (3 * 4810 + 1500 * 64) * 4 / 0x1p20);
  }
  EXPECT_LT(result->LossGap(), 1e-3);
}

TEST_F(CudaVersusTest, ADeviceThatIsNotThereIsNamed) {
  VersusSettings settings;
  settings.device = Device::Cuda(100);
  const auto result = RunVersus({.workload = "mlp", .batch = 2}, settings);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::string(result.status().message()).find("cuda:100"), std::string::npos);
}

}  // namespace
}  // namespace firn::benchmarks
