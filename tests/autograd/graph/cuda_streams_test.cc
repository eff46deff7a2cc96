// Frozen training steps on two streams of a CUDA device: the same to the bit as on one, in whatever
// order the device runs the two. On a GPU, or on the stand-in, which can run streams in the two
// most adverse orders.
#include <algorithm>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "firn/autograd/graph/execution_observer.h"
#include "firn/autograd/graph/plan.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/context.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/shape/views.h"
#include "gtest/gtest.h"
#include "tests/autograd/graph/training.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

struct Net : nn::Module {
  nn::Conv2d& first = Add<nn::Conv2d>("first", {.in = 1, .out = 4, .kernel = 3});
  nn::Conv2d& second = Add<nn::Conv2d>("second", {.in = 4, .out = 4, .kernel = 3});
  nn::Linear& third = Add<nn::Linear>("third", {.in = 64, .out = 16});
  nn::Linear& fourth = Add<nn::Linear>("fourth", {.in = 16, .out = 3});
  Tensor Forward(const Tensor& x) {
    Tensor y = Relu(second(Relu(first(x))));
    y = Relu(third(y.Reshape({x.shape()[0], 64})));
    return fourth(Dropout(y, 0.25));
  }
};

// A training with its frozen step.
struct Trainer : testing::Training<Net, optim::Adam> {
  Trainer(Device device, const CompileOptions& options)
      : Training({.lr = 0.05}, device),
        images(Randn({5, 1, 8, 8}).To(device)),
        labels(Randint(0, 3, {5}).To(device)),
        step(FrozenStep({images, labels}, options)) {}
  double Step() { return step(images, labels).Item(); }
  // Losses of some steps, then all parameters.
  std::vector<double> Train(int steps) {
    std::vector<double> all;
    for (int i = 0; i < steps; ++i) all.push_back(Step());
    for (const Tensor& p : net->parameters()) {
      const std::vector<double> values = p.To(Device::Cpu()).ToVector<double>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  Tensor images, labels;
  StaticGraph step;
};

class CudaStreamsTest : public testing::SharedCudaTest {
 protected:
  void SetUp() override {
    SharedCudaTest::SetUp();
    if (fake_ != nullptr) fake_->set_others(FakeCuda::Others::kLate);
  }
  std::vector<double> OnOneStream(int steps) {
    return Trainer(device_, {.side_stream = false}).Train(steps);
  }
  int Waits(Trainer& t) {
    const int before = fake_->calls("WaitEvent");
    t.Step();
    return fake_->calls("WaitEvent") - before;
  }
};

constexpr int kSteps = 4;
constexpr FakeCuda::Others kOrders[] = {FakeCuda::Others::kLate, FakeCuda::Others::kEarly};

TEST_F(CudaStreamsTest, WeightGradientsRunBesideTheOthers) {
  Trainer t(device_, {});
  EXPECT_GE(t.step.operations_aside(), 3);
  const std::string text = t.step.Explain();
  const size_t at = text.find("side_stream: ");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NE(text.find("conv2d_weight_grad", at), std::string::npos) << text;
  EXPECT_EQ(Trainer(device_, {.side_stream = false}).step.operations_aside(), 0);
  EXPECT_EQ(Trainer(Device::Cpu(), {}).step.operations_aside(), 0);
}

TEST_F(CudaStreamsTest, GiveTheBitsOfOneStreamInAnyOrder) {
  const std::vector<double> want = OnOneStream(kSteps);
  if (!fake_) {
    Trainer t(device_, {});
    EXPECT_EQ(t.Train(kSteps), want);
    return;
  }
  for (const FakeCuda::Others others : kOrders) {
    for (const bool recorded : {true, false}) {
      SCOPED_TRACE(recorded ? "recorded" : "not recorded");
      fake_->set_others(others);
      Trainer t(device_, {});
      // Launches that come again are recorded as well, before the step or after it.
      constexpr int kMost = 8;
      const int before = fake_->calls("BeginRecording");
      for (int n = 1; n <= kMost && !recorded; ++n) {
        fake_->FailCall("BeginRecording", n, FakeCuda::kInvalidValue);
      }
      EXPECT_EQ(t.Train(kSteps), want);
      EXPECT_EQ(t.step.device_graph_runs(), recorded ? kSteps - 1 : 0);
      // Uses up the failures that are left, so that they do not hit the next training.
      for (int n = fake_->calls("BeginRecording") - before; n < kMost && !recorded; ++n) {
        EXPECT_NE(fake_->BeginRecording(0, nullptr), 0);
      }
    }
  }
}

// Each wait left out in turn, in both orders: the fork and the join must show, and most between
// them. (A wait that only gives memory back shows where the plan put something else there.)
TEST_F(CudaStreamsTest, AreRightBecauseOfTheWaits) {
  if (!fake_) GTEST_SKIP() << "a GPU leaves out no wait";
  const std::vector<double> want = OnOneStream(1);
  const int waits = [&] {
    Trainer t(device_, {});
    return Waits(t);
  }();
  ASSERT_GE(waits, 4);
  std::vector<bool> seen;
  for (int wait = 1; wait <= waits; ++wait) {
    bool differs = false;
    for (const FakeCuda::Others others : kOrders) {
      fake_->set_others(others);
      Trainer t(device_, {});
      fake_->FailCall("WaitEvent", wait, FakeCuda::kDropped);
      const std::vector<double> got = t.Train(1);
      differs |= std::memcmp(got.data(), want.data(), got.size() * sizeof(double)) != 0;
    }
    seen.push_back(differs);
  }
  EXPECT_TRUE(seen.front()) << "the side stream begins behind the main one";
  const auto noticed = std::count(seen.begin(), seen.end(), true);
  EXPECT_GT(2 * noticed, waits) << noticed << " of " << waits;
}

TEST_F(CudaStreamsTest, ADeviceWithoutAnotherStreamUsesOne) {
  if (!fake_) GTEST_SKIP() << "only the stand-in fails when told to";
  const std::vector<double> want = OnOneStream(kSteps);
  for (const char* call : {"CreateStream", "CreateEvent"}) {
    Trainer first(device_, {.side_stream = false});  // whatever else makes streams and events
    fake_->FailCall(call, 1, FakeCuda::kOutOfMemory);
    Trainer t(device_, {});
    EXPECT_EQ(t.step.operations_aside(), 0) << call;
    EXPECT_EQ(t.Train(kSteps), want) << call;
  }
}

TEST_F(CudaStreamsTest, AreGivenUpWhereMemoryIsShort) {
  const Trainer one(device_, {.side_stream = false}), two(device_, {});
  ASSERT_GT(two.step.operations_aside(), 0);
  const int64_t least = one.step.memory().arena_bytes;
  ASSERT_GT(two.step.memory().arena_bytes, least);
  Trainer t(device_, {.max_arena_bytes = least});
  EXPECT_EQ(t.step.operations_aside(), 0);
  EXPECT_EQ(t.step.memory().arena_bytes, least);
}

class Counter final : public ExecutionObserver {
 public:
  absl::Status BeforeStep(const ExecutionStep&) override { return absl::OkStatus(); }
  absl::Status AfterStep(const ExecutionStep&) override {
    ++steps;
    return absl::OkStatus();
  }
  int steps = 0;
};

TEST_F(CudaStreamsTest, ObservedRunsUseOneStream) {
  const std::vector<double> want = OnOneStream(kSteps);
  Trainer t(device_, {});
  Counter counter;
  const int before = fake_ ? fake_->calls("WaitEvent") : 0;
  std::vector<double> got;
  {
    const ExecutionObserverScope scope(&counter);
    got = t.Train(kSteps);
  }
  EXPECT_EQ(got, want);
  EXPECT_GT(counter.steps, kSteps * 10);
  if (fake_) {
    EXPECT_EQ(fake_->calls("WaitEvent"), before);
  }
}

TEST_F(CudaStreamsTest, ARunThatFailsLeavesNothingBehindOnTheSideStream) {
  if (!fake_) GTEST_SKIP() << "only the stand-in fails when told to";
  // All live until the end: launches on addresses that were there before would be held back, and
  // replayed, where this test counts those that are made.
  std::list<Trainer> all;
  Trainer& t = all.emplace_back(device_, CompileOptions());
  const int launches = [&] {
    const int before = fake_->calls("Launch");
    t.Step();
    return fake_->calls("Launch") - before;
  }();
  for (int n = launches / 2; n < launches; ++n) {  // in the backward pass
    Trainer& other = all.emplace_back(device_, CompileOptions());
    fake_->FailCall("Launch", n, FakeCuda::kInvalidValue);
    Tensor loss;
    const Tensor in[] = {other.images, other.labels};
    EXPECT_FALSE(other.step.Run(in, absl::MakeSpan(&loss, 1)).ok());
    EXPECT_GT(fake_->pending(), 0);
    // What the main stream does from now on comes behind all of it.
    ASSERT_TRUE((*GetDeviceContext(device_))->stream().Synchronize().ok());
    EXPECT_EQ(fake_->pending(), 0) << "after launch " << n << " of " << launches;
  }
  EXPECT_GT(t.Step(), 0);
}

}  // namespace
}  // namespace firn
