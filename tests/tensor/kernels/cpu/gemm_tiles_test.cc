// Products of floats by tiles of bfloat16: no part of a number is lost at any place of a tile, and
// numbers that are not finite give the results of products of floats.

#include "firn/tensor/kernels/cpu/gemm_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/tensor/dtype.h"

namespace firn::cpu {
namespace {

// Numbers from -1 to 1 of so many bits, the same at every call.
std::vector<float> Numbers(int64_t n, int bits, uint64_t seed) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const auto whole = static_cast<int64_t>(seed >> (63 - bits)) - (int64_t{1} << bits);
    numbers.push_back(std::ldexp(static_cast<float>(whole), -bits));
  }
  return numbers;
}

struct Product {
  GemmShape s;
  TileParts parts;
  std::vector<float> a, b;

  // `turned`: the operand lies by columns. Numbers have as many bits as their parts hold.
  Product(std::array<int64_t, 3> mnk, TileParts of, bool a_turned, bool b_turned)
      : parts(of),
        a(Numbers(mnk[0] * mnk[2], 8 * of.left - 1, 1)),
        b(Numbers(mnk[2] * mnk[1], 8 * of.right - 1, 2)) {
    const auto [m, n, k] = mnk;
    s = {.m = m,
         .n = n,
         .k = k,
         .a = a_turned ? MatrixStrides{1, m} : MatrixStrides{k, 1},
         .b = b_turned ? MatrixStrides{1, k} : MatrixStrides{n, 1},
         .c_row = n + 3};
  }
  float& A(int64_t i, int64_t p) { return a[static_cast<size_t>(i * s.a.row + p * s.a.col)]; }
  float& B(int64_t p, int64_t j) { return b[static_cast<size_t>(p * s.b.row + j * s.b.col)]; }
  // Adds the product to `old` if that is given.
  std::vector<float> Run(const float* old = nullptr) const {
    std::vector<float> c(static_cast<size_t>(s.m * s.c_row), old == nullptr ? 7.f : *old);
    const size_t bytes = (GemmByTilesWorkspace(s, parts) + 63) / 64 * 64;
    const std::unique_ptr<void, decltype(&std::free)> workspace(std::aligned_alloc(64, bytes),
                                                                &std::free);
    GemmByTiles(s, parts, a.data(), b.data(), c.data(), old != nullptr, workspace.get());
    return c;
  }
};

constexpr TileParts kParts[] = {{2, 1}, {3, 3}};

class GemmTilesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasTileProducts()) GTEST_SKIP() << "this processor does not multiply tiles of bf16";
  }
};

// Each product of floats is at most 6 products in the sum, each rounded once; the products of parts
// that are left out are 2^-23 of their numbers together.
TEST_F(GemmTilesTest, IsTheSumOfProductsHoweverOperandsLie) {
  const float old = 0.5f;
  for (const auto& size : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                              {33, 70, 31},
                                                              {16, 32, 64},
                                                              {97, 300, 290},
                                                              {1100, 5, 40},
                                                              {3, 1100, 1300},
                                                              {150, 40, 1100},
                                                              {5, 770, 260}}) {
    for (const TileParts parts : kParts) {
      for (int lie = 0; lie < 4; ++lie) {
        Product p(size, parts, lie % 2 == 1, lie / 2 == 1);
        const std::vector<float> c = p.Run(lie == 3 ? &old : nullptr);
        const auto [m, n, k] = size;
        for (int64_t i = 0; i < m; i += 1 + m / 40) {
          for (int64_t j = 0; j < n + 3; j += 1 + n / 40) {
            double want = lie == 3 ? 0.5 : 0, sum = want;
            for (int64_t l = 0; l < k && j < n; ++l) {
              const double product = static_cast<double>(p.A(i, l)) * p.B(l, j);
              want += product;
              sum += std::abs(product);
            }
            if (j >= n) want = lie == 3 ? 0.5 : 7;
            const double allowed = (6 * static_cast<double>(k) * 0x1p-24 + 0x1p-21) * sum;
            ASSERT_NEAR(c[static_cast<size_t>(i * (n + 3) + j)], want, j < n ? allowed : 0)
                << m << " " << n << " " << k << " at " << i << ", " << j << ", lie " << lie
                << ", parts " << parts.left << parts.right;
          }
        }
      }
    }
  }
}

// With a single product in each sum nothing is rounded.
TEST_F(GemmTilesTest, KeepsEveryBitOfANumber) {
  constexpr int64_t kSize = 100;
  for (const TileParts parts : kParts) {
    for (int lie = 0; lie < 4; ++lie) {
      Product left({kSize, kSize, kSize}, parts, lie % 2 == 1, lie / 2 == 1), right = left;
      for (int64_t i = 0; i < kSize; ++i) {
        for (int64_t j = 0; j < kSize; ++j) left.B(i, j) = right.A(i, j) = i == j ? -4.f : 0.f;
      }
      const std::vector<float> of_left = left.Run(), of_right = right.Run();
      for (int64_t i = 0; i < kSize; ++i) {
        for (int64_t j = 0; j < kSize; ++j) {
          const auto at = static_cast<size_t>(i * (kSize + 3) + j);
          ASSERT_EQ(of_left[at], -4 * left.A(i, j)) << i << ", " << j << ", lie " << lie;
          ASSERT_EQ(of_right[at], -4 * right.B(i, j)) << i << ", " << j << ", lie " << lie;
        }
      }
    }
  }
}

TEST_F(GemmTilesTest, MultipliesSecondParts) {
  Product p({40, 40, 40}, {3, 3}, false, false);
  constexpr float kBoth = 1 + 0x1p-9f;
  for (float& x : p.b) x = kBoth;
  for (int64_t i = 0; i < 40; ++i) {
    for (int64_t l = 0; l < 40; ++l) p.A(i, l) = i == l ? kBoth : 0.f;
  }
  EXPECT_EQ(p.Run()[0], 1 + 0x1p-8f + 0x1p-18f);
}

TEST_F(GemmTilesTest, KeepsTheLargestNumbersFinite) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  Product p({32, 32, 32}, {3, 3}, false, false);
  std::fill(p.a.begin(), p.a.end(), 0.f);
  for (int64_t i = 0; i < 32; ++i) p.A(i, i) = kLargest;
  std::fill(p.b.begin(), p.b.end(), -0.5f);
  EXPECT_EQ(p.Run()[0], -0.5f * kLargest);
}

TEST_F(GemmTilesTest, CarriesWhatIsNotFinite) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const TileParts parts : kParts) {
    Product p({70, 300, 140}, parts, false, false);
    p.A(3, 5) = kInf;
    p.A(40, 139) = -kInf;
    p.A(50, 1) = std::numeric_limits<float>::quiet_NaN();
    p.B(7, 299) = kInf;
    p.B(8, 299) = 0;
    const std::vector<float> c = p.Run();
    for (int64_t i = 0; i < 70; ++i) {
      for (int64_t j = 0; j < 300; ++j) {
        double want = 0;
        for (int64_t l = 0; l < 140; ++l) want += static_cast<double>(p.A(i, l)) * p.B(l, j);
        const auto got = static_cast<double>(c[static_cast<size_t>(i * 303 + j)]);
        if (std::isfinite(want)) {
          ASSERT_NEAR(got, want, 0x1p-12 * 140) << i << ", " << j;
        } else {
          ASSERT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << i << ", " << j;
        }
      }
    }
  }
}

// A matrix of a single row, whose step to the next row has no meaning.
TEST_F(GemmTilesTest, CarriesWhatIsNotFiniteInASingleRow) {
  for (const TileParts parts : kParts) {
    Product p({1, 40, 140}, parts, /*a_turned=*/true, false);
    p.A(0, 5) = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> c = p.Run();
    for (size_t j = 0; j < 40; ++j) EXPECT_TRUE(std::isnan(c[j])) << j;
  }
}

// Threads share the rows or, if these are few, the columns.
TEST_F(GemmTilesTest, DoesNotDependOnThreads) {
  for (const int64_t rows : {300, 40}) {
    Product p({rows, 600, 200}, {3, 3}, true, false);
    for (const bool finite : {true, false}) {
      if (!finite) p.A(rows * 2 / 3, 7) = std::numeric_limits<float>::infinity();
      const int threads = NumThreads();
      SetNumThreads(1);
      const std::vector<float> alone = p.Run();
      SetNumThreads(3);
      const std::vector<float> together = p.Run();
      SetNumThreads(threads);
      EXPECT_EQ(alone, together) << rows << " rows, " << (finite ? "finite" : "infinite");
    }
  }
}

}  // namespace
}  // namespace firn::cpu
