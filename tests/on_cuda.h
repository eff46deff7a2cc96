#ifndef FIRN_TESTS_ON_CUDA_H_
#define FIRN_TESTS_ON_CUDA_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "firn/device/cuda.h"
#include "firn/device/device.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/tensor/op.h"
#include "firn/tensor/rng.h"
#include "gtest/gtest.h"
#include "tests/device/fake_cuda.h"

namespace firn::testing {

// Whether CUDA kernels are linked. The test does not ask for a copy kernel, which every build
// registers.
inline bool BuiltWithCuda() {
  const std::vector<Kernel>& kernels = Op("linear").kernels;
  return std::any_of(kernels.begin(), kernels.end(),
                     [](const Kernel& k) { return k.device == DeviceType::kCuda; });
}

// Why tests skip themselves in builds without CUDA kernels.
inline constexpr char kWithoutCuda[] = "built without --config=cuda";

// While it lives there is a CUDA device: that of the machine, or a stand-in if it has none. One at
// a time.
class CudaOrFake {
 public:
  CudaOrFake() {
    if (CudaAvailable()) return;
    fake_.emplace();
    scope_.emplace(*fake_);
  }
  FakeCuda* fake() { return fake_ ? &*fake_ : nullptr; }  // null: a GPU

 private:
  std::optional<FakeCuda> fake_;
  std::optional<internal::ScopedCudaApi> scope_;
};

// Tests on a CUDA device that all tests of a program share. They share its generator, too, which
// starts anew in each.
class SharedCudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!BuiltWithCuda()) GTEST_SKIP() << kWithoutCuda;
    static auto* const one = new CudaOrFake;
    fake_ = one->fake();
    ManualSeed(5);
  }

  FakeCuda* fake_ = nullptr;  // on a GPU
  const Device device_ = Device::Cuda(0);
};

// Tests on a CUDA device, with a stand-in of its own for each.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!BuiltWithCuda()) GTEST_SKIP() << kWithoutCuda;
    cuda_or_fake_.emplace();
    fake_ = cuda_or_fake_->fake();
  }

  FakeCuda* fake_ = nullptr;  // on a GPU
  const Device device_ = Device::Cuda(0);

 private:
  std::optional<CudaOrFake> cuda_or_fake_;
};

}  // namespace firn::testing

#endif  // FIRN_TESTS_ON_CUDA_H_
