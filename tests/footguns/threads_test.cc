// Two networks trained on two threads at once: dispatch state (tape, grad mode, module paths) is
// the thread's own and shared pools give nobody another's memory, so losses are bit for bit those
// of training one after the other.

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "nn/batch_norm.h"
#include "nn/clone.h"
#include "nn/conv.h"
#include "nn/linear.h"
#include "nn/res_unit.h"
#include "optim/adam.h"
#include "optim/sgd.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/ops/cross_entropy.h"
#include "tensor/ops/flatten.h"
#include "tensor/ops/randint.h"
#include "tensor/ops/randn.h"
#include "tensor/rng.h"

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

}  // namespace
}  // namespace firn
