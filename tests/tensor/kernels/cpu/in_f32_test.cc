// Convolutions of half types are those of f32, rounded once, with every kernel of f32 and its
// layout. Where the processor multiplies bf16, the sums are made in f32 too, but in another order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/device/cpu.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {
namespace {

struct Case {
  const char* name;
  Shape x, weight;
  ConvOptions options;
};

class InF32ConvTest : public testing::TestWithParam<std::tuple<Case, DType>> {};

// Elements that both types have.
Tensor Drawn(const Shape& shape, DType dtype) {
  return Cast(Cast(Randn(shape), dtype), DType::kF32);
}

void ExpectSame(const Tensor& half, const Tensor& f32) {
  ASSERT_EQ(half.shape(), f32.shape());
  EXPECT_TRUE(All(Eq(half, Cast(f32, half.dtype()))).Item<bool>());
}

// Compares with the results of f32, whose sums may err by 1e-5 of the largest, rounded to a number
// of 8 bits.
void ExpectRounded(const Tensor& bf16, const Tensor& f32) {
  ASSERT_EQ(bf16.shape(), f32.shape());
  const std::vector<double> got = bf16.ToVector<double>(), want = f32.ToVector<double>();
  double largest = 0;
  for (const double v : want) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], std::abs(want[i]) / 256 + 1e-5 * largest) << i;
  }
}

// A convolution and the gradients of x, weight and bias for grad_y.
std::vector<Tensor> AllPasses(const std::vector<Tensor>& inputs, const Tensor& grad_y,
                              const ConvOptions& options) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : inputs) leaves.push_back(t.Detach().SetRequiresGrad());
  const int rank = leaves[0].rank();
  const auto conv = rank == 3 ? Conv1d : rank == 4 ? Conv2d : Conv3d;
  const Tensor y = conv(leaves[0], leaves[1], leaves[2], options);
  std::vector<Tensor> results = Grad({y}, leaves, {.seeds = {grad_y}});
  results.push_back(y);
  return results;
}

TEST_P(InF32ConvTest, RoundsWhatF32Computes) {
  const auto& [c, dtype] = GetParam();
  ManualSeed(1);
  std::vector<Tensor> inputs = {Drawn(c.x, dtype), Drawn(c.weight, dtype),
                                Drawn({c.weight[0]}, dtype)};
  Tensor grad_y;
  {
    const NoGradScope no_grad;
    const auto conv = c.x.rank() == 3 ? Conv1d : c.x.rank() == 4 ? Conv2d : Conv3d;
    grad_y = Drawn(conv(inputs[0], inputs[1], Tensor(), c.options).shape(), dtype);
  }
  const std::vector<Tensor> want = AllPasses(inputs, grad_y, c.options);
  for (Tensor& t : inputs) t = Cast(t, dtype);
  const std::vector<Tensor> got = AllPasses(inputs, Cast(grad_y, dtype), c.options);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (i == 2) continue;  // the bias's is a sum of its own
    const bool own = dtype == DType::kBF16 && cpu::MultipliesBf16() && ChannelBlock() == 16;
    own ? ExpectRounded(got[i], want[i]) : ExpectSame(got[i], want[i]);
  }
}

// Which kernel takes a convolution of 32 channels to 32.
std::string KernelFor(DType dtype, int64_t stride) {
  const inner::OpDef& op = *inner::FindOp("conv2d");
  inner::ConvAttrs options;
  options.padding = 1;
  options.stride = stride;
  const inner::Attrs attrs(options);
  const auto spec = [&](const Shape& s) { return TensorSpec::Contiguous(dtype, s, Device()); };
  const TensorSpec x = spec({2, 32, 12, 12}), weight = spec({32, 32, 3, 3});
  const TensorSpec y = spec({2, 32, 12 / stride, 12 / stride});
  const TensorSpec* const in[] = {&x, &weight, nullptr};
  inner::Prepared answer;
  const absl::Status status =
      inner::internal::Prepare(op, inner::KernelQuery(in, {&y, 1}, attrs.ref()), Device(), &answer);
  EXPECT_TRUE(status.ok()) << status;
  return std::string(answer.kernel->name);
}

// The definition might round to the same numbers, so the test asks which kernel takes the call.
TEST(InF32Test, TakesHalfTypesOnly) {
  EXPECT_EQ(KernelFor(DType::kF16, 1), "in_f32");
  EXPECT_EQ(KernelFor(DType::kF16, 2), "in_f32");
  EXPECT_NE(KernelFor(DType::kF32, 1), "in_f32");
  EXPECT_NE(KernelFor(DType::kF64, 1), "in_f32");
}

// With a stride there is no Winograd in f32, which may be faster.
TEST(InF32Test, LeavesBF16ToProcessorsThatMultiplyIt) {
  const bool own = cpu::MultipliesBf16() && ChannelBlock() == 16;
  EXPECT_EQ(KernelFor(DType::kBF16, 2), own ? "onednn" : "in_f32");
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, InF32ConvTest,
    testing::Combine(
        testing::Values(Case{"winograd", {2, 32, 12, 12}, {32, 32, 3, 3}, {.padding = 1}},
                        Case{"onednn", {2, 32, 9, 9}, {16, 32, 3, 3}, {.stride = 2}},
                        Case{"first", {2, 3, 10, 10}, {32, 3, 3, 3}, {.padding = 1}},
                        Case{"odd", {1, 3, 7, 5}, {5, 3, 2, 3}, {}},
                        Case{"sequence", {2, 16, 20}, {16, 16, 3}, {}},
                        Case{"volume", {1, 4, 5, 6, 7}, {8, 4, 3, 3, 3}, {}}),
        testing::Values(DType::kBF16, DType::kF16)),
    [](const auto& instance) {
      return std::string(std::get<0>(instance.param).name) +
             (std::get<1>(instance.param) == DType::kF16 ? "_f16" : "_bf16");
    });

}  // namespace
}  // namespace firn
