// Memory that runs out, at each allocation of a training step in turn: an error that says how much
// was asked for, parameters as they were, nothing leaked, and a step that works when tried again.

#include <gtest/gtest.h>

#include <optional>

#include "firn/device/cpu_allocator.h"
#include "firn/device/testing.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/clone.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/clip.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/rng.h"

namespace firn {
namespace {

struct Net : nn::Module {
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.in = 1, .out = 8, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& norm = Add<nn::BatchNorm2d>("norm", {.channels = 8});
  nn::Conv2d& wide = Add<nn::Conv2d>("wide", {.in = 8, .out = 16, .kernel = 3, .padding = 1});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 16 * 16, .out = 5});
  Tensor Forward(const Tensor& x) {
    const Tensor h = Relu(wide(Relu(norm(conv(x)))));
    return fc(Flatten(MaxPool2d(h, 2), 1));
  }
};

struct Step {
  Tensor images = Randn({4, 1, 8, 8});
  Tensor labels = Randint(0, 5, {4});

  float operator()(Net& net, optim::Adam& adam) const {
    adam.ZeroGrad();
    const Tensor loss = CrossEntropy(net.Forward(images), labels);
    loss.Backward();
    optim::ClipGradNorm(net.parameters(), 1.0);
    adam.Step();
    return loss.Item<float>();
  }
};

std::vector<std::vector<float>> Values(const Net& net) {
  std::vector<std::vector<float>> values;
  for (const Tensor& p : net.parameters()) values.push_back(p.ToVector<float>());
  return values;
}

int64_t LiveBytes() { return CpuAllocator().stats().live_bytes; }

TEST(MemoryTest, RunsOutAnywhereInATrainingStepAndIsSurvived) {
  ManualSeed(1);
  Net net;
  const Step step;
  const auto start = Values(net);
  const auto trained = nn::Clone(net);
  optim::Adam reference(trained->parameters(), {.lr = 1e-2});
  const float loss = step(*trained, reference);
  const auto end = Values(*trained);

  int failures = 0;
  const int64_t before = LiveBytes();
  for (int64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    const auto mine = nn::Clone(net);
    optim::Adam adam(mine->parameters(), {.lr = 1e-2});
    std::string error;
    bool triggered = false;
    {
      const ScopedAllocationFailure failure(n);
      try {
        step(*mine, adam);
      } catch (const Error& e) {
        error = e.what();
      }
      triggered = failure.triggered();
    }
    if (!triggered) break;
    EXPECT_NE(error.find("out of memory on cpu"), std::string::npos) << error;
    ++failures;
    ASSERT_EQ(Values(*mine), start);
    ASSERT_EQ(step(*mine, adam), loss);
    ASSERT_EQ(Values(*mine), end);
  }
  EXPECT_GT(failures, 30);
  EXPECT_EQ(LiveBytes(), before);
}

TEST(MemoryTest, ALimitSaysWhatWasAskedHeldAndCached) {
  CpuAllocator().EmptyCache();  // what is cached could serve the request
  const AllocatorStats now = CpuAllocator().stats();
  CpuAllocator().SetLimit(static_cast<size_t>(now.live_bytes + now.cached_bytes) + (1 << 20));
  std::string message;
  try {
    Randn({1024, 1024});
  } catch (const Error& e) {
    message = e.what();
  }
  CpuAllocator().SetLimit(std::nullopt);
  for (const char* part : {"4194304 bytes", "live", "cached"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(Randn({1024, 1024}).size(0), 1024);
}

}  // namespace
}  // namespace firn
