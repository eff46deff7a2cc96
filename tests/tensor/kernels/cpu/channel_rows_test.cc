// Images whose channels lie side by side on the CPU: operations that work channel by channel keep
// this order, and compute the same as for row-major images.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/rng.h"

namespace firn {
namespace {

using inner::ChannelsLastBlock;
struct Case {
  Shape shape;  // [n, c, h, w]
  DType dtype;
  double tolerance;
};

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return std::string(DTypeName(c.dtype)) + "_of_" + std::to_string(c.shape[1]) + "_channels";
}

constexpr size_t kGradientOfX = 4;

// Results and gradients of the operations for an image x in its present order.
std::vector<Tensor> Results(const Tensor& image) {
  const int64_t channels = image.size(1);
  ManualSeed(3);
  const DType wide = image.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto numbers = [&](double shift) {
    return (Randn({channels}) * 0.3 + shift).To(wide).Detach().SetRequiresGrad();
  };
  const Tensor x = image.Detach().SetRequiresGrad();
  const Tensor weight = numbers(1), bias = numbers(0.2);
  const Tensor mean = Zeros({channels}).To(wide), var = Ones({channels}).To(wide);
  const Tensor y =
      BatchNorm(x, mean, var, weight, bias,
                {.training = true, .momentum = 0.1, .activation = FusedActivation::kTanh});
  const Tensor scaled = ChannelAffine(x, weight.Detach(), bias.Detach());
  const Tensor seed =
      Reordered(Randn(x.shape()).To(x.dtype()), x.spec().layout.channel_block).value();
  y.Backward(seed);
  return {y,        scaled,        inner::ChannelSum(x), ChannelAffine(x, weight.Detach(), {}),
          x.grad(), weight.grad(), bias.grad(),          mean,
          var};
}

class ChannelRowsTest : public ::testing::TestWithParam<Case> {
 protected:
  // Far from 0, so that squares without a shift would lose digits.
  Tensor Image() const {
    ManualSeed(5);
    return (Randn(GetParam().shape) * 2 + 20).To(GetParam().dtype);
  }
};

TEST_P(ChannelRowsTest, ComputesWhatItDoesOfRowMajorImages) {
  const Tensor rows = Image();
  const std::vector<Tensor> want = Results(rows.To(DType::kF64));
  const std::vector<Tensor> got = Results(Reordered(rows, ChannelsLastBlock(rows.shape())).value());
  for (size_t i = 0; i < want.size(); ++i) {
    // Gradients are laid out as their leaves are by default, row-major.
    const bool image = want[i].rank() == 4 && i != kGradientOfX;
    EXPECT_EQ(inner::IsChannelsLast(got[i].spec()), image) << i;
    const std::vector<double> a = got[i].ToVector<double>(), b = want[i].ToVector<double>();
    double largest = 0, off = 0;
    for (size_t j = 0; j < a.size(); ++j) {
      largest = std::max(largest, std::abs(b[j]));
      off = std::max(off, std::abs(a[j] - b[j]));
    }
    EXPECT_LE(off, GetParam().tolerance * largest) << "result " << i;
  }
}

TEST_P(ChannelRowsTest, DoesNotDependOnTheThreads) {
  const Tensor image = Reordered(Image(), ChannelsLastBlock(Image().shape())).value();
  const int before = NumThreads();
  SetNumThreads(1);
  const std::vector<Tensor> one = Results(image);
  SetNumThreads(3);
  const std::vector<Tensor> three = Results(image);
  SetNumThreads(before);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].ToVector<double>(), three[i].ToVector<double>()) << i;
  }
}

// Gradients come in blocks of 16 channels from operations that know only those.
TEST_P(ChannelRowsTest, TakesGradientsInBlocks) {
  const Tensor x = Reordered(Image(), ChannelsLastBlock(Image().shape())).value().SetRequiresGrad();
  if (x.size(1) % 16 != 0) GTEST_SKIP() << "has no blocks";
  const Tensor seed = Randn(x.shape()).To(x.dtype()), y = BatchNorm(x, {}, {}, {}, {}, {});
  const auto gradient = [&](int block) {
    return Grad(y, x, {.seeds = {Reordered(seed, block).value()}, .retain_graph = true});
  };
  EXPECT_EQ(gradient(16).ToVector<double>(),
            gradient(ChannelsLastBlock(x.shape())).ToVector<double>());
}

// More channels than a tile has, rows for several parts and more than are added before they are
// folded.
INSTANTIATE_TEST_SUITE_P(All, ChannelRowsTest,
                         ::testing::Values(Case{{3, 300, 9, 9}, DType::kF32, 2e-5},
                                           Case{{3, 300, 9, 9}, DType::kBF16, 2e-2},
                                           Case{{2, 64, 17, 5}, DType::kF16, 3e-3},
                                           Case{{5, 7, 30, 40}, DType::kF32, 2e-5},
                                           Case{{5, 7, 30, 40}, DType::kF64, 1e-12},
                                           Case{{5, 96, 13, 11}, DType::kBF16, 2e-2}),
                         NameOf);

// With AMX, no operation between convolutions reorders an image.
TEST(ChannelRowsTest, ConvolutionsOfBf16LeaveImagesChannelsLast) {
  if (!cpu::MultipliesTiles()) GTEST_SKIP() << "this processor does not multiply tiles";
  Tensor x = Randn({8, 64, 8, 8}).To(DType::kBF16);
  for (int i = 0; i < 2; ++i) {
    x = Conv2d(x, Randn({64, 64, 3, 3}).To(DType::kBF16), {}, {.padding = 1});
    EXPECT_TRUE(inner::IsChannelsLast(x.spec())) << x.spec();
    x = Relu(BatchNorm(x, {}, {}, {}, {}, {}));
    EXPECT_TRUE(inner::IsChannelsLast(x.spec())) << x.spec();
  }
}

}  // namespace
}  // namespace firn
