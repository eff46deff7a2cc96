#ifndef FIRN_TENSOR_KERNELS_CPU_ORDER_H_
#define FIRN_TENSOR_KERNELS_CPU_ORDER_H_

// Sorting lines of a row-major tensor together with their indices, or the first of each line's
// order alone. Ties are ordered by index, which makes every order stable and every result the same
// at each run; NaN is the largest value.

#include <cstddef>
#include <cstdint>

#include "firn/device/own_flags.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/lines.h"

namespace firn::cpu {

struct LineOrder {
  bool descending = false;
  int64_t keep = 0;    // so many of each line, the first of its order
  bool sorted = true;  // else these come in any order
};

// Bytes of workspace for OrderLines.
size_t OrderWorkspace(const Lines& l, const LineOrder& o, DType d);

// Writes the first `keep` elements of each line of x, and their indices, to lines of that length.
void OrderLines(const Lines& l, const LineOrder& o, DType d, const void* x, void* values,
                int64_t* indices, void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ORDER_H_
