// Ranks whose batches differ in size train like one process that has all rows, even if the network
// exchanges something within a pass.
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/groups.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/parallel/data_parallel.h"
#include "firn/optim/optimizers.h"
#include "firn/tensor/operators.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/nn/parallel/on_ranks.h"

namespace firn {
namespace {

using nn::parallel::DataParallel;
using testing::ErrorOf;
using ::testing::MatchesRegex;
using testing::Networks;
using testing::NotingRank;
using testing::OnRanks;
using Rank = std::shared_ptr<NotingRank>;
using Sizes = std::vector<int64_t>;

// The error of f64 results from numbers below 10 by fewer than 1000 roundings, which layers
// multiply by numbers about 1: 1000 * 10 * 2^-53 is 1.1e-12.
constexpr double kBound = 1e-12;

struct Net : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 5, .out = 6});
  nn::BatchNorm1d& norm1 = Add<nn::BatchNorm1d>("norm1", {.channels = 6});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 6, .out = 6});
  nn::BatchNorm1d& norm2 = Add<nn::BatchNorm1d>("norm2", {.channels = 6});
  nn::Linear& fc3 = Add<nn::Linear>("fc3", {.in = 6, .out = 4});
  Net() { To(DType::kF64); }
  Tensor Forward(const Tensor& x) override { return fc3(Tanh(norm2(fc2(Tanh(norm1(fc1(x))))))); }
};

int64_t SumOf(const Sizes& sizes) {
  int64_t sum = 0;
  for (const int64_t n : sizes) sum += n;
  return sum;
}

// The rows of one rank, if each rank has this many.
Tensor RowsOf(const Tensor& all, const Sizes& sizes, int rank) {
  int64_t first = 0;
  for (int r = 0; r < rank; ++r) first += sizes[static_cast<size_t>(r)];
  return Narrow(all, 0, first, sizes[static_cast<size_t>(rank)]);
}

void ExpectNear(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const Tensor off = Abs(got.To(DType::kF64) - want.To(DType::kF64));
  EXPECT_LE(off.Amax().Item(), kBound) << what;
}

std::vector<Tensor> GradientsOf(const Net& net) {
  std::vector<Tensor> gradients;
  for (const Tensor& p : net.parameters()) gradients.push_back(p.grad().Clone());
  return gradients;
}

void ExpectGradients(const Net& net, const std::vector<Tensor>& want, const std::string& what) {
  const auto parameters = net.named_parameters();
  for (size_t i = 0; i < want.size(); ++i) {
    ExpectNear(parameters[i].tensor.grad(), want[i], what + parameters[i].name);
  }
}

TEST(UnevenBatchesTest, AreThoseOfOneProcess) {
  constexpr int kSteps = 3;
  for (const Sizes& sizes : {Sizes{5, 2}, Sizes{3, 0, 1}, Sizes{4, 9, 2, 2}, Sizes{3, 3}}) {
    const int ranks = static_cast<int>(sizes.size());
    const int64_t rows = SumOf(sizes);
    const Tensor x = Randn({kSteps, rows, 5}).To(DType::kF64) * 2 + 1;
    const Tensor target = Randint(0, 4, {kSteps, rows});
    auto nets = Networks<Net>(ranks + 1);
    Net& one = *nets.back();
    one.LoadStateDict(nets[0]->state_dict());
    std::vector<std::vector<Tensor>> expected;  // gradients of each step
    optim::Sgd alone(one.named_parameters(), {.lr = 0.1, .momentum = 0.5});
    for (int i = 0; i < kSteps; ++i) {
      alone.ZeroGrad();
      CrossEntropy(one(x.Select(0, i)), target.Select(0, i)).Backward();
      expected.push_back(GradientsOf(one));
      alone.Step();
    }
    OnRanks(ranks, [&](const Rank& c) {
      const comm::WorldScope world(*c);
      Net& net = *nets[static_cast<size_t>(c->rank())];
      nn::ConvertSyncBatchNorm(net);
      DataParallel parallel(net, c);
      optim::Sgd sgd(net.named_parameters(), {.lr = 0.1, .momentum = 0.5});
      for (int i = 0; i < kSteps; ++i) {
        sgd.ZeroGrad();
        parallel.SetWeight(sizes[static_cast<size_t>(c->rank())]);
        const Tensor mine = RowsOf(x.Select(0, i), sizes, c->rank());
        CrossEntropy(net(mine), RowsOf(target.Select(0, i), sizes, c->rank())).Backward();
        ExpectGradients(net, expected[static_cast<size_t>(i)], absl::StrCat("step ", i, " "));
        sgd.Step();
      }
    });
    for (int r = 0; r < ranks; ++r) {
      const StateDict got = nets[static_cast<size_t>(r)]->state_dict(), want = one.state_dict();
      for (const auto& [name, value] : want) ExpectNear(got[name], value, name);
    }
  }
}

// A step of several passes: each has its weight.
TEST(UnevenBatchesTest, AddUpWithoutSynchronisation) {
  const std::vector<Sizes> passes = {{5, 2}, {1, 6}, {4, 4}};
  const Tensor x = Randn({3, 8, 5}).To(DType::kF64), target = Randint(0, 4, {3, 8});
  auto nets = Networks<Net>(3);
  Net& one = *nets.back();
  one.LoadStateDict(nets[0]->state_dict());
  const auto rows = [&](const Tensor& t, size_t i) {
    return Narrow(t.Select(0, static_cast<int64_t>(i)), 0, 0, SumOf(passes[i]));
  };
  for (size_t i = 0; i < 3; ++i) CrossEntropy(one(rows(x, i)), rows(target, i)).Backward();
  const std::vector<Tensor> want = GradientsOf(one);
  OnRanks(2, [&](const Rank& c) {
    const comm::WorldScope world(*c);
    Net& net = *nets[static_cast<size_t>(c->rank())];
    nn::ConvertSyncBatchNorm(net);
    DataParallel parallel(net, c);
    const auto pass = [&](size_t i) {
      parallel.SetWeight(passes[i][static_cast<size_t>(c->rank())]);
      const Tensor mine = RowsOf(rows(x, i), passes[i], c->rank());
      CrossEntropy(net(mine), RowsOf(rows(target, i), passes[i], c->rank())).Backward();
    };
    {
      const auto wait = parallel.NoSync();
      pass(0);
      pass(1);
    }
    pass(2);
    ExpectGradients(net, want, "");
  });
}

struct Weight : nn::Module {
  Tensor& w = AddParameter("w", Ones({1}, DType::kF64));
};

// Two networks in one pass: weights of one hold for both, and two that differ are an error.
TEST(UnevenBatchesTest, OfTwoNetworksHaveOneWeight) {
  auto first = Networks<Weight>(2), second = Networks<Weight>(2);
  OnRanks(2, [&](const Rank& c) {
    Weight &a = *first[static_cast<size_t>(c->rank())],
           &b = *second[static_cast<size_t>(c->rank())];
    DataParallel of_a(a, c), of_b(b, c);
    const double mine = c->rank() == 0 ? 4 : 8;
    of_a.SetWeight(c->rank() == 0 ? 3 : 1);
    const auto both = [&] {
      const Tensor product = a.w * mine;
      Sum(product + b.w * mine).Backward();
    };
    both();
    EXPECT_EQ(a.w.grad().Item<double>(), 5);  // (3 * 4 + 8) / 4
    EXPECT_EQ(b.w.grad().Item<double>(), 5);
    Sum(a.w * mine).Backward();  // without
    EXPECT_EQ(a.w.grad().Item<double>(), 5 + 6);
    of_a.SetWeight(c->rank() == 0 ? 3 : 1);
    of_b.SetWeight(c->rank() == 0 ? 1 : 3);
    EXPECT_EQ(ErrorOf(both), c->rank() == 0
                                 ? "backward: listeners of one pass weigh it by 0.5 and by 1.5"
                                 : "backward: listeners of one pass weigh it by 1.5 and by 0.5");
  });
}

// On the third rank the two weights are equal: it learns of the others' error at once.
TEST(UnevenBatchesTest, OfTwoNetworksMayDifferOnSomeRanks) {
  auto first = Networks<Weight>(3), second = Networks<Weight>(3);
  OnRanks(3, [&](const Rank& c) {
    Weight &a = *first[static_cast<size_t>(c->rank())],
           &b = *second[static_cast<size_t>(c->rank())];
    DataParallel of_a(a, c), of_b(b, c);
    const int samples[] = {3, 1, 2};
    of_a.SetWeight(samples[c->rank()]);
    of_b.SetWeight(4 - samples[c->rank()]);
    EXPECT_THAT(
        ErrorOf([&] { Sum(a.w + b.w).Backward(); }),
        MatchesRegex(c->rank() == 2 ? "data_parallel: rank [01] gave up: its backward pass failed"
                                    : "backward: listeners of one pass weigh it by .*"));
    EXPECT_FALSE(a.w.grad().defined());
  });
}

// A rank without samples finds a NaN, and only one of two networks has weights.
TEST(UnevenBatchesTest, KeepANanOfNoSamplesFromBothNetworks) {
  auto first = Networks<Weight>(2), second = Networks<Weight>(2);
  OnRanks(2, [&](const Rank& c) {
    Weight &a = *first[static_cast<size_t>(c->rank())],
           &b = *second[static_cast<size_t>(c->rank())];
    DataParallel of_a(a, c), of_b(b, c);
    const double mine = c->rank() == 0 ? 4 : std::nan("");
    of_a.SetWeight(c->rank() == 0 ? 3 : 0);
    Sum(a.w * mine + b.w * mine).Backward();
    EXPECT_EQ(a.w.grad().Item<double>(), 4);
    EXPECT_EQ(b.w.grad().Item<double>(), 4);
  });
}

}  // namespace
}  // namespace firn
