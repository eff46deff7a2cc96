#ifndef FIRN_TENSOR_KERNELS_CPU_MATMUL_H_
#define FIRN_TENSOR_KERNELS_CPU_MATMUL_H_

#include <cstddef>

#include "device/inner.h"
#include "tensor/kernels/cpu/gemm.h"
#include "tensor/spec.h"

namespace firn::cpu {

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

size_t MatmulWorkspace(DType dtype, const MatmulPlan& p);

// C = a b or C += a b, as Gemm. T: any element type but bool.
template <class T>
void RunMatmul(const MatmulPlan& p, const T* a, const T* b, T* c, bool accumulate, void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_MATMUL_H_
