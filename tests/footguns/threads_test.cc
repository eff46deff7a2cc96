// Two networks trained on two threads at once: dispatch state (tape, grad mode, module paths) is
// the thread's own, and shared pools never give one thread memory of the other, so losses are bit
// for bit those of training one after the other.

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "firn/autograd/graph/execution_observer.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/clone.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/res_unit.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn {
namespace {

struct Net : nn::Module {
  nn::Conv2d& stem = Add<nn::Conv2d>("stem", {.in = 1, .out = 8, .kernel = 3, .padding = 1});
  nn::ResUnit& unit = Add<nn::ResUnit>("unit", {.in = 8, .out = 16, .stride = 2});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 16 * 16, .out = 5});
  Tensor Forward(const Tensor& x) { return fc(Flatten(unit(stem(x)), 1)); }
};

struct Data {
  Tensor images = Randn({16, 1, 8, 8});
  Tensor labels = Randint(0, 5, {16});
};

template <class Optimizer>
std::vector<float> Train(Net& net, const Data& data, double lr) {
  Optimizer optimizer(net.parameters(), {.lr = lr});
  std::vector<float> losses;
  for (int step = 0; step < 12; ++step) {
    optimizer.ZeroGrad();
    const Tensor loss = CrossEntropy(net.Forward(data.images), data.labels);
    loss.Backward();
    optimizer.Step();
    losses.push_back(loss.Item<float>());
  }
  return losses;
}

TEST(ThreadsTest, TwoNetworksTrainedAtOnceLearnAsIfAlone) {
  ManualSeed(3);
  Net first, second;
  const auto first_again = nn::Clone(first), second_again = nn::Clone(second);
  const Data a, b;
  const std::vector<float> want_a = Train<optim::Adam>(first, a, 1e-2);
  const std::vector<float> want_b = Train<optim::Sgd>(second, b, 1e-1);
  EXPECT_LT(want_a.back(), want_a.front());

  std::vector<float> got_a, got_b;
  std::thread other([&] { got_b = Train<optim::Sgd>(*second_again, b, 1e-1); });
  got_a = Train<optim::Adam>(*first_again, a, 1e-2);
  other.join();
  EXPECT_EQ(got_a, want_a);
  EXPECT_EQ(got_b, want_b);
}

TEST(ThreadsTest, OneNetworkEvaluatesOnManyThreads) {
  Net net;
  const Data data;
  net.Forward(data.images);
  net.Eval();
  const NoGradScope no_grad;
  const std::vector<float> want = net.Forward(data.images).ToVector<float>();
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& result : got) {
    threads.emplace_back([&] {
      const NoGradScope none_here;  // grad mode is the thread's own
      for (int i = 0; i < 5; ++i) result = net.Forward(data.images).ToVector<float>();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::vector<float>& result : got) EXPECT_EQ(result, want);
}

TEST(ThreadsTest, AnErrorNamesTheModuleOfItsOwnThread) {
  Net net;
  std::string elsewhere;
  std::thread other([&] {
    const std::string name = "elsewhere";
    const PathScope outer(name);
    elsewhere = PathScope::Current();
  });
  other.join();
  EXPECT_EQ(elsewhere, "elsewhere");
  EXPECT_EQ(PathScope::Current(), "");
}

// One graph, whose memory every run needs, called from several threads.
TEST(ThreadsTest, AGraphThatSeveralThreadsCallGivesEachItsResults) {
  const NoGradScope no_grad;
  nn::Linear a({.in = 64, .out = 64}), b({.in = 64, .out = 64});
  const auto f = [&](const Tensor& t) { return b(Relu(a(t))); };
  std::vector<Tensor> inputs, want;
  for (int i = 0; i < 4; ++i) {
    inputs.push_back(Randn({64, 64}));
    want.push_back(f(inputs.back()));
  }
  StaticGraph graph = Freeze(f, inputs[0]);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 200; ++k) wrong += graph(inputs[i]).Equals(want[i]) ? 0 : 1;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Runs of a step do not mix: the sum is that of this many steps.
TEST(ThreadsTest, StepsOfOneGraphFromSeveralThreadsAllCount) {
  const Tensor total = Zeros({8});
  StaticGraph step = Freeze(
      [&](const Tensor& x) {
        const NoGradScope no_grad;
        Tensor(total).CopyFrom(total + x);
        return Sum(total);
      },
      Ones({8}));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) step(Ones({8}));
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(total.Equals(Full({8}, 401.0)));
}

// Runs the graph that it observes.
class Again final : public ExecutionObserver {
 public:
  explicit Again(StaticGraph& graph) : graph_(graph) {}
  absl::Status BeforeStep(const ExecutionStep&) override { return absl::OkStatus(); }
  absl::Status AfterStep(const ExecutionStep&) override {
    const Tensor x = Ones({2});
    Tensor out;
    return graph_.Run({&x, 1}, absl::MakeSpan(&out, 1));
  }

 private:
  StaticGraph& graph_;
};

class Throws final : public ExecutionObserver {
 public:
  absl::Status BeforeStep(const ExecutionStep&) override { throw std::runtime_error("its own"); }
  absl::Status AfterStep(const ExecutionStep&) override { return absl::OkStatus(); }
};

TEST(ThreadsTest, AGraphWithinItsOwnRunIsRefused) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x * 2; }, Ones({2}));
  Again again(graph);
  std::string why;
  {
    const ExecutionObserverScope scope(&again);
    why = testing::ErrorOf([&] { graph(Ones({2})); });
  }
  {
    Throws throws;
    const ExecutionObserverScope scope(&throws);
    EXPECT_THROW(graph(Ones({2})), std::runtime_error);
  }
  EXPECT_NE(why.find("running on this thread already"), std::string::npos) << why;
  EXPECT_TRUE(graph(Ones({2})).Equals(Full({2}, 2.0)));
}

}  // namespace
}  // namespace firn
