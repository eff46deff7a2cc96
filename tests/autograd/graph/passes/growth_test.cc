// The time of a pass grows linearly with the graph even if one operation, or all modules, are
// connected with everything in it.

#include "tests/growth.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/passes/constant_states.h"
#include "firn/autograd/graph/passes/fold_constants.h"
#include "firn/autograd/graph/passes/schedule_updates.h"
#include "firn/device/parallel.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

using testing::kLinear;

Graph CaptureOnOnes(const std::function<Tensor(const Tensor& x)>& code) {
  const Tensor x = Ones({1, 1});
  return Capture([&](absl::Span<const Tensor> in) { return TensorList{code(in[0])}; }, {&x, 1})
      .graph;
}

// Measures the pass alone, on graphs of both sizes.
void ExpectLinear(absl::StatusOr<PassReport> (*pass)(Graph&), int n,
                  const std::function<Graph(int n)>& make) {
  SetNumThreads(1);
  const std::map<int, Graph> graphs = {{n, make(n)}, {4 * n, make(4 * n)}};
  const auto run = [&](int size) {
    Graph graph = graphs.at(size);
    ASSERT_TRUE(pass(graph).ok());
  };
  EXPECT_LT(testing::GrowthOf(run, n, kLinear), kLinear);
}

// Each of them was watched: it may be replaced while it is a state.
TEST(PassGrowthTest, ParametersOfManyModulesBecomeConstants) {
  ExpectLinear(ConstantStates, 1000, [](int n) {
    nn::Sequential net;
    for (int i = 0; i < n; ++i) net.Append<nn::Linear>({.in = 1, .out = 1});
    net.Eval();
    return CaptureOnOnes([&](const Tensor& x) { return net(x); });
  });
}

TEST(PassGrowthTest, ManyConstantsAreJoined) {
  ExpectLinear(FoldConstants, 8000, [](int n) {
    std::vector<Tensor> parts;
    for (int i = 0; i < n; ++i) parts.push_back(Ones({1}));
    Graph graph = CaptureOnOnes([&](const Tensor& x) { return x + Sum(Concat(parts)); });
    EXPECT_TRUE(ConstantStates(graph).ok());
    return graph;
  });
}

TEST(PassGrowthTest, OneUpdateOfManyParameters) {
  ExpectLinear(ScheduleUpdates, 8000, [](int n) {
    std::vector<Tensor> parameters;
    for (int i = 0; i < n; ++i) parameters.push_back(Ones({1}).SetRequiresGrad());
    optim::Sgd sgd(parameters, {.lr = 0.01, .momentum = 0.9});
    return CaptureOnOnes([&](const Tensor& x) {
      sgd.ZeroGrad();
      const Tensor loss = Sum(Concat(parameters)) * x;
      Sum(loss).Backward();
      sgd.Step();
      return loss;
    });
  });
}

}  // namespace
}  // namespace firn
