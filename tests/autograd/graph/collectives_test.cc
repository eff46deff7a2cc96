// Graphs with collective operations: runs give what the program gives, on several ranks, and calls
// that are on their way have their memory to themselves.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "firn/autograd/anomaly.h"
#include "firn/autograd/graph/evaluation.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/comm/started.h"
#include "firn/device/inner.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::OnRanks;
using testing::OpsOf;

// Another input on each rank.
Tensor InputOf(int rank, int step) {
  RandomGenerator generator(static_cast<uint64_t>(100 * step + rank));
  return Randn({64, 33}, DType::kF32, {.generator = &generator});
}

// Temporaries of the size of what is on its way, made between its start and its wait.
Tensor Overlapped(const Tensor& x) {
  const Tensor sum = x * 2;
  StartAllReduce(sum, comm::Reduction::kSum);
  Tensor other = Softmax(x, 1);
  for (int i = 0; i < 3; ++i) other = Softmax(Cumsum(other, 0), 1);
  WaitCollective(sum);
  return sum + other;
}

TEST(CollectivesTest, AGraphThatCallsOtherRanksHasNoReplicas) {
  OnRanks(2, [](comm::Communicator& ranks) {
    StaticGraph step = Freeze(Overlapped, InputOf(ranks.rank(), 0));
    EXPECT_THAT(ErrorOf([&] { (void)step.Replica(); }),
                ::testing::HasSubstr("is called by all ranks in one order"));
  });
}

TEST(CollectivesTest, StartsAndWaitsWhereTheProgramDoes) {
  for (int size = 1; size <= 4; ++size) {
    OnRanks(size, [](comm::Communicator& ranks) {
      StaticGraph step = Freeze(Overlapped, InputOf(ranks.rank(), 0));
      const std::string ops = OpsOf(step.graph());
      const size_t start = ops.find("start_collective"), wait = ops.find("wait_collective");
      EXPECT_LT(start, ops.find("softmax")) << ops;
      EXPECT_GT(wait, ops.rfind("softmax")) << ops;
      for (int i = 1; i < 9; ++i) {
        // In turns one rank and the other comes last, and moves the elements of both.
        if (i % ranks.size() == ranks.rank()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        const Tensor x = InputOf(ranks.rank(), i);
        EXPECT_TRUE(step(x).Equals(Overlapped(x))) << "step " << i;
      }
    });
  }
}

// Mean gradients of parameters that all ranks have, by operations that have gradients themselves.
struct Step {
  Tensor w = Ones({33, 7}).SetRequiresGrad();
  Tensor operator()(const Tensor& x) {
    w.ZeroGrad();
    const Tensor rows = AllGather(Tanh(Matmul(x, w)));
    const Tensor far = Broadcast(Mean(rows, {0}), {.root = 0});
    const Tensor most = AllReduce(Matmul(x, w), {.reduction = comm::Reduction::kMax});
    const Tensor part = ReduceScatter(Square(rows), {.reduction = comm::Reduction::kMean});
    const Tensor loss = Mean(part) + Sum(far * far) + Mean(most);
    loss.Backward();
    const NoGradScope no_grad;
    w -= AllReduce(w.grad(), {.reduction = comm::Reduction::kMean}) * 0.1;
    return AllReduce(loss, {.reduction = comm::Reduction::kMean});
  }
};

TEST(CollectivesTest, FrozenStepsGiveTheSameBits) {
  for (int size = 1; size <= 4; ++size) {
    OnRanks(size, [](comm::Communicator& ranks) {
      Step plain, traced;
      plain(InputOf(ranks.rank(), 0));
      StaticGraph step =
          Freeze([&](const Tensor& x) { return traced(x); }, InputOf(ranks.rank(), 0));
      for (int i = 1; i < 5; ++i) {
        const Tensor x = InputOf(ranks.rank(), i);
        EXPECT_TRUE(step(x).Equals(plain(x))) << "step " << i;
        EXPECT_TRUE(traced.w.Detach().Equals(plain.w.Detach())) << "step " << i;
      }
    });
  }
}

// A rank makes its call even if the call has no elements.
TEST(CollectivesTest, RunsCallThoseWithoutElements) {
  OnRanks(2, [](comm::Communicator& ranks) {
    const auto code = [](const Tensor& x) { return AllReduce(x); };
    StaticGraph step = Freeze(code, Ones({0, 3}));
    const std::string error = ErrorOf([&] {
      if (ranks.rank() == 0) {
        step(Ones({0, 3}));
      } else {
        AllReduce(Ones({4}));
      }
    });
    EXPECT_NE(error.find("all_reduce of 0 f32 (sum)"), std::string::npos) << error;
  });
}

// What is on its way when a step fails would be moved into memory that the next run uses.
TEST(CollectivesTest, ARunThatFailsWaitsForWhatItHasStarted) {
  OnRanks(2, [](comm::Communicator& ranks) {
    const Tensor table = Randn({5, 3}), good = Full({4}, 2, DType::kI64);
    const Tensor sum = Ones({8});
    const auto code = [&](const Tensor& rows) {
      StartAllReduce(sum, comm::Reduction::kSum);
      const Tensor chosen = IndexSelect(table, 0, rows);
      WaitCollective(sum);
      return chosen;
    };
    StaticGraph step = Freeze(code, good);
    EXPECT_TRUE(sum.Equals(Full({8}, 2)));
    const std::string error = ErrorOf([&] { step(Full({4}, 9, DType::kI64)); });
    EXPECT_NE(error.find("index_select"), std::string::npos) << error;
    EXPECT_NE(ErrorOf([&] { WaitCollective(sum); }), "");  // nothing is on its way
    EXPECT_TRUE(sum.Equals(Full({8}, 4)));
    step(good);
    EXPECT_TRUE(sum.Equals(Full({8}, 8)));
    (void)ranks;
  });
}

TEST(CollectivesTest, ACaptureThatThrowsWaitsBeforeItPutsBack) {
  OnRanks(2, [](comm::Communicator&) {
    const Tensor sum = Ones({8});
    const std::string error = ErrorOf([&] {
      Freeze(
          [&](const Tensor& x) {
            StartAllReduce(sum, comm::Reduction::kSum);
            return Reshape(x, {7, 7});
          },
          Ones({2}));
    });
    EXPECT_NE(error.find("reshape"), std::string::npos) << error;
    EXPECT_TRUE(sum.Equals(Ones({8})));
    StartAllReduce(sum, comm::Reduction::kSum);
    WaitCollective(sum);
    EXPECT_TRUE(sum.Equals(Full({8}, 2)));
  });
}

TEST(CollectivesTest, AStartWithoutItsWaitIsOverWhenTheRunIs) {
  OnRanks(2, [](comm::Communicator&) {
    const Tensor sum = Ones({8});
    const auto code = [&](const Tensor& x) {
      StartAllReduce(sum, comm::Reduction::kSum);
      return Exp(x);
    };
    StaticGraph step = Freeze(code, Ones({2}));
    EXPECT_TRUE(sum.Equals(Full({8}, 2)));
    step(Ones({2}));
    EXPECT_TRUE(sum.Equals(Full({8}, 4)));
    EXPECT_NE(ErrorOf([&] { WaitCollective(sum); }), "");
  });
}

// Temporaries that come later do not get the memory of one that is on its way.
TEST(CollectivesTest, WhatIsOnItsWayUntilTheEndKeepsItsMemory) {
  const auto rest = [](const Tensor& x) { return Softmax(Cumsum(Softmax(x, 1), 0), 1); };
  OnRanks(2, [&](comm::Communicator& ranks) {
    const auto code = [&](const Tensor& x) {
      const Tensor sum = x * 2;
      StartAllReduce(sum, comm::Reduction::kSum);
      return rest(x);
    };
    StaticGraph step = Freeze(code, InputOf(ranks.rank(), 0));
    for (int i = 1; i < 9; ++i) {
      const Tensor x = InputOf(ranks.rank(), i);
      EXPECT_TRUE(step(x).Equals(rest(x))) << i;
    }
  });
}

// The rank that comes last has all elements in its memory when the start returns.
TEST(CollectivesTest, AnomaliesOfOtherRanksAreFoundBehindTheWait) {
  OnRanks(2, [](comm::Communicator& ranks) {
    const Tensor x = Full({8}, ranks.rank() == 1 ? NAN : 1);
    const AnomalyScope anomaly;
    EXPECT_THAT(ErrorOf([&] {
                  StartAllReduce(x, comm::Reduction::kSum);
                  WaitCollective(x);
                }),
                ::testing::HasSubstr("wait_collective made 8 NaN"));
  });
}

TEST(CollectivesTest, EvaluationRefusesWhatCallsOtherRanks) {
  OnRanks(2, [](comm::Communicator& ranks) {
    StaticGraph step = Freeze(Overlapped, InputOf(ranks.rank(), 0));
    EXPECT_THAT(std::string(ToEvaluation(step.captured()).status().message()),
                ::testing::HasSubstr("capture in evaluation mode"));
  });
}

// The graph is not for other numbers of ranks, nor for groups that are gone.
TEST(CollectivesTest, ARunNamesAGroupThatIsNotWhatItWas) {
  const Tensor sum = Ones({4});
  const auto code = [&](const Tensor& x) {
    StartAllReduce(sum, comm::Reduction::kSum);
    WaitCollective(sum);
    return Exp(x);
  };
  StaticGraph step = Freeze(code, Ones({2}));  // one rank
  OnRanks(2, [&](comm::Communicator& ranks) {
    if (ranks.rank() != 0) return;
    EXPECT_EQ(ErrorOf([&] { step(Ones({2})); }),
              "graph: start_collective: group 0 had 1 ranks when this was captured and has "
              "2 now; capture again");
  });
}

}  // namespace
}  // namespace firn
