#ifndef FIRN_TENSOR_KERNELS_MATMUL_PLAN_H_
#define FIRN_TENSOR_KERNELS_MATMUL_PLAN_H_

#include <cstdint>

#include "firn/device/inner.h"
#include "firn/tensor/spec.h"

namespace firn {

// How a matrix lies in memory: element (i, j) is `row * i + col * j` elements after the first. Any
// strides are allowed; with a stride of 1 in either direction floating matrices of the compute type
// are read in place, others are copied to workspace.
struct MatrixStrides {
  int64_t row, col;
};

// The sizes and strides of C[m, n] = A[m, k] B[k, n]. Rows of C are `c_row` elements apart, its
// columns adjacent.
struct GemmShape {
  int64_t m, n, k;
  MatrixStrides a, b;
  int64_t c_row;
  // Operands that a library can read where they lie are not copied, though that may be faster.
  bool in_place = false;

  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// A product of stacks of matrices with broadcast batch dimensions, as the fewest matrix products:
// batch dimensions along which b does not change become rows of a where a's strides allow. C is
// row-major.
struct MatmulPlan {
  Dims batch, a_batch, b_batch;  // sizes, and strides in elements
  int64_t batches = 1;
  GemmShape one;  // of each product; C's matrices are m * n elements apart
};

// The plan for a b, with the last two dimensions of an operand exchanged where asked for. One
// dimension stands for a row (a) or a column (b). Requires: sizes that agree.
MatmulPlan PlanMatmul(const TensorSpec& a, bool transpose_a, const TensorSpec& b, bool transpose_b);

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_MATMUL_PLAN_H_
