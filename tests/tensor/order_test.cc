// Operations that know other orders of memory than row-major.

#include "firn/tensor/order.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/device/inner.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

TensorSpec Strided(const Shape& shape, const std::vector<int64_t>& steps) {
  Dims strides;
  for (int64_t step : steps) strides.push_back(step);
  return TensorSpec::Strided(DType::kF32, shape, Device(), strides);
}

TEST(OrderTest, IsThatOfDenseStridesAlone) {
  EXPECT_EQ(OrderOf(Strided({5, 3}, {3, 1})), 0);   // row-major
  EXPECT_LT(OrderOf(Strided({5, 3}, {1, 5})), 0);   // transposed
  EXPECT_EQ(OrderOf(Strided({5, 3}, {1, 6})), 0);   // with a gap
  EXPECT_EQ(OrderOf(Strided({5, 3}, {-1, 5})), 0);  // backwards
  EXPECT_EQ(OrderOf(Strided({5, 3}, {0, 1})), 0);   // expanded
  EXPECT_EQ(OrderOf(Strided({5, 3}, {0, 0})), 0);
  EXPECT_EQ(OrderOf(Strided({0, 3}, {1, 5})), 0);
  EXPECT_EQ(OrderOf(TensorSpec::Blocked(DType::kF32, {2, 16, 3}, Device(), 8)), 0);
}

TEST(OrderTest, TellsOrdersApart) {
  const int32_t swapped = OrderOf(Strided({4, 3, 5}, {1, 20, 4}));
  EXPECT_LT(swapped, 0);
  EXPECT_NE(OrderOf(Strided({4, 3, 5}, {1, 4, 12})), swapped);
  EXPECT_NE(OrderOf(Strided({4, 3, 5}, {15, 1, 3})), swapped);
}

TEST(OrderTest, DoesNotDependOnSizesOfOne) {
  const int32_t order = OrderOf(Strided({5, 1, 3}, {1, 99, 5}));
  EXPECT_LT(order, 0);
  EXPECT_EQ(OrderOf(Strided({5, 1, 3}, {1, 0, 5})), order);
}

TEST(OrderTest, LossesAddUpInTheOrderThatBothHave) {
  const Tensor x = Randn({67, 371}), y = Randn({67, 371});
  for (Reduction reduction : {Reduction::kSum, Reduction::kMean}) {
    EXPECT_TRUE(MseLoss(x.T(), y.T(), reduction).Equals(MseLoss(x, y, reduction)));
    const Tensor want = MseLoss(x.T().Contiguous(), y.T().Contiguous(), reduction);
    EXPECT_TRUE(MseLoss(x.T(), y.T().Contiguous(), reduction).Equals(want));
    EXPECT_TRUE(MseLoss(x.T().Contiguous(), y.T(), reduction).Equals(want));
  }
  const Tensor apart = MseLoss(x.T(), y.T(), Reduction::kNone);
  EXPECT_TRUE(apart.Equals(MseLoss(x, y, Reduction::kNone).T()));
  const Tensor cube = Randn({5, 6, 7}), other = Randn({5, 7, 6});  // one shape, two orders
  EXPECT_TRUE(L1Loss(cube.Permute({2, 0, 1}), other.Permute({1, 0, 2}))
                  .Equals(L1Loss(cube.Permute({2, 0, 1}).Contiguous(),
                                 other.Permute({1, 0, 2}).Contiguous())));
}

// Blocks of all sizes, of rows that are cut, and of operands of which some lie across.
TEST(OrderTest, ElementwiseOperationsTransposeWhatLiesAcross) {
  for (const Shape& shape : {Shape{4, 600}, Shape{600, 4}, Shape{67, 371}, Shape{33, 256},
                             Shape{257, 17}, Shape{3, 65, 70}}) {
    for (DType dtype : {DType::kF32, DType::kF64, DType::kBF16, DType::kF16}) {
      const Tensor x = Randn(shape).To(dtype).Transpose(-2, -1), plain = x.Contiguous();
      const Tensor y = Randn(plain.shape()).To(dtype), column = y.Sum(-1, true);
      const Tensor wide = Randn(shape).Transpose(-2, -1);  // f32 beside `dtype`
      EXPECT_TRUE(Abs(x).Equals(Abs(plain))) << shape << dtype;
      EXPECT_TRUE((x * x).Equals(plain * plain)) << shape << dtype;
      EXPECT_TRUE((x + y).Equals(plain + y)) << shape << dtype;
      EXPECT_TRUE((y - x).Equals(y - plain)) << shape << dtype;
      EXPECT_TRUE((x * 2 + column).Equals(plain * 2 + column)) << shape << dtype;
      EXPECT_TRUE((x > y).Equals(plain > y)) << shape << dtype;
      EXPECT_TRUE(Lt(x, 0).Equals(Lt(plain, 0))) << shape << dtype;
      EXPECT_TRUE(Where(x > 0, x, y).Equals(Where(plain > 0, plain, y))) << shape << dtype;
      EXPECT_TRUE(x.To(DType::kF64).Equals(plain.To(DType::kF64))) << shape << dtype;
      EXPECT_TRUE(x.To(DType::kF16).Equals(plain.To(DType::kF16))) << shape << dtype;
      EXPECT_TRUE((wide > 0).Equals(wide.Contiguous() > 0)) << shape;
    }
  }
}

}  // namespace
}  // namespace firn
