// A whole network: LeNet learns digits, is converted to integers, and knows as many of them.

#include <gtest/gtest.h>

#include <string>

#include "examples/models.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/quantize.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/digits.h"
#include "firn/io/graph/graph_file.h"
#include "firn/optim/adam.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using Part = io::DigitsOptions::Part;

void Train(nn::Layer& net) {
  optim::Adam adam(net.parameters(), {.lr = 2e-3});
  io::DataLoader digits(io::Digits({.part = Part::kTrain}), {.batch = 50, .shuffle = true});
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (auto [images, labels] : digits) {
      adam.ZeroGrad();
      CrossEntropy(net(images), labels).Backward();
      adam.Step();
    }
  }
}

double Accuracy(const Tensor& scores, const Tensor& labels) {
  return Cast(Eq(Argmax(scores, 1), labels), DType::kF64).Mean().Item<double>();
}

TEST(QuantizedLenetTest, LosesAtMostHalfAPoint) {
  ManualSeed(1);
  examples::Lenet net;
  Train(net);
  net.Eval();
  const NoGradScope no_grad;
  const auto test = io::Digits({.part = Part::kTest});
  const io::Sample s = test->GetBatch(Arange(test->size()).ToVector<int64_t>());
  const io::Sample seen =
      io::Digits({.part = Part::kTrain})->GetBatch(Arange(test->size()).ToVector<int64_t>());
  const double floating = Accuracy(net(s.input), s.target);
  EXPECT_GT(floating, 0.93);
  const auto forward = [&](absl::Span<const Tensor> in) { return TensorList{net(in[0])}; };
  const Graph captured = Capture(forward, {&s.input, 1}).graph;
  for (const Calibration c : {Calibration::kMinMax, Calibration::kPercentile, Calibration::kMse}) {
    const absl::StatusOr<Graph> graph = Quantize(captured, {{seen.input}}, {.calibration = c});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(testing::CountOf(*graph, "int_conv2d"), 2);
    EXPECT_EQ(testing::CountOf(*graph, "int_matmul"), 2);
    StaticGraph integers = StaticGraph::Compile(*graph).value();
    const Tensor scores = integers(s.input);
    EXPECT_GE(Accuracy(scores, s.target), floating - 0.005) << static_cast<int>(c);
    // The graph from a file gives the same.
    const std::string path = ::testing::TempDir() + "/lenet_i8.firn";
    io::SaveGraph(path, *graph);
    EXPECT_TRUE(io::LoadGraph(path)(s.input).Equals(scores));
  }
}

}  // namespace
}  // namespace firn
