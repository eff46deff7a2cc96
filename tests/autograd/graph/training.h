#ifndef FIRN_TESTS_AUTOGRAD_GRAPH_TRAINING_H_
#define FIRN_TESTS_AUTOGRAD_GRAPH_TRAINING_H_

// Whole training steps, for tests that run them ordinarily and frozen.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/module.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/state_dict.h"

namespace firn::testing {

// Parameters, running statistics and random numbers: what a step may change.
// x: [n, 1, 8, 8]      y: [n, 5]
struct ConvNet : nn::Module {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.in = 1, .out = 16, .kernel = 5, .padding = 2});
  nn::BatchNorm2d& bn1 = Add<nn::BatchNorm2d>("bn1", {.channels = 16});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.in = 16, .out = 32, .kernel = 3, .padding = 1});
  nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.25});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 32 * 16, .out = 5});
  Tensor Forward(const Tensor& x) {
    const Tensor h = MaxPool2d(Relu(bn1(conv1(x))), 2);
    return fc(drop(Flatten(Relu(conv2(h)), 1)));
  }
};

// A batch for a classifier.
struct Batch {
  Tensor x, labels;
};

inline std::vector<Batch> Batches(int count, const Shape& shape, int64_t classes) {
  std::vector<Batch> batches;
  for (int i = 0; i < count; ++i) {
    batches.push_back({Randn(shape), Randint(0, classes, {shape[0]})});
  }
  return batches;
}

// A model and its optimizer, the same for every maker of one. Making one starts the random stream
// anew: the steps of two that draw numbers are compared by running one after the other.
template <class Net, class Optimizer>
struct Training {
  std::unique_ptr<Net> net;
  std::unique_ptr<Optimizer> optimizer;

  explicit Training(const typename Optimizer::Options& options, Device device = Device::Cpu()) {
    ManualSeed(7);
    net = std::make_unique<Net>();
    net->To(device);
    optimizer = std::make_unique<Optimizer>(net->parameters(), options);
  }
  Tensor Step(const Batch& batch) {
    optimizer->ZeroGrad();
    const Tensor loss = CrossEntropy(net->Forward(batch.x), batch.labels);
    loss.Backward();
    optimizer->Step();
    return loss;
  }
  // Both count as a step.
  Graph CapturedStep(const Batch& batch) {
    const Tensor in[] = {batch.x, batch.labels};
    const auto step = [this](absl::Span<const Tensor> given) {
      return TensorList{Step({given[0], given[1]})};
    };
    return Capture(step, in).graph;
  }
  StaticGraph FrozenStep(const Batch& batch, const CompileOptions& options = {}) {
    absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(CapturedStep(batch), options);
    RaiseIfError(graph.status(), "training");
    return *std::move(graph);
  }

  // Copies of all that steps change: "net.fc.weight", "optimizer.groups.0.lr", "random", ...
  StateDict State() const {
    StateDict state;
    for (const auto& [name, t] : net->state_dict()) state.Insert("net." + name, t.Clone());
    for (const auto& [name, t] : optimizer->state_dict()) {
      state.Insert("optimizer." + name, t.Clone());
    }
    state.Insert("random", DefaultGenerator().state().Clone());
    return state;
  }
};

// Whether two tensors have one shape and dtype, and the same bits.
inline void ExpectEqualStates(const StateDict& got, const StateDict& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, t] : want) {
    ASSERT_TRUE(got.Contains(name)) << name;
    EXPECT_TRUE(got[name].Equals(t)) << name;
    const std::vector<double> a = got[name].ToVector<double>(), b = t.ToVector<double>();
    const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
      return std::signbit(x) == std::signbit(y);  // 0 equals -0
    });
    EXPECT_TRUE(same) << name;
  }
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_AUTOGRAD_GRAPH_TRAINING_H_
