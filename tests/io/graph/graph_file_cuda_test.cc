// Graphs captured on one device, saved, and run on another.
#include <string>
#include <vector>

#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/on_cuda.h"

namespace firn::io {
namespace {

using ::testing::HasSubstr;

struct Mlp : nn::Module {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 6, .out = 8});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 8, .out = 3});
  Tensor Forward(const Tensor& x) { return fc2(Relu(fc1(x))); }
};

class GraphFileCudaTest : public testing::CudaTest {
 protected:
  // A training step, captured and saved on a device.
  std::string Saved(Device device, bool with_states = true) {
    ManualSeed(3);
    Mlp net;
    net.To(device);
    optim::Adam adam(net.parameters(), {.lr = 0.05});
    StaticGraph step = Freeze(
        [&](const Tensor& x, const Tensor& y) {
          adam.ZeroGrad();
          Tensor loss = CrossEntropy(net.Forward(x), y) + Ones({}, DType::kF32, device);
          loss.Backward();
          adam.Step();
          return loss;
        },
        images_.To(device), labels_.To(device));
    const std::string path = TempPath(device.is_cpu() ? "cpu.firn" : "cuda.firn");
    StateDict names = net.state_dict();
    const absl::Status saved =
        TrySaveGraph(path, step, {.names = names, .with_states = with_states});
    EXPECT_TRUE(saved.ok()) << saved;
    return path;
  }

  std::vector<double> Losses(const std::string& path, Device device) {
    absl::StatusOr<StaticGraph> step = TryLoadGraph(path, {.device = device});
    EXPECT_TRUE(step.ok()) << step.status();
    std::vector<double> losses;
    if (!step.ok()) return losses;
    for (int i = 0; i < 4; ++i) {
      const Tensor loss = (*step)(images_.To(device), labels_.To(device));
      EXPECT_EQ(loss.device(), device);
      losses.push_back(loss.Item());
    }
    return losses;
  }

  const Tensor images_ = Randn({16, 6}), labels_ = Randint(0, 3, {16});
};

TEST_F(GraphFileCudaTest, AStepGoesOnWhereItStoodOnAnyDevice) {
  for (const Device from : {Device::Cpu(), device_}) {
    const std::string path = Saved(from);
    const std::vector<double> here = Losses(path, Device::Cpu()), there = Losses(path, device_);
    ASSERT_EQ(here.size(), there.size());
    for (size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(here[i], there[i], 1e-4) << "step " << i;
    EXPECT_LT(there.back(), there.front());
  }
}

TEST_F(GraphFileCudaTest, StatesOfTheCallerMustBeOnTheDevice) {
  const std::string path = Saved(device_);
  Mlp here, there;
  there.To(device_);
  EXPECT_TRUE(TryLoadGraph(path, {.states = there.state_dict(), .device = device_}).ok());
  EXPECT_THAT(
      std::string(
          TryLoadGraph(path, {.states = here.state_dict(), .device = device_}).status().message()),
      HasSubstr("on cuda:0, the tensor given for it is f32"));
}

TEST_F(GraphFileCudaTest, AMissingDeviceIsNamed) {
  const std::string path = Saved(Device::Cpu());
  const absl::Status status = TryLoadGraph(path, {.device = Device::Cuda(99)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cuda:99"));
}

TEST_F(GraphFileCudaTest, TwoDevicesAreRefusedByName) {
  StaticGraph graph =
      Freeze([&](const Tensor& x) { return (x * 2.0).To(device_) * 3.0; }, Randn({4}));
  const absl::Status status = TrySaveGraph(TempPath("two.firn"), graph);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cpu and cuda:0"));
}

}  // namespace
}  // namespace firn::io
