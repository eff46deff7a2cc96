// A training run that may be killed at any moment: `resume FOLDER` trains for a while and keeps
// what it needs to go on in the folder; started again, it goes on where it was and ends with the
// same bits as a run that was never killed. (`Fit` does the same in one call.)

#include <cstdlib>
#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct Net : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.out = 64});
  nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.3});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.out = 10});
  Tensor Forward(const Tensor& x) override { return fc2(drop(Relu(fc1(Flatten(x, 1))))); }
};

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: resume FOLDER [EPOCHS]\n";
    return 2;
  }
  const int64_t epochs = argc > 2 ? std::atoll(argv[2]) : 20;
  Net net;
  optim::Adam adam(net.named_parameters(), {.lr = 3e-3});
  io::DataLoader train(io::Digits(), {.batch = 64, .shuffle = true, .seed = 1});
  optim::Scheduler schedule(adam, optim::CosineLr({.steps = epochs * train.size()}));

  // Whatever the next step depends on: parameters, the optimizer's averages, the place in the
  // schedule and in the data, and the random numbers of dropout.
  const io::CheckpointParts parts = {{"model", net},
                                     {"optimizer", adam},
                                     {"schedule", schedule},
                                     {"data", train},
                                     {"random", DefaultGenerator()}};
  io::CheckpointManager checkpoints(argv[1], {.keep_last = 2});
  int64_t step = 0;
  if (const auto found = checkpoints.LoadLatest(parts)) {
    step = found->info.step;
    std::cout << "went on after step " << step << "\n";
  }
  while (step < epochs * train.size()) {  // `train` begins with the rest of its epoch
    for (auto [images, labels] : train) {
      adam.ZeroGrad();
      CrossEntropy(net(images), labels).Backward();
      adam.Step();
      schedule.Step();
      if (++step % 10 == 0) checkpoints.Save(parts, {.step = step});  // in the background
    }
  }
  checkpoints.Wait();
  Tensor sum = 0;
  for (const Tensor& p : net.parameters()) sum = sum + Sum(Abs(p.Detach().To(DType::kF64)));
  std::cout.precision(17);
  std::cout << "after step " << step << ": sum of all parameters " << sum.Item() << "\n";
}
