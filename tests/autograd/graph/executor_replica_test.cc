// Replicas give the bits of their original from many threads at once, and take an arena alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "firn/autograd/graph/execution_observer.h"
#include "firn/autograd/graph/plan.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/parallel.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/training.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ConvNet;
using testing::ErrorOf;

// A network in evaluation mode, whose running statistics have moved.
std::unique_ptr<ConvNet> Trained() {
  ManualSeed(3);
  auto net = std::make_unique<ConvNet>();
  const NoGradScope no_grad;
  net->Forward(Randn({8, 1, 8, 8}));
  net->Eval();
  return net;
}

StaticGraph Frozen(ConvNet& net, const CompileOptions& options = {}) {
  const NoGradScope no_grad;
  return Freeze(
      options, [&](const Tensor& x) { return net.Forward(x); }, Zeros({4, 1, 8, 8}));
}

std::vector<Tensor> SomeImages(int count) {
  std::vector<Tensor> images;
  for (int i = 0; i < count; ++i) images.push_back(Randn({4, 1, 8, 8}));
  return images;
}

TEST(ExecutorReplicaTest, ManyThreadsGetTheBitsOfOne) {
  const std::unique_ptr<ConvNet> net = Trained();
  const std::vector<Tensor> images = SomeImages(8);
  for (const bool constant : {false, true}) {
    SCOPED_TRACE(constant);
    StaticGraph graph = Frozen(*net, {.constant_states = constant});
    std::vector<Tensor> want;
    for (const Tensor& x : images) want.push_back(graph(x));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        StaticGraph mine = graph.Replica();  // made at once, too
        for (size_t i = 0; i < 25; ++i) {
          const size_t at = (i * (t + 1)) % images.size();
          wrong += mine(images[at]).Equals(want[at]) ? 0 : 1;
        }
      });
    }
    for (size_t i = 0; i < 25; ++i) wrong += graph(images[i % 8]).Equals(want[i % 8]) ? 0 : 1;
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(ExecutorReplicaTest, AReplicaTakesAnArenaAndNothingElse) {
  const std::unique_ptr<ConvNet> net = Trained();
  StaticGraph graph = Frozen(*net, {.constant_states = true});  // packs weights
  const AllocatorStats before = CpuAllocator().stats();
  std::optional<StaticGraph> replica = graph.Replica();
  const AllocatorStats after = CpuAllocator().stats();
  const int64_t arena = after.live(AllocTag::kArena) - before.live(AllocTag::kArena);
  EXPECT_GE(arena, graph.memory().arena_bytes);
  EXPECT_LE(arena, graph.memory().arena_bytes * 9 / 8);  // the allocator rounds sizes
  EXPECT_EQ(after.live_bytes - before.live_bytes, arena);
  EXPECT_EQ(replica->memory().arena_bytes, graph.memory().arena_bytes);
  EXPECT_EQ(&replica->graph(), &graph.graph());
  EXPECT_EQ(&replica->captured(), &graph.captured());
  replica.reset();
  EXPECT_EQ(CpuAllocator().stats().live_bytes, before.live_bytes);
}

TEST(ExecutorReplicaTest, EitherMayGoFirst) {
  const std::unique_ptr<ConvNet> net = Trained();
  const Tensor x = SomeImages(1)[0];
  std::optional<StaticGraph> graph = Frozen(*net, {.constant_states = true});
  const Tensor want = (*graph)(x);
  std::optional<StaticGraph> first = graph->Replica(), second = first->Replica();
  graph.reset();
  EXPECT_TRUE((*first)(x).Equals(want));
  first.reset();
  EXPECT_TRUE((*second)(x).Equals(want));
  EXPECT_FALSE(second->Explain().empty());
}

TEST(ExecutorReplicaTest, WhatIsWrittenIntoWeightsIsSeenByAll) {
  const std::unique_ptr<ConvNet> net = Trained();
  const Tensor x = SomeImages(1)[0];
  StaticGraph graph = Frozen(*net);
  StaticGraph replica = graph.Replica();
  const NoGradScope no_grad;
  Tensor weight = net->fc.weight();
  for (const double factor : {2.0, -3.0}) {
    Assign(weight, weight * factor);
    const Tensor want = net->Forward(x);
    EXPECT_TRUE(graph(x).Equals(want));
    EXPECT_TRUE(replica(x).Equals(want));
  }
  net->To(DType::kF64);
  net->To(DType::kF32);  // in other memory now
  EXPECT_TRUE(replica(x).Equals(net->Forward(x)));
  net->Train();
  EXPECT_NE(ErrorOf([&] { replica(x); }).find("training()"), std::string::npos);
}

TEST(ExecutorReplicaTest, GraphsThatChangeWhatIsSharedAreRefusedByName) {
  testing::Training<ConvNet, optim::Adam> training({.lr = 1e-2});
  const testing::Batch batch = testing::Batches(1, {4, 1, 8, 8}, 5)[0];
  StaticGraph step = training.FrozenStep(batch);
  EXPECT_NE(ErrorOf([&] { step.Replica(); }).find("parameter conv_net.conv1.weight"),
            std::string::npos)
      << ErrorOf([&] { step.Replica(); });

  nn::BatchNorm2d norm({.channels = 1});
  const NoGradScope no_grad;
  StaticGraph statistics = Freeze([&](const Tensor& x) { return norm(x); }, batch.x);
  const std::string error = ErrorOf([&] { statistics.Replica(); });
  EXPECT_NE(error.find("batch_norm"), std::string::npos) << error;
  EXPECT_NE(error.find("running_mean"), std::string::npos) << error;

  const Tensor total = Zeros({3});
  StaticGraph sum = Freeze(
      [&](const Tensor& x) {
        Assign(total, total + x);
        return total * 2;
      },
      Ones({3}));
  EXPECT_NE(ErrorOf([&] { sum.Replica(); }).find("f32 [3]"), std::string::npos)
      << ErrorOf([&] { sum.Replica(); });
  EXPECT_TRUE(sum(Ones({3})).Equals(Full({3}, 4.0)));  // as before
}

TEST(ExecutorReplicaTest, RandomNumbersArePiecesOfOneStream) {
  constexpr int kRuns = 40;
  const NoGradScope no_grad;
  const auto draw = [](const Tensor& x) { return x + Rand({16}); };
  const Tensor x = Zeros({16});
  ManualSeed(5);
  std::vector<std::vector<float>> want;
  for (int i = 0; i < 4 * kRuns; ++i) want.push_back(draw(x).ToVector<float>());

  StaticGraph graph = Freeze(draw, x);
  StaticGraph replica = graph.Replica();
  ManualSeed(5);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ((i % 2 == 0 ? graph : replica)(x).ToVector<float>(), want[i]);
  }
  ManualSeed(5);
  std::vector<std::vector<std::vector<float>>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& mine : drawn) {
    threads.emplace_back([&graph, &mine, &x] {
      StaticGraph own = graph.Replica();
      for (int i = 0; i < kRuns; ++i) mine.push_back(own(x).ToVector<float>());
    });
  }
  for (std::thread& t : threads) t.join();
  std::vector<std::vector<float>> all;
  for (auto& mine : drawn) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(all, want);
}

// While one exists, operations run on that many threads.
struct ScopedThreads {
  explicit ScopedThreads(int threads) { SetNumThreads(threads); }
  ~ScopedThreads() { SetNumThreads(before); }
  const int before = NumThreads();
};

TEST(ExecutorReplicaTest, WhatIsSetLaterChangesAReplicaAsItsOriginal) {
  const std::unique_ptr<ConvNet> net = Trained();
  const Tensor x = SomeImages(1)[0];
  StaticGraph graph = Frozen(*net);
  const Tensor want = graph(x);
  SetWinogradAllowed(false);
  StaticGraph replica = graph.Replica();  // keeps to what the original was compiled with
  EXPECT_TRUE(replica(x).Equals(want));
  SetWinogradAllowed(true);
  const ScopedThreads other(NumThreads() + 2);
  EXPECT_TRUE(replica(x).Equals(graph(x)));
  EXPECT_TRUE(graph.Replica()(x).Equals(graph(x)));
}

TEST(ExecutorReplicaTest, AReplicaThatFindsNoMemoryIsAnErrorAndLeavesTheOriginal) {
  const std::unique_ptr<ConvNet> net = Trained();
  const Tensor x = SomeImages(1)[0];
  StaticGraph graph = Frozen(*net);
  const Tensor want = graph(x);
  CpuAllocator().EmptyCache();
  CpuAllocator().SetLimit(static_cast<size_t>(CpuAllocator().stats().live_bytes + 64));
  EXPECT_THROW(graph.Replica(), Error);
  CpuAllocator().SetLimit(std::nullopt);
  EXPECT_TRUE(graph(x).Equals(want));
  EXPECT_TRUE(graph.Replica()(x).Equals(want));
}

// Makes a replica in the middle of a run.
class Replicator final : public ExecutionObserver {
 public:
  explicit Replicator(StaticGraph& graph) : graph_(graph) {}
  absl::Status BeforeStep(const ExecutionStep&) override {
    error = ErrorOf([&] { graph_.Replica(); });
    return absl::OkStatus();
  }
  absl::Status AfterStep(const ExecutionStep&) override { return absl::OkStatus(); }
  std::string error;

 private:
  StaticGraph& graph_;
};

TEST(ExecutorReplicaTest, ThereIsNoneOfAnEmptyGraphNorInItsOwnRun) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x + 1; }, Ones({2}));
  Replicator replicator(graph);
  {
    const ExecutionObserverScope observed(&replicator);
    graph(Ones({2}));
  }
  EXPECT_NE(replicator.error.find("running on this thread"), std::string::npos) << replicator.error;
  const StaticGraph moved = std::move(graph);
  EXPECT_NE(ErrorOf([&] { graph.Replica(); }).find("moved from"), std::string::npos);  // NOLINT
  EXPECT_THROW(moved.Replica().TakeFirst(), Error);  // the captured run's result stays behind
}

}  // namespace
}  // namespace firn
