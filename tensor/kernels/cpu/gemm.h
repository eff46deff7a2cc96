#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Bytes of scratch memory for Gemm on matrices of that dtype. Does not depend on the threads.
size_t GemmWorkspace(DType dtype, const GemmShape& s);

// C = A B, or C += A B. The half types multiply and accumulate in float, f32 in float (or by AMX,
// which is as exact except for numbers below 2^-102, which lose digits, and denormal ones, which
// count as zeros: gemm_tiles.h), f64 in double, integers modulo their width. Called outside a
// ParallelFor it uses all threads (one for small products); the result is the same at every run
// with the same number of threads.
//
// T: any element type but bool. Requires: C overlaps neither A nor B; `workspace` is 64-byte
// aligned and holds GemmWorkspace(...) bytes. `workspace` may be null for operands of f32, f64 or
// integers that each lie by rows or columns, at least one by rows; f32 is then not multiplied by
// tiles. Does not allocate for f64 and integers; oneDNN, which multiplies f32, takes its packing
// buffers from the heap.
template <class T>
void Gemm(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate, void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_H_
