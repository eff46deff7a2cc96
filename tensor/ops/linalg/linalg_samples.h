#ifndef FIRN_TENSOR_OPS_LINALG_LINALG_SAMPLES_H_
#define FIRN_TENSOR_OPS_LINALG_LINALG_SAMPLES_H_

// Parts shared by the samples of operations on matrices. Test code only.

#include <vector>

#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// The matrices of a tensor, one after the other.
struct RefMatrix {
  RefMatrix(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  int64_t rows, columns;
  std::vector<double> values;
  double& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return values[static_cast<size_t>(i * columns + j)];
  }
};
std::vector<RefMatrix> MatricesOf(const RefTensor& x);
// Back again; `batch` is the shape of a tensor with as many matrices.
RefTensor FromMatrices(const Shape& batch, const std::vector<RefMatrix>& all, int64_t rows,
                       int64_t columns);
// One number for each matrix of `x`.
RefTensor FromNumbers(const Shape& x, const std::vector<double>& all);

RefMatrix Product(const RefMatrix& a, const RefMatrix& b);
RefMatrix TransposeOf(const RefMatrix& a);
// The X of A X = B by Gauss and Jordan.
RefMatrix Solved(RefMatrix a, RefMatrix b);
// Row by row, by minors below four rows, else by elimination.
double DeterminantOf(RefMatrix a);

// Matrices whose solutions lose no digits: 2 I and small numbers. `symmetric` ones are positive
// definite.
Tensor WellConditioned(const Shape& shape, uint64_t seed = 1, bool symmetric = false);
// diag(1, 2, 3, ...) and small numbers, also where there are more rows or columns: eigenvalues and
// singular values lie far apart, so that their vectors lose no digits.
Tensor FarApart(const Shape& shape, uint64_t seed = 1, bool symmetric = false);
// Eigenvalues of a symmetric matrix in ascending order, and vectors as columns, by Jacobi's method.
struct RefEigen {
  std::vector<double> values;
  RefMatrix vectors;
};
RefEigen EigenOf(RefMatrix a);
// Multiplies column j by -1 if its largest element is negative; returns the sign.
double MakeLargestPositive(RefMatrix& m, int64_t j);

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_LINALG_LINALG_SAMPLES_H_
