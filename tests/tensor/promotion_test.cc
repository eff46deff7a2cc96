// Dtypes and values of operations on mixed operands, as in PyTorch: dimensioned tensors decide,
// then 0-d tensors, then numbers.

#include <gtest/gtest.h>

#include <cmath>

#include "firn/autograd/backward.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "tests/error_of.h"

namespace firn {
namespace {

constexpr DType kAll[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8,
                          DType::kI32, DType::kI64, DType::kU8,  DType::kBool};

Tensor Of(DType d) { return Cast(FromValues({1.0f, 2.0f, 3.0f}), d); }
std::vector<double> ValuesOf(const Tensor& t) { return t.ToVector<double>(); }
using Doubles = std::vector<double>;

TEST(PromotionTest, TensorsPromoteByTheTable) {
  for (DType a : kAll) {
    for (DType b : kAll) {
      EXPECT_EQ((Of(a) * Of(b)).dtype(), Promote(a, b)) << a << " with " << b;
      EXPECT_EQ((Of(a) / Of(b)).dtype(), IsFloating(Promote(a, b)) ? Promote(a, b) : DType::kF32);
      EXPECT_EQ((Of(a) < Of(b)).dtype(), DType::kBool);
    }
  }
}

TEST(PromotionTest, ANumberOfTheSameOrALowerKindChangesNothing) {
  for (DType d : kAll) {
    if (d == DType::kBool) continue;
    EXPECT_EQ((Of(d) + 1).dtype(), d) << d;
    EXPECT_EQ((2 * Of(d)).dtype(), d) << d;
    EXPECT_EQ((1 - Of(d)).dtype(), d) << d;
    EXPECT_EQ((Of(d) + true).dtype(), d) << d;
    EXPECT_EQ(Maximum(Of(d), 2).dtype(), d) << d;
    EXPECT_EQ(Where(Of(d) > 1, Of(d), 0).dtype(), d) << d;
    EXPECT_EQ(Clamp(Of(d), 1, 2).dtype(), d) << d;
    EXPECT_EQ(Pow(Of(d), 2).dtype(), d) << d;
    if (IsFloating(d)) {
      EXPECT_EQ((Of(d) * 2.5).dtype(), d) << d;
      EXPECT_EQ(Pow(Of(d), 0.5).dtype(), d) << d;
      EXPECT_EQ(Pow(2.0, Of(d)).dtype(), d) << d;
    }
  }
}

TEST(PromotionTest, ANumberOfAHigherKindChangesTheKind) {
  for (DType d : {DType::kI8, DType::kI32, DType::kI64, DType::kU8, DType::kBool}) {
    EXPECT_EQ((Of(d) + 0.5).dtype(), DType::kF32) << d;
    EXPECT_EQ((0.5 - Cast(Of(d), d)).dtype(), DType::kF32) << d;
    EXPECT_EQ(Pow(Of(d), 0.5).dtype(), DType::kF32) << d;
    EXPECT_EQ(Where(Of(d) == 1, Of(d), 0.5).dtype(), DType::kF32) << d;
    EXPECT_EQ((Of(d) / 2).dtype(), DType::kF32) << d;
  }
  EXPECT_EQ((Of(DType::kBool) + 1).dtype(), DType::kI64);
  EXPECT_EQ(Clamp(Of(DType::kI32), 1, 2.5).dtype(), DType::kF32);
  EXPECT_EQ(ValuesOf(Clamp(Of(DType::kI32), {}, 2.5)), (Doubles{1, 2, 2.5}));
}

// The same as torch.clamp; 300 cut to the size of a u8 is 44.
TEST(PromotionTest, ABoundBeyondAllIntegersOfTheDTypeBoundsNothing) {
  const Tensor x = Of(DType::kU8);
  const Doubles same = ValuesOf(x);
  constexpr int64_t kFar = int64_t{1} << 40;
  EXPECT_EQ(ValuesOf(Clamp(x, {}, 300)), same);
  EXPECT_EQ(ValuesOf(Clamp(x, -5)), same);
  EXPECT_EQ(ValuesOf(Clamp(x, -1, 300)), same);
  EXPECT_EQ(ValuesOf(Clamp(x, 2, 300)), (Doubles{2, 2, 3}));
  EXPECT_EQ(ValuesOf(Clamp(Of(DType::kI32), -kFar, kFar)), same);
  EXPECT_EQ(Clamp(x, {}, 300).dtype(), DType::kU8);
  EXPECT_EQ(ValuesOf(Minimum(x, 300)), same);
  EXPECT_EQ(ValuesOf(Minimum(300, x)), same);
  EXPECT_EQ(ValuesOf(Maximum(x, -1)), same);
  EXPECT_EQ(ValuesOf(Maximum(Of(DType::kI8), -200)), same);
}

TEST(PromotionTest, ABoundThatLeavesNoElementIsRefused) {
  const Tensor x = Of(DType::kU8);
  EXPECT_EQ(testing::ErrorOf([&] { Clamp(x, 300); }),
            "clamp: min is 300 (want at most 255, the largest u8)");
  EXPECT_EQ(testing::ErrorOf([&] { Clamp(x, {}, -1); }),
            "clamp: max is -1 (want at least 0, the least u8)");
  EXPECT_EQ(testing::ErrorOf([&] { Maximum(x, 256); }),
            "maximum: y is 256 (want at most 255, the largest u8)");
  EXPECT_EQ(testing::ErrorOf([&] { Minimum(-1, x); }),
            "minimum: x is -1 (want at least 0, the least u8)");
}

TEST(PromotionTest, ATensorWithoutDimensionsChangesTheKindOnly) {
  EXPECT_EQ((Of(DType::kF16) * Full({}, 2, DType::kF32)).dtype(), DType::kF16);
  EXPECT_EQ((Of(DType::kF32) * Full({}, 2, DType::kF64)).dtype(), DType::kF32);
  EXPECT_EQ((Of(DType::kU8) + Full({}, 2, DType::kI64)).dtype(), DType::kU8);
  EXPECT_EQ((Of(DType::kI64) * Full({}, 2, DType::kF64)).dtype(), DType::kF64);
  EXPECT_EQ((Of(DType::kBool) + Full({}, 2, DType::kI32)).dtype(), DType::kI32);
  EXPECT_EQ((Full({}, 1, DType::kF16) * Full({}, 2, DType::kF32)).dtype(), DType::kF32);
  EXPECT_EQ((Full({}, 1, DType::kI32) + 1).dtype(), DType::kI32);
  EXPECT_EQ((Full({}, 1, DType::kF16) + 1.5).dtype(), DType::kF16);
}

TEST(PromotionTest, NumbersKeepAllTheirDigits) {
  const Tensor x = FromValues({0.0, 0.0});
  EXPECT_EQ(ValuesOf(x + 0.1), (Doubles{0.1, 0.1}));
  EXPECT_EQ(ValuesOf(Where(x == 0, 0.1, x)), (Doubles{0.1, 0.1}));
  EXPECT_EQ(ValuesOf(Clamp(x, 0.1)), (Doubles{0.1, 0.1}));
  EXPECT_EQ(ValuesOf(Pow(x + 2, 0.1)), (Doubles{std::pow(2.0, 0.1), std::pow(2.0, 0.1)}));
  EXPECT_EQ(ValuesOf(MaskedFill(x, x == 0, 0.1)), (Doubles{0.1, 0.1}));
  EXPECT_EQ(ValuesOf(FromValues<int64_t>({1}) + int64_t{9007199254740992})[0], 9007199254740993.0);
}

TEST(PromotionTest, NumbersGiveTheExpectedValuesInEveryOrder) {
  const Tensor x = FromValues({1.0f, 2.0f, 4.0f});
  EXPECT_EQ(ValuesOf(2 * x - 1), (Doubles{1, 3, 7}));
  EXPECT_EQ(ValuesOf(1 - x), (Doubles{0, -1, -3}));
  EXPECT_EQ(ValuesOf(8 / x), (Doubles{8, 4, 2}));
  EXPECT_EQ(ValuesOf(x / 2), (Doubles{0.5, 1, 2}));
  EXPECT_EQ(ValuesOf(-x), (Doubles{-1, -2, -4}));
  EXPECT_EQ(ValuesOf(Pow(x, 2)), (Doubles{1, 4, 16}));
  EXPECT_EQ(ValuesOf(Pow(2, x)), (Doubles{2, 4, 16}));
  EXPECT_EQ(ValuesOf(Pow(x, x)), (Doubles{1, 4, 256}));
  EXPECT_EQ(ValuesOf(x > 2), (Doubles{0, 0, 1}));
  EXPECT_EQ(ValuesOf(2 >= x), (Doubles{1, 1, 0}));
  EXPECT_EQ(ValuesOf(!(x == 2)), (Doubles{1, 0, 1}));
  EXPECT_EQ(ValuesOf(x != 2), (Doubles{1, 0, 1}));
  EXPECT_EQ(ValuesOf(LogicalAnd(x < 3, x)), (Doubles{1, 1, 0}));
  Tensor y = x;
  y += 1;
  y *= 3;
  y -= x;
  y /= 2;
  EXPECT_EQ(ValuesOf(y), (Doubles{2.5, 3.5, 5.5}));
  EXPECT_EQ(ValuesOf(x), (Doubles{1, 2, 4}));
}

TEST(PromotionTest, IntegersCompareWithFractionsInFloat) {
  const Tensor x = FromValues<int64_t>({0, 1, 2});
  EXPECT_EQ(ValuesOf(x > 0.5), (Doubles{0, 1, 1}));
  EXPECT_EQ(ValuesOf(x == 1.5), (Doubles{0, 0, 0}));
  EXPECT_EQ(ValuesOf(Cast(x, DType::kU8) < 1.5), (Doubles{1, 1, 0}));
}

TEST(PromotionTest, AnIntegerTooLargeForTheTensorIsComparedAsItIs) {
  const Tensor x = FromValues<uint8_t>({0, 44, 255});
  EXPECT_EQ(ValuesOf(x < 300), (Doubles{1, 1, 1}));
  EXPECT_EQ(ValuesOf(x == 300), (Doubles{0, 0, 0}));  // 300 mod 256 is 44
  EXPECT_EQ(ValuesOf(-1 < x), (Doubles{1, 1, 1}));
  EXPECT_EQ(ValuesOf(x + 300), (Doubles{44, 88, 43}));  // arithmetic wraps, as in PyTorch
}

TEST(PromotionTest, MathematicsOnIntegersGivesFloats) {
  EXPECT_EQ(Exp(Of(DType::kI64)).dtype(), DType::kF32);
  EXPECT_EQ(Exp(Of(DType::kBool)).dtype(), DType::kF32);
  EXPECT_EQ(Exp(Of(DType::kF16)).dtype(), DType::kF16);
  EXPECT_EQ(Exp(2).dtype(), DType::kF32);
  EXPECT_EQ(Relu(Of(DType::kI32)).dtype(), DType::kI32);
}

TEST(PromotionTest, AMaskedFillKeepsTheDType) {
  const Tensor x = FromValues<int64_t>({1, 2});
  const Tensor y = MaskedFill(x, x == 2, 7.9);
  EXPECT_EQ(y.dtype(), DType::kI64);
  EXPECT_EQ(ValuesOf(y), (Doubles{1, 7}));
  EXPECT_THROW(MaskedFill(x, x == 2, x), Error);
}

TEST(PromotionTest, GradientsHaveTheDTypeOfTheirTensor) {
  Tensor x = Of(DType::kF16).SetRequiresGrad();
  Tensor y = Of(DType::kF64).SetRequiresGrad();
  Tensor z = x * y + 1;
  EXPECT_EQ(z.dtype(), DType::kF64);
  Sum(z).Backward();
  EXPECT_EQ(x.grad().dtype(), DType::kF16);
  EXPECT_EQ(y.grad().dtype(), DType::kF64);
  EXPECT_EQ(ValuesOf(x.grad()), (Doubles{1, 2, 3}));
}

TEST(PromotionTest, IntegersHaveNoNegativePowers) {
  EXPECT_THROW(Pow(Of(DType::kI32), -1), Error);
  EXPECT_EQ(ValuesOf(Pow(Of(DType::kI32), -1.0)), (Doubles{1, 0.5, static_cast<double>(1.0f / 3)}));
}

}  // namespace
}  // namespace firn
