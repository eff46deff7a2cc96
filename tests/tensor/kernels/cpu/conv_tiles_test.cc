// Weight gradients of bf16 by tiles, beside those of the same numbers in f64. If the processor has
// no tiles, other kernels are compared, and checks of tiles alone are skipped.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/rng.h"

namespace firn {
namespace {

struct Case {
  const char* name;
  Shape x, y;
  Sizes kernel;
  Sizes padding = 0, dilation = 1;
  const char* kernel_name = "tiles";
};

const inner::OpDef& OpOf(const Case& c) {
  static const std::string kNames[] = {"conv1d_weight_grad", "conv2d_weight_grad",
                                       "conv3d_weight_grad"};
  return *inner::FindOp(kNames[c.x.rank() - 3]);
}

inner::Attrs AttrsOf(const Case& c) {
  const int dims = c.x.rank() - 2;
  return inner::Attrs(inner::ConvAttrs{.stride = Sizes::Each(dims, 1),
                                       .padding = c.padding.Over(dims),
                                       .dilation = c.dilation.Over(dims),
                                       .result = c.kernel.Over(dims)});
}

class ConvTilesTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    ManualSeed(1);
    x = Cast(Randn(GetParam().x), DType::kBF16);
    y = Cast(Randn(GetParam().y), DType::kBF16);
  }
  Tensor Gradient(const Tensor& of_x, const Tensor& of_y) const {
    return Apply1(OpOf(GetParam()), {of_x, of_y}, AttrsOf(GetParam()).ref());
  }
  static bool HasTiles() {
    const std::vector<inner::Kernel>& kernels = OpOf(GetParam()).kernels;
    return cpu::MultipliesTiles() &&
           std::any_of(kernels.begin(), kernels.end(),
                       [](const inner::Kernel& k) { return k.name == "tiles"; });
  }
  Tensor x, y;
};

TEST_P(ConvTilesTest, IsTheGradientInF64Rounded) {
  const std::vector<double> want =
      Gradient(Cast(x, DType::kF64), Cast(y, DType::kF64)).ToVector<double>();
  const auto pixels = static_cast<double>(y.num_elements() / y.size(1));
  const auto last = [](const Tensor& t) {
    return *Reordered(t, inner::ChannelsLastBlock(t.shape()));
  };
  const auto blocks = [](const Tensor& t) { return *Reordered(t, 16); };
  const Tensor orders[][2] = {
      {x, y}, {last(x), last(y)}, {blocks(x), blocks(y)}, {last(x), blocks(y)}, {blocks(x), y}};
  for (const auto& [of_x, of_y] : orders) {
    const std::vector<double> got = Gradient(of_x, of_y).ToVector<double>();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      // bf16 keeps 8 bits; sums in f32 of as many products as there are pixels, each about 1.
      const double tolerance = std::abs(want[i]) / 256 + 1e-6 * pixels;
      ASSERT_NEAR(got[i], want[i], tolerance) << of_x.spec() << ", " << of_y.spec() << ": " << i;
    }
  }
}

TEST_P(ConvTilesTest, DoesNotDependOnTheThreads) {
  const bool tiles = HasTiles() && GetParam().kernel_name == std::string_view("tiles");
  if (!tiles) GTEST_SKIP() << "oneDNN's sums do";
  const int before = NumThreads();
  SetNumThreads(1);
  const Tensor one = Gradient(x, y);
  SetNumThreads(3);
  const Tensor three = Gradient(x, y);
  SetNumThreads(before);
  EXPECT_EQ(one.ToVector<double>(), three.ToVector<double>());
}

TEST_P(ConvTilesTest, IsChosen) {
  if (!HasTiles()) GTEST_SKIP() << "this processor does not multiply tiles";
  const Case& c = GetParam();
  const inner::Attrs attrs = AttrsOf(c);
  const TensorSpec* const inputs[] = {&x.spec(), &y.spec()};
  const TensorSpec weight = Gradient(x, y).spec();
  inner::Prepared answer;
  const absl::Status status = inner::internal::Prepare(
      OpOf(c), inner::KernelQuery(inputs, {&weight, 1}, attrs.ref()), Device(), &answer);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(answer.kernel->name, std::string_view(c.kernel_name));
}

INSTANTIATE_TEST_SUITE_P(
    All, ConvTilesTest,
    testing::Values(
        Case{"Image", {8, 32, 8, 8}, {8, 64, 8, 8}, 3, 1},
        Case{"OddBlocks", {5, 48, 9, 7}, {5, 80, 9, 7}, 3, 1},
        Case{"OneBlock", {16, 16, 10, 10}, {16, 16, 8, 8}, 3},
        Case{"SeveralChunks", {9, 80, 29, 23}, {9, 64, 29, 23}, 3, 1},
        Case{"ARowIsAChunk", {1, 128, 2, 7001}, {1, 128, 2, 6997}, {1, 5}},
        Case{"Pixels", {16, 32, 13, 5}, {16, 48, 13, 5}, 1},
        Case{"Wide", {4, 32, 11, 17}, {4, 32, 11, 17}, {3, 5}, {1, 2}},
        Case{"MorePaddingThanTheKernelNeeds", {6, 32, 8, 8}, {6, 32, 12, 14}, 3, {3, 4}},
        Case{"Dilated", {6, 32, 12, 12}, {6, 32, 8, 6}, {3, 3}, 0, {2, 3}},
        Case{"Sequence", {9, 64, 25}, {9, 32, 25}, 3, 1},
        Case{"Volume", {2, 32, 6, 9, 8}, {2, 32, 6, 9, 8}, 3, 1},
        Case{"LongRowsOfFewChannels", {2, 32, 301}, {2, 32, 301}, 3, 1, 1, "onednn"},
        Case{"VolumeOfLargePlanes", {1, 32, 4, 40, 40}, {1, 32, 4, 40, 40}, 3, 1, 1, "onednn"},
        Case{"Small", {1, 16, 4, 4}, {1, 16, 4, 4}, 3, 1, 1, "onednn"},
        Case{"MostlyPadding", {64, 32, 1, 1}, {64, 32, 1, 1}, 3, 1, 1, "onednn"}),
    [](const testing::TestParamInfo<Case>& of) { return of.param.name; });

}  // namespace
}  // namespace firn
