// Transforms of lines at places that cuFFT does not take, and functions that are composed of
// transforms.

#include "firn/tensor/ops/signal/fft.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/signal/stft.h"
#include "tests/device/fake_libraries.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

class CudaFftTest : public testing::CudaTest {
 protected:
  static Tensor Numbers(int64_t n, DType dtype = DType::kF32) {
    return Sin(Arange(0.0, static_cast<double>(n), 1, {.dtype = dtype}));
  }
  static void ExpectNear(const Tensor& got, const Tensor& want, double allowed) {
    ASSERT_EQ(got.shape(), want.shape());
    EXPECT_TRUE(got.device().type == DeviceType::kCuda);
    const std::vector<double> g = got.To(Device::Cpu()).ToVector<double>();
    const std::vector<double> w = want.ToVector<double>();
    for (size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(g[i], w[i], allowed) << i;
  }
};

// Memory that begins four bytes behind a place for a complex number.
TEST_F(CudaFftTest, TakesLinesFromOddPlaces) {
  const FakeLibraries libraries(fake_);
  const Tensor x = Numbers(33), there = x.To(device_);
  ExpectNear(Rfft(Slice(there, 0, 1, 33)), Rfft(Slice(x, 0, 1, 33)), 1e-5);
  ExpectNear(Fft(Reshape(Slice(there, 0, 1, 33), {16, 2})),
             Fft(Reshape(Slice(x, 0, 1, 33), {16, 2})), 1e-5);
}

TEST_F(CudaFftTest, TransformsFramesAndPutsThemTogether) {
  const FakeLibraries libraries(fake_);
  const Tensor x = Numbers(100, DType::kF64), there = x.To(device_);
  const Tensor frames = Stft(there, 16);
  ExpectNear(frames, Stft(x, 16), 1e-12);
  ExpectNear(Istft(frames, 16), Istft(Stft(x, 16), 16), 1e-12);
}

// The next call with a plan may have its lines in other memory.
TEST_F(CudaFftTest, ReadsTheMemoryOfEachCall) {
  const FakeLibraries libraries(fake_);
  const Tensor x = Reshape(Numbers(64), {2, 16, 2});
  const Tensor first = Fft(x.To(device_)), second = Fft((Cos(x)).To(device_));
  ExpectNear(first, Fft(x), 1e-5);
  ExpectNear(second, Fft(Cos(x)), 1e-5);
}

}  // namespace
}  // namespace firn
