#ifndef FIRN_TENSOR_STRIDED_COPY_H_
#define FIRN_TENSOR_STRIDED_COPY_H_

#include <cstdint>

#include "absl/types/span.h"

// Copies between arrays of any strides, compiled like kernels, once for each width of elements.

namespace firn::inner::internal {

// One dimension of a strided copy; strides are in elements.
struct CopyDim {
  int64_t size, src, dst;
};

// Copies the elements of an array with dimensions `dims` from `src` to `dst`, both given where the
// first element lies. Outermost first, the dimension with the smallest step in `dst` last, none
// empty, at most 16. Elements have 1, 2, 4 or 8 bytes; the arrays do not overlap, and no two
// elements have one place in `dst`. Uses several threads.
void CopyStrided(absl::Span<const CopyDim> dims, int64_t width, const void* src, void* dst);

// to[c * to_step + r] = from[r * from_step + c] for r < rows, c < cols: transposes a matrix, for
// loops that need a tile of an operand whose rows lie across theirs. Runs on the calling thread.
void CopyTransposed(int64_t rows, int64_t cols, int64_t width, const void* from, int64_t from_step,
                    void* to, int64_t to_step);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_STRIDED_COPY_H_
