#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_TILES_H_

#include <cstddef>

#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// The number of bfloat16 whose sum each number of an operand is (split_tiles.h). Numbers that are
// bfloat16 have one part, floats three; two leave 2^-18 of a float, far less than rounding the
// result to bfloat16 does.
struct TileParts {
  int left, right;
};

// Whether the processor multiplies tiles and the operating system lets this process do so.
bool HasTileProducts();

// Bytes of scratch memory for GemmByTiles. Does not depend on the threads.
size_t GemmByTilesWorkspace(const GemmShape& s, const TileParts& parts);

// C = A B or C += A B of floats by the processor's tiles. Infinities and NaN are multiplied as
// floats, and so are the numbers near them. Called outside a ParallelFor it uses all threads; the
// result does not depend on them.
//
// Requires: HasTileProducts(); one stride of each operand is 1; sizes above 0; `parts` is {2, 1}
// or {3, 3}; `workspace` is 64-byte aligned and holds GemmByTilesWorkspace(...) bytes.
void GemmByTiles(const GemmShape& s, const TileParts& parts, const float* a, const float* b,
                 float* c, bool accumulate, void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_TILES_H_
