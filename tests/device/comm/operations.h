#ifndef FIRN_TESTS_DEVICE_COMM_OPERATIONS_H_
#define FIRN_TESTS_DEVICE_COMM_OPERATIONS_H_

// Collective operations of one rank of the world among others: on the tape, in a frozen graph, on
// their way and in a batch norm. tests/tensor/collective_test.cc tests more of them, on threads.

#include <gtest/gtest.h>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/inner.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/rng.h"

namespace firn::comm {

// The input of a rank in a step; no two are equal.
inline Tensor InputOf(int rank, int step) {
  RandomGenerator generator(static_cast<uint64_t>(100 * step + rank));
  return Randn({6, 5}, DType::kF32, {.generator = &generator});
}

// The numbers are small and whole: sums are exact in any order.
inline void CheckGradients(int rank, int size) {
  const Tensor x = Full({2, 3}, rank + 1).SetRequiresGrad();
  const int sum = size * (size + 1) / 2;
  const auto gradient = [&](const Tensor& y) { return Grad(Sum(y * (rank + 1)), x); };
  EXPECT_TRUE(AllReduce(x).Detach().Equals(Full({2, 3}, sum)));
  EXPECT_TRUE(gradient(AllReduce(x)).Equals(Full({2, 3}, sum)));
  EXPECT_TRUE(gradient(AllReduce(x, {.reduction = Reduction::kMax}))
                  .Equals(Full({2, 3}, rank + 1 == size ? sum : 0)));
  const Tensor all = AllGather(x);
  EXPECT_EQ(all.shape(), Shape({2 * size, 3}));
  EXPECT_TRUE(gradient(all).Equals(Full({2, 3}, sum)));
  const Tensor part = ReduceScatter(AllGather(x));
  EXPECT_TRUE(part.Detach().Equals(Full({2, 3}, size * (rank + 1))));
  EXPECT_TRUE(gradient(part).Equals(Full({2, 3}, size * (rank + 1))));
  const Tensor y = Broadcast(x, {.root = size - 1});
  EXPECT_TRUE(y.Detach().Equals(Full({2, 3}, size)));
  EXPECT_TRUE(gradient(y).Equals(Full({2, 3}, rank + 1 == size ? sum : 0)));
}

// A step whose gradients are on their way while others are computed, for the world's ranks.
inline Tensor TrainOnce(const Tensor& x, Tensor w) {
  w.ZeroGrad();
  const Tensor none;
  const Tensor h =
      SyncBatchNorm(Matmul(x, w), none, none, none, none, {.training = true}) * (Mean(w) + 1);
  Sum(Square(AllReduce(h, {.reduction = Reduction::kMean}))).Backward();
  const NoGradScope no_grad;
  const Tensor g = w.grad() * 1;
  StartAllReduce(g, Reduction::kMean);
  const Tensor loss = AllReduce(Mean(Square(h.Detach())));
  WaitCollective(g);
  w -= g * 0.1;
  return loss;
}

// Called by all ranks of the world.
inline void CheckOperations(Communicator& world) {
  CheckGradients(world.rank(), world.size());
  Tensor plain = Ones({5, 4}).SetRequiresGrad(), traced = Ones({5, 4}).SetRequiresGrad();
  TrainOnce(InputOf(world.rank(), 0), plain);
  StaticGraph step =
      Freeze([&](const Tensor& x) { return TrainOnce(x, traced); }, InputOf(world.rank(), 0));
  for (int i = 1; i < 5; ++i) {
    const Tensor x = InputOf(world.rank(), i);
    EXPECT_TRUE(step(x).Equals(TrainOnce(x, plain))) << "step " << i;
  }
  EXPECT_TRUE(traced.Detach().Equals(plain.Detach()));
  EXPECT_TRUE(Broadcast(plain.Detach()).Equals(plain.Detach()));  // alike on all ranks
}

}  // namespace firn::comm

#endif  // FIRN_TESTS_DEVICE_COMM_OPERATIONS_H_
