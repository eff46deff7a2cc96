// Frozen steps reduce gradients where the step did, with the bits of the step itself.
#include <functional>
#include <string>

#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/parallel/data_parallel.h"
#include "firn/optim/optimizers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/error_of.h"
#include "tests/nn/parallel/on_ranks.h"

namespace firn {
namespace {

using nn::parallel::DataParallel;
using nn::parallel::DataParallelOptions;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::HaveSameState;
using testing::Networks;
using testing::NotingRank;
using testing::OnRanks;
using Rank = std::shared_ptr<NotingRank>;

struct Mlp : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 6, .out = 8});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 8, .out = 8});
  nn::Linear& fc3 = Add<nn::Linear>("fc3", {.in = 8, .out = 3});
  Tensor Forward(const Tensor& x) override { return fc3(Tanh(fc2(Tanh(fc1(x))))); }
};

enum class Frozen { kNever, kFromTheFirstStep, kFromTheSecondStep };

constexpr int kSteps = 4;

void Train(Mlp& net, const Rank& c, const Tensor& x, const Tensor& target,
           const DataParallelOptions& options, Frozen frozen) {
  const DataParallel parallel(net, c, options);
  optim::Adam adam(net.named_parameters(), {.lr = 1e-2});
  const auto step = [&](const Tensor& inputs, const Tensor& labels) {
    adam.ZeroGrad();
    const Tensor loss = CrossEntropy(net(inputs), labels);
    loss.Backward();
    adam.Step();
    return loss;
  };
  const auto x_of = [&](int i) { return x.Select(0, i).Select(0, c->rank()); };
  const auto target_of = [&](int i) { return target.Select(0, i).Select(0, c->rank()); };
  int i = 0;
  if (frozen == Frozen::kFromTheSecondStep) step(x_of(0), target_of(0)), ++i;
  if (frozen == Frozen::kNever) {
    for (; i < kSteps; ++i) step(x_of(i), target_of(i));
    return;
  }
  StaticGraph graph = Freeze(step, x_of(i), target_of(i));
  for (++i; i < kSteps; ++i) graph(x_of(i), target_of(i));
}

TEST(DataParallelFrozenTest, GivesTheBitsOfTheStep) {
  for (const int size : {1, 2, 3}) {
    for (const DataParallelOptions& options :
         {DataParallelOptions{}, DataParallelOptions{.bucket_bytes = 100, .first_bucket_bytes = 40},
          DataParallelOptions{.compression = DType::kBF16}}) {
      auto nets = Networks<Mlp>(3 * size);
      for (auto& net : nets) net->LoadStateDict(nets[0]->state_dict());
      const Tensor x = Randn({kSteps, size, 5, 6}), target = Randint(0, 3, {kSteps, size, 5});
      OnRanks(size, [&](const Rank& c) {
        for (const Frozen frozen :
             {Frozen::kNever, Frozen::kFromTheFirstStep, Frozen::kFromTheSecondStep}) {
          Mlp& net = *nets[static_cast<size_t>(static_cast<int>(frozen) * size + c->rank())];
          Train(net, c, x, target, options, frozen);
        }
      });
      EXPECT_TRUE(HaveSameState(nets)) << size << " ranks";
    }
  }
}

TEST(DataParallelFrozenTest, StartsWhileTheBackwardPassGoesOn) {
  auto nets = Networks<Mlp>(2);
  OnRanks(2, [&](const Rank& c) {
    Mlp& net = *nets[static_cast<size_t>(c->rank())];
    const DataParallel parallel(net, c, {.bucket_bytes = 1, .first_bucket_bytes = 1});
    const auto step = [&](const Tensor& x) {
      const Tensor loss = Sum(net(x));
      loss.Backward();
      return loss;
    };
    StaticGraph graph = Freeze(step, Randn({5, 6}));
    const std::string ops = testing::OpsOf(graph.graph());
    // The last layer's reduction starts before the gradients of the first layer are computed; the
    // others follow.
    EXPECT_LT(ops.find("start_collective"), ops.rfind("matmul")) << ops;
    EXPECT_GT(ops.find("wait_collective"), ops.rfind("matmul")) << ops;
    c->started.clear();
    graph(Randn({5, 6}));
    EXPECT_EQ(c->started.size(), 7u);  // 6 parameters, and who has found what
  });
}

// A graph, like the step, adds to the gradients that it finds.
TEST(DataParallelFrozenTest, AddsToGrad) {
  auto nets = Networks<Mlp>(2);
  OnRanks(2, [&](const Rank& c) {
    Mlp& net = *nets[static_cast<size_t>(c->rank())];
    const DataParallel parallel(net, c);
    const auto step = [&](const Tensor& x) {
      const Tensor loss = Sum(net(x));
      loss.Backward();
      return loss;
    };
    const Tensor x = Ones({2 + 2 * c->rank(), 6});
    step(x);
    StaticGraph graph = Freeze({.keep_gradients = true}, step, x);
    graph(x);
    EXPECT_EQ(net.fc3.bias().grad().ToVector<float>(),
              std::vector<float>(3, 9));  // 3 x (2 + 4) / 2
  });
}

// One of two ways, which the program asks before each step.
struct Ways : nn::Module {
  Tensor& a = AddParameter("a", Ones({2}));
  Tensor& b = AddParameter("b", Ones({2}));
  int way = 0;
  Tensor Loss(const Tensor& x) {
    const Tensor loss = Sum(Mul(way == 0 ? a : b, x));
    loss.Backward();
    return loss;
  }
};

TEST(DataParallelFrozenTest, RefusesWhatRunsWouldNotDo) {
  auto nets = Networks<Ways>(2);
  OnRanks(2, [&](const Rank& c) {
    Ways& net = *nets[static_cast<size_t>(c->rank())];
    DataParallel parallel(net, c);
    const auto step = [&](const Tensor& x) { return net.Loss(x); };
    const Tensor x = Ones({2});
    {
      const auto no_sync = parallel.NoSync();
      EXPECT_THAT(ErrorOf([&] { Freeze(step, x); }), HasSubstr("without synchronisation"));
      net.Loss(x);
      EXPECT_FALSE(net.a.grad().defined());
    }
    EXPECT_THAT(ErrorOf([&] { Freeze(step, x); }), HasSubstr("without synchronisation"));
    parallel.DropLocalGradients();
    parallel.SetWeight(1 + c->rank());
    EXPECT_THAT(ErrorOf([&] { Freeze(step, x); }), HasSubstr("cannot weigh ranks (SetWeight)"));
    net.Loss(x);  // this pass weighs the ranks
    parallel.SetWeight(3);
    StaticGraph graph = Freeze(step, x);
    parallel.SetWeight(5);  // equal on all ranks: no effect
    graph(x);
    parallel.SetWeight(1 + c->rank());
    graph(x);
    EXPECT_THAT(ErrorOf([&] { parallel.SetWeight(3); }),
                HasSubstr("the step after the last SetWeight was captured"));
  });
}

TEST(DataParallelFrozenTest, NamesWhatCapturedStepsDoNotReach) {
  auto nets = Networks<Ways>(2);
  for (const bool one_is_eager : {false, true}) {
    OnRanks(2, [&](const Rank& c) {
      Ways& net = *nets[static_cast<size_t>(c->rank())];
      DataParallel parallel(net, c);
      net.way = c->rank();
      const auto step = [&](const Tensor& x) { return net.Loss(x); };
      const std::string error = ErrorOf([&] {
        if (one_is_eager && c->rank() == 1) {
          step(Ones({2}));
        } else {
          Freeze(step, Ones({2}));
        }
      });
      EXPECT_THAT(error, HasSubstr("others captured a step that does not"));
      EXPECT_FALSE(net.a.grad().defined() || net.b.grad().defined());
    });
  }
}

}  // namespace
}  // namespace firn
