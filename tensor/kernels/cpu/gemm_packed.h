#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_PACKED_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_PACKED_H_

#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Whether MultiplyPacked is faster than Eigen: unless C has few rows or columns, for which packing
// takes as long as multiplying.
bool IsPacked(const GemmShape& s);

// C = A B, or C += A B, on the calling thread; does not allocate. Requires: as MultiplyOneDnn.
void MultiplyPacked(const GemmShape& s, const double* a, const double* b, double* c,
                    bool accumulate);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_PACKED_H_
