// Started several times by a launcher of MPI, and killed: fit_restart_test.py.
//
//   fit_restart_check FOLDER
//
// Trains with its checkpoints in FOLDER, tells its process number in FOLDER.RANK and prints "rank R
// of N: bits " and a number made of all bits of the parameters and of the optimizer's state.

#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <string>

#include "firn/firn.h"
#include "firn/nn/parallel/data_parallel.h"

namespace firn {
namespace {

struct Net : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 64, .out = 24});
  nn::BatchNorm1d& norm = Add<nn::BatchNorm1d>("norm", {.channels = 24});
  nn::Dropout& dropout = Add<nn::Dropout>("dropout", {.p = 0.25});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 24, .out = 10});
  Tensor Forward(const Tensor& x) override { return fc2(dropout(Relu(norm(fc1(Flatten(x, 1)))))); }
};

void Mix(const StateDict& state, uint64_t& bits) {
  for (const auto& [name, tensor] : state) {
    for (const double x : tensor.To(DType::kF64).ToVector<double>()) {
      bits = (bits ^ std::bit_cast<uint64_t>(x)) * 0x9e3779b97f4a7c15u;
    }
  }
}

void Train(const std::string& folder, const std::shared_ptr<comm::Communicator>& world) {
  Net net;
  nn::parallel::DataParallel parallel(net, world);
  ManualSeed(static_cast<uint64_t>(world->rank()) + 1);
  optim::Adam adam(net.named_parameters(), {.lr = 1e-3});
  io::DataLoader train(io::Subset(io::Digits({.part = io::DigitsOptions::Part::kTrain}), 0, 158),
                       {.batch = 16 / world->size(),
                        .shuffle = true,
                        .seed = 1,
                        .shard = {world->rank(), world->size()}});
  Fit(net, adam, train,
      {.epochs = 4,
       .folder = folder,
       .checkpoint_every = 2,
       .ranks = world.get(),
       .on_batch = [&](const io::Sample& batch) { parallel.SetWeight(batch.input.size(0)); },
       .progress = {.quiet = true}});
  uint64_t bits = 0;
  // Running statistics are each rank's own, and checkpoints have those of rank 0.
  if (world->rank() == 0) Mix(net.state_dict(), bits);
  for (const NamedTensor& p : net.named_parameters()) Mix({{p.name, p.tensor}}, bits);
  Mix(adam.state_dict(), bits);
  std::printf("rank %d of %d: bits %llu\n", world->rank(), world->size(),
              static_cast<unsigned long long>(bits));
}

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  try {
    const auto world = firn::Init(argc, argv);
    std::ofstream(folder + "." + std::to_string(world->rank())) << getpid() << std::endl;
    firn::Train(folder, world);
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
