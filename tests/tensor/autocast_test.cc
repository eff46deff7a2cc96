// Which operations change the dtype of their inputs under an AutocastScope, and the dtypes of
// gradients.
#include "firn/tensor/autocast.h"

#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/ops/conv/conv_transpose.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/loss/regression.h"
#include "firn/tensor/ops/norm/batch_norm.h"
#include "firn/tensor/ops/norm/group_norm.h"
#include "firn/tensor/ops/norm/layer_norm.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;

TEST(AutocastTest, ComputesProductsAndConvolutionsInTheHalfType) {
  const Tensor x = Ones({2, 3}), w = Ones({4, 3});
  const AutocastScope autocast(DType::kBF16);
  EXPECT_EQ(Linear(x, w, Tensor()).dtype(), DType::kBF16);
  EXPECT_EQ(Matmul(x, Ones({3, 5})).dtype(), DType::kBF16);
  EXPECT_EQ(Conv2d(Ones({1, 2, 4, 4}), Ones({3, 2, 3, 3}), Tensor()).dtype(), DType::kBF16);
}

TEST(AutocastTest, ComputesLossesAndWideFunctionsInF32) {
  const Tensor half = Cast(Ones({2, 3}), DType::kF16);
  const AutocastScope autocast(DType::kF16);
  EXPECT_EQ(Softmax(half, 1).dtype(), DType::kF32);
  EXPECT_EQ(Exp(half).dtype(), DType::kF32);
  EXPECT_EQ(MseLoss(half, half).dtype(), DType::kF32);
}

TEST(AutocastTest, LeavesTheRestAlone) {
  const Tensor half = Cast(Ones({2, 3}), DType::kF16);
  const AutocastScope autocast(DType::kF16);
  EXPECT_EQ(Relu(half).dtype(), DType::kF16);
  EXPECT_EQ(Relu(Ones({2})).dtype(), DType::kF32);
  EXPECT_EQ(Add(half, Ones({3})).dtype(), DType::kF32) << "promoted as ever";
  const Tensor wide = Ones({3, 3}, DType::kF64);
  EXPECT_EQ(Matmul(wide, wide).dtype(), DType::kF64);
}

TEST(AutocastTest, NormalisesHalfImagesWithF32NumbersAsTheyAre) {
  const Tensor x = Randn({4, 3, 5, 5}).To(DType::kBF16);
  Tensor weight = Rand({3}).SetRequiresGrad(), bias = Randn({3}).SetRequiresGrad();
  const Tensor mean = Zeros({3}), var = Ones({3}), other_mean = mean.Clone(),
               other_var = var.Clone();
  const AutocastScope autocast(DType::kBF16);
  for (const bool training : {false, true}) {
    weight.ZeroGrad();
    const Tensor y = BatchNorm(x, mean, var, weight, bias, {.training = training});
    EXPECT_EQ(y.dtype(), DType::kBF16);
    Sum(y).Backward();
    EXPECT_EQ(weight.grad().dtype(), DType::kF32);
  }
  EXPECT_EQ(bias.grad().dtype(), DType::kF32);
  BatchNorm(x.To(DType::kF32), other_mean, other_var, weight, bias, {.training = true});
  for (int64_t c = 0; c < 3; ++c) {  // parameters have moved, with the digits of f32
    EXPECT_NEAR(mean.ToVector<float>()[c], other_mean.ToVector<float>()[c], 1e-6);
    EXPECT_NEAR(var.ToVector<float>()[c], other_var.ToVector<float>()[c], 1e-6);
    EXPECT_NE(mean.ToVector<float>()[c], 0.0f);
  }
  const Tensor image =
      ConvTranspose2d(Ones({1, 2, 4, 4}), Ones({2, 3, 3, 3}), Ones({3}));  // the bias is f32
  EXPECT_EQ(image.dtype(), DType::kBF16);
}

TEST(AutocastTest, NormalisesGroupsInF32) {
  const Tensor x = Randn({4, 4, 5, 5}).To(DType::kBF16), ones = Ones({4}), zeros = Zeros({4});
  const AutocastScope autocast(DType::kBF16);
  for (DType parameters : {DType::kF32, DType::kBF16}) {
    const Tensor y = GroupNorm(x, 2, ones.To(parameters), zeros.To(parameters), 1e-5);
    EXPECT_EQ(y.dtype(), DType::kF32);
  }
}

TEST(AutocastTest, GivesF32GradientsToF32Parameters) {
  Tensor w = FromVector<float>({1, 2, 3, 4}, {2, 2}).SetRequiresGrad();
  const Tensor x = FromVector<float>({1, 0.5, -1, 2}, {2, 2});
  const auto gradient = [&](DType dtype) {
    w.ZeroGrad();
    Tensor loss;
    {
      const AutocastScope autocast(dtype);
      const Tensor y = Linear(x, w, Tensor());
      loss = MseLoss(Relu(y), Zeros({2, 2}));
    }
    EXPECT_EQ(loss.dtype(), DType::kF32);
    loss.Backward();
    return w.grad();
  };
  const Tensor exact = gradient(DType::kF32), half = gradient(DType::kBF16);
  EXPECT_EQ(half.dtype(), DType::kF32);
  const std::vector<float> want = exact.ToVector<float>(), got = half.ToVector<float>();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 0.02 * 16);
}

TEST(AutocastTest, BackwardInsideTheScopeIsTheSame) {
  Tensor w = Ones({2, 2}).SetRequiresGrad();
  const AutocastScope autocast(DType::kF16);
  MseLoss(Linear(Ones({3, 2}), w, Tensor()), Zeros({3, 2})).Backward();
  EXPECT_EQ(w.grad().dtype(), DType::kF32);
}

TEST(AutocastTest, ScopesNestAndEnd) {
  const Tensor x = Ones({2, 2});
  {
    const AutocastScope outer(DType::kF16);
    {
      const AutocastScope off(DType::kF32);
      EXPECT_EQ(Matmul(x, x).dtype(), DType::kF32);
      const AutocastScope inner(DType::kBF16);
      EXPECT_EQ(Matmul(x, x).dtype(), DType::kBF16);
    }
    EXPECT_EQ(Matmul(x, x).dtype(), DType::kF16);
  }
  EXPECT_EQ(Matmul(x, x).dtype(), DType::kF32);
}

TEST(AutocastTest, RefusesDTypesThatAreNoHalf) {
  EXPECT_EQ(ErrorOf([] { const AutocastScope autocast(DType::kI32); }),
            "autocast: dtype must be f16, bf16 or, to turn it off, f32; got i32");
  EXPECT_EQ(Matmul(Ones({2, 2}), Ones({2, 2})).dtype(), DType::kF32);
}

}  // namespace
}  // namespace firn
