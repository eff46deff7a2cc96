#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_PACKED_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_PACKED_H_

#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Whether MultiplyPacked is faster than Eigen on f64: it is, unless C has few rows or columns,
// where packing takes as long as multiplying.
bool IsPacked(const GemmShape& s);

// C = A B, or C += A B, on the calling thread; does not allocate. T: float, for programs without
// oneDNN, or double. Requires: as MultiplyOneDnn.
template <class T>
void MultiplyPacked(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_PACKED_H_
