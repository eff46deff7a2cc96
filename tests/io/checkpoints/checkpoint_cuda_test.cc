// Checkpoints of training on a device, on the stand-in for one where there is no GPU.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "firn/device/device.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/on_cuda.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;

// A network and its optimizer, which made steps on the host and moved to a device then.
struct Training {
  nn::Linear net{{.in = 4, .out = 3}};
  optim::Adam adam{net.named_parameters(), {.lr = 0.125}};

  explicit Training(double weight) {
    net.weight().Detach().CopyFrom(Full({3, 4}, weight));
    for (int step = 0; step < 2; ++step) {
      adam.ZeroGrad();
      Sum(Square(net(Ones({2, 4})))).Backward();
      adam.Step();
    }
    adam.ZeroGrad();
  }
  // The state of parameters that moved follows with the next step or load.
  void To(Device device) {
    const StateDict state = adam.state_dict();
    net.To(device);
    adam.LoadStateDict(state);
  }
  CheckpointParts Parts() { return {{"model", net}, {"optimizer", adam}}; }
  StateDict State() const {
    StateDict all;
    for (const auto& [name, t] : net.state_dict()) {
      all.Insert("model." + name, t.Detach().To(Device::Cpu()).Clone());
    }
    for (const auto& [name, t] : adam.state_dict()) {
      all.Insert("optimizer." + name, t.To(Device::Cpu()).Clone());
    }
    return all;
  }
};

void ExpectSame(const StateDict& got, const StateDict& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, t] : want) EXPECT_TRUE(got[name].Equals(t)) << name;
}

class CheckpointCudaTest : public testing::CudaTest {};

TEST_F(CheckpointCudaTest, GoFromDeviceToDeviceAndHost) {
  const std::string path = TempPath("device.h5");
  Training there(1);
  const StateDict want = there.State();
  there.To(device_);
  ExpectSame(there.State(), want);
  SaveCheckpoint(path, there.Parts(), {.step = 7});
  Training here(2), other(3);
  other.To(device_);
  for (Training* run : {&here, &other}) {
    const Device device = run->net.weight().device();
    EXPECT_EQ(LoadCheckpoint(path, run->Parts()).step, 7);
    ExpectSame(run->State(), want);
    EXPECT_EQ(run->net.weight().device(), device);
    EXPECT_EQ(run->adam.state_dict()["state.weight.exp_avg"].device(), device);
  }
}

TEST_F(CheckpointCudaTest, TheFileIsThatOfTheHost) {
  const std::string path = TempPath("there.h5"), host = TempPath("here.h5");
  Training run(1);
  SaveCheckpoint(host, run.Parts());
  run.To(device_);
  SaveCheckpoint(path, run.Parts());
  EXPECT_EQ(ReadFile(path), ReadFile(host));
}

// The file has the values that the device held at the call, whatever work is queued meanwhile.
TEST_F(CheckpointCudaTest, TheManagerCopiesBeforeTrainingGoesOn) {
  for (const bool background : {false, true}) {
    const std::string folder = TempPath(background ? "background" : "foreground");
    fs::remove_all(folder);
    Training run(1), loaded(2);
    run.To(device_);
    CheckpointManager manager(folder, {.keep_last = 20, .background = background});
    std::vector<StateDict> states;
    for (int64_t step = 0; step < 5; ++step) {
      const Tensor next = Full({3, 4}, static_cast<double>(step)).To(device_);
      run.net.weight().Detach().CopyFrom(next);  // queued, as all work of the device
      manager.Save(run.Parts(), {.step = step});
      run.net.weight().Detach().CopyFrom(Full({3, 4}, -1.0).To(device_));
    }
    manager.Wait();
    ASSERT_EQ(manager.files().size(), 5u);
    for (const CheckpointManager::File& f : manager.files()) {
      LoadCheckpoint(f.path, loaded.Parts());
      EXPECT_TRUE(loaded.net.weight().Detach().Equals(Full({3, 4}, static_cast<double>(f.step))));
    }
    const std::optional<CheckpointManager::Loaded> latest = manager.LoadLatest(run.Parts());
    ASSERT_TRUE(latest.has_value());
    EXPECT_EQ(run.net.weight().device(), device_);
    ExpectSame(run.State(), loaded.State());
  }
}

}  // namespace
}  // namespace firn::io
