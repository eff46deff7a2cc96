// Which gradients are sent when, and the steps of optimizers with them.
#include <cmath>
#include <functional>

#include "firn/autograd/hooks.h"
#include "firn/nn/parallel/data_parallel.h"
#include "firn/optim/clip.h"
#include "firn/optim/loss_scaler.h"
#include "firn/optim/optimizers.h"
#include "firn/tensor/from.h"
#include "gtest/gtest.h"
#include "tests/nn/parallel/on_ranks.h"

namespace firn {
namespace {

using nn::parallel::DataParallel;
using testing::HaveSameState;
using testing::Networks;
using testing::NotingRank;
using testing::OnRanks;
using Rank = std::shared_ptr<NotingRank>;
using Texts = std::vector<std::string>;

// Parameters of 1, 2, 3, 4 and 5 elements, which the forward pass uses in this order.
struct Chain : nn::Module {
  std::vector<Tensor*> w;
  Chain() {
    for (int64_t i = 1; i <= 5; ++i) w.push_back(&AddParameter("w" + std::to_string(i), Ones({i})));
  }
  Tensor Loss(const std::vector<size_t>& order = {0, 1, 2, 3, 4}) const {
    Tensor y = 1;
    for (const size_t i : order) y = Mul(y, Sum(*w[i]));
    return y;
  }
};

Texts StartedBy(const Rank& c, const std::function<void()>& f) {
  c->started.clear();
  f();
  return c->started;
}

TEST(GradientBucketsTest, FillInTheOrderOfTheFirstPass) {
  auto nets = Networks<Chain>(2);
  OnRanks(2, [&](const Rank& c) {
    Chain& net = *nets[static_cast<size_t>(c->rank())];
    // 3 numbers in the first bucket, 7 in others.
    const DataParallel parallel(net, c, {.bucket_bytes = 28, .first_bucket_bytes = 12});
    // Rank 0 uses 3, 1, 2, 5, 4: w4 is final first. The order of rank 1 does not matter.
    const std::vector<size_t> order =
        c->rank() == 0 ? std::vector<size_t>{2, 0, 1, 4, 3} : std::vector<size_t>{0, 1, 2, 3, 4};
    // w4 alone, w5 with w2, w1 with w3.
    const Texts buckets = {"all_reduce of 4 f32 (mean)", "all_reduce of 7 f32 (mean)",
                           "all_reduce of 4 f32 (mean)", "all_reduce of 10 u8 (max)"};
    Texts first = {"broadcast of 5 i64 from rank 0"};
    first.insert(first.end(), buckets.begin(), buckets.end());
    EXPECT_EQ(StartedBy(c, [&] { net.Loss(order).Backward(); }), first);
    const size_t pass = c->memory.size() - 4;
    for (int step = 0; step < 3; ++step) {
      EXPECT_EQ(StartedBy(c, [&] { net.Loss(order).Backward(); }), buckets);
      // And in the same memory, but for w4, which is alone.
      for (size_t i = 1; i < 4; ++i) {
        EXPECT_EQ(c->memory[c->memory.size() - 4 + i], c->memory[pass + i]);
      }
    }
  });
}

// Gradients that lie column by column, of weights that do and of others.
TEST(GradientBucketsTest, TakeGradientsOfAnyLayout) {
  struct Turned : nn::Module {
    Tensor& rows = AddParameter("rows", Ones({3, 4}));
    Tensor& columns = AddParameter("columns", Ones({3, 4}).T());
  };
  auto nets = Networks<Turned>(2);
  OnRanks(2, [&](const Rank& c) {
    Turned& net = *nets[static_cast<size_t>(c->rank())];
    ASSERT_FALSE(net.columns.is_contiguous());
    // Each has its own bucket.
    const DataParallel parallel(net, c, {.bucket_bytes = 1, .first_bucket_bytes = 1});
    const Tensor factor = Reshape(Arange(0.f, 12.f, 1.f), {4, 3});
    for (int step = 1; step <= 3; ++step) {
      const Tensor own = Mul(factor, c->rank() + 1);
      Add(Sum(Mul(net.rows.T(), own)), Sum(Mul(net.columns, own))).Backward();
      EXPECT_TRUE(net.rows.grad().Equals(Mul(factor, 1.5 * step).T())) << step;
      EXPECT_TRUE(net.columns.grad().Equals(Mul(factor, 1.5 * step))) << step;
    }
  });
}

TEST(GradientBucketsTest, TravelWhileThePassGoesOn) {
  auto nets = Networks<Chain>(2);
  OnRanks(2, [&](const Rank& c) {
    Chain& net = *nets[static_cast<size_t>(c->rank())];
    const DataParallel parallel(net, c, {.bucket_bytes = 20, .first_bucket_bytes = 20});
    net.Loss().Backward();
    std::vector<size_t> started;  // when the gradients of w5, w3 and w1 are found
    for (const size_t i : {4, 2, 0}) {
      RegisterHook(*net.w[i], [&](const Tensor&) {
        started.push_back(c->started.size());
        return Tensor();
      });
    }
    c->started.clear();
    net.Loss().Backward();
    EXPECT_EQ(started, (std::vector<size_t>{0, 2, 3}));  // w5, w4, w3 with w2
    EXPECT_EQ(c->started.size(), 5u);                    // w1, and who has found what
  });
}

TEST(GradientBucketsTest, AreTheGradientOfAParameterAlone) {
  auto nets = Networks<Chain>(2);
  OnRanks(2, [&](const Rank& c) {
    Chain& net = *nets[static_cast<size_t>(c->rank())];
    const DataParallel parallel(net, c, {.bucket_bytes = 1, .first_bucket_bytes = 1});
    for (int step = 0; step < 2; ++step) {
      for (Tensor* w : net.w) w->ZeroGrad();
      net.Loss().Backward();
      // From w5 to w1, then who has found what.
      for (size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(c->memory[c->memory.size() - 2 - i], net.w[i]->grad().host_view<float>().data());
      }
    }
  });
}

TEST(GradientBucketsTest, OneRankStartsNothing) {
  auto nets = Networks<Chain>(1);
  OnRanks(1, [&](const Rank& c) {
    const DataParallel parallel(*nets[0], c);
    EXPECT_EQ(StartedBy(c, [&] { nets[0]->Loss().Backward(); }), Texts());
    EXPECT_TRUE(nets[0]->w[0]->grad().defined());
  });
}

struct Net : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 3, .out = 5});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 5, .out = 2});
  Tensor Forward(const Tensor& x) override { return fc2(Tanh(fc1(x))); }
};

// Each rank has other samples, and so another norm of its own.
TEST(GradientBucketsTest, ClippingAndScalersDoTheSameOnAllRanks) {
  constexpr int kRanks = 3;
  auto nets = Networks<Net>(kRanks);
  std::vector<double> norms[kRanks], scales[kRanks];
  std::vector<bool> skipped[kRanks];
  const Tensor x = Randn({kRanks, 4, 3}), target = Randint(0, 2, {kRanks, 4});
  OnRanks(kRanks, [&](const Rank& c) {
    const auto rank = static_cast<size_t>(c->rank());
    Net& net = *nets[rank];
    const DataParallel parallel(net, c, {.bucket_bytes = 30, .first_bucket_bytes = 30});
    optim::Adam adam(net.named_parameters(), {.lr = 1e-2});
    optim::LossScaler scaler;
    for (int step = 0; step < 4; ++step) {
      adam.ZeroGrad();
      Tensor loss = CrossEntropy(net(x.Select(0, c->rank())), target.Select(0, c->rank()));
      if (step == 2 && rank == 1) loss = Mul(loss, HUGE_VAL);  // on this rank alone
      scaler.Scale(loss).Backward();
      scaler.Unscale(adam);
      norms[rank].push_back(optim::ClipGradNorm(net.parameters(), 0.1).Item());
      scaler.Step(adam);
      scaler.Update();
      scales[rank].push_back(scaler.scale());
      skipped[rank].push_back(scaler.skipped());
    }
  });
  EXPECT_TRUE(HaveSameState(nets));
  EXPECT_EQ(skipped[0], (std::vector<bool>{false, false, true, false}));
  for (int rank = 1; rank < kRanks; ++rank) {
    EXPECT_EQ(skipped[rank], skipped[0]);
    EXPECT_EQ(scales[rank], scales[0]);
    for (const size_t step : {0, 1, 3}) EXPECT_EQ(norms[rank][step], norms[0][step]);
  }
}

}  // namespace
}  // namespace firn
