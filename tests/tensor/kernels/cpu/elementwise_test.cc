// Operands whose elements lie apart give the bits of those that lie side by side.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tensor/ops.h"
#include "tensor/tensor.h"

namespace firn {
namespace {

// A view of that shape whose elements lie in the order of `dims`, the last of them side by side.
Tensor InOrder(const std::vector<int64_t>& shape, const std::vector<int64_t>& dims, DType dtype,
               int seed) {
  std::vector<int64_t> sizes, back(dims.size());
  int64_t n = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    sizes.push_back(shape[static_cast<size_t>(dims[i])]);
    back[static_cast<size_t>(dims[i])] = static_cast<int64_t>(i);
    n *= sizes.back();
  }
  const Tensor numbers = Remainder(Mul(Arange(n), 37 + seed), 101);
  return Permute(Reshape(Div(numbers.To(dtype), 16), Shape(sizes)), back);
}

void ExpectSame(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_TRUE(All(Eq(got, want)).Item() != 0);
}

class ElementwiseTest : public ::testing::TestWithParam<DType> {};

TEST_P(ElementwiseTest, ReadsTransposedMatrices) {
  // Beside whole blocks of 16 x 128: parts of them, and too few rows for any.
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{33, 300}, {16, 128}, {130, 7}, {3, 200}, {200, 3}, {1, 50}}) {
    const Tensor x = InOrder(shape, {1, 0}, GetParam(), 1),
                 y = InOrder(shape, {1, 0}, GetParam(), 2);
    const Tensor straight = InOrder(shape, {0, 1}, GetParam(), 3);
    ExpectSame(Exp(x), Exp(Contiguous(x)));
    ExpectSame(Add(x, y), Add(Contiguous(x), Contiguous(y)));
    ExpectSame(Add(x, straight), Add(Contiguous(x), straight));
    ExpectSame(Sub(straight, x), Sub(straight, Contiguous(x)));
    ExpectSame(Where(Gt(x, 2), x, straight), Where(Gt(Contiguous(x), 2), Contiguous(x), straight));
    ExpectSame(Mul(x, Full({1}, 0.5, GetParam())), Mul(Contiguous(x), 0.5));
  }
}

TEST_P(ElementwiseTest, ReadsPermutedDimensions) {
  const std::vector<int64_t> shape = {5, 18, 140};
  const Tensor straight = InOrder(shape, {0, 1, 2}, GetParam(), 4);
  for (const std::vector<int64_t>& order :
       {std::vector<int64_t>{0, 2, 1}, {2, 0, 1}, {2, 1, 0}, {1, 2, 0}}) {
    const Tensor x = InOrder(shape, order, GetParam(), 5);
    ExpectSame(Mul(x, straight), Mul(Contiguous(x), straight));
    ExpectSame(Tanh(x), Tanh(Contiguous(x)));
  }
}

TEST_P(ElementwiseTest, BroadcastsBesideTransposed) {
  const Tensor x = InOrder({40, 150}, {1, 0}, GetParam(), 6);
  const Tensor row = InOrder({150}, {0}, GetParam(), 7),
               column = InOrder({40, 1}, {0, 1}, GetParam(), 8);
  ExpectSame(Sub(x, row), Sub(Contiguous(x), row));
  ExpectSame(Sub(column, x), Sub(column, Contiguous(x)));
}

INSTANTIATE_TEST_SUITE_P(DTypes, ElementwiseTest,
                         ::testing::Values(DType::kF32, DType::kF64, DType::kF16, DType::kBF16),
                         [](const auto& of) { return std::string(DTypeName(of.param)); });

}  // namespace
}  // namespace firn
