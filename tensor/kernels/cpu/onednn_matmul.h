#ifndef FIRN_TENSOR_KERNELS_CPU_ONEDNN_MATMUL_H_
#define FIRN_TENSOR_KERNELS_CPU_ONEDNN_MATMUL_H_

// Products of bf16 by oneDNN's primitives for AMX. They need no copy of the result in f32, and
// their preparation, once for each shape, pays where oneDNN's function (onednn_gemm.h) would spend
// its time on moving numbers.

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Whether MultiplyPrimitive is worth asking for: it takes no matrices with gaps, and is not always
// the fastest way.
bool HasPrimitive(const GemmShape& s);

// C = A B, or C += A B, on the calling thread, rounded once; denormal numbers count as zeros.
// Does nothing and returns false where there is no primitive. The first product of a shape in a
// thread takes about a millisecond longer, and its answer is the same in every thread.
//
// Requires: as MultiplyOneDnn.
bool MultiplyPrimitive(const GemmShape& s, const BFloat16* a, const BFloat16* b, BFloat16* c,
                       bool accumulate);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ONEDNN_MATMUL_H_
