// Batch normalisation over ranks against that of one process with all their rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/module.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/rng.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;
using testing::OnRanks;

Tensor Drawn(const Shape& shape, uint64_t seed, DType dtype = DType::kF64) {
  RandomGenerator generator(seed);
  return Randn(shape, dtype, {.generator = &generator});
}

// The number of rows differs on all ranks, and is 0 on the second.
Shape ShapeOf(int rank, bool images) {
  const int64_t rows = rank == 1 ? 0 : 2 + 3 * rank;
  return images ? Shape({rows, 3, 4, 2}) : Shape({rows, 3});
}

// A layer after one step of training, and the gradients of a loss that weighs each element.
struct Result {
  Tensor y, dx, dweight, dbias, ddx;
};

Result Train(BatchNormBase& norm, const Tensor& x, const Tensor& weights) {
  Result r;
  const Tensor in = x.Detach().SetRequiresGrad();
  r.y = norm(in);
  const std::vector<Tensor> g =
      Grad({Sum(Square(r.y) * weights)}, {in, norm.weight(), norm.bias()}, {.create_graph = true});
  r.dx = g[0];
  r.dweight = g[1].Detach();
  r.dbias = g[2].Detach();
  r.ddx = Grad(Sum(Square(r.dx) * weights), in);
  r.dx = r.dx.Detach();
  r.y = r.y.Detach();
  return r;
}

// Only orders of summation differ: for n values the error is below n eps times the sum of their
// sizes, which are a few here, and derivatives multiply by 1 / sqrt(var), which is about 1.
void ExpectNear(const Tensor& got, const Tensor& want, int64_t values, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  if (got.num_elements() == 0) return;
  const double largest = std::max(1.0, Amax(Abs(want)).Item<double>());
  EXPECT_LE(Amax(Abs(got - want)).Item<double>(),
            16 * static_cast<double>(values) * 2.3e-16 * largest)
      << what;
}

TEST(SyncBatchNormTest, IsBatchNormOfAllRows) {
  for (const bool images : {false, true}) {
    for (int size = 1; size <= 4; ++size) {
      std::vector<Tensor> x, weights;
      for (int r = 0; r < size; ++r) {
        const auto seed = static_cast<uint64_t>(10 * r);
        x.push_back(Drawn(ShapeOf(r, images), seed + 1) * 2 + 30);
        weights.push_back(Drawn(ShapeOf(r, images), seed + 2));
      }
      SyncBatchNorm whole({.channels = 3, .activation = FusedActivation::kTanh});
      whole.To(DType::kF64);
      const Result want = Train(whole, Concat(x), Concat(weights));
      const int64_t values = want.y.num_elements() / 3;
      OnRanks(size, [&](comm::Communicator& ranks) {
        const auto r = static_cast<size_t>(ranks.rank());
        const std::string which = absl::StrCat("rank ", r, " of ", size);
        SyncBatchNorm part({.channels = 3, .activation = FusedActivation::kTanh});
        part.To(DType::kF64);
        const Result got = Train(part, x[r], weights[r]);
        int64_t first = 0;
        for (size_t i = 0; i < r; ++i) first += x[i].size(0);
        const auto rows = [&](const Tensor& t) { return Narrow(t, 0, first, x[r].size(0)); };
        ExpectNear(got.y, rows(want.y), values, which);
        ExpectNear(got.dx, rows(want.dx), values, which + ", dx");
        ExpectNear(got.ddx, rows(want.ddx), values, which + ", gradient of dx");
        ExpectNear(AllReduce(got.dweight), want.dweight, values, which + ", dweight");
        ExpectNear(AllReduce(got.dbias), want.dbias, values, which + ", dbias");
        ExpectNear(part.running_mean(), whole.running_mean(), values, which + ", mean");
        ExpectNear(part.running_var(), whole.running_var(), values, which + ", variance");
        const Tensor running = Concat({part.running_mean(), part.running_var()});
        EXPECT_TRUE(Broadcast(running).Equals(running)) << which;  // the same bits
      });
    }
  }
}

TEST(SyncBatchNormTest, HalfNumbersHaveStatisticsInF32) {
  const Tensor x = Drawn({8, 3}, 1, DType::kF32).To(DType::kF16);
  SyncBatchNorm whole({.channels = 3});
  const Tensor want = whole(x);
  OnRanks(2, [&](comm::Communicator& ranks) {
    SyncBatchNorm part({.channels = 3});
    const Tensor y = part(Contiguous(Narrow(x, 0, 4 * ranks.rank(), 4)));
    EXPECT_EQ(y.dtype(), DType::kF16);
    EXPECT_EQ(part.running_var().dtype(), DType::kF32);
    // Both round the same number, up to errors of f32, to f16: to neighbours at most.
    const Tensor off = Abs(AllGather(y).To(DType::kF32) - want.To(DType::kF32));
    EXPECT_LE(Amax(off).Item<float>(), 1.0f / 512);
  });
}

TEST(SyncBatchNormTest, EvaluationCallsNobody) {
  OnRanks(2, [](comm::Communicator& ranks) {
    BatchNorm1d norm({.channels = 3});
    norm.SyncOver(0);
    norm.Eval();
    if (ranks.rank() == 1) return;
    const Tensor x = Randn({5, 3});
    EXPECT_TRUE(norm(x).Equals(
        firn::BatchNorm(x, norm.running_mean(), norm.running_var(), norm.weight(), norm.bias())));
  });
}

struct Net : Module {
  Conv2d& conv = Add<Conv2d>("conv", {.in = 2, .out = 4, .kernel = 3});
  BatchNorm2d& norm = Add<BatchNorm2d>("norm", {.channels = 4});
  SyncBatchNorm& last = Add<SyncBatchNorm>("last", {.channels = 4});
  Tensor Forward(const Tensor& x) { return last(Relu(norm(conv(x)))); }
};

// Frozen steps are those of the program, to the bit.
TEST(SyncBatchNormTest, LayersThatAreThereAreConvertedAndFrozen) {
  OnRanks(3, [](comm::Communicator& ranks) {
    const auto pair = *ranks.Split(ranks.rank() == 2 ? 1 : 0, ranks.rank());
    const comm::Group group(*pair);
    struct Training {
      Net net;
      optim::Sgd sgd{net.parameters(), {.lr = 0.1}};
      explicit Training(int64_t number) {
        for (Tensor p : net.parameters()) {
          const NoGradScope no_grad;
          p.CopyFrom(Drawn(p.shape(), 3, DType::kF32) * 0.3);
        }
        EXPECT_FALSE(net.norm.group().has_value());
        EXPECT_EQ(ConvertSyncBatchNorm(net, number), 2);
        EXPECT_EQ(net.norm.group(), number);
        EXPECT_EQ(net.last.group(), number);
      }
      Tensor Step(const Tensor& x) {
        sgd.ZeroGrad();
        const Tensor loss = Mean(Square(net.Forward(x)) * x.size(0));
        loss.Backward();
        sgd.Step();
        return loss;
      }
    };
    Training plain(group.number()), frozen(group.number());
    const auto input = [&](int step) {
      return Drawn({4, 2, 6, 6}, static_cast<uint64_t>(10 * step + ranks.rank()), DType::kF32);
    };
    plain.Step(input(0));
    StaticGraph graph = Freeze([&](const Tensor& x) { return frozen.Step(x); }, input(0));
    for (int i = 1; i < 4; ++i) EXPECT_TRUE(graph(input(i)).Equals(plain.Step(input(i))));
    const StateDict got = frozen.net.state_dict(), want = plain.net.state_dict();
    for (const auto& [name, value] : want) EXPECT_TRUE(got[name].Equals(value)) << name;
  });
}

TEST(SyncBatchNormTest, SaysWhatDoesNotFit) {
  OnRanks(2, [](comm::Communicator&) {
    EXPECT_EQ(ErrorOf([] { firn::SyncBatchNorm(Ones({4}), {}, {}, {}, {}, {.training = true}); }),
              "sync_batch_norm: x must be [n, c, ...] of floating numbers, got f32 [4] on cpu");
    EXPECT_EQ(ErrorOf([] {
                firn::SyncBatchNorm(Ones({4, 3}), Ones({2}), {}, {}, {}, {.training = true});
              }),
              "sync_batch_norm: running_mean [2] does not fit the channels of x [4, 3]");
  });
}

}  // namespace
}  // namespace firn::nn
