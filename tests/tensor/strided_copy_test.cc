// Copies between strides against the definition, element by element.

#include "firn/tensor/strided_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace firn {
namespace {

using inner::internal::CopyDim;
using inner::internal::CopyStrided;
using inner::internal::CopyTransposed;

template <class T>
class StridedCopy : public testing::Test {};
using Widths = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(StridedCopy, Widths);

template <class T>
std::vector<T> Numbers(int64_t n) {
  std::vector<T> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(i * 2654435761u >> 3);
  return v;
}

// The destination's elements after a copy from `at` on, and what they should be; it has a margin
// that must stay as it is.
template <class T>
void Check(const std::vector<CopyDim>& dims, int64_t src_size, int64_t src_at, int64_t dst_size) {
  const std::vector<T> src = Numbers<T>(src_size);
  std::vector<T> got(static_cast<size_t>(dst_size), T{77}), want = got;
  CopyStrided(dims, sizeof(T), src.data() + src_at, got.data());
  int64_t n = 1;
  for (const CopyDim& d : dims) n *= d.size;
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, from = src_at, to = 0;
    for (size_t d = dims.size(); d-- > 0; rest /= dims[d].size) {
      from += rest % dims[d].size * dims[d].src;
      to += rest % dims[d].size * dims[d].dst;
    }
    want[static_cast<size_t>(to)] = src[static_cast<size_t>(from)];
  }
  EXPECT_EQ(got, want);
}

TYPED_TEST(StridedCopy, TransposesMatricesOfAnySize) {
  for (const int64_t rows : {1, 7, 8, 16, 17, 63, 64, 65, 150}) {
    for (const int64_t cols : {1, 8, 15, 16, 33, 64, 129}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cols);
      const int64_t step = cols + 3, to_step = rows + 2;  // with gaps
      Check<TypeParam>({{cols, 1, to_step}, {rows, step, 1}}, rows * step, 0, cols * to_step + 1);
      // With either order turned around.
      const int64_t all = rows * step;
      Check<TypeParam>({{cols, -1, to_step}, {rows, step, 1}}, all, cols - 1, cols * to_step + 1);
      Check<TypeParam>({{cols, 1, to_step}, {rows, -step, 1}}, all, all - step, cols * to_step + 1);
      // The matrices of a stack, the other dimensions around and between.
      Check<TypeParam>({{2, rows * cols, rows * cols * 3},
                        {cols, 1, rows * 3},
                        {3, 2 * rows * cols, rows},
                        {rows, cols, 1}},
                       6 * rows * cols, 0, 6 * rows * cols);
    }
  }
}

// Results that are written past the caches, and rows that begin between their lines.
TYPED_TEST(StridedCopy, TransposesLargeMatrices) {
  const int64_t rows = 1021, cols = (int64_t{8} << 20) / (1021 * sizeof(TypeParam)) + 100;
  Check<TypeParam>({{cols, 1, rows}, {rows, cols, 1}}, rows * cols, 0, rows * cols + 1);
}

TYPED_TEST(StridedCopy, CopiesRowsOfAnyStep) {
  const int64_t n = 1000;
  for (const int64_t step : {-3, -2, -1, 0, 1, 2, 3, 40}) {
    SCOPED_TRACE(step);
    const int64_t at = step < 0 ? (1 - n) * step : 0,
                  size = n * std::max<int64_t>(1, std::abs(step));
    Check<TypeParam>({{n, step, 1}}, size, at, n + 1);
    Check<TypeParam>({{n, step, 3}}, size, at, 3 * n + 1);
    Check<TypeParam>({{4, 0, n}, {n, step, 1}}, size, at, 4 * n + 1);
  }
  Check<TypeParam>({{70000, 0, 1}}, 1, 0, 70001);  // enough for several threads
  Check<TypeParam>({{70000, -1, 1}}, 70000, 69999, 70001);
}

TYPED_TEST(StridedCopy, RepeatsEachElement) {
  for (const int64_t n : {1, 2, 7, 64, 33000}) {
    for (const int64_t times : {2, 3, 4, 5, 19}) {
      SCOPED_TRACE(testing::Message() << n << " elements, " << times << " times");
      Check<TypeParam>({{n, 1, times}, {times, 0, 1}}, n + 1, 1, n * times + 5);
      Check<TypeParam>({{n, 2, times}, {times, 0, 1}}, 2 * n, 0, n * times);      // others between
      Check<TypeParam>({{n, 1, times + 1}, {times, 0, 1}}, n, 0, n * times + n);  // with gaps
    }
  }
}

// Sizes around those of a register, of any width, and past several of them.
TYPED_TEST(StridedCopy, ReversesRowsOfAnyLength) {
  for (int64_t n = 1; n <= 140; ++n) {
    SCOPED_TRACE(n);
    Check<TypeParam>({{n, -1, 1}}, n + 2, n, n + 1);
    Check<TypeParam>({{3, n, n + 1}, {n, -1, 1}}, 3 * n, n - 1, 3 * n + 4);
    Check<TypeParam>({{3, -n, n}, {n, -1, 1}}, 3 * n, 3 * n - 1, 3 * n + 1);
  }
}

TYPED_TEST(StridedCopy, DealsRowsOfAnyLength) {
  for (const int64_t rows : {2, 3, 4, 5}) {
    for (int64_t n = 1; n <= 70; ++n) {
      SCOPED_TRACE(testing::Message() << rows << " rows of " << n);
      const int64_t step = n + 3, all = rows * step;
      Check<TypeParam>({{n, 1, rows}, {rows, step, 1}}, all, 0, rows * n + 1);
      Check<TypeParam>({{n, 1, rows}, {rows, -step, 1}}, all, all - step, rows * n + 1);
      Check<TypeParam>({{n, 1, rows + 1}, {rows, step, 1}}, all, 0, (rows + 1) * n);  // with gaps
      Check<TypeParam>({{2, all, rows * n}, {n, 1, rows}, {rows, step, 1}}, 2 * all, 0,
                       2 * rows * n + 1);
      Check<TypeParam>({{n, 1, 2 * rows}, {2, all, rows}, {rows, step, 1}}, 2 * all, 0,
                       2 * rows * n + 1);
    }
  }
  for (const int64_t rows : {2, 3, 4}) {  // in several pieces, the last one shorter
    Check<TypeParam>({{33001, 1, rows}, {rows, 33002, 1}}, rows * 33002, 1, rows * 33001 + 1);
  }
}

// Results that are written past the caches in strips, and rows that begin between lines.
TYPED_TEST(StridedCopy, ReversesAndDealsLargeRows) {
  const int64_t bytes = int64_t{9} << 20, size = sizeof(TypeParam);
  for (const int64_t n : {259, 1021, 4097}) {
    const int64_t rows = bytes / size / n;
    Check<TypeParam>({{rows, n, n}, {n, -1, 1}}, rows * n, n - 1, rows * n + 1);
    for (const int64_t dealt : {2, 3, 4}) {
      const int64_t all = rows / dealt;
      Check<TypeParam>({{all, n * dealt, n * dealt}, {n, 1, dealt}, {dealt, n, 1}}, all * dealt * n,
                       0, all * dealt * n + 1);
    }
  }
}

// Complex numbers, whose parts stay together, in any arrangement; they may begin at an odd place,
// and lie an odd number of elements apart.
TYPED_TEST(StridedCopy, TransposesPairs) {
  for (const int64_t rows : {1, 3, 16, 33, 70}) {
    for (const int64_t cols : {1, 8, 31, 64, 65}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cols);
      const int64_t step = 2 * cols + 2, to_step = 2 * rows + 4;
      for (const int64_t at : {0, 1}) {
        Check<TypeParam>({{cols, 2, to_step}, {rows, step, 2}, {2, 1, 1}}, rows * step + 1, at,
                         cols * to_step + 1);
        Check<TypeParam>({{cols, 2, to_step}, {rows, step + 1, 2}, {2, 1, 1}},
                         rows * (step + 1) + 1, at, cols * to_step + 1);
      }
      Check<TypeParam>({{cols, -2, to_step}, {rows, step, 2}, {2, 1, 1}}, rows * step,
                       2 * (cols - 1), cols * to_step + 1);
    }
  }
  Check<TypeParam>({{500, 0, 2}, {2, 1, 1}}, 2, 0, 1001);
}

TYPED_TEST(StridedCopy, TransposesIntoATile) {
  const std::vector<TypeParam> from = Numbers<TypeParam>(40 * 50);
  std::vector<TypeParam> to(50 * 64, TypeParam{7});
  CopyTransposed(33, 47, sizeof(TypeParam), from.data(), 50, to.data(), 64);
  for (size_t c = 0; c < 50; ++c) {
    for (size_t r = 0; r < 64; ++r) {
      const bool inside = r < 33 && c < 47;
      EXPECT_EQ(to[c * 64 + r], inside ? from[r * 50 + c] : TypeParam{7}) << r << ", " << c;
    }
  }
}

}  // namespace
}  // namespace firn
