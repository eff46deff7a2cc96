// Compares products in every floating type, with operands that a library reads in place and others,
// with sums in double of the same numbers.

#include "firn/tensor/kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/onednn_gemm.h"

namespace firn::cpu {
namespace {

// Numbers from -1 to 1 that every type has, the same at every call.
template <class T>
std::vector<T> Numbers(int64_t n, uint64_t seed) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    numbers.push_back(T(static_cast<float>(static_cast<int64_t>(seed >> 57) - 64) / 64));
  }
  return numbers;
}

// How far a sum of k products of such numbers may be from `want`: it is added up in float, or in
// double, and rounded once.
template <class T>
double Allowed(int64_t k, double want) {
  const double sum = static_cast<double>(k) * static_cast<double>(k) *
                     (std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24);
  const double unit = std::is_same_v<T, BFloat16> ? 0x1p-8 : std::is_same_v<T, Half> ? 0x1p-11 : 0;
  return sum + unit * std::abs(want);
}

enum class Lie { kRows, kColumns, kApart, kBackwards, kRepeated, kDense };

// A matrix of this size at some place in a vector of numbers.
template <class T>
struct Matrix {
  Matrix(int64_t rows, int64_t cols, Lie lie, uint64_t seed)
      : numbers(Numbers<T>(6 * (rows + 1) * (cols + 1), seed)), at(numbers.data()) {
    switch (lie) {
      case Lie::kRows:
        strides = {cols + 1, 1};
        break;
      case Lie::kColumns:
        strides = {1, rows};
        break;
      case Lie::kApart:
        strides = {3 * cols + 1, 2};
        break;
      case Lie::kBackwards:
        strides = {-cols, -1};
        at += rows * cols;
        break;
      case Lie::kRepeated:
        strides = {0, 1};
        break;
      case Lie::kDense:
        strides = {cols, 1};
        break;
    }
  }
  double operator()(int64_t i, int64_t j) const {
    return static_cast<double>(at[i * strides.row + j * strides.col]);
  }

  std::vector<T> numbers;
  const T* at;
  MatrixStrides strides;
};

// So many bytes, none for 0, behind which nothing may be written.
class Workspace {
 public:
  explicit Workspace(size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    data_ = static_cast<unsigned char*>(std::aligned_alloc(64, bytes + kGuard));
    std::fill_n(data_ + bytes_, kGuard, kUntouched);
  }
  ~Workspace() {
    if (data_ == nullptr) return;
    EXPECT_EQ(std::count(data_ + bytes_, data_ + bytes_ + kGuard, kUntouched), kGuard);
    std::free(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* data() const { return data_; }

 private:
  static constexpr int64_t kGuard = 1 << 14;
  static constexpr unsigned char kUntouched = 0x5a;
  const size_t bytes_;
  unsigned char* data_ = nullptr;
};

template <class T>
void Compare(int64_t m, int64_t n, int64_t k, Lie a_lie, Lie b_lie, bool accumulate,
             int64_t gap = 3, bool with_workspace = true) {
  const Matrix<T> a(m, k, a_lie, 1), b(k, n, b_lie, 2);
  const GemmShape s = {.m = m, .n = n, .k = k, .a = a.strides, .b = b.strides, .c_row = n + gap};
  std::vector<T> c = Numbers<T>(m * (n + gap), 3);
  const std::vector<T> before = c;
  const Workspace workspace(with_workspace ? GemmWorkspace(DTypeOf<T>(), s) : 0);
  Gemm(s, a.at, b.at, c.data(), accumulate, workspace.data());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n + gap; ++j) {
      const auto at = static_cast<size_t>(i * (n + gap) + j);
      const auto old = static_cast<double>(before[at]), got = static_cast<double>(c[at]);
      double want = accumulate || j >= n ? old : 0;
      for (int64_t p = 0; p < k && j < n; ++p) want += a(i, p) * b(p, j);
      ASSERT_NEAR(got, want, j < n ? Allowed<T>(k + 1, want) : 0)
          << m << " " << n << " " << k << " at " << i << ", " << j << " of lies "
          << static_cast<int>(a_lie) << static_cast<int>(b_lie) << accumulate;
    }
  }
}

template <class T>
class GemmTest : public testing::Test {};

using Types = testing::Types<float, double, Half, BFloat16>;
TYPED_TEST_SUITE(GemmTest, Types);

TYPED_TEST(GemmTest, IsTheSumOfProductsHoweverOperandsLie) {
  constexpr Lie kLies[] = {Lie::kRows, Lie::kColumns, Lie::kApart, Lie::kBackwards, Lie::kRepeated};
  for (const Lie a : kLies) {
    for (const Lie b : kLies) {
      for (const bool accumulate : {false, true}) Compare<TypeParam>(7, 21, 35, a, b, accumulate);
    }
  }
}

TYPED_TEST(GemmTest, TakesSizesOfEveryKind) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {1, 1, 1}, {1, 40, 3}, {40, 1, 3}, {3, 5, 1}, {130, 17, 300}, {1, 70, 200}, {5, 6, 0}}) {
    for (const Lie lie : {Lie::kRows, Lie::kColumns, Lie::kApart}) {
      Compare<TypeParam>(m, n, k, lie, lie, false);
      Compare<TypeParam>(m, n, k, lie, Lie::kRows, true);
    }
  }
}

// Sizes for which primitives are made once a shape; the second call uses them again.
TYPED_TEST(GemmTest, TakesSizesThatPrimitivesAreFor) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {64, 70, 130}, {260, 33, 300}, {9, 130, 1100}, {1100, 8, 66}}) {
    for (const Lie a : {Lie::kRows, Lie::kColumns, Lie::kApart}) {
      for (const Lie b : {Lie::kRows, Lie::kColumns}) {
        for (const bool accumulate : {false, true, false}) {
          Compare<TypeParam>(m, n, k, a, b, accumulate);
        }
      }
    }
  }
}

TYPED_TEST(GemmTest, TakesSmallAndOuterProducts) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{4, 4, 4},
                                                                   {16, 16, 16},
                                                                   {5, 16, 9},
                                                                   {16, 3, 16},
                                                                   {17, 16, 16},
                                                                   {70, 1030, 1},
                                                                   {2100, 1, 1},
                                                                   {1, 2100, 1}}) {
    for (const Lie lie : {Lie::kRows, Lie::kColumns, Lie::kApart, Lie::kBackwards}) {
      for (const int64_t gap : {0, 3}) {
        Compare<TypeParam>(m, n, k, lie, lie, false, gap);
        Compare<TypeParam>(m, n, k, lie, Lie::kRows, true, gap);
      }
    }
  }
}

// Half types are converted in parts of a long direction.
TYPED_TEST(GemmTest, AddsUpPartsOfALongDirection) {
  for (const Lie lie : {Lie::kRows, Lie::kColumns}) {
    Compare<TypeParam>(17, 180, 1400, lie, lie, lie == Lie::kRows);
    Compare<TypeParam>(2, 1200, 1500, lie, lie, lie == Lie::kRows);
    Compare<TypeParam>(1200, 1, 1500, lie, lie, lie == Lie::kRows);
  }
}

// Lines 2 KiB apart, of which a copy is multiplied where the caller has memory for it. The last
// one: half types are converted in parts, here 520 and 512 long, of which the second one's lines
// collide.
TYPED_TEST(GemmTest, TakesLinesThatCollideInACache) {
  for (const bool accumulate : {false, true}) {
    Compare<TypeParam>(49, 512, 512, Lie::kDense, Lie::kDense, accumulate);
    Compare<TypeParam>(49, 272, 1024, Lie::kDense, Lie::kColumns, accumulate);
    Compare<TypeParam>(512, 272, 48, Lie::kColumns, Lie::kDense, accumulate);
  }
  if constexpr (sizeof(TypeParam) > 2) {
    Compare<TypeParam>(49, 512, 512, Lie::kDense, Lie::kDense, false, 3, false);
  } else {
    Compare<TypeParam>(304, 200, 1032, Lie::kDense, Lie::kDense, false);
  }
}

// Copies of such operands are made in parts, and the last parts are smaller: some rows of A, some
// of the inner direction, some columns of B.
TEST(GemmFloatTest, CopiesCollidingLinesInParts) {
  Compare<float>(1400, 260, 1536, Lie::kDense, Lie::kColumns, true);
  Compare<float>(49, 1536, 1536, Lie::kDense, Lie::kDense, false);
}

// C = A B or C += A B with A by rows, and B with lines as long as they are or `more` numbers
// longer.
std::vector<float> ProductOfLines(int64_t m, int64_t n, int64_t k, bool b_by_rows, int64_t more,
                                  bool accumulate) {
  std::vector<float> a = Numbers<float>(m * k, 1), b = Numbers<float>(k * n, 2);
  for (std::vector<float>* x : {&a, &b}) {
    for (float& number : *x) number /= 3;  // sums of sixty-fourths would be exact in any order
  }
  const int64_t lines = b_by_rows ? k : n, length = b_by_rows ? n : k, step = length + more;
  std::vector<float> spread(static_cast<size_t>(lines * step));
  for (int64_t i = 0; i < lines; ++i) {
    std::copy_n(b.data() + i * length, length, spread.data() + i * step);
  }
  const MatrixStrides right = b_by_rows ? MatrixStrides{step, 1} : MatrixStrides{1, step};
  const GemmShape s = {.m = m, .n = n, .k = k, .a = {k, 1}, .b = right, .c_row = n};
  std::vector<float> c = Numbers<float>(m * n, 3);
  const Workspace workspace(GemmWorkspace(DType::kF32, s));
  Gemm(s, a.data(), spread.data(), c.data(), accumulate, workspace.data());
  return c;
}

// Constants of graphs have such lines (matmul_constant.h): of parts of the inner direction, of
// columns, and with a copy of A as well. Where lines do not collide, nothing is cut into parts.
TEST(GemmFloatTest, GivesTheSameBitsForLinesThatWereSpread) {
  const int threads = NumThreads();
  for (const int now : {1, 2, 3}) {
    SetNumThreads(now);
    for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{
             {49, 512, 1300}, {300, 2048, 768}, {50, 512, 1536}, {197, 1536, 65}, {33, 512, 80}}) {
      for (const bool by_rows : {true, false}) {
        const int64_t columns = by_rows ? n : k, inner = by_rows ? k : n;
        const auto product = [&](int64_t more) {
          return ProductOfLines(m, columns, inner, by_rows, more, now == 2);
        };
        EXPECT_EQ(product(0), product(16)) << m << " " << columns << " " << inner << " " << by_rows;
      }
    }
    EXPECT_EQ(ProductOfLines(197, 96, 1100, true, 0, false),
              ProductOfLines(197, 96, 1100, true, 16, false));
  }
  SetNumThreads(threads);
}

// Operands that lie along the inner direction: tiles of every size, blocks that are not whole.
TYPED_TEST(GemmTest, AddsUpLanesOfVectors) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{4, 17, 1025},
                                                                   {5, 18, 1536},
                                                                   {18, 19, 193},
                                                                   {19, 20, 770},
                                                                   {67, 21, 1600},
                                                                   {128, 4, 64},
                                                                   {17, 7, 200},
                                                                   {66, 5, 1537}}) {
    for (const bool accumulate : {false, true}) {
      Compare<TypeParam>(m, n, k, Lie::kRows, Lie::kColumns, accumulate);
    }
  }
}

// Decompositions multiply so. The product is large enough for tiles, which would need workspace.
TYPED_TEST(GemmTest, NeedsNoWorkspaceForWholeTypesByRows) {
  if constexpr (std::is_same_v<TypeParam, float> || std::is_same_v<TypeParam, double>) {
    for (const Lie b : {Lie::kRows, Lie::kColumns}) {
      Compare<TypeParam>(180, 190, 170, Lie::kRows, b, false, 3, /*with_workspace=*/false);
    }
  }
}

// Doubles are multiplied in panels: tries panels of every size, with some lanes of the last vector,
// and blocks of panels that are not whole.
TEST(GemmDoubleTest, TakesPanelsOfEverySize) {
  for (int64_t m = 4; m < 20; ++m) {
    for (int64_t n = 8; n < 58; n += m % 3 + 1) {
      const Lie lie = (m + n) % 2 == 0 ? Lie::kRows : Lie::kColumns;
      Compare<double>(m, n, 9 + n % 5, lie, lie, m % 2 == 0);
    }
  }
  const int threads = NumThreads();
  SetNumThreads(1);
  for (const Lie a : {Lie::kRows, Lie::kColumns}) {
    for (const Lie b : {Lie::kRows, Lie::kColumns}) Compare<double>(401, 50, 270, a, b, true);
  }
  SetNumThreads(threads);
}

TYPED_TEST(GemmTest, GivesEveryThreadAPiece) {
  const int threads = NumThreads();
  SetNumThreads(3);
  Compare<TypeParam>(90, 130, 100, Lie::kRows, Lie::kColumns, false);
  // Operands without gaps, as primitives want them, by pieces of rows.
  for (const Lie a : {Lie::kDense, Lie::kColumns}) {
    for (const Lie b : {Lie::kDense, Lie::kColumns}) {
      Compare<TypeParam>(403, 1030, 20, a, b, a == b, 0);
      Compare<TypeParam>(300, 1030, 20, a, b, a != b, 0);
    }
  }
  SetNumThreads(threads);
}

TYPED_TEST(GemmTest, CarriesWhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<TypeParam> a = {TypeParam(nan),  TypeParam(1.f), TypeParam(inf),
                                    TypeParam(1.f),  TypeParam(inf), TypeParam(0.f),
                                    TypeParam(-0.f), TypeParam(0.f)};
  const std::vector<TypeParam> b = {TypeParam(0.f), TypeParam(1.f)};
  const GemmShape s = {.m = 4, .n = 1, .k = 2, .a = {2, 1}, .b = {1, 1}, .c_row = 1};
  std::vector<TypeParam> c(4);
  alignas(64) char workspace[1024];
  ASSERT_LE(GemmWorkspace(DTypeOf<TypeParam>(), s), sizeof(workspace));
  Gemm(s, a.data(), b.data(), c.data(), false, workspace);
  EXPECT_TRUE(std::isnan(static_cast<double>(c[0])));
  EXPECT_TRUE(std::isnan(static_cast<double>(c[1])));  // inf * 0
  EXPECT_TRUE(std::isnan(static_cast<double>(c[2])));
  EXPECT_EQ(static_cast<double>(c[3]), 0);
}

TEST(OneDnnGemmTest, AddsProductsOfBF16InF32) {
  if (!MultipliesBf16()) GTEST_SKIP() << "this processor does not multiply bf16";
  // 256 + 1 is no bf16: the sum must not have been one in between.
  const std::vector<BFloat16> a = {256.f, 1.f, 1.f}, b = {1.f, 1.f, -1.f};
  const GemmShape s = {.m = 1, .n = 1, .k = 3, .a = {3, 1}, .b = {1, 3}, .c_row = 1};
  float c = 0.25;
  MultiplyOneDnn(s, a.data(), b.data(), &c, true);
  EXPECT_EQ(c, 256.25f);
  const std::vector<float> wide_a = {256.f, 1.f, 1.f}, wide_b = {1.f, 1.f, -1.f};
  MultiplyOneDnn(s, wide_a.data(), wide_b.data(), &c, false);
  EXPECT_EQ(c, 256.f);
}

}  // namespace
}  // namespace firn::cpu
