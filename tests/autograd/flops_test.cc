#include "firn/autograd/flops.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/tensor/ops/attention/attention.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn {
namespace {

double Flops(const char* op, const std::vector<Shape>& in, const Shape& out, AttrsRef attrs = {}) {
  std::vector<TensorSpec> specs;
  for (const Shape& s : in) specs.push_back(TensorSpec::Contiguous(DType::kF32, s, Device()));
  std::vector<const TensorSpec*> pointers;
  for (const TensorSpec& s : specs) pointers.push_back(&s);
  const TensorSpec result[] = {TensorSpec::Contiguous(DType::kF32, out, Device())};
  return FlopsOf(Op(op), KernelQuery(pointers, result, attrs)).value_or(-1);
}

TEST(FlopsTest, AMatrixProductTakesTwoForEachMultiplyAdd) {
  EXPECT_EQ(Flops("matmul", {{2, 3}, {3, 5}}, {2, 5}, MatmulAttrs{}), 2 * 2 * 3 * 5);
  EXPECT_EQ(Flops("matmul", {{7, 3, 2}, {3, 5}}, {7, 2, 5}, MatmulAttrs{.transpose_a = true}),
            2 * 7 * 2 * 3 * 5);
  EXPECT_EQ(Flops("matmul", {{3}, {3}}, Shape(), MatmulAttrs{}), 2 * 3);
  EXPECT_EQ(Flops("linear", {{4, 3}, {5, 3}, {5}}, {4, 5}), 2 * 4 * 3 * 5);
}

TEST(FlopsTest, AttentionIsTwoProducts) {
  EXPECT_EQ(Flops("scaled_dot_product_attention", {{2, 4, 5, 8}, {2, 2, 7, 8}, {2, 2, 7, 6}},
                  {2, 5, 4, 6}, AttentionAttrs{}),
            2 * 2 * 4 * 5 * 7 * (8 + 6));
}

TEST(FlopsTest, AConvolutionAndItsGradientsTakeTheSame) {
  ConvAttrs a;
  a.stride = 2;
  a.padding = 1;
  a.groups = 2;
  const Shape x = {2, 4, 8, 8}, w = {6, 2, 3, 3}, y = {2, 6, 4, 4};
  const double want = 2.0 * 2 * 6 * 4 * 4 * 2 * 3 * 3;
  EXPECT_EQ(Flops("conv2d", {x, w}, y, a), want);
  EXPECT_EQ(Flops("conv2d_act", {x, w}, y, ConvActAttrs{.conv = a}), want);
  a.result = 8;
  EXPECT_EQ(Flops("conv_transpose2d", {y, w}, x, a), want);
  a.result = 3;
  EXPECT_EQ(Flops("conv2d_weight_grad", {x, y}, w, a), want);
}

TEST(FlopsTest, OperationsWithoutARuleAreNotCounted) {
  EXPECT_EQ(Flops("relu", {{2, 3}}, {2, 3}), -1);
}

FIRN_REGISTER_FLOPS(erased) { return static_cast<double>(call.out().num_elements()); }

TEST(FlopsTest, OthersMayAddRules) {
  const OpDef op{.name = "erased", .doc = ""};
  const TensorSpec out[] = {TensorSpec::Contiguous(DType::kF32, {2, 3}, Device())};
  EXPECT_EQ(FlopsOf(op, KernelQuery({}, out, {})), 6);
}

}  // namespace
}  // namespace firn
