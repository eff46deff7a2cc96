// Sharded optimizers on CUDA devices: ranks are threads, each with a device of a stand-in for CUDA,
// which a stand-in for NCCL connects.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/optim/sharded.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/device/comm/fake_nccl.h"
#include "tests/device/fake_cuda.h"
#include "tests/error_of.h"
#include "tests/on_cuda.h"
#include "tests/optim/by_name.h"
#include "tests/optim/on_ranks.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;

constexpr int kRanks = 2, kSteps = 4;

class ShardedCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::BuiltWithCuda()) GTEST_SKIP() << testing::kWithoutCuda;
  }

  FakeCuda cuda_{kRanks};
  const inner::internal::ScopedCudaApi scope_{cuda_};
  comm::FakeNccl nccl_{cuda_};
};

// Small whole numbers, whose means over two ranks are exact.
Tensor Numbers(const Shape& shape, int seed) {
  std::vector<float> x;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    x.push_back(
        std::round(8 * std::sin(1.7f * static_cast<float>(i * i + 1) + static_cast<float>(seed))));
  }
  return FromVector(x, shape);
}

// Shapes that two ranks cut evenly, and unevenly.
std::vector<NamedTensor> Parameters(Device device) {
  std::vector<NamedTensor> list = {{"weight", Numbers({16, 20}, 1)}, {"bias", Numbers({7}, 2)}};
  for (NamedTensor& p : list) p.tensor = p.tensor.To(device).Detach().SetRequiresGrad();
  return list;
}

// Rank -1 gives the mean of all.
void SetGradients(std::vector<NamedTensor>& params, int rank, int step) {
  for (size_t i = 0; i < params.size(); ++i) {
    Tensor& p = params[i].tensor;
    const auto of = [&](int r) {
      return Numbers(p.shape(), 31 * step + static_cast<int>(i) + 100 * r);
    };
    p.SetGrad((rank < 0 ? (of(0) + of(1)) / 2 : of(rank)).To(p.device()));
  }
}

void Steps(Optimizer& optimizer, std::vector<NamedTensor>& params, int rank, int first, int last) {
  for (int step = first; step < last; ++step) {
    if (step == 2) optimizer.SetLr(optimizer.lr() / 2);
    SetGradients(params, rank, step);
    optimizer.Step();
  }
}

StateDict OnCpu(const StateDict& state) {
  StateDict copies;
  for (const auto& [name, t] : state) copies.Insert(name, Clone(t.To(Device::Cpu())));
  return copies;
}

std::vector<Tensor> OnCpu(const std::vector<NamedTensor>& params) {
  std::vector<Tensor> copies;
  for (const NamedTensor& p : params) copies.push_back(p.tensor.Detach().To(Device::Cpu()));
  return copies;
}

TEST_F(ShardedCudaTest, StepsAreThoseOfTheOptimizerAloneToTheBit) {
  for (const char* name : {"sgd", "adam", "rmsprop"}) {
    std::vector<NamedTensor> alone = Parameters(Device::Cuda(0));
    const std::unique_ptr<Optimizer> optimizer = Make(name, alone);
    Steps(*optimizer, alone, -1, 0, kSteps);
    const StateDict want = OnCpu(optimizer->state_dict());
    const std::vector<Tensor> values = OnCpu(alone);
    for (const bool average : {true, false}) {
      ExpectNoErrors(ErrorsOfRanks(kRanks, [&](comm::Communicator& c) {
        const std::string where = absl::StrCat(name, ", rank ", c.rank());
        std::vector<NamedTensor> params = Parameters(Device::Cuda(c.rank()));
        ShardedOptimizer sharded(Make(name, params), c, {.average = average});
        Steps(sharded, params, average ? c.rank() : -1, 0, kSteps);
        for (size_t i = 0; i < params.size(); ++i) {
          EXPECT_TRUE(OnCpu(params)[i].Equals(values[i])) << where << " " << params[i].name;
        }
        ExpectEqual(OnCpu(sharded.state_dict()), want, where);
      }));
    }
  }
  EXPECT_GT(nccl_.queued(), 0);
  EXPECT_EQ(nccl_.aborted(), 0);
}

// A state goes on on the other device, and a step that is left out moves nothing.
TEST_F(ShardedCudaTest, GoesOnFromAStateOfTheCpu) {
  std::vector<NamedTensor> alone = Parameters(Device::Cuda(0));
  const std::unique_ptr<Optimizer> optimizer = Make("adam", alone);
  Steps(*optimizer, alone, -1, 0, 2);
  const StateDict half = OnCpu(optimizer->state_dict());
  const std::vector<Tensor> begin = OnCpu(alone);
  Steps(*optimizer, alone, -1, 2, kSteps);
  const std::vector<Tensor> end = OnCpu(alone);
  ExpectNoErrors(ErrorsOfRanks(kRanks, [&](comm::Communicator& c) {
    std::vector<NamedTensor> params = Parameters(Device::Cuda(c.rank()));
    {
      const NoGradScope no_grad;
      for (size_t i = 0; i < params.size(); ++i)
        params[i].tensor.CopyFrom(begin[i].To(params[i].tensor.device()));
    }
    ShardedOptimizer sharded(Make("adam", params), c);
    sharded.LoadStateDict(half);
    SetGradients(params, c.rank(), 2);
    sharded.Step(Full(Shape(), c.rank() == 1, DType::kBool).To(Device::Cuda(c.rank())));
    EXPECT_TRUE(OnCpu(params)[0].Equals(begin[0]));
    Steps(sharded, params, c.rank(), 2, kSteps);
    for (size_t i = 0; i < params.size(); ++i) {
      EXPECT_TRUE(OnCpu(params)[i].Equals(end[i])) << params[i].name;
    }
  }));
}

TEST_F(ShardedCudaTest, RefusesSeveralDevicesOnAllRanks) {
  ErrorsOfRanks(kRanks, [](comm::Communicator& c) {
    std::vector<NamedTensor> params = Parameters(Device::Cuda(c.rank()));
    if (c.rank() == 1) params[1].tensor = params[1].tensor.To(Device::Cuda(0)).Detach();
    EXPECT_EQ(ErrorOf([&] { ShardedOptimizer sharded(Make("sgd", params), c); }),
              "Sgd: rank 1: parameter bias is on cuda:0, others are on cuda:1: ranks exchange what "
              "is on one device");
    params = Parameters(c.rank() == 0 ? Device::Cpu() : Device::Cuda(1));
    EXPECT_THAT(ErrorOf([&] { ShardedOptimizer sharded(Make("sgd", params), c); }),
                ::testing::HasSubstr("on cuda:0"));
  });
}

}  // namespace
}  // namespace firn::optim
