#ifndef FIRN_TENSOR_KERNELS_CPU_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_TILES_H_

#include <cstdint>

#include "device/own_flags.h"
#include "tensor/dtype.h"

namespace firn::cpu {

// Loops are compiled for the few types that they compute in. What has another dtype, or does not
// lie side by side, goes through tiles: pieces of a few KiB in the first-level cache.

// Element j of row i, at rows[i] + j * step elements, becomes to[i * n + j] of another dtype.
using FetchFn = void (*)(const void* const* rows, int64_t num_rows, int64_t n, int64_t step,
                         void* to);
// For tiles of the same dtype, of f32 (from the half types), of i32 and i64 (from narrower integers
// and bool) and of bool (from everything: what is not 0).
FetchFn Fetcher(DType from, DType to);

// n elements of a tile become those of another dtype: f32 of the half types, i32 of narrower
// integers and bool.
void Put(const void* tile, int64_t n, DType to, void* out);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_TILES_H_
