#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_EIGEN_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_EIGEN_H_

#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// C = A B, or C += A B, by Eigen on the calling thread. Requires: as MultiplyOneDnn.
void MultiplyEigen(const GemmShape& s, const double* a, const double* b, double* c,
                   bool accumulate);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_EIGEN_H_
