// Tensors on CUDA devices as any build has them: copies, printing, errors. They run on the
// stand-in; tests that need kernels are in tests/ops/cuda_test.cc.
#include <numeric>
#include <string>
#include <vector>

#include "firn/device/cuda.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/device/memory.h"
#include "firn/tensor/error.h"
#include "firn/tensor/format.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"
#include "gtest/gtest.h"
#include "tests/device/fake_cuda.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

class CudaTensorTest : public ::testing::Test {
 protected:
  FakeCuda cuda_{2};
  inner::internal::ScopedCudaApi scope_{cuda_};
  const Device first_ = Device::Cuda(0), second_ = Device::Cuda(1);
};

TEST_F(CudaTensorTest, GoesThereAndBack) {
  const Tensor x = FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor there = x.To(first_);
  EXPECT_EQ(there.device(), first_);
  EXPECT_EQ(there.shape(), x.shape());
  EXPECT_TRUE(there.To(first_).Is(there));
  EXPECT_TRUE(there.To(Device::Cpu()).Equals(x));
  EXPECT_EQ(there.ToVector<float>(), x.ToVector<float>());
  EXPECT_EQ(FromVector<double>({2.5}).To(first_).Item(), 2.5);
}

TEST_F(CudaTensorTest, GoesFromDeviceToDevice) {
  const Tensor x = FromVector<int32_t>({7, 8, 9});
  const Tensor there = x.To(first_).To(second_);
  EXPECT_EQ(there.device(), second_);
  EXPECT_EQ(there.ToVector<int32_t>(), (std::vector<int32_t>{7, 8, 9}));
}

TEST_F(CudaTensorTest, ArrivesRowMajorWhateverItWas) {
  const Tensor x = FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3}).Transpose(0, 1);
  EXPECT_EQ(x.To(first_).ToVector<float>(), x.ToVector<float>());
}

TEST_F(CudaTensorTest, OfNoElementsIsATensorToo) {
  EXPECT_EQ(Empty({0, 3}).To(first_).To(Device::Cpu()).shape(), Shape({0, 3}));
}

TEST_F(CudaTensorTest, SendsGradientsBack) {
  Tensor x = FromVector<float>({1, 2, 3}).SetRequiresGrad();
  const Tensor back = x.To(first_).To(Device::Cpu());
  back.Backward(FromVector<float>({4, 5, 6}));
  EXPECT_EQ(x.grad().device(), Device::Cpu());
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{4, 5, 6}));
}

TEST_F(CudaTensorTest, PrintsAsOnTheCpu) {
  const Tensor x = FromVector<float>({1, -2.5, 3, 4}, {2, 2});
  EXPECT_EQ(Format(x.To(first_)), Format(x));
}

TEST_F(CudaTensorTest, OfTwoDevicesAreRefusedByName) {
  const Tensor x = FromVector<float>({1, 2});
  EXPECT_EQ(ErrorOf([&] { Add(x, x.To(first_)); }),
            "add: tensors on different devices: y on cuda:0, others on cpu");
  EXPECT_EQ(ErrorOf([&] { Add(x.To(second_), x.To(first_)); }),
            "add: tensors on different devices: y on cuda:0, others on cuda:1");
}

TEST_F(CudaTensorTest, SaysWhichDeviceIsNotThere) {
  const Tensor x = FromVector<float>({1, 2});
  EXPECT_EQ(ErrorOf([&] { x.To(Device::Cuda(5)); }),
            "to_device: device cuda:5 cannot be used: there are 2 CUDA devices");
  EXPECT_EQ(ErrorOf([&] { Zeros({2}, DType::kF32, Device::Cuda(5)); }),
            "full: device cuda:5 cannot be used: there are 2 CUDA devices");
}

TEST_F(CudaTensorTest, HasNoElementsOnTheHost) {
  const Tensor x = FromVector<float>({1, 2}).To(first_);
  EXPECT_EQ(ErrorOf([&] { x.host_view<float>(); }),
            "host_view: elements lie on cuda:0; use To(Device::Cpu())");
}

TEST_F(CudaTensorTest, IsCountedAndRunsOutOfMemoryWithoutHarm) {
  const int64_t before = memory::Stats(first_)->live_bytes;
  const Tensor x = Zeros({1 << 20}).To(first_);
  EXPECT_EQ(memory::Stats(first_)->live_bytes - before, 4 << 20);
  ASSERT_TRUE(memory::SetLimit(first_, 5 << 20).ok());
  const Tensor large = Zeros({1 << 20});
  EXPECT_NE(ErrorOf([&] { large.To(first_); }).find("to_device: out of memory on cuda:0"),
            std::string::npos);
  ASSERT_TRUE(memory::SetLimit(first_, std::nullopt).ok());
  EXPECT_TRUE(large.To(first_).To(Device::Cpu()).Equals(large));
}

TEST_F(CudaTensorTest, GeneratorsKeepTheirPositionThere) {
  RandomGenerator generator(7, first_);
  EXPECT_EQ(generator.state().device(), first_);
  EXPECT_EQ(generator.position(), (PhiloxState{7, 0}));
  generator.SetPosition({9, 5});
  EXPECT_EQ(generator.position(), (PhiloxState{9, 5}));
  EXPECT_EQ(generator.Reserve(3), (PhiloxState{9, 5}));
  EXPECT_EQ(generator.position(), (PhiloxState{9, 8}));
}

TEST_F(CudaTensorTest, OnlyReadingWaits) {
  const Tensor x = FromVector<float>({1, 2, 3});
  const int64_t before = CudaSynchronizations();
  const Tensor there = x.To(first_);
  const Tensor elsewhere = there.To(second_);
  EXPECT_EQ(CudaSynchronizations(), before);
  elsewhere.ToVector<float>();
  EXPECT_EQ(CudaSynchronizations(), before + 1);
}

TEST(NoCudaTest, SaysWhy) {
  if (CudaAvailable()) GTEST_SKIP() << "there is a CUDA device";
  const Tensor x = Zeros({2});
  EXPECT_TRUE(x.To(Device::Cpu()).Is(x));
  EXPECT_EQ(ErrorOf([&] { x.To(Device::Cuda()); }),
            "to_device: device cuda:0 cannot be used: " + CudaUnavailableReason());
}

}  // namespace
}  // namespace firn
