// Packed products of floats, which programs without oneDNN have, beside those of doubles.
#include "firn/tensor/kernels/cpu/gemm_packed.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace firn {
namespace {

// Sums of a few hundred products of these are whole numbers that a float holds.
template <class T>
std::vector<T> WholeNumbers(int64_t count, int64_t seed) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<T>((i * 7919 + seed) % 1009 % 5 - 2));
  }
  return numbers;
}

template <class T>
std::vector<double> Product(const GemmShape& s, bool accumulate) {
  const std::vector<T> a = WholeNumbers<T>(s.m * s.k, 1), b = WholeNumbers<T>(s.k * s.n, 2);
  std::vector<T> c = WholeNumbers<T>(s.m * s.c_row, 3);
  cpu::MultiplyPacked<T>(s, a.data(), b.data(), c.data(), accumulate);
  return {c.begin(), c.end()};
}

std::vector<double> Definition(const GemmShape& s, bool accumulate) {
  const std::vector<double> a = WholeNumbers<double>(s.m * s.k, 1),
                            b = WholeNumbers<double>(s.k * s.n, 2);
  std::vector<double> c = WholeNumbers<double>(s.m * s.c_row, 3);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = accumulate ? c[static_cast<size_t>(i * s.c_row + j)] : 0;
      for (int64_t l = 0; l < s.k; ++l) {
        sum += a[static_cast<size_t>(i * s.a.row + l * s.a.col)] *
               b[static_cast<size_t>(l * s.b.row + j * s.b.col)];
      }
      c[static_cast<size_t>(i * s.c_row + j)] = sum;
    }
  }
  return c;
}

// Below, at and above the sizes of its blocks and registers; rows of C lie apart.
TEST(GemmPackedTest, IsTheDefinition) {
  for (const int64_t m : {1, 7, 9, 385}) {
    for (const int64_t n : {1, 15, 17, 49}) {
      for (const int64_t k : {1, 2, 129, 520}) {
        for (const int layout : {0, 1, 2, 3}) {
          const MatrixStrides a = (layout & 1) != 0 ? MatrixStrides{1, m} : MatrixStrides{k, 1};
          const MatrixStrides b = (layout & 2) != 0 ? MatrixStrides{1, k} : MatrixStrides{n, 1};
          const GemmShape s = {m, n, k, a, b, n + 3};
          for (const bool accumulate : {false, true}) {
            const std::vector<double> want = Definition(s, accumulate);
            ASSERT_EQ(Product<float>(s, accumulate), want)
                << m << " " << n << " " << k << " " << layout << " " << accumulate;
            ASSERT_EQ(Product<double>(s, accumulate), want)
                << m << " " << n << " " << k << " " << layout << " " << accumulate;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace firn
