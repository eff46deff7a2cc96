#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_SMALL_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_SMALL_H_

// Products of floating matrices for which a call of a library takes longer than the work. Both take
// any strides and need no workspace.

#include <algorithm>
#include <cstdint>

#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Sides of small products: 16 x 16 x 16 in f32 takes oneDNN 300 ns, and 4 x 4 x 4 takes it 250.
inline constexpr int64_t kSmall = 16;

inline bool IsSmall(const GemmShape& s) { return std::max({s.m, s.n, s.k}) <= kSmall; }

// C = A B, or C += A B, on the calling thread. Requires: IsSmall(s).
template <class T>
void MultiplySmall(const GemmShape& s, const T* a, const T* b, T* c, bool accumulate);

// The same for a column times a row, where there is nothing to add up, on all threads. Requires:
// s.k == 1.
template <class T>
void MultiplyOuter(GemmShape s, const T* a, const T* b, T* c, bool accumulate);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_SMALL_H_
