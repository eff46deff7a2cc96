// What the conformance suite cannot test of operations on matrices: gradients of symmetric
// matrices, singular and badly conditioned ones, numbers at the ends of the range, vectors that are
// not unique.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/gradcheck.h"
#include "firn/device/parallel.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/linalg/cholesky.h"
#include "firn/tensor/ops/linalg/eigh.h"
#include "firn/tensor/ops/linalg/pinv.h"
#include "firn/tensor/ops/linalg/qr.h"
#include "firn/tensor/ops/linalg/solve.h"
#include "firn/tensor/ops/linalg/svd.h"
#include "firn/tensor/ops/linear/tensordot.h"
#include "firn/tensor/testing/samples.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::Normal;
using testing::Uniform;
using testing::Values;

double Largest(const Tensor& x) { return Max(Abs(x)).Item<double>(); }
Tensor Turned(const Tensor& x) { return Transpose(x, -2, -1); }
Tensor Unit(int64_t n, DType dtype = DType::kF64) { return Eye(n, n, 0, dtype); }
// How far q's columns are from orthonormal ones.
double Skewness(const Tensor& q) {
  return Largest(Matmul(q, q, true) - Unit(q.shape().dim(-1), q.dtype()));
}
// Symmetric, with eigenvalues around 1, 2, 3, ...
Tensor Definite(const Tensor& x) {
  const int64_t n = x.shape().dim(-1);
  const Tensor numbers = Arange(1.0, static_cast<double>(n + 1), 1, {.dtype = DType::kF64});
  return (x + Turned(x)) * 0.1 + Unit(n) * numbers;
}
constexpr GradCheckOptions kFirst{.eps = 1e-6, .atol = 1e-7, .rtol = 1e-6};
constexpr GradCheckOptions kSecond{.eps = 1e-6, .atol = 1e-6, .rtol = 1e-5, .max_elements = 12};

void ExpectGradients(const GradCheckFn& f, const std::vector<Tensor>& in) {
  const absl::Status first = GradCheck(f, in, kFirst), second = GradGradCheck(f, in, kSecond);
  EXPECT_TRUE(first.ok()) << first;
  EXPECT_TRUE(second.ok()) << second;
}

TEST(CholeskyTest, HasGradientsOfSymmetricChanges) {
  for (const bool upper : {false, true}) {
    ExpectGradients(
        [upper](const std::vector<Tensor>& x) {
          return std::vector<Tensor>{Cholesky(Definite(x[0]), upper)};
        },
        {Uniform({2, 4, 4}, -1, 1)});
  }
  Tensor a = Definite(Uniform({4, 4}, -1, 1)).SetRequiresGrad();
  Sum(Cholesky(a) * Normal({4, 4})).Backward();
  EXPECT_EQ(Largest(a.grad() - Turned(a.grad())), 0);
}

TEST(CholeskyTest, TakesOneMatrixOfAnySize) {
  for (const int64_t n : {1, 5, 64, 65, 200}) {
    const Tensor x = Normal({n, n});
    const Tensor a = Matmul(x, x, false, true) + Unit(n) * static_cast<double>(n);
    const Tensor l = Cholesky(a);
    EXPECT_LT(Largest(Matmul(l, l, false, true) - a), 1e-12 * Largest(a)) << n;
    EXPECT_TRUE(Cholesky(a, true).Equals(Turned(l)));
  }
}

TEST(EighTest, HasGradientsOfSymmetricChanges) {
  for (const bool upper : {false, true}) {
    ExpectGradients(
        [upper](const std::vector<Tensor>& x) {
          const EighResult y = Eigh(Definite(x[0]), upper);
          return std::vector<Tensor>{y.values, y.vectors};
        },
        {Uniform({2, 3, 3}, -1, 1)});
  }
}

// Equal eigenvalues have vectors that are not unique; the values' gradient does not need them.
TEST(EighTest, HasGradientsOfEqualValues) {
  Tensor a = Unit(3).SetRequiresGrad();
  const EighResult y = Eigh(a);
  EXPECT_EQ(Largest(y.values - 1.0), 0);
  Sum(y.values).Backward();
  EXPECT_LT(Largest(a.grad() - Unit(3)), 1e-15);
}

TEST(EighTest, TakesNumbersOfAnySizeAndManyRows) {
  for (const double scale : {1e-300, 1.0, 1e300}) {
    const Tensor a = Definite(Uniform({130, 130}, -1, 1)) * scale;
    const EighResult y = Eigh(a);
    EXPECT_LT(Skewness(y.vectors), 1e-12);
    const Tensor back = Matmul(y.vectors * Unsqueeze(y.values / scale, -2), y.vectors, false, true);
    EXPECT_LT(Largest(back - a / scale), 1e-11);
  }
}

void ExpectSvd(const Tensor& a, bool full, double within) {
  SCOPED_TRACE(a.shape().ToString());
  const SvdResult y = Svd(a, full);
  const int64_t k = y.s.shape().dim(-1);
  EXPECT_LT(Skewness(y.u), within);
  EXPECT_LT(Skewness(Turned(y.vh)), within);
  const Tensor back = Matmul(Slice(y.u, -1, 0, k) * Unsqueeze(y.s, -2), Slice(y.vh, -2, 0, k));
  EXPECT_LE(Largest(back - a), within * Largest(a));
  const std::vector<double> s = y.s.ToVector<double>();
  for (size_t i = 1; i < s.size(); ++i) EXPECT_LE(s[i], s[i - 1]);
  for (const double v : s) EXPECT_GE(v, 0);
}

// The small numbers stand beside 1, so that the matrix is not scaled: squares of the rotations'
// angles have few digits, or none. The largest elements of these vectors are alike but for
// rounding, and of both signs.
TEST(EighTest, SignsDoNotDependOnRounding) {
  for (const double off : {-1e-13, 0.0, 1e-13}) {
    const Tensor a = Values({3 + off, 3 - off, 3, 3 - off, off, 0, 3, 0, -off}, {3, 3});
    const Tensor vectors = Eigh(a).vectors;
    EXPECT_GT(Select(Select(vectors, 0, 0), 0, 0).Item<double>(), 0.5);  // (1, -1, -1)
    EXPECT_GT(Select(Select(vectors, 0, 1), 0, 1).Item<double>(), 0.5);  // (0, 1, -1)
    const Tensor b = Values({2, -1 + off, -1 - off, 2 + off, 0, 0}, {3, 2});
    for (const bool full : {false, true}) {
      for (const Tensor& c : {b, Transpose(b, 0, 1)}) {
        const Tensor u = Svd(c, full).u;  // (1, -1) and (1, 1)
        EXPECT_GT(Select(Select(u, 0, 0), 0, 0).Item<double>(), 0.5);
        EXPECT_GT(Select(Select(u, 0, 0), 0, 1).Item<double>(), 0.5);
      }
    }
  }
}

TEST(EighTest, TurnsByNumbersWhoseSquaresVanish) {
  for (const double small : {1e-130, 1e-137, 1e-150, 1e-170}) {
    const Tensor corner = Definite(Uniform({3, 3}, -1, 1)) * small;
    const Tensor a = Pad(corner, {1, 0, 1, 0}) + Pad(Ones({1, 1}, DType::kF64), {0, 3, 0, 3});
    const EighResult y = Eigh(a);
    EXPECT_LT(Skewness(y.vectors), 1e-14) << small;
    const Tensor turned = Matmul(y.vectors, Matmul(a, y.vectors), true);
    EXPECT_LT(Largest(turned - Unit(4) * y.values), 1e-14) << small;
    EXPECT_EQ(y.values.ToVector<double>()[3], 1) << small;
  }
}

TEST(SvdTest, GivesOrthonormalVectorsOfAnyMatrix) {
  const Tensor low = Matmul(Normal({40, 3}), Normal({3, 30}, 2));
  for (const bool full : {false, true}) {
    for (const Tensor& a : {low, Turned(low), Zeros({4, 6}, DType::kF64), Unit(5), Normal({70, 20}),
                            Normal({20, 70}), Ones({1, 1}, DType::kF64)}) {
      ExpectSvd(a, full, 1e-12);
      ExpectSvd(a.To(DType::kF32), full, 1e-4);
    }
  }
}

// One-sided rotations find small values to their last digits.
TEST(SvdTest, FindsSmallValuesExactly) {
  const Tensor a = Values({1, 0, 0, 0, 1e-10, 0, 0, 0, 1e-20}, {3, 3});
  const std::vector<double> s = Svd(a).s.ToVector<double>();
  EXPECT_NEAR(s[1], 1e-10, 1e-24);
  EXPECT_NEAR(s[2], 1e-20, 1e-34);
}

TEST(SvdTest, GivesNoGradientToVectorsThatCouldBeOthers) {
  Tensor a = Normal({4, 2}).SetRequiresGrad(), b = a.Detach().SetRequiresGrad();
  Sum(Slice(Svd(a, true).u, -1, 0, 2) * Normal({4, 2}, 3)).Backward();
  Sum(Svd(b).u * Normal({4, 2}, 3)).Backward();
  EXPECT_LT(Largest(a.grad() - b.grad()), 1e-13);
}

TEST(DetTest, HasAGradientWhereSingular) {
  for (const Tensor& a :
       {Values({1, 2, 2, 4}, {2, 2}), Values({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3}),
        Values({1, 2, 4, 2, 4, 8, 4, 8, 16}, {3, 3}), Values({0, 0, 0, 0}, {2, 2})}) {
    const absl::Status status =
        GradCheck([](const Tensor& x) { return Det(x); }, a, {.eps = 1e-6, .atol = 1e-8});
    EXPECT_TRUE(status.ok()) << status;
  }
}

// With C the gradient, C^T A is the determinant times the unit matrix, whichever way C was found.
TEST(DetTest, HasTheGradientOfLargeAndOfNearlySingularMatrices) {
  for (const int64_t n : {3, 70, 150}) {
    for (const double apart : {1.0, 1e-9, 1e-15, 0.0}) {
      const Tensor x = Normal({n, n}) * (1 / std::sqrt(static_cast<double>(n)));
      const Tensor first = Slice(x, 0, 0, 1), others = Slice(x, 0, 0, n - 1);
      const Tensor last = first + Slice(x, 0, n - 1, n) * apart;
      Tensor a = Concat({others, last}, 0).SetRequiresGrad();
      const Tensor det = Det(a), c = Grad(det, a);
      EXPECT_LT(Largest(Matmul(c, a, true) - det * Unit(n)), 1e-11 * Largest(c)) << n << apart;
    }
  }
}

// The gradient of det scales as the power n - 1 of the matrix, also where the determinant does not.
TEST(DetTest, HasAGradientWhereTheDeterminantIsBeyondTheRange) {
  const auto cofactors = [](const Tensor& x) {
    Tensor a = x.Detach().SetRequiresGrad();
    return Grad(Det(a), a);
  };
  const Tensor x = Normal({3, 3}).To(DType::kF32);
  for (const int power : {-55, 55}) {
    const auto scale = std::ldexp(1.0f, power);
    const Tensor want = cofactors(x) * (scale * scale);
    EXPECT_EQ(cofactors(x * scale).ToVector<float>(), want.ToVector<float>()) << power;
  }
  // The inverse need not be within the range, either.
  const float unit = std::ldexp(1.0f, -80), more = std::ldexp(1.0f, -30);
  EXPECT_EQ(cofactors(Values({unit, more, 0, unit}, {2, 2}).To(DType::kF32)).ToVector<float>(),
            (std::vector<float>{unit, 0, -more, unit}));
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(cofactors(Values({least}, {1, 1}).To(DType::kF32)).Item<float>(), 1);
}

// a = diag(left) B diag(right): every cofactor is one of B times the powers of the other rows and
// columns. Products of some pivots leave the range, the determinant does not.
TEST(DetTest, HasAGradientWhereRowsAndColumnsAreOfOtherSizes) {
  struct Powers {
    DType dtype;
    int left[4], right[4];  // the sum of each is 0
  };
  const std::vector<double> regular = {2, 1, -1, 0, 1, 3, 2, 1, 1, -1, 4, 2, 0, 1, 1, 3},
                            singular = {2, 1, -1, 0, 1, 3, 2, 1, 1, -1, 4, 2, 3, 4, 1, 1};
  for (const Powers& p : {Powers{DType::kF64, {600, 600, -600, -600}, {}},
                          {DType::kF64, {-600, -600, 600, 600}, {}},
                          {DType::kF64, {300, 0, -300, 0}, {300, 600, -300, -600}},
                          {DType::kF32, {80, 80, -80, -80}, {}},
                          {DType::kF32, {40, 0, -40, 0}, {40, 80, -40, -80}}}) {
    for (const std::vector<double>& b : {regular, singular}) {
      const Tensor near = FromVector(b, {4, 4}).SetRequiresGrad();
      const std::vector<double> c = Grad(Det(near), near).ToVector<double>();
      std::vector<double> far = b;
      for (size_t i = 0; i < 16; ++i) far[i] = std::ldexp(b[i], p.left[i / 4] + p.right[i % 4]);
      const Tensor a = FromVector(far, {4, 4}).To(p.dtype).SetRequiresGrad();
      const std::vector<double> got = Grad(Det(a), a).ToVector<double>();
      for (size_t i = 0; i < 16; ++i) {
        EXPECT_NEAR(std::ldexp(got[i], p.left[i / 4] + p.right[i % 4]), c[i], 1e-4)
            << DTypeName(p.dtype) << " " << i;
      }
    }
  }
}

TEST(DetTest, IsFiniteWhereAProductOfSomePivotsIsNot) {
  const Tensor a = FromVector<double>(
      {1e200, 1e200, -2e-200, 1e-200, 1e-200, 1e-200, 1e200, 1e200, 1e200, 1e200, 1e200, 0},
      {3, 4});
  const std::vector<double> y = Det(DiagEmbed(a)).ToVector<double>();
  EXPECT_NEAR(y[0], -2, 1e-14);
  EXPECT_NEAR(y[1], 1, 1e-14);
  EXPECT_EQ(y[2], 0);
}

// The product of the first two has few digits, and with the third it would be an ordinary number.
TEST(DetTest, HasAllDigitsWhereAProductOfSomePivotsIsBelowTheRange) {
  const Tensor a = FromValues<double>({1e-200, 3e-123, 1e200});
  EXPECT_NEAR(Det(DiagEmbed(a)).Item<double>() / 3e-123, 1, 1e-14);
  const Tensor b = FromValues<float>({1e-20f, 3e-24f, 1e20f});
  EXPECT_NEAR(Det(DiagEmbed(b)).Item<float>() / 3e-24f, 1, 1e-6);
}

TEST(DetTest, HasInfiniteAndNoGradientsFarBeyondTheRange) {
  for (const bool large : {false, true}) {
    const Tensor corner = Pad(Values({std::ldexp(1.0, large ? -90 : 80)}, {1, 1}), {1, 18, 0, 19});
    Tensor a = (Unit(20) * std::ldexp(1.0, large ? 20 : -20) + corner).To(DType::kF32);
    a.SetRequiresGrad();
    const std::vector<float> c = Grad(Det(a), a).ToVector<float>();
    const float beyond = large ? INFINITY : 0;
    for (size_t i = 0; i < 20; ++i) EXPECT_EQ(c[i * 21], beyond) << i;
    EXPECT_EQ(c[20], -beyond);  // of the corner, at [1, 0]
    EXPECT_EQ(c[1], 0);
  }
}

TEST(DetTest, NamesASingularMatrixWhoseSecondGradientIsWanted) {
  Tensor a = Values({1, 2, 2, 4}, {2, 2}).SetRequiresGrad();
  const Tensor first = Grad(Det(a), a, {.create_graph = true});
  EXPECT_NE(ErrorOf([&] { Grad(Sum(first * first), a); }).find("singular: pivot 1 is 0"),
            std::string::npos);
}

TEST(SlogdetTest, GivesInfinityForSingularMatrices) {
  Tensor a = Values({1, 2, 2, 4, 1, 0, 0, -1}, {2, 2, 2}).SetRequiresGrad();
  const SignAndLogAbsDet y = Slogdet(a);
  EXPECT_EQ(y.sign.ToVector<double>(), (std::vector<double>{0, -1}));
  EXPECT_EQ(y.logabsdet.ToVector<double>(), (std::vector<double>{-INFINITY, 0}));
  EXPECT_NE(ErrorOf([&] { Sum(y.logabsdet).Backward(); }).find("matrix [0] of a [2, 2, 2]"),
            std::string::npos);
}

TEST(SlogdetTest, IsFiniteWhereTheDeterminantIsNot) {
  const Tensor a = Unit(400, DType::kF32) * 10.0f;
  EXPECT_EQ(Det(a).Item<float>(), INFINITY);
  EXPECT_NEAR(Slogdet(a).logabsdet.Item<float>(), 400 * std::log(10.0), 1e-2);
}

// Residuals stay small however badly a matrix is conditioned, and threads change nothing.
TEST(SolveTest, IsBackwardStable) {
  const int64_t n = 12;
  const Tensor i = Arange(1.0, n + 1.0, 1, {.dtype = DType::kF64});
  const Tensor hilbert = 1.0 / (Unsqueeze(i, 1) + i - 1.0), b = Normal({n, 3});
  const Tensor x = Solve(hilbert, b);
  EXPECT_LT(Largest(Matmul(hilbert, x) - b), 1e-14 * Largest(x));
}

TEST(SolveTest, GivesTheSameWithAnyNumberOfThreads) {
  const Tensor a = Normal({33, 20, 20}), b = Normal({33, 20, 4}, 2);
  const int before = NumThreads();
  SetNumThreads(1);
  const Tensor one = Solve(a, b);
  SetNumThreads(4);
  const Tensor four = Solve(a, b);
  SetNumThreads(before);
  EXPECT_TRUE(one.Equals(four));
}

TEST(QrTest, GivesTheFactorsOfItsMode) {
  const Tensor a = Normal({2, 5, 3});
  const QrResult reduced = Qr(a), complete = Qr(a, QrMode::kComplete), r = Qr(a, QrMode::kR);
  EXPECT_EQ(complete.q.shape(), Shape({2, 5, 5}));
  EXPECT_EQ(complete.r.shape(), Shape({2, 5, 3}));
  EXPECT_EQ(r.q.shape(), Shape({0}));
  EXPECT_TRUE(r.r.Equals(reduced.r));
  for (const QrResult& y : {reduced, complete}) {
    EXPECT_LT(Skewness(y.q), 1e-14);
    EXPECT_LT(Largest(Matmul(y.q, y.r) - a), 1e-14);
  }
}

TEST(QrTest, RefusesGradientsThatDoNotExist) {
  Tensor a = Normal({5, 3}).SetRequiresGrad();
  for (const QrMode mode : {QrMode::kComplete, QrMode::kR}) {
    EXPECT_NE(ErrorOf([&] { Sum(Qr(a, mode).r).Backward(); }).find("the gradient needs mode"),
              std::string::npos);
  }
}

TEST(PinvTest, TakesNoAccountOfSmallValues) {
  const Tensor a = Values({2, 0, 0, 0x1p-30, 0, 0}, {3, 2});
  EXPECT_EQ(Pinv(a).ToVector<double>(), (std::vector<double>{0.5, 0, 0, 0, 0x1p30, 0}));
  for (const PinvOptions& o : {PinvOptions{.atol = 1e-8}, PinvOptions{.rtol = 1e-8}}) {
    EXPECT_EQ(Pinv(a, o).ToVector<double>(), (std::vector<double>{0.5, 0, 0, 0, 0, 0}));
  }
  // A given tolerance replaces the default one, as in PyTorch.
  const Tensor tiny = Values({2, 0, 0, 1e-17}, {2, 2});
  EXPECT_EQ(Pinv(tiny).ToVector<double>()[3], 0);
  EXPECT_NEAR(Pinv(tiny, {.atol = 1e-18}).ToVector<double>()[3], 1e17, 1e3);
  EXPECT_NE(ErrorOf([&] { Pinv(a, {.rtol = -1}); }).find("rtol is -1"), std::string::npos);
}

TEST(PinvTest, HasAGradientWhereRankIsKept) {
  ExpectGradients(
      [](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{Pinv(Matmul(x[0], x[1]))};  // of rank 2
      },
      {Normal({4, 2}), Normal({2, 3}, 2)});
}

TEST(LstsqTest, GivesTheShortestOfManySolutions) {
  const Tensor a = Values({1, 1, 2, 2}, {2, 2}), b = Values({2, 4}, {2, 1});
  const LstsqResult y = Lstsq(a, b);
  EXPECT_LT(Largest(y.solution - 1.0), 1e-14);
  EXPECT_EQ(y.rank.Item<int64_t>(), 1);
  EXPECT_LT(Largest(y.residuals), 1e-25);
  EXPECT_NE(ErrorOf([&] { Lstsq(a, b, -1.0); }).find("rcond is -1"), std::string::npos);
}

TEST(MatrixPowerTest, TakesPowersOfBothSigns) {
  const Tensor a = Normal({2, 3, 3});
  EXPECT_LT(Largest(Matmul(MatrixPower(a, -2), Matmul(a, a)) - Unit(3)), 1e-11);
  EXPECT_EQ(Largest(MatrixPower(a, 0) - Unit(3)), 0);
  EXPECT_FALSE(MatrixPower(a, 1).Is(a));
}

TEST(TensordotTest, TakesTheNumberOfDimensions) {
  const Tensor a = Normal({2, 3, 4}), b = Normal({3, 4, 5}, 2);
  EXPECT_TRUE(Tensordot(a, b).Equals(Tensordot(a, b, {1, 2}, {0, 1})));
  EXPECT_EQ(Tensordot(a, b, 0).shape(), Shape({2, 3, 4, 3, 4, 5}));
  EXPECT_NE(ErrorOf([&] { Tensordot(a, b, 4); }).find("dims is 4"), std::string::npos);
  EXPECT_NE(ErrorOf([&] {
              Tensordot(Ones({1, 1, 1, 1, 1}), Ones({1, 1, 1, 1}), 0);
            }).find("9 dim"),
            std::string::npos);
}

}  // namespace
}  // namespace firn
