// Errors in products of vectors and matrices that the conformance suite's tolerances do not find.

#include "firn/tensor/ops/linear/products.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/testing/samples.h"

namespace firn {
namespace {

// Both products of a difference are rounded alike, so the difference is 0.
TEST(CrossTest, OfAVectorWithItselfIsExactlyZero) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    for (const int dim : {0, 1}) {
      const Tensor x = testing::Normal(dim == 0 ? Shape({3, 300}) : Shape({300, 3})).To(dtype);
      EXPECT_EQ(Cross(x, x, dim).To(DType::kF64).ToVector<double>(), std::vector<double>(900, 0))
          << DTypeName(dtype) << " along " << dim;
    }
  }
}

}  // namespace
}  // namespace firn
