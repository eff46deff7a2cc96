// Convolutions of f64 are cut into tiles of columns or, with few channels a group, are sums of
// shifted rows, like those of f32: problems larger than a tile in every direction are compared with
// products of whole unfolded images.

#include "firn/tensor/kernels/cpu/conv_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/device/parallel.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/internal/kernel_choice.h"
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

Tensor Convolved(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o) {
  const auto conv = x.rank() == 3 ? Conv1d : x.rank() == 4 ? Conv2d : Conv3d;
  return conv(x, weight, bias, o);
}

// The same by Unfold and Matmul, a group at a time.
Tensor Unfolded(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& o,
                const Shape& y) {
  const int64_t in = weight.shape()[1], out = weight.shape()[0] / o.groups;
  std::vector<Tensor> groups;
  for (int64_t g = 0; g < o.groups; ++g) {
    const Tensor columns = Unfold(Slice(x, 1, g * in, (g + 1) * in),
                                  {.kernel = Sizes(weight.shape().span().subspan(2)),
                                   .dilation = o.dilation,
                                   .padding = o.padding.size,
                                   .stride = o.stride,
                                   .dims = x.rank() - 2});
    const Tensor rows = Reshape(Slice(weight, 0, g * out, (g + 1) * out), {out, -1});
    groups.push_back(Matmul(rows, columns));
  }
  const Tensor sum = Add(Concat(groups, 1), Reshape(bias, {-1, 1}));
  return Reshape(sum, y);
}

void ExpectClose(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  const std::vector<double> a = got.ToVector<double>(), b = want.ToVector<double>();
  double largest = 0;
  for (const double v : b) largest = std::max(largest, std::abs(v));
  // Sums of at most 10^4 products in another order.
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12 * largest) << i;
}

class ConvColumnsTest : public testing::TestWithParam<Case> {};

// y and the gradients of x, weight and bias.
std::vector<Tensor> AllPasses(const std::vector<Tensor>& inputs, const Tensor& grad_y,
                              const std::function<Tensor(const std::vector<Tensor>&)>& f) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : inputs) leaves.push_back(t.Detach().SetRequiresGrad());
  const Tensor y = f(leaves);
  std::vector<Tensor> results = Grad({y}, leaves, {.seeds = {grad_y}});
  results.push_back(y);
  return results;
}

TEST_P(ConvColumnsTest, IsTheProductOfUnfoldedImages) {
  const Case& c = GetParam();
  ManualSeed(1);
  const auto drawn = [](const Shape& s) { return Cast(Randn(s), DType::kF64); };
  const std::vector<Tensor> inputs = {drawn(c.x), drawn(c.weight), drawn({c.weight[0]})};
  Tensor grad_y;
  {
    const NoGradScope no_grad;
    grad_y = drawn(Convolved(inputs[0], inputs[1], inputs[2], c.options).shape());
  }
  const auto conv = [&](const std::vector<Tensor>& in) {
    return Convolved(in[0], in[1], in[2], c.options);
  };
  const std::vector<Tensor> want = AllPasses(inputs, grad_y, [&](const std::vector<Tensor>& in) {
    return Unfolded(in[0], in[1], in[2], c.options, grad_y.shape());
  });
  const int threads = NumThreads();
  std::vector<std::vector<Tensor>> got;
  for (const int n : {1, 3}) {
    SetNumThreads(n);
    got.push_back(AllPasses(inputs, grad_y, conv));
  }
  SetNumThreads(threads);
  for (size_t i = 0; i < want.size(); ++i) {
    ExpectClose(got[0][i], want[i]);
    if (i == 2) continue;  // the bias's is a sum of its own
    EXPECT_TRUE(All(Eq(got[0][i], got[1][i])).Item<bool>());
  }
}

// Sums of 10^4 products of these are whole numbers that a float holds, whatever the order.
std::vector<double> WholeNumbers(const Shape& s, int64_t seed) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < s.num_elements(); ++i) {
    numbers.push_back(static_cast<double>((i * 7919 + seed) % 1009 % 5 - 2));
  }
  return numbers;
}

// One pass of ConvOfColumns, from and to doubles.
template <class T>
std::vector<double> PassAs(const inner::ConvProblem& p, ConvPass pass, std::vector<double> x,
                           std::vector<double> weight, std::vector<double> y) {
  std::vector<T> parts[] = {
      {x.begin(), x.end()}, {weight.begin(), weight.end()}, {y.begin(), y.end()}};
  const size_t bytes = cpu::ConvOfColumnsWorkspace<T>(p, pass);
  std::vector<char> memory(bytes + 64);
  char* const aligned = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
  cpu::ConvOfColumns<T>(p, pass, parts[0].data(), parts[1].data(), nullptr, parts[2].data(),
                        aligned);
  const size_t result = pass == ConvPass::kForward ? 2 : pass == ConvPass::kBackwardData ? 0 : 1;
  return {parts[result].begin(), parts[result].end()};
}

// With oneDNN few problems of floats come here; programs without it have no other kernel.
TEST_P(ConvColumnsTest, IsExactOnWholeNumbersOfFloats) {
  const Case& c = GetParam();
  inner::ConvAttrs attrs;
  attrs.stride = c.options.stride;
  attrs.padding = c.options.padding.size;
  attrs.dilation = c.options.dilation;
  attrs.groups = c.options.groups;
  const auto forward = inner::ConvForward(c.x, c.weight, attrs);
  ASSERT_TRUE(forward.ok()) << forward.status();
  const inner::ConvProblem p = forward->Lifted(3);
  std::vector<int64_t> sizes = {p.batch, p.out};
  for (int i = 0; i < 3; ++i) sizes.push_back(p.out_size[i]);
  const std::vector<double> x = WholeNumbers(c.x, 1), weight = WholeNumbers(c.weight, 2),
                            y = WholeNumbers(Shape(absl::Span<const int64_t>(sizes)), 3);
  for (const ConvPass pass :
       {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeight}) {
    EXPECT_EQ(PassAs<float>(p, pass, x, weight, y), PassAs<double>(p, pass, x, weight, y))
        << static_cast<int>(pass);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Problems, ConvColumnsTest,
    testing::Values(
        Case{"tiles", {2, 40, 41, 29}, {35, 40, 3, 3}, {.padding = 1}},
        Case{"strided", {3, 30, 33, 47}, {20, 30, 3, 5}, {.stride = {2, 3}, .padding = {3, 2}}},
        Case{"dilated", {1, 7, 50, 40}, {9, 7, 5, 3}, {.padding = {9, 0}, .dilation = {4, 2}}},
        Case{"groups", {2, 12, 20, 20}, {18, 4, 3, 3}, {.padding = 2, .groups = 3}},
        Case{"depthwise", {2, 20, 40, 30}, {20, 1, 3, 3}, {.padding = 1, .groups = 20}},
        Case{"pixels", {2, 300, 37, 31}, {70, 300, 1, 1}, {}},
        Case{"strided_pixels", {2, 30, 37, 31}, {20, 30, 1, 1}, {.stride = 2}},
        Case{"padding_beyond_kernel", {1, 3, 5, 4}, {6, 3, 2, 2}, {.padding = 3}},
        Case{"sequence", {3, 90, 1500}, {33, 90, 7}, {.padding = 3}},
        Case{"one_to_one", {1, 1, 1000}, {1, 1, 3}, {.padding = 1}},
        Case{"strided_depthwise",
             {3, 20, 41, 37},
             {20, 1, 3, 3},
             {.stride = 2, .padding = 1, .groups = 20}},
        Case{"wide_strides", {2, 6, 40, 50}, {9, 2, 5, 7}, {.stride = {2, 3}, .groups = 3}},
        Case{"strides_beyond_kernel", {2, 3, 20, 21}, {5, 3, 2, 2}, {.stride = {2, 3}}},
        Case{"strided_and_dilated",
             {17, 5, 30, 45},
             {7, 5, 3, 3},
             {.stride = 2, .padding = {3, 4}, .dilation = {2, 3}}},
        Case{"small_volume",
             {2, 3, 9, 12, 13},
             {8, 3, 3, 3, 3},
             {.stride = {1, 2, 2}, .padding = 1}},
        Case{"volume", {2, 6, 9, 12, 13}, {10, 6, 7, 7, 7}, {.padding = 3}}),
    [](const auto& instance) { return std::string(instance.param.name); });

// The first choice for a convolution of 12 x 12 images.
std::string_view KernelFor(DType dtype, int64_t in, int64_t out, int64_t groups) {
  const inner::OpDef& op = *inner::FindOp("conv2d");
  const inner::Attrs attrs{inner::ConvAttrs{.groups = groups}};
  const auto spec = [&](const Shape& s) { return TensorSpec::Contiguous(dtype, s, Device()); };
  const TensorSpec x = spec({2, in, 12, 12}), weight = spec({out, in / groups, 3, 3});
  const TensorSpec y = spec({2, out, 10, 10});
  const TensorSpec* const inputs[] = {&x, &weight, nullptr};
  inner::Prepared answer;
  const absl::Status status = inner::internal::Prepare(
      op, inner::KernelQuery(inputs, {&y, 1}, attrs.ref()), Device(), &answer);
  EXPECT_TRUE(status.ok()) << status;
  return status.ok() ? answer.kernel->name : "";
}

TEST(ConvColumnsTest, TakesF64) { EXPECT_EQ(KernelFor(DType::kF64, 30, 40, 1), "columns"); }

TEST(ConvColumnsTest, FewChannelsAGroupAreShifts) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    EXPECT_EQ(KernelFor(dtype, 3, 4, 1), "shifts");
    EXPECT_EQ(KernelFor(dtype, 60, 60, 60), "shifts");
    EXPECT_NE(KernelFor(dtype, 30, 40, 1), "shifts");
  }
  EXPECT_NE(KernelFor(DType::kF32, 64, 64, 64), "shifts");
}

// Rows of outputs have gaps between them, which are no outputs.
TEST(ConvColumnsTest, OnlyTapsThatMeetAnInfinityHaveOne) {
  std::vector<float> x(2 * 6 * 6, 1.0f);
  x[5] = INFINITY;  // the last of a row, which only the last column of taps meets
  const Tensor weight = FromVector(std::vector<float>(9, 1.0f), {1, 1, 3, 3}).SetRequiresGrad();
  const Tensor y = Conv2d(FromVector(x, {2, 1, 6, 6}), weight, Tensor(), {});
  const Tensor grad = Grad(y, weight, {.seeds = {Ones(y.shape())}});
  std::vector<float> want(9, 32.0f);
  want[2] = INFINITY;
  EXPECT_EQ(grad.ToVector<float>(), want);
}

}  // namespace
}  // namespace firn
