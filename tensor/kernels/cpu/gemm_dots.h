#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_DOTS_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_DOTS_H_

// Products whose operands both lie along the inner direction, such as those of a linear layer.

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Whether MultiplyDots computes the product and is faster than a library: with few rows, a library
// spends its time on bringing B into another order. T: float or BFloat16.
template <class T>
bool IsDots(const GemmShape& s);

// C = A B, or C += A B, on the calling thread; does not allocate. bf16 is multiplied by the
// processor's instructions, which take denormal numbers for zeros. Requires: IsDots<T>(s).
template <class T, class Result>
void MultiplyDots(const GemmShape& s, const T* a, const T* b, Result* c, bool accumulate);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_DOTS_H_
