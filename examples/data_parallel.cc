// Several processes train one network, each with its part of every batch:
//
//   mpirun -n 2 data_parallel
//
// Without mpirun one process trains alone, and gets the same result up to rounding. The lines that
// only several processes need are marked.

#include "firn/nn/parallel/data_parallel.h"  // several

#include <cstdlib>
#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct Net : nn::Layer {
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.in = 1, .out = 16, .kernel = 3, .padding = 1});
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 16 * 4 * 4, .out = 64});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 64, .out = 10});
  Tensor Forward(const Tensor& x) override {
    return fc2(Relu(fc1(Flatten(MaxPool2d(Relu(conv(x)), 2), 1))));
  }
};

int main(int argc, char** argv) {
  const int64_t epochs = argc > 1 ? std::atoll(argv[1]) : 10;
  const auto world = Init(argc, argv);  // several
  Net net;
  nn::parallel::DataParallel parallel(net, world);  // several
  optim::Adam adam(net.named_parameters(), {.lr = 3e-3});
  using Part = io::DigitsOptions::Part;
  io::DataLoader train(io::Digits({.part = Part::kTrain}),
                       {.batch = 60 / world->size(),  // of each
                        .shuffle = true,
                        .seed = 1,
                        .shard = {world->rank(), world->size()}});  // several
  io::DataLoader test(io::Digits({.part = Part::kTest}), {.batch = 500});
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (auto [images, labels] : train) {
      parallel.SetWeight(images.size(0));  // several
      adam.ZeroGrad();
      CrossEntropy(net(images), labels).Backward();
      adam.Step();
    }
  }
  Tensor sum = 0;
  for (const Tensor& p : net.parameters()) sum = sum + Sum(Abs(p.Detach().To(DType::kF64)));
  std::cout.precision(17);
  std::cout << "rank " << world->rank() << " of " << world->size()  // several
            << ": sum of all parameters " << sum.Item() << "\n";
  if (world->rank() != 0) return 0;  // several
  std::cout << "test accuracy " << Evaluate(net, test).metric << "\n";
}
