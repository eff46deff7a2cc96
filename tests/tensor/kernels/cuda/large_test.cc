// CUDA kernels on inputs that are larger than the samples of operations: where sorted runs are
// merged, tables of tensors overflow into a second launch, threads take several pixels, copies turn
// squares, and teams share what one thread would do. Against the CPU; without a GPU on the
// stand-in.
#include <cstdint>
#include <string>
#include <vector>

#include "firn/device/internal/cuda_status.h"
#include "firn/optim/adam.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/op.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/reorder.h"
#include "gtest/gtest.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

// Whether the kernel that was launched last has this name.
bool LastLaunched(const std::string& name) {
  const std::string launches = internal::LastLaunches();
  return launches.substr(launches.rfind(' ') + 1).find(name) != std::string::npos;
}

using LargeTest = testing::SharedCudaTest;

// A run is 256 items: one merge, two, and a last run that stands alone.
TEST_F(LargeTest, LongLinesAreMergedInStableOrder) {
  for (const int64_t length : {256, 257, 512, 600, 1300}) {
    SCOPED_TRACE(length);
    const Tensor few = Randint(0, 40, {2, length});  // equal elements keep their order
    for (const Tensor& x : {few, Randn({2, length})}) {
      for (const bool descending : {false, true}) {
        const auto want = Sort(x, -1, {descending, true}),
                   got = Sort(x.To(device_), -1, {descending, true});
        EXPECT_TRUE(got.values.To(Device::Cpu()).Equals(want.values));
        EXPECT_TRUE(got.indices.To(Device::Cpu()).Equals(want.indices));
      }
    }
  }
}

// More parameters than a launch's argument has room for, with sizes of several chunks among them.
TEST_F(LargeTest, AnOptimizerMovesMoreTensorsThanOneLaunchHolds) {
  std::vector<Tensor> here, there;
  for (int i = 0; i < 450; ++i) {
    const Tensor p = Randn({i % 90 == 7 ? 5000 : 1 + i % 5}), grad = Randn(p.shape());
    for (const Device device : {Device::Cpu(), device_}) {
      Tensor copy = Clone(p.To(device)).Detach().SetRequiresGrad();
      copy.SetGrad(grad.To(device));
      (device.is_cpu() ? here : there).push_back(copy);
    }
  }
  optim::Adam of_cpu(here, {.lr = 0.1}), of_cuda(there, {.lr = 0.1});
  for (int step = 0; step < 2; ++step) {
    of_cpu.Step();
    of_cuda.Step();
  }
  for (size_t i = 0; i < here.size(); ++i) {
    const std::vector<float> want = here[i].ToVector<float>();
    const std::vector<float> got = there[i].To(Device::Cpu()).ToVector<float>();
    ASSERT_EQ(got.size(), want.size());
    for (size_t e = 0; e < want.size(); ++e) ASSERT_NEAR(got[e], want[e], 1e-5) << i << ", " << e;
  }
}

// Many positions for few places: a team adds up a place.
TEST_F(LargeTest, ManyPositionsOfOnePlaceAreAddedUp) {
  constexpr int64_t kCount = 20000;
  for (const int64_t places : {1, 3}) {
    SCOPED_TRACE(places);
    const Tensor x = Zeros({places}, DType::kF64), indices = Randint(0, places, {kCount});
    const Tensor source = Randn({kCount}).To(DType::kF64);
    const std::vector<double> want = IndexAdd(x, 0, indices, source).ToVector<double>();
    const std::vector<double> got =
        IndexAdd(x.To(device_), 0, indices.To(device_), source.To(device_))
            .To(Device::Cpu())
            .ToVector<double>();
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-9) << i;
  }
}

// Copies between orders of dimensions, in squares that are cut off at both borders, of elements of
// 1 to 8 bytes.
TEST_F(LargeTest, CopiesTurnSquares) {
  for (const DType dtype : {DType::kU8, DType::kF16, DType::kF32, DType::kF64}) {
    for (const Shape& shape : {Shape({70, 33}), Shape({2, 3, 16, 65}), Shape({3, 5, 130, 17})}) {
      SCOPED_TRACE(::testing::Message() << dtype << " " << shape);
      const Tensor x = Randint(0, 200, shape).To(dtype);
      const int last = shape.rank() - 1;
      for (const int other : {0, last - 1}) {
        const Tensor want = Contiguous(x.Transpose(other, last));
        const Tensor got = Contiguous(x.To(device_).Transpose(other, last));
        EXPECT_EQ(LastLaunched("TransposeBody"), x.shape()[other] >= 16) << other;
        EXPECT_TRUE(got.To(Device::Cpu()).Equals(want)) << other;
      }
    }
  }
}

// Copies of filters from row-major order to NHWC and back, and copies with runs on both sides.
TEST_F(LargeTest, CopiesTurnThinSidesAndMoveWords) {
  for (const DType dtype : {DType::kU8, DType::kBF16, DType::kF32, DType::kF64}) {
    for (const Shape& shape : {Shape({3, 70, 9}), Shape({2, 64, 2}), Shape({5, 33, 15})}) {
      SCOPED_TRACE(::testing::Message() << dtype << " " << shape);
      const Tensor x = Randint(0, 200, shape).To(dtype), turned = x.Transpose(1, 2);
      const Tensor there = Contiguous(x.To(device_).Transpose(1, 2));
      EXPECT_TRUE(LastLaunched("ThinBody"));
      EXPECT_TRUE(there.To(Device::Cpu()).Equals(Contiguous(turned)));
      const Tensor back = Contiguous(there.Transpose(1, 2));
      EXPECT_TRUE(LastLaunched("ThinBody"));
      EXPECT_TRUE(back.To(Device::Cpu()).Equals(x));
    }
    const Tensor x = Randint(0, 200, {6, 5, 64}).To(dtype);
    for (const int64_t begin : {0, 16, 5}) {  // the last in no whole words
      SCOPED_TRACE(begin);
      const Tensor want = Contiguous(Slice(x, 2, begin, begin + 32));
      const Tensor got = Contiguous(Slice(x.To(device_), 2, begin, begin + 32));
      EXPECT_EQ(LastLaunched("Bytes16"), begin != 5);
      EXPECT_TRUE(got.To(Device::Cpu()).Equals(want));
    }
  }
}

// NHWC images with more packs of channels than threads, and with channels that fill no packs.
TEST_F(LargeTest, BatchNormOfManyPixels) {
  for (const Shape& shape : {Shape({15, 64, 49, 47}), Shape({16, 18, 48, 40})}) {
    SCOPED_TRACE(shape);
    const Tensor x = Randn(shape), dy = Randn(shape), weight = Randn({shape[1]});
    const BatchNormAttrs attrs;
    TensorList results[2];
    for (const Device device : {Device::Cpu(), device_}) {
      const auto images = [&](const Tensor& t) {
        const Tensor there = t.To(device);
        return device.is_cuda() ? *Reordered(there, ChannelsLastBlock(shape)) : there;
      };
      const auto expect_by_pixel = [&] {
        if (device.is_cuda()) {
          EXPECT_EQ(LastLaunched("PixelBody"), shape[1] % 4 == 0);
        }
      };
      const Tensor in = images(x), w = weight.To(device), none;
      const TensorList y = Apply(Op("batch_norm_train"), {in, w, none, none, none}, attrs);
      expect_by_pixel();
      const TensorList gradients =
          Apply(Op("batch_norm_grad"), {images(dy), in, none, w, y[1], y[2]}, attrs);
      expect_by_pixel();
      results[device.is_cuda()] = {y[0], gradients[0], gradients[1], gradients[2]};
    }
    for (size_t i = 0; i < 4; ++i) {
      const Tensor want = results[0][i], got = results[1][i].To(Device::Cpu());
      EXPECT_LE(Amax(Abs(got - want)).Item(), 1e-5 * Amax(Abs(want)).Item()) << i;
    }
  }
}

}  // namespace
}  // namespace firn
