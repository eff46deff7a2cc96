// A network in integers, made in two ways. The first trains in f32, captures, and converts with the
// ranges of some batches. The second trains for some more steps with inputs and weights rounded as
// integers will be, and converts with the scales that this training found. Usage: quantize [EPOCHS]

#include "firn/autograd/graph/quantize.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "firn/autograd/graph/capture.h"
#include "firn/firn.h"
#include "firn/nn/quantized/qat.h"

using namespace firn;  // NOLINT: an example

// Two convolutions and two linear layers, made of the given ones: those of nn, or those for
// training with rounding, whose parameters have the same names.
template <class Conv, class Linear>
struct Net : nn::Layer {
  Conv& conv1 = Add<Conv>("conv1", {.in = 1, .out = 16, .kernel = 5, .padding = 2});
  nn::BatchNorm2d& norm1 = Add<nn::BatchNorm2d>("norm1", {.channels = 16});
  Conv& conv2 = Add<Conv>("conv2", {.in = 16, .out = 32, .kernel = 5, .padding = 2});
  nn::BatchNorm2d& norm2 = Add<nn::BatchNorm2d>("norm2", {.channels = 32});
  Linear& hidden = Add<Linear>("hidden", {.in = 128, .out = 128});
  Linear& head = Add<Linear>("head", {.in = 128, .out = 10});

 protected:
  Tensor Forward(const Tensor& x) override {
    Tensor h = MaxPool2d(Relu(norm1(conv1(x))), 2);
    h = MaxPool2d(Relu(norm2(conv2(h))), 2);
    return head(Relu(hidden(Flatten(h, 1))));
  }
};
using Plain = Net<nn::Conv2d, nn::Linear>;
using Rounded = Net<nn::quantized::QatConv2d, nn::quantized::QatLinear>;

void Train(nn::Layer& net, int epochs, double lr) {
  net.Train();
  optim::Adam adam(net.parameters(), {.lr = lr});
  io::DataLoader digits(io::Digits({.part = io::DigitsOptions::Part::kTrain}),
                        {.batch = 64, .shuffle = true});
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (auto [images, labels] : digits) {
      adam.ZeroGrad();
      CrossEntropy(net(images), labels).Backward();
      adam.Step();
    }
  }
  net.Eval();
}

struct Test {
  Tensor images, labels;
  double Accuracy(const Tensor& scores) const {
    return Eq(Argmax(scores, 1), labels).To(DType::kF32).Mean().Item();
  }
};

Graph GraphOf(nn::Layer& net, const Tensor& images) {
  const NoGradScope no_grad;
  const auto forward = [&](absl::Span<const Tensor> in) { return TensorList{net(in[0])}; };
  return Capture(forward, {&images, 1}).graph;
}

// The accuracy of a graph in integers. If the conversion failed, prints why and exits.
double AccuracyOf(const absl::StatusOr<Graph>& graph, const Test& test) {
  if (!graph.ok()) {
    std::cerr << graph.status() << "\n";
    std::exit(1);
  }
  return test.Accuracy(StaticGraph::Compile(*graph).value()(test.images));
}

int main(int argc, char** argv) {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 12;
  if (epochs < 1) {
    std::cerr << "usage: quantize [EPOCHS]\n";
    return 2;
  }
  ManualSeed(1);
  const auto digits = io::Digits({.part = io::DigitsOptions::Part::kTest});
  const io::Sample all = digits->GetBatch(Arange(digits->size()).ToVector<int64_t>());
  const Test test = {all.input, all.target};

  Plain net;
  Train(net, epochs, 2e-3);
  const Graph captured = GraphOf(net, test.images);
  std::cout << "f32: test accuracy "
            << test.Accuracy(StaticGraph::Compile(captured).value()(test.images)) << "\n";

  // Images of the training set, as many as the graph was captured for.
  const auto train = io::Digits({.part = io::DigitsOptions::Part::kTrain});
  const io::Sample some = train->GetBatch(Arange(digits->size()).ToVector<int64_t>());
  const TensorList batch = {some.input};
  const std::pair<const char*, Calibration> ways[] = {{"extremes", Calibration::kMinMax},
                                                      {"percentiles", Calibration::kPercentile},
                                                      {"least error", Calibration::kMse}};
  for (const auto& [name, calibration] : ways) {
    const auto graph = Quantize(captured, {batch}, {.calibration = calibration});
    std::cout << "i8, " << name << ": test accuracy " << AccuracyOf(graph, test) << "\n";
  }

  Rounded rounded;
  [[maybe_unused]] const auto report =  // all but the ranges of inputs
      rounded.LoadStateDict(net.state_dict(), {.strict = false});
  Train(rounded, 1, 2e-4);
  std::cout << "i8, trained for it: test accuracy "
            << AccuracyOf(Quantize(GraphOf(rounded, test.images), {}), test) << "\n";
}
