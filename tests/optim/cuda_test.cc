// Optimizers, clipping, loss scaling and averages on a CUDA device, beside the host: on the
// stand-in for one where there is no GPU. Kernels have their own test, tests/ops/cuda_test.cc.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/device/allocator.h"
#include "firn/device/context.h"
#include "firn/device/device.h"
#include "firn/optim/adam.h"
#include "firn/optim/clip.h"
#include "firn/optim/loss_scaler.h"
#include "firn/optim/registry.h"
#include "firn/optim/schedule.h"
#include "firn/optim/scheduler.h"
#include "firn/optim/sgd.h"
#include "firn/optim/weight_average.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/storage.h"
#include "firn/tensor/tensor.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/on_cuda.h"
#include "tests/optim/by_name.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;

// A leaf [2, 3] of its own.
Tensor Parameter(Device device) {
  return FromVector<float>({1, -2, 3, 4, 5, -6}, {2, 3}).To(device).Detach().SetRequiresGrad();
}

Tensor Gradient(int step, Device device) {
  const float s = static_cast<float>(step);
  return FromVector<float>({0.5f + s, -1, 2 - s, 0.25f, s - 1.5f, 1}, {2, 3}).To(device);
}

void Steps(Optimizer& optimizer, Tensor& x, int first, int count) {
  for (int step = first; step < first + count; ++step) {
    x.SetGrad(Gradient(step, x.device()));
    optimizer.Step();
  }
}

StateDict Copy(const StateDict& state) {
  StateDict copies;
  for (const auto& [name, t] : state) copies.Insert(name, Clone(t.To(Device::Cpu())));
  return copies;
}

void ExpectSame(const StateDict& got, const StateDict& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, t] : want) {
    EXPECT_TRUE(got[name].To(Device::Cpu()).Equals(t)) << name;
  }
}

void ExpectNear(const Tensor& got, const Tensor& want, const std::string& what = "") {
  const std::vector<double> a = got.ToVector<double>(), b = want.ToVector<double>();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-5 * std::fmax(1, std::abs(b[i]))) << what << " at " << i;
  }
}

class CudaOptimizerTest : public testing::CudaTest,
                          public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, CudaOptimizerTest, ::testing::ValuesIn(OptimizerNames()),
                         [](const auto& name) { return name.param; });

TEST_P(CudaOptimizerTest, StepsAndGoesOnFromAStateDictOfTheHost) {
  Tensor here = Parameter(Device::Cpu());
  const std::unique_ptr<Optimizer> host = Make(GetParam(), {{"w", here}});
  Steps(*host, here, 0, 2);
  const StateDict saved = Copy(host->state_dict());
  Tensor there = here.Detach().Clone().To(device_).Detach().SetRequiresGrad();
  const std::unique_ptr<Optimizer> optimizer = Make(GetParam(), {{"w", there}});
  for (int load = 0; load < 2; ++load) {  // the second one writes where the first one put it
    optimizer->LoadStateDict(saved);
    ExpectSame(optimizer->state_dict(), saved);
    for (const auto& [name, t] : optimizer->state_dict()) {
      if (name.starts_with("state.")) {
        EXPECT_EQ(t.device(), device_) << name;
      }
    }
  }
  Steps(*host, here, 2, 3);
  Steps(*optimizer, there, 2, 3);
  EXPECT_EQ(there.device(), device_);
  ExpectNear(there, here);
  const StateDict after = optimizer->state_dict();
  for (const auto& [name, t] : host->state_dict()) ExpectNear(after[name], t, name);
  // And back to the host, to the bit.
  const std::unique_ptr<Optimizer> back = Make(GetParam(), {{"w", Parameter(Device::Cpu())}});
  back->LoadStateDict(after);
  ExpectSame(back->state_dict(), Copy(after));
}

TEST_P(CudaOptimizerTest, StateFollowsItsParameter) {
  Tensor plain = Parameter(Device::Cpu()), moved = Parameter(Device::Cpu());
  const std::unique_ptr<Optimizer> stays = Make(GetParam(), {{"w", plain}});
  const std::unique_ptr<Optimizer> follows = Make(GetParam(), {{"w", moved}});
  Steps(*stays, plain, 0, 1);
  Steps(*follows, moved, 0, 1);
  // The same as Module::To does.
  const Tensor there = moved.Detach().To(device_);
  moved.ZeroGrad();
  moved.impl()->storage = there.impl()->storage;
  moved.impl()->data = there.impl()->data;
  moved.impl()->spec = there.spec();
  Steps(*stays, plain, 1, 2);
  Steps(*follows, moved, 1, 2);
  EXPECT_EQ(follows->state_dict()["state.w.step"].device(), device_);
  ExpectNear(moved, plain);
}

class CudaTrainingTest : public testing::CudaTest {};

// A load that runs out of the device's memory changes nothing.
TEST_F(CudaTrainingTest, ADeviceThatIsFullIsAnErrorOfTheLoad) {
  Tensor here = Parameter(Device::Cpu());
  Adam host({{"w", here}}, {.lr = 0.5});
  Steps(host, here, 0, 2);
  Adam adam({{"w", Parameter(device_)}});
  const StateDict before = Copy(adam.state_dict());
  Allocator& allocator = (*GetDeviceContext(device_))->allocator();
  allocator.SetLimit(0);
  EXPECT_NE(ErrorOf([&] { adam.LoadStateDict(host.state_dict()); }).find("cuda:0"),
            std::string::npos);
  allocator.SetLimit(std::nullopt);
  ExpectSame(adam.state_dict(), before);
  adam.LoadStateDict(host.state_dict());
  ExpectSame(adam.state_dict(), Copy(host.state_dict()));
}

TEST_F(CudaTrainingTest, SchedulesSetRatesThatStepsThereFollow) {
  Tensor here = Parameter(Device::Cpu()), there = Parameter(device_);
  Sgd host({here}, {.lr = 0.5}), sgd({there}, {.lr = 0.5});
  Scheduler of_host(host, StepLr({.interval = 1, .gamma = 0.5}));
  Scheduler scheduler(sgd, StepLr({.interval = 1, .gamma = 0.5}));
  for (int step = 0; step < 3; ++step) {
    Steps(host, here, step, 1);
    Steps(sgd, there, step, 1);
    of_host.Step();
    scheduler.Step();
  }
  EXPECT_EQ(sgd.lr(), 0.0625);
  ExpectNear(there, here);
}

TEST_F(CudaTrainingTest, ClipsGradientsThere) {
  const auto with_gradients = [](Device device) {
    std::vector<Tensor> parameters = {Parameter(device), Parameter(device)};
    for (int i = 0; i < 2; ++i) parameters[static_cast<size_t>(i)].SetGrad(Gradient(i, device));
    return parameters;
  };
  const std::vector<Tensor> here = with_gradients(Device::Cpu()), there = with_gradients(device_);
  const auto expect_same = [&] {
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(there[i].grad().device(), device_);
      ExpectNear(there[i].grad(), here[i].grad());
    }
  };
  const Tensor norm = ClipGradNorm(there, 2);
  EXPECT_EQ(norm.device(), device_);
  ExpectNear(norm, ClipGradNorm(here, 2));
  expect_same();
  ClipGradNormEach(there, 1);
  ClipGradNormEach(here, 1);
  expect_same();
  ClipGradValue(there, 0.25);
  ClipGradValue(here, 0.25);
  expect_same();
}

TEST_F(CudaTrainingTest, LossesAreScaledThere) {
  struct Run {
    Tensor x;
    Adam adam{{x}, {.lr = 0.125}};
    LossScaler scaler{{.init_scale = 8, .growth_interval = 2}};
    bool Step(double factor) {
      adam.ZeroGrad();
      scaler.Scale(Sum(Mul(Mul(x, x), factor))).Backward();
      scaler.Step(adam);
      scaler.Update();
      return !scaler.skipped();
    }
  } here{Parameter(Device::Cpu())}, there{Parameter(device_)};
  for (const double factor : {1.0, 0.5, double{INFINITY}, 2.0, double{NAN}, 1.0, 3.0, 0.25}) {
    const bool stepped = there.Step(factor);
    EXPECT_EQ(stepped, std::isfinite(factor));
    EXPECT_EQ(here.Step(factor), stepped);
    EXPECT_EQ(there.scaler.scale(), here.scaler.scale()) << factor;
    ExpectNear(there.x, here.x);
  }
  EXPECT_EQ(there.adam.state_dict()["state.0.step"].Item(), 6);
  const StateDict state = there.scaler.state_dict();
  EXPECT_EQ(state["scale"].device(), device_);
  LossScaler loaded({.init_scale = 2});
  loaded.LoadStateDict(state);
  EXPECT_EQ(loaded.scale(), here.scaler.scale());
}

TEST_F(CudaTrainingTest, AveragesWeightsThere) {
  Tensor here = Parameter(Device::Cpu()), there = Parameter(device_);
  WeightAverage host({{"w", here}}, {.decay = 0.75}), average({{"w", there}}, {.decay = 0.75});
  for (int step = 0; step < 3; ++step) {
    here.Detach().CopyFrom(Gradient(step, Device::Cpu()));
    there.Detach().CopyFrom(Gradient(step, device_));
    host.Update();
    average.Update();
  }
  EXPECT_EQ(average.state_dict()["average.w"].device(), device_);
  ExpectNear(average.state_dict()["average.w"], host.state_dict()["average.w"]);
  {
    const WeightAverage::Scope averaged(average), of_host(host);
    ExpectNear(there, here);
  }
  ExpectNear(there, Gradient(2, Device::Cpu()));
  WeightAverage loaded({{"w", Parameter(device_)}});
  loaded.LoadStateDict(host.state_dict());
  ExpectSame(loaded.state_dict(), Copy(host.state_dict()));
}

}  // namespace
}  // namespace firn::optim
