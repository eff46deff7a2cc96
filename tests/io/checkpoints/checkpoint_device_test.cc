// Checkpoints of tensors on a device, in any build: copies to the host, on the stand-in for a
// device. Tests that need kernels are in checkpoint_cuda_test.cc.
#include <cstdint>
#include <filesystem>
#include <string>

#include "firn/device/inner.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/checkpoints/checkpoint_manager.h"
#include "firn/nn/linear.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/device/fake_cuda.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using testing::ErrorOf;
using ::testing::HasSubstr;

class CheckpointDeviceTest : public ::testing::Test {
 protected:
  FakeCuda cuda_;
  internal::ScopedCudaApi scope_{cuda_};
  const Device device_ = Device::Cuda(0);
};

TEST_F(CheckpointDeviceTest, TheFileIsThatOfTheHostAndIsLoadedThere) {
  const std::string path = TempPath("there.h5"), host = TempPath("here.h5");
  nn::Linear net({.in = 4, .out = 3}), loaded({.in = 4, .out = 3});
  CheckpointValues values, of_file;
  const Tensor mean = FromValues({1.f, 2.f});
  values.Set("mean", mean);
  SaveCheckpoint(host, {{"model", net}, {"values", values}});
  const Tensor weight = net.weight().Detach().Clone();
  net.To(device_);
  values.Set("mean", mean.To(device_));
  SaveCheckpoint(path, {{"model", net}, {"values", values}});
  EXPECT_EQ(ReadFile(path), ReadFile(host));
  LoadCheckpoint(path, {{"model", loaded}, {"values", of_file}});
  EXPECT_TRUE(loaded.weight().Detach().Equals(weight));
  EXPECT_TRUE(of_file.GetTensor("mean").Equals(mean));
}

// The file has the values that the device held at the call, although its memory has changed when
// the file is there.
TEST_F(CheckpointDeviceTest, TheManagerCopiesBeforeTrainingGoesOn) {
  const auto full = [](int64_t value) { return Full({1000}, static_cast<double>(value)); };
  for (const bool background : {false, true}) {
    const std::string folder = TempPath(background ? "background" : "foreground");
    fs::remove_all(folder);
    CheckpointValues values, loaded;
    CheckpointManager manager(folder, {.keep_last = 20, .background = background});
    for (int64_t step = 0; step < 5; ++step) {
      values.Set("x", Tensor());
      values.Set("x", full(step).To(device_));  // queued, as all work of a device is
      manager.Save({{"values", values}}, {.step = step});
      const void* const before = values.GetTensor("x").impl()->data;
      values.Set("x", Tensor());
      values.Set("x", full(-1).To(device_));
      EXPECT_EQ(values.GetTensor("x").impl()->data, before) << "the same memory";
    }
    manager.Wait();
    ASSERT_EQ(manager.files().size(), 5u);
    for (const CheckpointManager::File& f : manager.files()) {
      LoadCheckpoint(f.path, {{"values", loaded}});
      EXPECT_TRUE(loaded.GetTensor("x").Equals(full(f.step))) << f.step;
    }
    EXPECT_TRUE(manager.LoadLatest({{"values", loaded}}).has_value());
    EXPECT_TRUE(loaded.GetTensor("x").Equals(full(4)));
  }
}

// A copy that fails is an error of that call; the next one works.
TEST_F(CheckpointDeviceTest, ACopyThatFailsIsAnErrorOfTheSave) {
  const std::string folder = TempPath("failed");
  fs::remove_all(folder);
  CheckpointValues values;
  values.Set("x", FromValues({1.f, 2.f}).To(device_));
  CheckpointManager manager(folder);
  cuda_.FailCall("Copy", 1, FakeCuda::kInvalidValue);
  EXPECT_THAT(ErrorOf([&] {
                manager.Save({{"values", values}}, {.step = 1});
              }),
              HasSubstr("to the host failed"));
  manager.Wait();
  EXPECT_TRUE(manager.files().empty());
  manager.Save({{"values", values}}, {.step = 2});
  manager.Wait();
  EXPECT_EQ(manager.files().size(), 1u);
}

}  // namespace
}  // namespace firn::io
