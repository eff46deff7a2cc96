// Factors and vectors of matrices of sizes at which blocks, panels, strips, registers and pairs of
// rows end, or do not, and on several threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/linalg/eigh.h"
#include "firn/tensor/ops/linalg/solve.h"
#include "firn/tensor/ops/linalg/svd.h"
#include "firn/tensor/testing/samples.h"

namespace firn {
namespace {

using testing::Normal;

constexpr int64_t kSizes[] = {1,  2,  3,  7,  8,  9,  15, 16, 17,  31,  32,  33,  39,  40,  41,
                              47, 63, 64, 65, 72, 73, 96, 97, 105, 128, 129, 150, 200, 256, 257};

double Largest(const Tensor& x) { return Max(Abs(x)).Item<double>(); }
Tensor Unit(int64_t n, DType dtype) { return Eye(n, n, 0, dtype); }
// Half the distance between 1 and the next number, for each term of a sum of n.
double Rounding(int64_t n, DType dtype) {
  return static_cast<double>(n + 8) * (dtype == DType::kF64 ? 0x1p-53 : 0x1p-24);
}

TEST(LuSizesTest, SolvesAndInvertsMatricesOfAnySize) {
  for (const int64_t n : kSizes) {
    for (const DType dtype : {DType::kF64, DType::kF32}) {
      // Rows in an order in which all of them must be exchanged.
      const Tensor a = (Normal({n, n}) + Roll(Unit(n, DType::kF64), 1, 0) * 3.0).To(dtype);
      const Tensor b = Normal({n, 3}, 2).To(dtype), x = Solve(a, b), inverse = Inv(a);
      // The factors' growth is far below n for such matrices.
      const double allowed = 16 * Rounding(n, dtype) * Largest(a);
      EXPECT_LT(Largest(Matmul(a, x) - b), allowed * Largest(x)) << n;
      EXPECT_LT(Largest(Matmul(a, inverse) - Unit(n, dtype)), allowed * Largest(inverse)) << n;
      EXPECT_NEAR(Slogdet(a).logabsdet.Item<double>() + Slogdet(inverse).logabsdet.Item<double>(),
                  0,
                  16 * Rounding(n, dtype) * Largest(inverse) * Largest(a) * static_cast<double>(n))
          << n;
    }
  }
}

// With partial pivots no multiple is beyond 1, and the determinant of a permutation is its sign.
TEST(LuSizesTest, ExchangesRowsInEveryPanel) {
  for (const int64_t n : kSizes) {
    const Tensor turned = Flip(Unit(n, DType::kF64), {0});
    EXPECT_EQ(Det(turned).Item<double>(), n / 2 % 2 == 0 ? 1 : -1) << n;
    EXPECT_TRUE(Inv(turned).Equals(turned)) << n;
    EXPECT_TRUE(Solve(turned, Unit(n, DType::kF64)).Equals(turned)) << n;
  }
}

// A column of zeros in each place of a panel.
TEST(LuSizesTest, HasADeterminantOfZeroWhereAColumnIsZero) {
  for (const size_t column : {0, 1, 7, 8, 15, 40, 63, 64, 71, 79}) {
    std::vector<float> scale(80, 1.0f);
    scale[column] = 0;
    const Tensor a = Normal({80, 80}).To(DType::kF32) * FromVector(scale, {1, 80});
    EXPECT_EQ(Det(a).Item<float>(), 0) << column;
  }
}

TEST(EighSizesTest, FindsOrthonormalVectorsOfAnySize) {
  for (const int64_t n : kSizes) {
    for (const DType dtype : {DType::kF64, DType::kF32}) {
      const Tensor x = Normal({n, n});
      const Tensor a = (x + Transpose(x, 0, 1)).To(dtype);
      const EighResult y = Eigh(a);
      const double allowed = 8 * Rounding(n, dtype);
      EXPECT_LT(Largest(Matmul(y.vectors, y.vectors, true) - Unit(n, dtype)), allowed) << n;
      const double norm = Largest(y.values);
      EXPECT_LT(Largest(Matmul(a, y.vectors) - y.vectors * Unsqueeze(y.values, 0)), allowed * norm)
          << n;
    }
  }
}

// Matrices that fall apart, at one end or in the middle, and values that are equal or turn by a
// right angle.
TEST(EighSizesTest, TakesMatricesThatFallApart) {
  for (const int64_t n : {int64_t{34}, int64_t{70}, int64_t{129}}) {
    const Tensor x = Normal({n, n}), near = Unit(n, DType::kF64);
    const Tensor whole = x + Transpose(x, 0, 1);
    const Tensor place = Arange(0.0, static_cast<double>(n), 1, {.dtype = DType::kF64});
    for (const int64_t cut : {int64_t{1}, n / 2, n - 1}) {
      std::vector<double> side(static_cast<size_t>(n), -1.0);
      std::fill_n(side.begin(), cut, 1.0);
      const Tensor row = FromVector(side, {1, n});
      const Tensor together = (Transpose(row, 0, 1) * row + 1.0) * 0.5;
      for (const Tensor& a : {whole * together, Flip(near, {0}), near, near * place}) {
        const EighResult y = Eigh(a);
        const double allowed = 8 * Rounding(n, DType::kF64);
        EXPECT_LT(Largest(Matmul(y.vectors, y.vectors, true) - near), allowed) << n << " " << cut;
        EXPECT_LT(Largest(Matmul(a, y.vectors) - y.vectors * Unsqueeze(y.values, 0)),
                  allowed * Largest(y.values))
            << n << " " << cut;
      }
    }
  }
}

TEST(EighSizesTest, GivesTheSameBitsOnEveryThread) {
  const Tensor x = Normal({300, 300}), a = x + Transpose(x, 0, 1);
  const int before = NumThreads();
  std::vector<EighResult> results;
  for (const int threads : {1, 2, 3}) {
    SetNumThreads(threads);
    results.push_back(Eigh(a));
  }
  SetNumThreads(before);
  for (const EighResult& y : results) {
    EXPECT_TRUE(y.values.Equals(results[0].values));
    EXPECT_TRUE(y.vectors.Equals(results[0].vectors));
  }
}

TEST(SvdSizesTest, FindsOrthonormalVectorsOfAnySize) {
  for (const int64_t n : kSizes) {
    const Tensor a = Normal({n + 5, n});
    const SvdResult y = Svd(a);
    const double allowed = 8 * Rounding(n, DType::kF64);
    EXPECT_LT(Largest(Matmul(y.u, y.u, true) - Unit(n, DType::kF64)), allowed) << n;
    EXPECT_LT(Largest(Matmul(y.vh, y.vh, false, true) - Unit(n, DType::kF64)), allowed) << n;
    EXPECT_LT(Largest(Matmul(y.u * Unsqueeze(y.s, 0), y.vh) - a), allowed * Largest(y.s)) << n;
  }
}

}  // namespace
}  // namespace firn
