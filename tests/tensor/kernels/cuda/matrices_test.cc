// Errors of operations on matrices that they do not take: with the next read, and once;
// determinants whose partial products leave the range; and vectors that are not unique.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/linalg/cholesky.h"
#include "firn/tensor/ops/linalg/eigh.h"
#include "firn/tensor/ops/linalg/pinv.h"
#include "firn/tensor/ops/linalg/qr.h"
#include "firn/tensor/ops/linalg/solve.h"
#include "firn/tensor/ops/linalg/svd.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "tests/device/fake_libraries.h"
#include "tests/error_of.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

class CudaMatricesTest : public testing::CudaTest {
 protected:
  Tensor There(const std::vector<double>& values, const Shape& shape) const {
    return FromVector<double>(values, shape).To(device_);
  }
  // Which kernel takes `count` matrices of `rows` rows.
  std::string KernelFor(const char* name, int64_t count, int64_t rows) const {
    const inner::OpDef& op = *inner::FindOp(name);
    const inner::Attrs attrs = std::string_view(name) == "cholesky"
                                   ? inner::Attrs(inner::CholeskyAttrs())
                                   : inner::Attrs();
    const TensorSpec a = TensorSpec::Contiguous(DType::kF64, {count, rows, rows}, device_);
    const TensorSpec* const in[] = {&a};
    inner::Prepared answer;
    const absl::Status status = inner::internal::Prepare(
        op, inner::KernelQuery(in, {&a, 1}, attrs.ref()), device_, &answer);
    EXPECT_TRUE(status.ok()) << status;
    return std::string(answer.kernel->name);
  }
  static void ExpectError(const Tensor& y, std::string_view want) {
    const std::string error = testing::ErrorOf([&] { y.To(Device::Cpu()); });
    EXPECT_NE(error.find(want), std::string::npos) << error << "\nnot: " << want;
    EXPECT_EQ(testing::ErrorOf([&] { y.To(Device::Cpu()); }), "");
  }
};

TEST_F(CudaMatricesTest, AreNamedWhereTheyCannotBeFactored) {
  const FakeLibraries libraries(fake_);
  const Tensor a = There({2, 0, 0, 1, 1, 2, 2, 4}, {2, 2, 2}), b = There({1, 1, 1, 1}, {2, 2});
  ExpectError(Inv(a), "inv: matrix 1 of a is singular (row 1)");
  ExpectError(Solve(a, b), "solve: matrix 1 of a is singular (row 1)");
  ExpectError(Cholesky(a), "cholesky: matrix 1 of a is not positive definite (row 1)");
  ExpectError(SolveTriangular(There({1, 0, 1, 0}, {2, 2}), b, false),
              "solve_triangular: matrix 0 of a is singular (row 1)");
  EXPECT_EQ(Det(a).To(Device::Cpu()).ToVector<double>(), (std::vector<double>{2, 0}));
}

// Both kernels give the same numbers, so the test asks which one takes the call.
TEST_F(CudaMatricesTest, AreFactoredInOneCallWhereSeveralAreSmall) {
  const FakeLibraries libraries(fake_);
  for (const int64_t rows : {1, 128}) {
    EXPECT_EQ(KernelFor("cholesky", 2, rows), "cusolver_batched") << rows;
    EXPECT_EQ(KernelFor("inv", 2, rows), "cublas_batched") << rows;
  }
  for (const char* name : {"cholesky", "inv"}) {
    EXPECT_EQ(KernelFor(name, 1, 128), "cusolver") << name;
    EXPECT_EQ(KernelFor(name, 2, 129), "cusolver") << name;
  }
}

// A matrix without a factor leaves no numbers of one.
TEST_F(CudaMatricesTest, ThatAreNotDefiniteHaveNoFactor) {
  const FakeLibraries libraries(fake_);
  const Tensor y = Cholesky(There({4, 0, 0, 9, 1, 2, 2, 1}, {2, 2, 2}));
  ExpectError(y, "cholesky: matrix 1");
  const std::vector<double> l = y.To(Device::Cpu()).ToVector<double>();
  EXPECT_EQ(std::vector<double>(l.begin(), l.begin() + 4), (std::vector<double>{2, 0, 0, 3}));
  for (size_t i = 4; i < 8; ++i) EXPECT_NE(l[i], l[i]) << i;
}

// Only the triangle that is read counts. The results of the other matrices are there.
TEST_F(CudaMatricesTest, AreNamedWhereTheyAreNotFinite) {
  const FakeLibraries libraries(fake_);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const Tensor half = There({2, nan, 0, 1, 1, 0, nan, 4}, {2, 2, 2});
  ExpectError(Eigh(half).values, "eigh: matrix 1 of a has elements that are not finite (row 1)");
  const EighResult y = Eigh(There({2, nan, 0, 1}, {2, 2}));
  const Tensor turned = There({0, 1, 1, 0}, {2, 2}).To(Device::Cpu());
  EXPECT_NEAR(y.values.To(Device::Cpu()).ToVector<double>()[0], 1, 1e-14);
  EXPECT_LT(Max(Abs(Sub(y.vectors.To(Device::Cpu()), turned))).Item<double>(), 1e-14);
  for (const Shape& shape : {Shape{2, 2, 1}, Shape{2, 1, 2}}) {
    const Tensor a = There({3, 4, infinity, 0}, shape);
    const SvdResult parts = Svd(a);
    ExpectError(parts.s, "svd: matrix 1 of a has elements that are not finite (row 0)");
    const std::vector<double> s = parts.s.To(Device::Cpu()).ToVector<double>();
    EXPECT_NEAR(s[0], 5, 1e-14);
    EXPECT_NE(s[1], s[1]);
    const Tensor p = Pinv(a);
    ExpectError(p, "pinv: matrix 1 of a has elements that are not finite (row 0)");
    const std::vector<double> inverse = p.To(Device::Cpu()).ToVector<double>();
    EXPECT_NEAR(inverse[0], 0.12, 1e-14);
    EXPECT_NEAR(inverse[1], 0.16, 1e-14);
    EXPECT_NE(inverse[2], inverse[2]);
  }
}

// Vectors that are not unique are at right angles to all others, and of length 1.
TEST_F(CudaMatricesTest, HaveAllVectorsWhereTheyAreWanted) {
  const FakeLibraries libraries(fake_);
  const auto expect_orthonormal = [](const Tensor& there, bool columns) {
    const Tensor q = there.To(Device::Cpu());
    const Tensor products = columns ? Matmul(q, q, true) : Matmul(q, q, false, true);
    const int64_t n = products.shape().dim(-1);
    EXPECT_LT(Max(Abs(Sub(products, Eye(n, n, 0, DType::kF64)))).Item<double>(), 1e-14);
  };
  for (const Shape& shape :
       {Shape{4, 2}, Shape{2, 4}, Shape{3, 0}, Shape{0, 3}, Shape{2, 4, 2}, Shape{2, 2, 4}}) {
    SCOPED_TRACE(shape.ToString());
    const int64_t rows = shape.dim(-2), columns = shape.dim(-1);
    std::vector<double> values = {1, 2, 3, -1, 0, 2, 1, 1, 2, 2, 0, 1, -3, 1, 0, 0};
    values.resize(static_cast<size_t>(shape.num_elements()));
    const Tensor a = There(values, shape);
    const SvdResult y = Svd(a, true);
    if (rows > 0) expect_orthonormal(y.u, true);
    if (columns > 0) expect_orthonormal(y.vh, false);
    const QrResult q = Qr(a, QrMode::kComplete);
    if (rows > 0) expect_orthonormal(q.q, true);
    if (rows * columns == 0) continue;
    const Tensor u = Slice(y.u.To(Device::Cpu()), -1, 0, 2), s = y.s.To(Device::Cpu());
    const Tensor vh = Slice(y.vh.To(Device::Cpu()), -2, 0, 2);
    const Tensor again = Matmul(Mul(u, Unsqueeze(s, -2)), vh);
    EXPECT_LT(Max(Abs(Sub(again, FromVector<double>(values, shape)))).Item<double>(), 1e-14);
  }
}

// Computed by pinv and svd, with more right sides than matrices.
TEST_F(CudaMatricesTest, HaveLeastSquaresAsOnTheCpu) {
  const FakeLibraries libraries(fake_);
  const Tensor a = FromVector<double>({1, 2, 0, 1, 2, -1}, {3, 2});
  const Tensor b = FromVector<double>({1, 0, 2, 1, 1, 1}, {3, 2});
  const LstsqResult want = Lstsq(a, b), got = Lstsq(a.To(device_), b.To(device_));
  const auto expect_near = [](const Tensor& there, const Tensor& here) {
    EXPECT_LT(Max(Abs(Sub(there.To(Device::Cpu()), here))).Item<double>(), 1e-14);
  };
  expect_near(got.solution, want.solution);
  expect_near(got.residuals, want.residuals);
  expect_near(got.singular_values, want.singular_values);
  EXPECT_EQ(got.rank.To(Device::Cpu()).Item<int64_t>(), 2);
}

// The same matrices as in DetTest of tests/tensor/linalg_test.cc, which is for the CPU.
TEST_F(CudaMatricesTest, HaveDeterminantsWhereAProductOfSomePivotsIsNone) {
  const FakeLibraries libraries(fake_);
  const Tensor a =
      There({1e200, 0, 0, 0,     1e200, 0,     0, 0,     -2e-300, 1e-200, 0, 0, 0, 3e-123,
             0,     0, 0, 1e200, 0,     1e300, 0, 1e300, 0,       0,      0, 0, 0},
            {3, 3, 3});
  const std::vector<double> y = Det(a).To(Device::Cpu()).ToVector<double>();
  EXPECT_NEAR(y[0] / -2e100, 1, 1e-14);
  EXPECT_NEAR(y[1] / 3e-123, 1, 1e-14);
  EXPECT_EQ(y[2], 0);
}

// a = diag(left) B diag(right), the powers of each with the sum 0.
TEST_F(CudaMatricesTest, HaveCofactorsWhereRowsAndColumnsAreOfOtherSizes) {
  const FakeLibraries libraries(fake_);
  const int left[] = {40, 0, -40, 0}, right[] = {40, 80, -40, -80};
  const std::vector<double> regular = {2, 1, -1, 0, 1, 3, 2, 1, 1, -1, 4, 2, 0, 1, 1, 3},
                            singular = {2, 1, -1, 0, 1, 3, 2, 1, 1, -1, 4, 2, 3, 4, 1, 1};
  for (const std::vector<double>& b : {regular, singular}) {
    const Tensor near = FromVector(b, {4, 4}).SetRequiresGrad();
    const std::vector<double> want = Grad(Det(near), near).ToVector<double>();
    std::vector<double> far = b;
    for (size_t i = 0; i < 16; ++i) far[i] = std::ldexp(b[i], left[i / 4] + right[i % 4]);
    const Tensor a = There(far, {4, 4}).To(DType::kF32).SetRequiresGrad();
    const std::vector<double> got = Grad(Det(a), a).To(Device::Cpu()).ToVector<double>();
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_NEAR(std::ldexp(got[i], left[i / 4] + right[i % 4]), want[i], 1e-4) << i;
    }
  }
}

}  // namespace
}  // namespace firn
