#ifndef FIRN_TENSOR_KERNELS_CPU_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_TILES_H_

#include <cstdint>

#include "firn/device/own_flags.h"
#include "firn/tensor/dtype.h"

namespace firn::cpu {

// Loops are compiled for elements that lie side by side, and some for the few types that they
// compute in. Others go through tiles: pieces of a few KiB in the first-level cache.

// Element j of row i, at rows[i] + j * step elements, becomes to[i * n + j].
using FetchFn = void (*)(const void* const* rows, int64_t num_rows, int64_t n, int64_t step,
                         void* to);
// For tiles of the same dtype, and of f32 from the half types.
FetchFn Fetcher(DType from, DType to);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_TILES_H_
