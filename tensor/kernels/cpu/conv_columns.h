#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_COLUMNS_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_COLUMNS_H_

// Convolutions as products of matrices: for f64, which no library has, and for f32 where oneDNN has
// only its reference kernel, or is absent.

#include <cstddef>

#include "firn/tensor/kernels/conv_pass.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {

// T: float or double. Scratch bytes of ConvOfColumns: some megabytes, however large the problem is.
// Does not depend on the threads. Requires: `p` is of three dimensions (ConvProblem::Lifted).
template <class T>
size_t ConvOfColumnsWorkspace(const ConvProblem& p, ConvPass pass);

// One pass of the problem on row-major tensors. Forward: y from x, weight, bias (may be null).
// Data: x from y, weight. Weight: weight from x, y. The results are
// the same at every run with the same number of threads (gemm.h).
// Requires: `p` is of three dimensions and nothing in it is empty; `workspace` is aligned to 64
// bytes.
template <class T>
void ConvOfColumns(const ConvProblem& p, ConvPass pass, T* x, T* weight, const T* bias, T* y,
                   void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_COLUMNS_H_
