#ifndef FIRN_TENSOR_KERNELS_CPU_ONEDNN_GEMM_H_
#define FIRN_TENSOR_KERNELS_CPU_ONEDNN_GEMM_H_

// oneDNN's products of matrices, on the calling thread.

#include <cstdint>

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Whether oneDNN multiplies bf16 by instructions made for it, which is about twice as fast as f32:
// on processors with AVX512-BF16 or AMX. Elsewhere it emulates them, slower than f32. The answer is
// the same throughout a process.
bool MultipliesBf16();

// Whether it does so by AMX, and about eight times as fast as f32.
bool MultipliesTiles();

// C = A B, or C += A B. Factors of bf16 are multiplied by the processor's instructions, which take
// denormal numbers for zeros.
//
// Requires: sizes above 0; each operand has a stride of 1 in one direction and at least the extent
// of that direction in the other; for bf16, MultipliesBf16().
void MultiplyOneDnn(const GemmShape& s, const float* a, const float* b, float* c, bool accumulate);
void MultiplyOneDnn(const GemmShape& s, const BFloat16* a, const BFloat16* b, float* c,
                    bool accumulate);

// Whether oneDNN multiplies bytes exactly, by instructions that sum in 32 bits (AVX512-VNNI, AMX).
// Elsewhere it sums pairs in 16 bits, which saturate.
bool MultipliesBytes();

// C = (A - a_zero) (B - b_zero), in 32 bits that wrap around.
//
// Requires: MultipliesBytes(), and of sizes and strides as above; a single row or column may have
// any stride.
void MultiplyOneDnn(const GemmShape& s, const uint8_t* a, uint8_t a_zero, const int8_t* b,
                    int8_t b_zero, int32_t* c);
void MultiplyOneDnn(const GemmShape& s, const int8_t* a, int8_t a_zero, const int8_t* b,
                    int8_t b_zero, int32_t* c);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ONEDNN_GEMM_H_
