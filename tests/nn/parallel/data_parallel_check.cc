// Started several times by a launcher of MPI: data_parallel_mpi_test.py.
//
//   data_parallel_check exact|train|frozen|dropout|differ|absent|throws
//
// Prints "rank R of N: " and a number made of all bits of the parameters, two
// masks of dropout, or the error.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/hooks.h"
#include "firn/nn/layers.h"
#include "firn/nn/parallel/data_parallel.h"
#include "firn/optim/optimizers.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using nn::parallel::DataParallel;

struct Net : nn::Layer {
  explicit Net(int64_t hidden = 8)
      : fc1(Add<nn::Linear>("fc1", {.in = 2, .out = hidden})),
        norm(Add<nn::BatchNorm1d>("norm", {.channels = hidden})),
        fc2(Add<nn::Linear>("fc2", {.in = hidden, .out = 3})) {}
  nn::Linear& fc1;
  nn::BatchNorm1d& norm;
  nn::Linear& fc2;
  Tensor Forward(const Tensor& x) override { return fc2(norm(Tanh(fc1(x)))); }
};

std::string BitsOf(const nn::Module& net) {
  uint64_t bits = 0;
  for (const Tensor& p : net.parameters()) {
    for (const float x : p.ToVector<float>()) {
      uint32_t word = 0;
      std::memcpy(&word, &x, 4);
      bits = (bits ^ word) * 0x9e3779b97f4a7c15u;
    }
  }
  return absl::StrCat("bits ", bits);
}

// Numbers whose sums are never rounded, so that any number of ranks gives the same.
std::string Exact(const std::shared_ptr<comm::Communicator>& world) {
  nn::Linear net({.in = 2, .out = 2});
  ManualSeed(7);
  const Tensor x = Randint(-3, 4, {12, 2}).To(DType::kF32);
  {
    const NoGradScope no_grad;
    for (Tensor& p : net.parameters()) {
      p.CopyFrom(Full(p.shape(), world->rank() + 1));  // rank 0's values count
    }
  }
  DataParallel parallel(net, world);
  optim::Sgd sgd(net.named_parameters(), {.lr = 0.0625});
  for (int step = 0; step < 2; ++step) {
    sgd.ZeroGrad();
    // 12 samples; of 2 ranks 3 and 9, of 3 ranks 2, 2 and 8: weights are 1/2, 3/2 and 2.
    const int64_t ranks = world->size(), rank = world->rank(), each = ranks == 2 ? 3 : 2;
    const Tensor mine = Slice(x, 0, each * rank, rank + 1 == ranks ? 12 : each * (rank + 1));
    parallel.SetWeight(mine.size(0));
    Mul(Sum(Square(net(mine))), 9.0 / static_cast<double>(4 * mine.size(0))).Backward();
    sgd.Step();
  }
  return BitsOf(net);
}

// `frozen`: from the second step on.
std::string Train(const std::shared_ptr<comm::Communicator>& world, bool frozen) {
  Net net;
  DataParallel parallel(net, world, {.bucket_bytes = 100, .first_bucket_bytes = 40});
  optim::Adam adam(net.named_parameters(), {.lr = 1e-2});
  const auto step = [&](const Tensor& x, const Tensor& target) {
    adam.ZeroGrad();
    const Tensor loss = CrossEntropy(net(x), target);
    loss.Backward();
    adam.Step();
    return loss;
  };
  std::optional<StaticGraph> graph;
  for (int i = 0; i < 20; ++i) {
    const Tensor x = Randn({16, 2}), target = Randint(0, 3, {16});
    if (graph) {
      (*graph)(x, target);
    } else if (frozen && i == 1) {
      graph = Freeze(step, x, target);
    } else {
      step(x, target);
    }
  }
  return BitsOf(net);
}

// Two masks; in between another network is made parallel.
std::string Dropouts(const std::shared_ptr<comm::Communicator>& world) {
  ManualSeed(5);
  const auto mask = [] {
    uint64_t bits = 0;
    for (const float x : Dropout(Ones({64}), 0.5).ToVector<float>()) bits = 2 * bits + (x > 0);
    return bits;
  };
  Net one, other;
  const DataParallel parallel(one, world);
  const uint64_t first = mask();
  const DataParallel second(other, world);
  return absl::StrCat(first, " ", mask());
}

std::string Run(std::string_view what, const std::shared_ptr<comm::Communicator>& world) {
  if (what == "exact") return Exact(world);
  if (what == "dropout") return Dropouts(world);
  if (what == "train" || what == "frozen") return Train(world, what == "frozen");
  Net net(what == "differ" ? 8 + world->rank() : 8);
  return testing::ErrorOf([&] {
    const DataParallel parallel(net, world);
    Tensor weight = net.fc1.weight();
    if (world->rank() == 1 && what == "absent") usleep(4'000'000);
    if (world->rank() == 1 && what == "throws") {
      RegisterHook(weight, [](const Tensor&) -> Tensor { throw std::runtime_error("no"); });
    }
    Sum(net(Randn({4, 2}))).Backward();
  });
}

}  // namespace
}  // namespace firn

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  try {
    const auto world =
        firn::Init(argc, argv, {.timeout = absl::Seconds(what == "absent" ? 1 : 30)});
    if (firn::Init().get() != world.get()) throw std::logic_error("there are two worlds");
    firn::ManualSeed(static_cast<uint64_t>(world->rank()) + 1);
    std::string said;
    try {
      said = firn::Run(what, world);
    } catch (const std::exception& e) {
      said = e.what();
    }
    std::printf("rank %d of %d: %s\n", world->rank(), world->size(), said.c_str());
    std::fflush(stdout);
    if (what == "absent" || what == "throws")
      usleep(3'000'000);  // a launcher ends all when one has
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
