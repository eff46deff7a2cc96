#ifndef FIRN_TENSOR_KERNELS_CPU_MATMUL_H_
#define FIRN_TENSOR_KERNELS_CPU_MATMUL_H_

#include <cstddef>

#include "firn/tensor/kernels/cpu/gemm.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

size_t MatmulWorkspace(DType dtype, const MatmulPlan& p);

// C = a b or C += a b, computed like Gemm. T: any element type but bool.
template <class T>
void RunMatmul(const MatmulPlan& p, const T* a, const T* b, T* c, bool accumulate, void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_MATMUL_H_
