// Clipping, loss scaling and steps that are left out see the numbers of all ranks, which are
// threads here.
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/optim/clip.h"
#include "firn/optim/loss_scaler.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/global_number.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Calls f(rank, global) on a thread for each rank.
void OnRanks(int size, const std::function<void(int, const GlobalNumber&)>& f) {
  testing::OnRanks(size, [&f](comm::Communicator& comm) { f(comm.rank(), OfAllRanks(comm)); });
}

Tensor WithGrad(const std::vector<float>& grad) {
  Tensor x = FromVector(grad).SetRequiresGrad();
  x.SetGrad(FromVector(grad));
  return x;
}

std::vector<double> GradOf(const Tensor& x) { return x.grad().ToVector<double>(); }

TEST(SeveralRanksTest, ClippingSeesTheNormOfAllRanks) {
  const std::vector<std::vector<float>> grads = {{3, -4}, {1e-3f, 2}, {}};
  for (const double p : {2.0, 1.0, 3.0, kInfinity}) {
    for (const double most : {1e-2, 2.0, 100.0, 0.0}) {
      std::vector<Tensor> whole = {WithGrad(grads[0]), WithGrad(grads[1])};
      const double want = ClipGradNorm(whole, most, p).Item();
      OnRanks(3, [&](int rank, const GlobalNumber& global) {
        std::vector<Tensor> own;  // none on the last rank
        if (rank < 2) own.push_back(WithGrad(grads[static_cast<size_t>(rank)]));
        // The norm of each rank is rounded to f32 once before the sum, and scaled gradients once.
        const double norm = ClipGradNorm(own, most, p, global).Item();
        EXPECT_NEAR(norm, want, 0x1p-22 * want) << "p " << p;
        for (size_t i = 0; i < own.size(); ++i) {
          const auto got = GradOf(own[i]), all = GradOf(whole[static_cast<size_t>(rank)]);
          for (size_t k = 0; k < got.size(); ++k) {
            EXPECT_NEAR(got[k], all[k], 0x1p-22 * std::abs(all[k])) << "p " << p << " " << most;
          }
        }
      });
    }
  }
}

TEST(SeveralRanksTest, ANormThatIsNoNumberOnOneRankIsNoneOnAll) {
  for (const double p : {2.0, kInfinity}) {
    OnRanks(2, [&](int rank, const GlobalNumber& global) {
      EXPECT_TRUE(std::isnan(ClipGradNorm({WithGrad({rank == 1 ? NAN : 1})}, 1, p, global).Item()));
      const float large = rank == 1 ? INFINITY : 1;
      EXPECT_EQ(ClipGradNorm({WithGrad({large})}, 1, p, global).Item(), kInfinity);
      EXPECT_EQ(ClipGradNorm({WithGrad({0})}, 1, p, global).Item(), 0);
    });
  }
}

TEST(SeveralRanksTest, NormsWhosePowersLeaveTheRangeDoNot) {
  OnRanks(2, [&](int, const GlobalNumber& global) {
    Tensor x = Full({1}, 1e200, DType::kF64).SetRequiresGrad();
    x.SetGrad(Full({1}, 1e200, DType::kF64));
    EXPECT_NEAR(ClipGradNorm({x}, 1, 2, global).Item() / 1e200, std::sqrt(2), 1e-14);
    EXPECT_NEAR(GradOf(x)[0], std::sqrt(0.5), 1e-14);
  });
}

TEST(SeveralRanksTest, WhatOneRankFindsAllLeaveTheirStepOutFor) {
  OnRanks(2, [&](int rank, const GlobalNumber& global) {
    Tensor x = FromVector<float>({1, 2}).SetRequiresGrad();
    Sgd sgd({x}, {.lr = 0.5});
    LossScaler scaler({.init_scale = 8, .global = global});
    scaler.LoadStateDict(scaler.state_dict());  // which leaves it
    const auto step = [&](double factor) {
      sgd.ZeroGrad();
      scaler.Scale(Sum(x * factor)).Backward();
      scaler.Step(sgd);
      const bool skipped = scaler.skipped();
      scaler.Update();
      return !skipped;
    };
    EXPECT_FALSE(step(rank == 1 ? INFINITY : 1));
    EXPECT_EQ(x.ToVector<float>(), (std::vector<float>{1, 2}));
    EXPECT_EQ(scaler.scale(), 4);
    EXPECT_TRUE(step(2));
    EXPECT_EQ(x.ToVector<float>(), (std::vector<float>{0, 1}));
  });
}

TEST(SeveralRanksTest, AStepIsLeftOutWhereOneRankSaysSo) {
  OnRanks(2, [&](int rank, const GlobalNumber& global) {
    Tensor x = WithGrad({1});
    Sgd sgd({x}, {.lr = 1});
    for (const bool skips : {true, false}) {
      sgd.Step(OnAnyRank(Full({}, skips && rank == 0, DType::kBool), global));
      EXPECT_EQ(x.Item(), skips ? 1 : 0);
    }
  });
  const Tensor flag = Full({}, true, DType::kBool);
  EXPECT_EQ(OnAnyRank(flag, {}).impl(), flag.impl()) << "nothing is computed for one rank";
}

TEST(SeveralRanksTest, NumbersKeepTheirKind) {
  OnRanks(3, [&](int rank, const GlobalNumber& global) {
    const Tensor n = global.sum(FromVector<int64_t>({rank, (int64_t{1} << 60) + rank}));
    EXPECT_EQ(n.ToVector<int64_t>(), (std::vector<int64_t>{3, 3 * (int64_t{1} << 60) + 3}));
    const Tensor x = global.largest(Full({2, 1}, -rank, DType::kF32));
    EXPECT_EQ(x.dtype(), DType::kF32);
    EXPECT_EQ(x.shape(), Shape({2, 1}));
    EXPECT_EQ(x.ToVector<float>(), (std::vector<float>{0, 0}));
  });
}

// A captured step agrees anew in each run if operations do that; other functions are refused.
TEST(SeveralRanksTest, CapturedStepsWantOperations) {
  Tensor x = WithGrad({1});
  Sgd sgd({x}, {.lr = 1});
  const auto step_with = [&](const GlobalNumber& global) {
    return [&, global](const Tensor& grad) {
      x.SetGrad(grad);
      const Tensor norm = ClipGradNorm({x}, 1, 2, global);
      sgd.Step(OnAnyRank(Full({}, false, DType::kBool), global));
      return norm;
    };
  };
  const auto ranks = comm::ThreadRanks(1);
  EXPECT_THAT(ErrorOf([&] { Freeze(step_with(OfAllRanks(*ranks[0])), FromVector<float>({3})); }),
              HasSubstr("of_all_ranks: cannot be captured"));
  // Stands for two ranks that have the same numbers.
  const GlobalNumber twice = {.sum = [](const Tensor& n) { return n + n; },
                              .largest = [](const Tensor& n) { return n + 0; }};
  StaticGraph graph = Freeze(step_with(twice), FromVector<float>({3}));
  const float before = x.ToVector<float>()[0];
  EXPECT_NEAR(graph(FromVector<float>({30})).Item(), 30 * std::sqrt(2), 1e-4);
  EXPECT_NEAR(before - x.ToVector<float>()[0], std::sqrt(0.5), 1e-6);
}

}  // namespace
}  // namespace firn::optim
