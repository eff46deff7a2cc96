// Trains a small network and keeps checkpoints, so that it can be killed at any moment and started
// again: train_and_checkpoint FOLDER STEPS ordinary|frozen FINAL. Writes all it has after STEPS
// steps to the file FINAL.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/io/data/data_loader.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/schedule.h"
#include "firn/optim/scheduler.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"

namespace firn::io {
namespace {

struct Net : nn::Module {
  nn::Linear& in = Add<nn::Linear>("in", {.in = 8, .out = 64});
  nn::BatchNorm1d& norm = Add<nn::BatchNorm1d>("norm", {.channels = 64});
  nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.5});
  nn::Linear& out = Add<nn::Linear>("out", {.in = 64, .out = 1});
  Tensor Forward(const Tensor& x) { return out(drop(Relu(norm(in(x))))); }
};

// Adds random numbers, so that those that map() draws matter.
Sample Disturb(Sample batch, RandomGenerator& random) {
  batch.input = batch.input + Randn(batch.input.shape(), kDefaultFloat, {.generator = &random});
  return batch;
}

int Train(const std::string& folder, int64_t steps, bool frozen, const std::string& final_path) {
  Net net;
  optim::Adam adam(net.named_parameters(), {.lr = 1e-2});
  optim::Scheduler scheduler(adam, optim::StepLr({.interval = 20, .gamma = 0.9}));
  RandomGenerator fixed(5);
  const Tensor inputs = Randn({40, 8}, kDefaultFloat, {.generator = &fixed});
  DataLoader data(FromTensors(inputs, Sum(inputs, {1}, true)),
                  {.batch = 4, .shuffle = true, .seed = 3, .prefetch = 1, .map = Disturb});
  CheckpointValues values;
  values.Set("loss", 0.0);
  const CheckpointParts parts = {{"model", net},
                                 {"optimizer", adam},
                                 {"scheduler", scheduler},
                                 {"data", data},
                                 {"random", DefaultGenerator()},
                                 {"values", values}};
  CheckpointManager manager(folder, {.keep_last = 2, .keep_best = 1});
  int64_t step = 0;
  if (const auto loaded = manager.LoadLatest(parts)) step = loaded->info.step;

  const auto run = [&](const Tensor& x, const Tensor& y) {
    adam.ZeroGrad();
    const Tensor loss = Mean(Square(net.Forward(x) - y));
    loss.Backward();
    adam.Step();
    return loss;
  };
  std::optional<StaticGraph> graph;
  while (step < steps) {
    for (const auto& [x, y] : data) {
      Tensor loss;
      if (!frozen) {
        loss = run(x, y);
      } else if (graph.has_value()) {
        loss = (*graph)(x, y);
      } else {
        graph = Freeze(run, x, y);
        loss = graph->TakeFirst();
      }
      scheduler.Step();
      values.Set("loss", values.GetReal("loss") + loss.Item());
      ++step;
      if (step % 3 == 0) manager.Save(parts, {.step = step, .metric = loss.Item()});
      if (step == steps) break;
    }
  }
  manager.Wait();
  SaveCheckpoint(final_path, parts, {.step = step});
  return 0;
}

}  // namespace
}  // namespace firn::io

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    return firn::io::Train(argv[1], std::atoll(argv[2]), std::string(argv[3]) == "frozen", argv[4]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
