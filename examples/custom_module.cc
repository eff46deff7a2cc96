// A module of one's own: a residual network with stochastic depth (G. Huang et al., 2016). In
// training each unit is skipped at random, so the network differs at every step; plain C++ decides,
// and the tape records what ran.

#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct StochasticResnet : nn::Module {
  nn::Conv2d& stem = Add<nn::Conv2d>("stem", {.out = 16, .kernel = 3, .padding = 1});
  nn::ModuleList<nn::ResUnit>& units = Add<nn::ModuleList<nn::ResUnit>>(
      "units", nn::ModuleList<nn::ResUnit>::Options(4, {.in = 16, .out = 16}));
  nn::Linear& head = Add<nn::Linear>("head", {.out = 10});
  double drop_probability = 0.2;

  Tensor Forward(const Tensor& x) {
    Tensor h = stem(x);
    for (nn::ResUnit& unit : units) {
      if (training() && Rand({}).Item() < drop_probability) continue;
      // After training every unit runs, with the weight that it had on average.
      h = training() ? unit(h) : h + (unit(h) - h) * (1 - drop_probability);
    }
    return head(Mean(h, {2, 3}));
  }
};

double Accuracy(StochasticResnet& net, io::DataLoader& data) {
  const NoGradScope no_grad;
  net.Eval();
  double right = 0;
  for (auto [images, labels] : data) {
    right += Eq(Argmax(net.Forward(images), 1), labels).To(DType::kF32).Sum().Item();
  }
  net.Train();
  return right / static_cast<double>(data.dataset().size());
}

int main() {
  StochasticResnet net;
  std::cout << net;  // sizes that are not given are found by the first batch
  optim::Adam adam(net.parameters(), {.lr = 3e-3});
  io::DataLoader train(io::Digits({.part = io::DigitsOptions::Part::kTrain}),
                       {.batch = 50, .shuffle = true});
  io::DataLoader test(io::Digits({.part = io::DigitsOptions::Part::kTest}), {.batch = 100});
  constexpr int kEpochs = 8;
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    adam.SetLr(3e-3 * (kEpochs + 1 - epoch) / kEpochs);  // the last steps are small
    double sum = 0;
    for (auto [images, labels] : train) {
      adam.ZeroGrad();
      Tensor loss = CrossEntropy(net.Forward(images), labels);
      loss.Backward();
      adam.Step();
      sum += loss.Item();
    }
    std::cout << "epoch " << epoch << ": loss " << sum / static_cast<double>(train.size())
              << ", test accuracy " << Accuracy(net, test) << "\n";
  }
}
