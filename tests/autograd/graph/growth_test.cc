// Capturing, compiling, running and printing take a time that grows with the graph, whatever its
// shape: chains, fans, many constants, states, gradients, results and views.

#include "tests/growth.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/dot.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/plan.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/parallel.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/index.h"
#include "firn/tensor/op.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/optimizer/update.h"

namespace firn {
namespace {

using testing::GrowthOf;
using testing::kLinear;
using Code = std::function<TensorList(const Tensor& x)>;

// Freezes, runs and prints the code.
void Use(const Code& code) {
  const Tensor x = Ones({2});
  StaticGraph graph = Freeze(code, x);
  const Tensor in[] = {x};
  graph.Call(in);
  graph.Call(in);
  EXPECT_FALSE(graph.captured().DebugString().empty());
  EXPECT_FALSE(DotText(graph.captured()).empty());
  EXPECT_FALSE(graph.Explain().empty());
}

void ExpectLinear(int n, const std::function<void(int n)>& run) {
  SetNumThreads(1);
  EXPECT_LT(GrowthOf(run, n, kLinear), kLinear);
}

TEST(GraphGrowthTest, AChainWithOneConstantAtEachStep) {
  ExpectLinear(8000, [](int n) {
    Use([n](const Tensor& x) {
      Tensor y = x;
      for (int i = 0; i < n; ++i) y = y + 1;
      return TensorList{y};
    });
  });
}

TEST(GraphGrowthTest, ManyDifferentConstants) {
  ExpectLinear(8000, [](int n) {
    Use([n](const Tensor& x) {
      Tensor y = x;
      for (int i = 0; i < n; ++i) y = y + 0.5 * i;
      return TensorList{y};
    });
  });
}

// Nearly each step looks for memory that the run gives up, and must not search the constants for
// it.
TEST(GraphGrowthTest, AChainOfLargeTensorsWithConstants) {
  const Tensor large = Ones({1 << 17});
  ExpectLinear(3000, [&large](int n) {
    Capture(
        [&large, n](absl::Span<const Tensor>) {
          Tensor y = large;
          for (int i = 0; i < n; ++i) y = y + 0.5 * i;
          return TensorList{y};
        },
        {});
  });
}

// The kept tensors are not searched again for each large tensor that is given up.
TEST(GraphGrowthTest, ManySmallResultsOfLargeTensors) {
  const Tensor large = Ones({1 << 13});  // small enough for caches that others use, too
  ExpectLinear(3000, [&large](int n) {
    Capture(
        [&large, n](absl::Span<const Tensor>) {
          TensorList results;
          for (int i = 0; i < n; ++i) results.push_back(Sum(large * 2));
          return results;
        },
        {});
  });
}

TEST(GraphGrowthTest, AFanThatIsJoined) {
  ExpectLinear(4000, [](int n) {
    Use([n](const Tensor& x) {
      std::vector<Tensor> parts;
      for (int i = 0; i < n; ++i) parts.push_back(Exp(x + i));
      return TensorList{Concat(parts)};
    });
  });
}

TEST(GraphGrowthTest, ManyResults) {
  ExpectLinear(4000, [](int n) {
    Use([n](const Tensor& x) {
      TensorList results;
      for (int i = 0; i < n; ++i) results.push_back(x + i);
      return results;
    });
  });
}

TEST(GraphGrowthTest, ManyViewsOfOneTensor) {
  const Tensor table = Ones({64000, 2});
  ExpectLinear(4000, [&](int n) {
    Use([&table, n](const Tensor& x) {
      Tensor y = x;
      for (int i = 0; i < n; ++i) y = y * table[i];
      return TensorList{y};
    });
  });
}

TEST(GraphGrowthTest, AStateThatIsChangedAndReadInALoop) {
  ExpectLinear(4000, [](int n) {
    Tensor state = Ones({2});
    const Tensor one = Ones({2});
    Use([&, n](const Tensor& x) {
      Tensor y = x;
      for (int i = 0; i < n; ++i) {
        Accumulate(state, one);
        y = y + Exp(state);
      }
      return TensorList{y};
    });
  });
}

// A training step; without ZeroGrad, so that it adds to what it finds.
TEST(GraphGrowthTest, ManyParametersAndTheirGradients) {
  for (const bool zero_grad : {true, false}) {
    ExpectLinear(2000, [zero_grad](int n) {
      std::vector<Tensor> parameters;
      for (int i = 0; i < n; ++i) parameters.push_back(Ones({2}).SetRequiresGrad());
      optim::Sgd sgd(parameters, {.lr = 0.01, .momentum = 0.9});
      Use([&](const Tensor& x) {
        if (zero_grad) sgd.ZeroGrad();
        Tensor sum = x;
        for (const Tensor& p : parameters) sum = sum + x * p;
        const Tensor loss = Sum(sum);
        loss.Backward();
        sgd.Step();
        return TensorList{loss};
      });
    });
  }
}

// The tensors have random sizes and live as those of a training step do: the backward pass reads
// them in turn.
TEST(GraphGrowthTest, PlansOfTrainingSteps) {
  ExpectLinear(2400, [](int n) {
    std::mt19937 random(1);
    std::vector<Lifetime> pieces;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t last = i < n / 2 ? n - i + static_cast<int64_t>(random() % 6) : i + 1;
      pieces.push_back({static_cast<int64_t>(random() % 100'000), i, last});
    }
    EXPECT_GT(PlanMemory(pieces).arena_bytes, 0);
  });
}

// The sizes are random, so that no order gives the least memory and all are tried.
TEST(GraphGrowthTest, PlansOfShortLives) {
  ExpectLinear(2000, [](int n) {
    std::mt19937 random(1);
    std::vector<Lifetime> pieces;
    for (int64_t i = 0; i < n; ++i) {
      pieces.push_back(
          {static_cast<int64_t>(random() % 100'000), i, i + static_cast<int64_t>(random() % 16)});
    }
    EXPECT_GT(PlanMemory(pieces).arena_bytes, 0);
  });
}

}  // namespace
}  // namespace firn
