// Networks on CUDA devices: ranks are threads, each with a device of a stand-in for CUDA, which a
// stand-in for NCCL connects.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/nn/parallel/data_parallel.h"
#include "firn/optim/optimizers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/device/comm/fake_nccl.h"
#include "tests/device/fake_cuda.h"
#include "tests/error_of.h"
#include "tests/nn/parallel/on_ranks.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

using nn::parallel::DataParallel;
using nn::parallel::DataParallelOptions;
using testing::NotingRank;
using testing::OnRanks;
using Rank = std::shared_ptr<NotingRank>;

constexpr int kRanks = 2, kSteps = 5;

struct Mlp : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 6, .out = 8});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 8, .out = 3});
  Tensor Forward(const Tensor& x) override { return fc2(Tanh(fc1(x))); }
};

struct Result {
  std::vector<Tensor> parameters = {};  // on the CPU
};

Result Train(Mlp& net, const Rank& c, const Tensor& x, const Tensor& target, Device device,
             bool frozen, const DataParallelOptions& options) {
  net.To(device);
  const DataParallel parallel(net, c, options);
  optim::Adam adam(net.named_parameters(), {.lr = 1e-2});
  const auto step = [&](const Tensor& inputs, const Tensor& labels) {
    adam.ZeroGrad();
    const Tensor loss = CrossEntropy(net(inputs), labels);
    loss.Backward();
    adam.Step();
    return loss;
  };
  const auto x_of = [&](int i) { return x.Select(0, i).Select(0, c->rank()).To(device); };
  const auto target_of = [&](int i) { return target.Select(0, i).Select(0, c->rank()).To(device); };
  step(x_of(0), target_of(0));
  Result result;
  if (frozen) {
    StaticGraph graph = Freeze(step, x_of(1), target_of(1));
    for (int i = 2; i < kSteps; ++i) graph(x_of(i), target_of(i));
    EXPECT_EQ(graph.device_graph_runs(), 0) << graph.Explain();
  } else {
    for (int i = 1; i < kSteps; ++i) step(x_of(i), target_of(i));
  }
  for (const Tensor& p : net.parameters())
    result.parameters.push_back(p.Detach().To(Device::Cpu()));
  return result;
}

// The parameters of each rank at the end.
std::vector<Result> TrainAll(bool cuda, bool frozen, const DataParallelOptions& options) {
  ManualSeed(3);
  const Tensor x = Randn({kSteps, kRanks, 4, 6}), target = Randint(0, 3, {kSteps, kRanks, 4});
  Mlp nets[kRanks];
  std::vector<Result> results(kRanks);
  OnRanks(kRanks, [&](const Rank& c) {
    const auto at = static_cast<size_t>(c->rank());
    try {
      results[at] = Train(nets[at], c, x, target, cuda ? Device::Cuda(c->rank()) : Device::Cpu(),
                          frozen, options);
    } catch (const Error& e) {
      ADD_FAILURE() << "rank " << at << ": " << e.what();
      c->Abort(e.what());
    }
  });
  for (Mlp& net : nets) net.To(Device::Cpu());  // while there is a device
  return results;
}

class DataParallelCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::BuiltWithCuda()) GTEST_SKIP() << testing::kWithoutCuda;
  }

  FakeCuda cuda_{kRanks};
  const internal::ScopedCudaApi scope_{cuda_};
  comm::FakeNccl nccl_{cuda_};
};

bool Same(const Result& a, const Result& b) {
  for (size_t i = 0; i < a.parameters.size(); ++i) {
    if (!a.parameters[i].Equals(b.parameters[i])) return false;
  }
  return a.parameters.size() == b.parameters.size() && !a.parameters.empty();
}

TEST_F(DataParallelCudaTest, TrainsAsTheCpuDoes) {
  for (const DataParallelOptions& options :
       {DataParallelOptions{}, DataParallelOptions{.bucket_bytes = 40, .first_bucket_bytes = 1}}) {
    const std::vector<Result> here = TrainAll(false, false, options),
                              there = TrainAll(true, false, options);
    EXPECT_TRUE(Same(there[0], there[1]));
    ASSERT_EQ(there[0].parameters.size(), here[0].parameters.size());
    for (size_t i = 0; i < here[0].parameters.size(); ++i) {
      EXPECT_TRUE(
          Allclose(there[0].parameters[i], here[0].parameters[i], {.rtol = 1e-4, .atol = 1e-5}));
    }
  }
  EXPECT_GT(nccl_.queued(), 0);
  EXPECT_EQ(nccl_.aborted(), 0);
}

// Their steps are queued one by one.
TEST_F(DataParallelCudaTest, FrozenStepsGiveTheSameBits) {
  const DataParallelOptions options = {.bucket_bytes = 40, .first_bucket_bytes = 1};
  const std::vector<Result> eager = TrainAll(true, false, options),
                            frozen = TrainAll(true, true, options);
  EXPECT_TRUE(Same(eager[0], frozen[0]));
  EXPECT_TRUE(Same(frozen[0], frozen[1]));
}

TEST_F(DataParallelCudaTest, RefusesNetworksOnSeveralDevices) {
  OnRanks(kRanks, [](const Rank& c) {
    Mlp net;
    net.fc2.To(Device::Cuda(c->rank()));
    const std::string error = testing::ErrorOf([&] { DataParallel parallel(net, c); });
    EXPECT_THAT(error, ::testing::HasSubstr("others are on cpu"));
  });
}

}  // namespace
}  // namespace firn
