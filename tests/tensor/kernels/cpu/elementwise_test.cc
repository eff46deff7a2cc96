// Operands whose elements lie apart give the bits of those that lie side by side.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/tensor.h"

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
  // Sizes with whole blocks of 16 x 128, parts of blocks, and too few rows for a block.
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{33, 300}, {16, 128}, {130, 7}, {3, 200}, {600, 3}, {1, 50}}) {
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

// Results that are written past the caches, in rows that begin between their lines.
TEST_P(ElementwiseTest, ReadsLargeTransposedMatrices) {
  const int64_t rows = 1021, cols = (int64_t{8} << 20) / (rows * SizeOf(GetParam())) + 10;
  const Tensor x = InOrder({rows, cols}, {1, 0}, GetParam(), 1),
               y = InOrder({rows, cols}, {1, 0}, GetParam(), 2);
  ExpectSame(Neg(x), Neg(Contiguous(x)));
  ExpectSame(Add(x, y), Add(Contiguous(x), Contiguous(y)));
}

// Operands that lie across and have elements of other sizes.
TEST_P(ElementwiseTest, ReadsTransposedConditions) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{33, 300}, {16, 128}, {130, 7}, {70, 200}, {600, 3}}) {
    const Tensor x = InOrder(shape, {1, 0}, GetParam(), 1),
                 y = InOrder(shape, {1, 0}, GetParam(), 2);
    const Tensor condition = Gt(Transpose(x, 0, 1), 2);  // row-major, as a transposed one is below
    ExpectSame(Where(Transpose(condition, 0, 1), x, y),
               Where(Gt(Contiguous(x), 2), Contiguous(x), Contiguous(y)));
    ExpectSame(Transpose(condition, 0, 1).To(GetParam()), Gt(Contiguous(x), 2).To(GetParam()));
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

// Rows of half types take whole blocks; the rest of a row gives the same results.
TEST_P(ElementwiseTest, ComputesRowsOfAnyLength) {
  const DType wide = GetParam() == DType::kF64 ? DType::kF64 : DType::kF32;
  for (int64_t n = 1; n <= 100; ++n) {
    const Tensor x = InOrder({n}, {0}, GetParam(), 1), y = InOrder({n}, {0}, GetParam(), 2);
    const Tensor a = x.To(wide), b = y.To(wide), half = Full({1}, 0.5, GetParam());
    ExpectSame(Mul(x, y), Mul(a, b).To(GetParam()));
    ExpectSame(Sub(half, y), Sub(0.5, b).To(GetParam()));
    ExpectSame(Neg(x), Neg(a).To(GetParam()));
  }
}

// Arguments that a row's vectors leave to slower code, among others and at the ends of what is
// computed at once.
TEST_P(ElementwiseTest, ComputesRareArgumentsAmongOthers) {
  const DType dtype = GetParam();
  const bool f64 = dtype == DType::kF64;
  const auto rare = [&](int64_t i) { return i % 97 == 0 || i == 255 || i == 256 || i == 999; };
  std::vector<double> x, y;
  for (int64_t i = 0; i < 1000; ++i) {
    const double usual = 0.25 * static_cast<double>(i % 120) - 15;
    const double large = dtype == DType::kF16 ? 6e4 : (i % 2 == 0 ? 1e30 : 1e12);
    x.push_back(rare(i) ? large : usual);
    y.push_back(rare(i) ? 0.75 : 2.5);
  }
  const Tensor a = FromVector(x).To(dtype), b = FromVector(y).To(dtype);
  const auto wide = a.To(DType::kF64).ToVector<double>(), by = b.To(DType::kF64).ToVector<double>();
  const auto expect = [&](const Tensor& got, double (*f)(double, double)) {
    const auto result = got.To(DType::kF64).ToVector<double>();
    const double step = f64                    ? 1e-15
                        : dtype == DType::kF32 ? 3e-7
                        : dtype == DType::kF16 ? 1e-3
                                               : 8e-3;
    for (size_t i = 0; i < result.size(); ++i) {
      const double want = f(wide[i], by[i]);
      ASSERT_NEAR(result[i], want, step * std::max(1.0, std::abs(want))) << i;
    }
  };
  expect(Sin(a), [](double v, double) { return std::sin(v); });
  expect(Cos(a), [](double v, double) { return std::cos(v); });
  expect(Fmod(a, b), [](double v, double w) { return std::fmod(v, w); });
  expect(Fmod(a, 2.5), [](double v, double) { return std::fmod(v, 2.5); });
  if (dtype == DType::kF16) return;  // the quotients are no numbers there
  expect(Div(a, b, DivRounding::kFloor), [](double v, double w) { return std::floor(v / w); });
}

// A row that is longer than a core's cache is worked through in pieces.
TEST_P(ElementwiseTest, LongRowsAreThoseOfTheirParts) {
  constexpr int64_t kPart = 4096, kLength = (int64_t{1} << 20) + 4099;
  const Tensor x = InOrder({kLength}, {0}, GetParam(), 1),
               y = InOrder({kLength}, {0}, GetParam(), 2);
  const Tensor of_one = Tanh(x), of_two = Pow(x, y), rare = Sin(x);
  for (int64_t begin = 0; begin < kLength; begin += kPart) {
    const int64_t end = std::min(kLength, begin + kPart);
    const auto part = [&](const Tensor& t) { return Slice(t, 0, begin, end); };
    ASSERT_TRUE(part(of_one).Equals(Tanh(part(x)))) << begin;
    ASSERT_TRUE(part(of_two).Equals(Pow(part(x), part(y)))) << begin;
    ASSERT_TRUE(part(rare).Equals(Sin(part(x)))) << begin;
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, ElementwiseTest,
                         ::testing::Values(DType::kF32, DType::kF64, DType::kF16, DType::kBF16),
                         [](const auto& of) { return std::string(DTypeName(of.param)); });

}  // namespace
}  // namespace firn
