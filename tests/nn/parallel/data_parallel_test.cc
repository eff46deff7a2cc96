// Ranks that are threads train one network together: the same bits on all, those of one rank with
// all samples, whatever way each rank takes through it.
#include "firn/nn/parallel/data_parallel.h"

#include <cmath>
#include <optional>

#include "firn/autograd/hooks.h"
#include "firn/optim/optimizers.h"
#include "firn/tensor/from.h"
#include "gtest/gtest.h"
#include "tests/nn/parallel/on_ranks.h"

namespace firn {
namespace {

using nn::parallel::DataParallel;
using nn::parallel::DataParallelOptions;
using testing::HaveSameState;
using testing::Networks;
using testing::NotingRank;
using testing::OnRanks;
using Rank = std::shared_ptr<NotingRank>;
using Floats = std::vector<float>;

struct Mlp : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 6, .out = 8});
  nn::BatchNorm1d& norm = Add<nn::BatchNorm1d>("norm", {.channels = 8});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 8, .out = 3});
  Tensor Forward(const Tensor& x) override { return fc2(norm(Tanh(fc1(x)))); }
};

// y = w x elementwise, and as many ways as there are weights.
struct Ways : nn::Module {
  std::vector<Tensor*> w;
  explicit Ways(int n = 3, DType dtype = DType::kF32) {
    for (int i = 0; i < n; ++i)
      w.push_back(&AddParameter("w" + std::to_string(i), Ones({2}, dtype)));
  }
  Tensor Way(size_t i, float x) const { return Sum(Mul(*w[i], x)); }
  Floats Grad(size_t i) const {
    return w[i]->grad().defined() ? w[i]->grad().ToVector<float>() : Floats{};
  }
};

// A rank's part of samples that all ranks know.
Tensor PartOf(const Tensor& all, const comm::Communicator& c) {
  const int64_t n = all.size(0) / c.size();
  return Narrow(all, 0, c.rank() * n, n);
}

TEST(DataParallelTest, BeginsWithWhatRank0Has) {
  auto nets = Networks<Mlp>(3);
  for (auto& net : nets) {
    const NoGradScope no_grad;
    for (auto& [name, buffer] : net->named_buffers()) {
      if (IsFloating(buffer.dtype())) buffer.CopyFrom(Randn(buffer.shape()));
    }
  }
  ASSERT_FALSE(HaveSameState(nets));
  const Tensor first = nets[0]->fc1.weight().Clone();
  OnRanks(3, [&](const Rank& c) {
    const DataParallel parallel(*nets[static_cast<size_t>(c->rank())], c);
  });
  EXPECT_TRUE(HaveSameState(nets));
  EXPECT_TRUE(nets[0]->fc1.weight().Equals(first));
}

// Whole numbers and powers of two, of which no sum is rounded: each step is that of one network
// which sees all samples, to the bit.
TEST(DataParallelTest, StepsAsOneRankWithAllSamples) {
  struct Net : nn::Layer {
    nn::Linear& fc = Add<nn::Linear>("fc", {.in = 2, .out = 2});
    Net() {
      const NoGradScope no_grad;
      for (Tensor& p : parameters()) p.CopyFrom(Randint(-2, 3, p.shape()));
    }
    Tensor Forward(const Tensor& x) override { return fc(x); }
  };
  const Tensor x = Randint(-3, 4, {16, 2}).To(DType::kF32);
  const Tensor y = Randint(-3, 4, {16, 2}).To(DType::kF32);
  const auto train = [](Net& net, const Tensor& inputs, const Tensor& targets) {
    optim::Sgd sgd(net.named_parameters(), {.lr = 0.125, .momentum = 0.5});
    for (int step = 0; step < 3; ++step) {
      sgd.ZeroGrad();
      MseLoss(net(inputs), targets).Backward();
      sgd.Step();
    }
  };
  for (const int size : {1, 2, 4}) {
    auto nets = Networks<Net>(size + 1);
    Net& one = *nets.back();
    one.LoadStateDict(nets[0]->state_dict());
    train(one, x, y);
    OnRanks(size, [&](const Rank& c) {
      Net& net = *nets[static_cast<size_t>(c->rank())];
      const DataParallel parallel(net, c);
      train(net, PartOf(x, *c), PartOf(y, *c));
    });
    EXPECT_TRUE(HaveSameState(nets)) << size;
  }
}

// In f64: a gradient is a sum over samples of products, each of which is rounded less than 100
// times on its way through the network; 2^-53 each, of terms that are below 10.
TEST(DataParallelTest, GivesTheGradientOfAllSamples) {
  struct Net : nn::Layer {
    nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 5, .out = 7});
    nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 7, .out = 4});
    Net() { To(DType::kF64); }
    Tensor Forward(const Tensor& x) override { return fc2(Tanh(fc1(x))); }
  };
  const Tensor x = Randn({12, 5}).To(DType::kF64), target = Randint(0, 4, {12});
  for (const int size : {1, 2, 3, 4}) {
    auto nets = Networks<Net>(size + 1);
    Net& one = *nets.back();
    one.LoadStateDict(nets[0]->state_dict());
    CrossEntropy(one(x), target).Backward();
    OnRanks(size, [&](const Rank& c) {
      Net& net = *nets[static_cast<size_t>(c->rank())];
      const DataParallel parallel(net, c);
      CrossEntropy(net(PartOf(x, *c)), PartOf(target, *c)).Backward();
    });
    for (size_t i = 0; i < one.parameters().size(); ++i) {
      const Tensor off = Sub(one.parameters()[i].grad(), nets[0]->parameters()[i].grad());
      EXPECT_LE(Abs(off).Amax().Item(), 100 * 10 * 0x1p-53) << size << " ranks, parameter " << i;
    }
  }
}

TEST(DataParallelTest, GivesAllRanksTheSameBits) {
  for (const int size : {2, 3, 4}) {
    auto nets = Networks<Mlp>(size);
    const Tensor x = Randn({24, 6}), target = Randint(0, 3, {24});
    OnRanks(size, [&](const Rank& c) {
      Mlp& net = *nets[static_cast<size_t>(c->rank())];
      DataParallel parallel(net, c, {.bucket_bytes = 100, .first_bucket_bytes = 40});
      optim::Adam adam(net.named_parameters(), {.lr = 1e-2});
      for (int step = 0; step < 5; ++step) {
        adam.ZeroGrad();
        CrossEntropy(net(PartOf(x, *c)), PartOf(target, *c)).Backward();
        adam.Step();
      }
      parallel.BroadcastBuffers();  // each rank has its own running statistics
    });
    EXPECT_TRUE(HaveSameState(nets)) << size;
  }
}

TEST(DataParallelTest, AddsToGradAsOneRankDoes) {
  auto nets = Networks<Ways>(2);
  OnRanks(2, [&](const Rank& c) {
    Ways& net = *nets[static_cast<size_t>(c->rank())];
    const DataParallel parallel(net, c);
    for (int i = 0; i < 2; ++i) net.Way(0, c->rank() == 0 ? 1 : 3).Backward();
    EXPECT_EQ(net.Grad(0), (Floats{4, 4}));
    net.w[0]->ZeroGrad();
    net.Way(0, 5).Backward();
    EXPECT_EQ(net.Grad(0), (Floats{5, 5}));
  });
}

// Each step takes another way through the network, and so does each rank.
TEST(DataParallelTest, LetsRanksGoDifferentWays) {
  for (const int64_t bytes : {1, 1000}) {
    auto nets = Networks<Ways>(3);
    OnRanks(3, [&](const Rank& c) {
      Ways& net = *nets[static_cast<size_t>(c->rank())];
      const DataParallel parallel(net, c, {.bucket_bytes = bytes, .first_bucket_bytes = bytes});
      for (int step = 0; step < 6; ++step) {
        for (Tensor* w : net.w) w->ZeroGrad();
        // Rank 2 goes where rank 1 does, and one step the same way as rank 0.
        const auto way = static_cast<size_t>((c->rank() == 0 ? step : step / 2) % 3);
        net.Way(way, 3).Backward();
        Floats want(3, 0);
        for (const int rank : {0, 1, 2})
          want[static_cast<size_t>((rank == 0 ? step : step / 2) % 3)] += 1;
        for (size_t i = 0; i < 3; ++i) {
          EXPECT_EQ(net.Grad(i), want[i] == 0 ? Floats{} : Floats(2, want[i])) << step << " " << i;
        }
      }
    });
  }
}

TEST(DataParallelTest, LeavesAloneWhatNobodyReaches) {
  auto nets = Networks<Ways>(2);
  OnRanks(2, [&](const Rank& c) {
    Ways& net = *nets[static_cast<size_t>(c->rank())];
    const DataParallel parallel(net, c);
    net.w[1]->SetGrad(FromVector(Floats{7, 7}));
    net.Way(0, 3).Backward();
    EXPECT_EQ(net.Grad(1), (Floats{7, 7}));
    EXPECT_EQ(net.Grad(2), Floats{});
  });
}

TEST(DataParallelTest, KeepsGradientsOfPassesWithoutSynchronisation) {
  for (const int size : {1, 2}) {
    auto nets = Networks<Ways>(size);
    OnRanks(size, [&](const Rank& c) {
      Ways& net = *nets[static_cast<size_t>(c->rank())];
      DataParallel parallel(net, c);
      const float mine = c->rank() == 0 ? 1 : 3, mean = size == 1 ? 1 : 2;
      for (int round = 0; round < 2; ++round) {
        for (Tensor* w : net.w) w->ZeroGrad();
        {
          const auto no_sync = parallel.NoSync();
          net.Way(0, mine).Backward();
          Add(net.Way(0, mine), net.Way(1, mine)).Backward();
          EXPECT_EQ(net.Grad(0), Floats{});
        }
        net.Way(0, mine).Backward();  // not w1, whose gradient waits
        EXPECT_EQ(net.Grad(0), Floats(2, 3 * mean));
        EXPECT_EQ(net.Grad(1), Floats(2, mean));
        EXPECT_EQ(net.Grad(2), Floats{});
      }
      {
        const auto no_sync = parallel.NoSync();
        net.Way(2, 1).Backward();
      }
      parallel.DropLocalGradients();
      net.Way(1, mine).Backward();
      EXPECT_EQ(net.Grad(1), Floats(2, 2 * mean));
      EXPECT_EQ(net.Grad(2), Floats{});
    });
  }
}

// 3 samples, 1 and none: losses are means over them.
TEST(DataParallelTest, WeightsUnevenBatches) {
  const Tensor x = FromVector(Floats{1, 2, 6, 11});
  auto nets = Networks<Ways>(3);
  OnRanks(3, [&](const Rank& c) {
    Ways& net = *nets[static_cast<size_t>(c->rank())];
    DataParallel parallel(net, c);
    const auto loss = [&] {
      if (c->rank() == 2) return Sum(Mul(*net.w[0], std::nanf("")));
      return Mean(
          Mul(c->rank() == 0 ? Narrow(x, 0, 0, 3) : Narrow(x, 0, 3, 1), net.w[0]->Select(0, 0)));
    };
    const int samples[] = {3, 1, 0};
    parallel.SetWeight(samples[c->rank()]);
    loss().Backward();
    EXPECT_EQ(net.Grad(0)[0], 5);  // 20 / 4
    for (Tensor* w : net.w) w->ZeroGrad();
    net.Way(0, static_cast<float>(c->rank())).Backward();  // of the next pass alone
    EXPECT_EQ(net.Grad(0)[0], 1);
    for (Tensor* w : net.w) w->ZeroGrad();
    {
      const auto no_sync = parallel.NoSync();
      parallel.SetWeight(samples[c->rank()]);
      loss().Backward();
    }
    net.Way(0, 1).Backward();
    EXPECT_EQ(net.Grad(0)[0], 6);
  });
}

TEST(DataParallelTest, EvenWeightsAreNone) {
  auto nets = Networks<Ways>(3);
  OnRanks(3, [&](const Rank& c) {
    Ways& net = *nets[static_cast<size_t>(c->rank())];
    DataParallel parallel(net, c);
    const float mine = 0.1f * static_cast<float>(c->rank() + 1);
    net.Way(0, mine).Backward();
    parallel.SetWeight(7);
    net.Way(1, mine).Backward();
    EXPECT_EQ(net.Grad(0), net.Grad(1));
  });
}

TEST(DataParallelTest, CompressesToHalfTypes) {
  for (const DType to : {DType::kBF16, DType::kF16}) {
    auto nets = Networks<Ways>(2);
    OnRanks(2, [&](const Rank& c) {
      Ways& net = *nets[static_cast<size_t>(c->rank())];
      const DataParallel parallel(net, c, {.compression = to});
      const float mine = c->rank() == 0 ? 0.1f : 0.7f;
      net.Way(0, mine).Backward();
      const auto rounded = [&](float v) { return Full({}, v).To(to).Item<float>(); };
      EXPECT_EQ(net.Grad(0)[0], rounded((rounded(0.1f) + rounded(0.7f)) / 2));
      EXPECT_EQ(net.w[0]->grad().dtype(), DType::kF32);
      EXPECT_EQ(c->started.back(), "all_reduce of 6 u8 (max)");
    });
  }
}

TEST(DataParallelTest, TakesParametersOfSeveralTypes) {
  struct Net : nn::Module {
    Tensor& a = AddParameter("a", Ones({2}));
    Tensor& b = AddParameter("b", Ones({2}, DType::kF64));
    Tensor& c = AddParameter("c", Ones({2}, DType::kBF16));
    Tensor& d = AddParameter("d", Ones({0}));
  };
  auto nets = Networks<Net>(2);
  OnRanks(2, [&](const Rank& rank) {
    Net& net = *nets[static_cast<size_t>(rank->rank())];
    const DataParallel parallel(net, rank);
    const double x = rank->rank() == 0 ? 1 : 2;
    for (int step = 1; step <= 2; ++step) {
      Add(Add(Sum(Mul(net.a, x)), Sum(Mul(net.b, x))), Sum(Mul(net.c, x))).Backward();
      for (const Tensor& t : {net.a, net.b, net.c}) {
        EXPECT_EQ(t.grad().dtype(), t.dtype());
        EXPECT_EQ(t.grad().ToVector<float>(), Floats(2, 1.5f * static_cast<float>(step)));
      }
    }
  });
}

TEST(DataParallelTest, KnowsSharedAndFrozenParametersAndHooks) {
  struct Net : nn::Module {
    nn::Linear& a = Add<nn::Linear>("a", {.in = 2, .out = 2, .bias = false});
    nn::Linear& b = Add<nn::Linear>("b", {.in = 2, .out = 2, .bias = false});
    nn::Linear& frozen = Add<nn::Linear>("frozen", {.in = 2, .out = 2, .bias = false});
    Net() {
      ShareParameter("b.weight", a.weight());
      frozen.SetTrainable(false);
    }
    Tensor Forward(const Tensor& x) { return frozen(b(a(x))); }
  };
  auto nets = Networks<Net>(3);
  Net& one = *nets[2];
  one.LoadStateDict(nets[0]->state_dict());
  // Whole numbers, whose sums are exact.
  for (auto& net : nets) {
    const NoGradScope no_grad;
    for (Tensor& p : net->parameters()) p.CopyFrom(Reshape(Arange(4), {2, 2}));
    Tensor w = net->a.weight();
    RegisterHook(w, [](const Tensor& g) { return Mul(g, -2); });
  }
  const Tensor x = Reshape(Arange(8).To(DType::kF32), {4, 2});
  Mean(one.Forward(x)).Backward();
  OnRanks(2, [&](const Rank& c) {
    Net& net = *nets[static_cast<size_t>(c->rank())];
    const DataParallel parallel(net, c);
    Mean(net.Forward(PartOf(x, *c))).Backward();
    EXPECT_TRUE(net.a.weight().grad().Equals(one.a.weight().grad()));
    EXPECT_FALSE(net.frozen.weight().grad().defined());
    EXPECT_EQ(c->started.back(), "all_reduce of 2 u8 (max)");
  });
}

}  // namespace
}  // namespace firn
