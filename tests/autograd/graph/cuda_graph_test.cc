// Training on a CUDA device, step by step and frozen: on a GPU, or on the stand-in, where libraries
// refuse and kernels run on the host.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/context.h"
#include "firn/device/cuda.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/loss_scaler.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"
#include "gtest/gtest.h"
#include "tests/autograd/graph/training.h"
#include "tests/error_of.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

struct Net : nn::Module {
  nn::Linear& first = Add<nn::Linear>("first", {.in = 6, .out = 8});
  nn::Linear& second = Add<nn::Linear>("second", {.in = 8, .out = 3});
  Tensor Forward(const Tensor& x) { return second(Relu(first(x))); }
};

struct Trainer : testing::Training<Net, optim::Adam> {
  explicit Trainer(Device device)
      : Training({.lr = 0.05}, device),
        images(Randn({16, 6}).To(device)),
        labels(Randint(0, 3, {16}).To(device)) {}
  Tensor Step(const Tensor& x, const Tensor& y) { return Training::Step({x, y}); }

  Tensor images, labels;
};

class CudaGraphTest : public testing::CudaTest {};

constexpr int kSteps = 6;

std::vector<double> LossesOf(Trainer& t) {
  std::vector<double> losses;
  for (int i = 0; i < kSteps; ++i) losses.push_back(t.Step(t.images, t.labels).Item());
  return losses;
}

TEST_F(CudaGraphTest, TrainsAsTheCpuDoes) {
  Trainer here{Device::Cpu()}, there{device_};
  const std::vector<double> want = LossesOf(here), got = LossesOf(there);
  for (int i = 0; i < kSteps; ++i) EXPECT_NEAR(got[i], want[i], 1e-4) << "step " << i;
  EXPECT_LT(got.back(), got.front());
}

TEST_F(CudaGraphTest, AStepWaitsOnlyWhereTheLossIsRead) {
  Trainer t{device_};
  t.Step(t.images, t.labels);  // the first makes the optimizer's state
  const int64_t before = CudaSynchronizations();
  const Tensor loss = t.Step(t.images, t.labels);
  EXPECT_EQ(CudaSynchronizations(), before);
  loss.Item();
  EXPECT_EQ(CudaSynchronizations(), before + 1);
}

// What makes the dynamic mode as fast as a frozen graph: see device/internal/cuda_replay.h.
TEST_F(CudaGraphTest, OrdinaryStepsThatRepeatAreQueuedInAFewRecordings) {
  Trainer t{device_}, alone{device_};
  const std::vector<double> first = LossesOf(t);
  const int64_t before = CudaReplayedLaunches();
  const int launched = fake_ ? fake_->calls("Launch") : 0;
  const std::vector<double> then = LossesOf(t);
  const int64_t replayed = CudaReplayedLaunches() - before;
  EXPECT_GT(replayed, 10 * kSteps);
  if (fake_) {
    EXPECT_LT(10 * (fake_->calls("Launch") - launched), replayed) << "hardly any else";
  }
  std::vector<double> want = LossesOf(alone);  // the same network, in other memory
  EXPECT_EQ(first, want);
  want = LossesOf(alone);
  EXPECT_EQ(then, want);
}

TEST_F(CudaGraphTest, FrozenStepsAreQueuedAsOneAndTrainAlike) {
  Trainer plain{device_}, frozen{device_};
  const std::vector<double> want = LossesOf(plain);
  std::vector<double> got;
  StaticGraph step = Freeze(
      [&](const Tensor& x, const Tensor& y) {
        Tensor loss = frozen.Step(x, y);
        return loss;
      },
      frozen.images, frozen.labels);
  // Freezing was the first step.
  for (int i = 1; i < kSteps; ++i) got.push_back(step(frozen.images, frozen.labels).Item());
  for (int i = 1; i < kSteps; ++i) EXPECT_NEAR(got[i - 1], want[i], 1e-6) << "step " << i;
  EXPECT_EQ(step.device_graph_runs(), kSteps - 2) << "all but the first run with these addresses";
}

// Both serve the CPU's memory and caches only.
struct Wide : nn::Module {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.in = 3, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn1 =
      Add<nn::BatchNorm2d>("bn1", {.channels = 16, .activation = FusedActivation::kTanh});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.in = 16, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn2 = Add<nn::BatchNorm2d>("bn2", {.channels = 16});
  nn::Conv2d& conv3 = Add<nn::Conv2d>("conv3", {.in = 16, .out = 4, .kernel = 3});
  nn::Linear& last = Add<nn::Linear>("last", {.in = 4 * 14 * 14, .out = 100});
  Tensor Forward(const Tensor& x) {
    return last(Flatten(conv3(Relu(bn2(conv2(bn1(conv1(x)))))), 1));
  }
};

TEST_F(CudaGraphTest, ADeviceNeitherComputesTwiceNorSplitsItsUpdatesUp) {
  // Whether the frozen step computes something twice, and whether it splits its updates up.
  const auto both = [](Device device) {
    testing::Training<Wide, optim::Adam> t({.lr = 0.05}, device);
    const Tensor x = Randn({8, 3, 16, 16}).To(device), y = Randint(0, 100, {8}).To(device);
    const StaticGraph step = Freeze(
        [&](const Tensor& images, const Tensor& labels) {
          return t.Step({images, labels});
        },
        x, y);
    const std::string text = step.Explain();
    const auto updates =
        std::count_if(step.graph().instrs.begin(), step.graph().instrs.end(),
                      [](const Instr& instr) { return instr.op->name == "adam_step"; });
    return std::pair(text.find("recompute") != std::string::npos, updates > 1);
  };
  EXPECT_EQ(both(Device::Cpu()), std::pair(true, true));
  EXPECT_EQ(both(device_), std::pair(false, false));
}

TEST_F(CudaGraphTest, ARecordedStepFollowsInputsAndLearningRate) {
  Trainer plain{device_}, frozen{device_};
  StaticGraph step = Freeze([&](const Tensor& x, const Tensor& y) { return frozen.Step(x, y); },
                            frozen.images, frozen.labels);
  plain.Step(plain.images, plain.labels);
  for (int i = 0; i < 2 * kSteps; ++i) {
    const Tensor images = Randn({16, 6}).To(device_);
    const double lr = 0.01 * (i + 1);
    plain.optimizer->SetLr(lr);
    frozen.optimizer->SetLr(lr);
    const double want = plain.Step(images, plain.labels).Item();
    EXPECT_NEAR(step(images, frozen.labels).Item(), want, 1e-6) << "step " << i;
  }
  EXPECT_GT(step.device_graph_runs(), 0);
}

TEST_F(CudaGraphTest, ALabelThatIsNoClassIsAnErrorWhereTheLossIsRead) {
  Trainer t{device_};
  const Tensor labels = t.labels.Clone();
  StaticGraph step =
      Freeze([&](const Tensor& x, const Tensor& y) { return t.Step(x, y); }, t.images, labels);
  for (int i = 0; i < 3; ++i) step(t.images, labels).Item();
  const int64_t recorded = step.device_graph_runs();
  Tensor wrong = t.labels.To(Device::Cpu()).Clone();
  *static_cast<int64_t*>(static_cast<void*>(wrong.impl()->data)) = 3;
  Assign(labels, wrong.To(device_));
  const Tensor loss = step(t.images, labels);
  EXPECT_EQ(testing::ErrorOf([&] { loss.Item(); }),
            "to_device: cross_entropy: label 3 is outside [0, 3); it was left out on cuda:0, in "
            "work queued before");
  Assign(labels, t.labels);
  EXPECT_GT(step(t.images, labels).Item(), 0);
  EXPECT_EQ(step.device_graph_runs(), recorded + 2);
}

// Convolutions whose results only activations read.
struct ConvNet : nn::Module {
  nn::Conv2d& first = Add<nn::Conv2d>("first", {.in = 1, .out = 4, .kernel = 3, .padding = 1});
  nn::Conv2d& second = Add<nn::Conv2d>("second", {.in = 4, .out = 2, .kernel = 3, .bias = false});
  nn::Linear& last = Add<nn::Linear>("last", {.in = 32, .out = 3});
  Tensor Forward(const Tensor& x) { return last(Flatten(Tanh(second(Relu(first(x)))), 1)); }
};

TEST_F(CudaGraphTest, FrozenConvolutionsTakeTheirActivationsAlong) {
  const auto train = [this](bool freeze) {
    testing::Training<ConvNet, optim::Adam> t({.lr = 0.05}, device_);
    const testing::Batch batch = {Randn({5, 1, 6, 6}).To(device_), Randint(0, 3, {5}).To(device_)};
    std::vector<double> losses;
    if (!freeze) {
      for (int i = 0; i < kSteps; ++i) losses.push_back(t.Step(batch).Item());
      return losses;
    }
    StaticGraph frozen = t.FrozenStep(batch);
    int fused = 0, plain = 0;
    for (const Instr& instr : frozen.graph().instrs) {
      fused += instr.op->name == "conv2d_act" ? 1 : 0;
      plain += instr.op->name == "conv2d" ? 1 : 0;
    }
    EXPECT_EQ(fused, 2);
    EXPECT_EQ(plain, 0);
    losses.push_back(0);  // freezing was the first step
    for (int i = 1; i < kSteps; ++i) {
      losses.push_back(frozen(batch.x, batch.labels).Item());
    }
    return losses;
  };
  // Engines of cuDNN round each in their own way, those with TF32 coarsely.
  SetConvMath(F32Math::kStrict);
  const std::vector<double> want = train(false), got = train(true);
  SetConvMath(F32Math::kTf32);
  for (int i = 1; i < kSteps; ++i) EXPECT_NEAR(got[i], want[i], 1e-4) << "step " << i;
  EXPECT_LT(want.back(), want.front());
}

TEST_F(CudaGraphTest, ALossScalerDecidesOnTheDevice) {
  Trainer plain{Device::Cpu()}, frozen{device_};
  optim::LossScaler here({.init_scale = 64, .growth_interval = 4}),
      there({.init_scale = 64, .growth_interval = 4});
  const auto step_of = [](Trainer& t, optim::LossScaler& scaler) {
    return [&](const Tensor& x, const Tensor& y) {
      t.optimizer->ZeroGrad();
      Tensor loss = CrossEntropy(t.net->Forward(x), y);
      scaler.Scale(loss).Backward();
      scaler.Step(*t.optimizer);
      scaler.Update();
      return loss;
    };
  };
  const auto step_here = step_of(plain, here);
  StaticGraph step = Freeze(step_of(frozen, there), frozen.images, frozen.labels);
  step_here(plain.images, plain.labels);
  const Tensor images = plain.images.Clone(), images_there = frozen.images.Clone();
  for (int i = 1; i < 20; ++i) {
    const bool bad = i == 3 || i == 9 || i == 10;
    const Tensor x = bad ? Mul(plain.images, static_cast<double>(INFINITY)) : plain.images;
    Assign(images, x);
    Assign(images_there, x.To(device_));
    step_here(images, plain.labels);
    const int64_t before = CudaSynchronizations();
    step(images_there, frozen.labels);
    EXPECT_EQ(CudaSynchronizations(), before);
    EXPECT_EQ(there.skipped(), bad) << "step " << i;
    EXPECT_EQ(there.scale(), here.scale()) << "step " << i;
  }
  EXPECT_GT(step.device_graph_runs(), 0);
  const auto want = plain.net->parameters(), got = frozen.net->parameters();
  for (size_t i = 0; i < want.size(); ++i) {
    const auto w = want[i].ToVector<float>(), g = got[i].ToVector<float>();
    for (size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(g[j], w[j], 1e-4) << "parameter " << i;
  }
}

TEST_F(CudaGraphTest, AFailedRecordingRunsKernelByKernelAndSaysSo) {
  if (!fake_) GTEST_SKIP() << "only the stand-in fails when told to";
  Trainer t{device_};
  StaticGraph step =
      Freeze([&](const Tensor& x, const Tensor& y) { return t.Step(x, y); }, t.images, t.labels);
  fake_->FailCall("EndRecording", 1, FakeCuda::kInvalidValue);
  ::testing::internal::CaptureStderr();
  double last = 0;
  for (int i = 0; i < 4; ++i) last = step(t.images, t.labels).Item();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(said,
            "firn: a frozen graph runs kernel by kernel on cuda:0: cudaStreamEndCapture failed: "
            "cudaErrorInvalidValue: invalid argument\n");
  EXPECT_EQ(step.device_graph_runs(), 0);
  EXPECT_GT(last, 0);
}

// Gradients are copied to where the graph adds to them, and filled where there are none.
TEST_F(CudaGraphTest, FrozenMicroBatchesAddUpAsOrdinaryOnes) {
  Trainer frozen{device_}, ordinary{device_};
  const auto micro = [](Trainer& t, const Tensor& x, const Tensor& y) {
    Tensor loss = CrossEntropy(t.net->Forward(x), y);
    loss.Backward();
    return loss;
  };
  StaticGraph graph = Freeze([&](const Tensor& x, const Tensor& y) { return micro(frozen, x, y); },
                             frozen.images, frozen.labels);
  micro(ordinary, ordinary.images, ordinary.labels);
  for (int i = 0; i < 4; ++i) {
    graph(frozen.images, frozen.labels);
    micro(ordinary, frozen.images, frozen.labels);
    const auto got = frozen.net->parameters(), want = ordinary.net->parameters();
    for (size_t k = 0; k < got.size(); ++k) EXPECT_TRUE(got[k].grad().Equals(want[k].grad())) << k;
    if (i == 1) {
      frozen.optimizer->ZeroGrad();
      ordinary.optimizer->ZeroGrad();
    }
  }
}

TEST_F(CudaGraphTest, AReplicaHasAnArenaAndARecordingOfItsOwn) {
  Trainer t{device_};
  const NoGradScope no_grad;
  StaticGraph graph = Freeze([&](const Tensor& x) { return t.net->Forward(x); }, t.images);
  StaticGraph replica = graph.Replica();
  for (int i = 0; i < 4; ++i) {
    const Tensor want = graph(t.images);
    EXPECT_TRUE(replica(t.images).Equals(want));
  }
  EXPECT_GT(replica.device_graph_runs(), 0);
  const int64_t runs = graph.device_graph_runs();
  replica(t.images);
  EXPECT_EQ(graph.device_graph_runs(), runs);
}

}  // namespace
}  // namespace firn
