// What operations on matrices say of those that they do not take: with the next read, and once; and
// determinants whose partial products leave the range.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/linalg/cholesky.h"
#include "firn/tensor/ops/linalg/solve.h"
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

// Nothing is left of a factor that there is none of.
TEST_F(CudaMatricesTest, ThatAreNotDefiniteHaveNoFactor) {
  const FakeLibraries libraries(fake_);
  const Tensor y = Cholesky(There({4, 0, 0, 9, 1, 2, 2, 1}, {2, 2, 2}));
  ExpectError(y, "cholesky: matrix 1");
  const std::vector<double> l = y.To(Device::Cpu()).ToVector<double>();
  EXPECT_EQ(std::vector<double>(l.begin(), l.begin() + 4), (std::vector<double>{2, 0, 0, 3}));
  for (size_t i = 4; i < 8; ++i) EXPECT_NE(l[i], l[i]) << i;
}

// As DetTest of tests/tensor/linalg_test.cc has it for the CPU.
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
