// Mixed precision (P. Micikevicius et al., 2018): convolutions and products in bf16, sums, norms
// and parameters in f32. AutocastScope is all that changes; f16 needs a LossScaler besides.

#include <chrono>
#include <iostream>
#include <memory>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct Net : nn::Layer {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& norm1 = Add<nn::BatchNorm2d>("norm1", {.channels = 16});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.out = 32, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& norm2 = Add<nn::BatchNorm2d>("norm2", {.channels = 32});
  nn::Linear& head = Add<nn::Linear>("head", {.out = 10});

  Tensor Forward(const Tensor& x) override {
    const Tensor h = Relu(norm2(conv2(Relu(norm1(conv1(x))))));
    return head(Mean(h, {2, 3}));
  }
};

struct Training {
  double accuracy, seconds;
};

Training Train(DType dtype) {
  ManualSeed(1);
  Net net;
  optim::Adam adam(net.parameters(), {.lr = 5e-3});
  optim::LossScaler scaler;
  const auto precision = [&] {
    return dtype == DType::kF32 ? nullptr : std::make_unique<AutocastScope>(dtype);
  };
  io::DataLoader train(io::Digits({.part = io::DigitsOptions::Part::kTrain}),
                       {.batch = 64, .shuffle = true});
  constexpr int kEpochs = 10;
  optim::Scheduler schedule(adam, optim::CosineLr({.steps = kEpochs * train.size()}));
  const auto begin = std::chrono::steady_clock::now();
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (auto [images, labels] : train) {
      adam.ZeroGrad();
      Tensor loss;
      {
        const auto scope = precision();  // for the forward pass; backward uses the same types
        loss = CrossEntropy(net(images), labels);
      }
      if (dtype == DType::kF16) {
        scaler.Scale(loss).Backward();
        scaler.Step(adam);
        scaler.Update();
      } else {
        loss.Backward();
        adam.Step();
      }
      schedule.Step();
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const NoGradScope no_grad;
  net.Eval();
  const auto scope = precision();
  auto [images, labels] = io::Digits({.part = io::DigitsOptions::Part::kTest})
                              ->GetBatch(Arange(297).ToVector<int64_t>());
  const double right = Eq(Argmax(net(images), 1), labels).To(DType::kF32).Mean().Item();
  return {right, taken.count()};
}

int main() {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const Training t = Train(dtype);
    std::cout << dtype << ": test accuracy " << t.accuracy << " after " << t.seconds << " s\n";
  }
}
