#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace firn::cpu {

// How a matrix lies in memory: element (i, j) is `row * i + col * j` elements after the first. Any
// strides are right; with a stride of 1 in either direction floating matrices of the compute type
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

  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// Bytes of scratch memory for Gemm on matrices of that dtype. Does not depend on the threads.
size_t GemmWorkspace(DType dtype, const GemmShape& s);

// C = A B, or C += A B. The half types multiply and accumulate in float, f32 in float, f64 in
// double, integers modulo their width. Called outside a ParallelFor it uses all threads (one for
// small products); the result is the same at every run with the same number of threads.
//
// T: any element type but bool. Requires: C overlaps neither A nor B; `workspace` is 64-byte
// aligned and holds GemmWorkspace(...) bytes. Does not allocate for f64 and integers; oneDNN, which
// multiplies f32, takes its packing buffers from the heap.
template <class T>
void Gemm(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate, void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_H_
