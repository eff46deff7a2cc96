#ifndef FIRN_TENSOR_KERNELS_INDEX_RANGE_H_
#define FIRN_TENSOR_KERNELS_INDEX_RANGE_H_

// What an index means to a body. On the CPU Apply has checked all of them; on a CUDA device nobody
// has (kernels/cuda/index_range.cuh). So a body is given its range by whoever runs it, and leaves
// out an index that means -1.

#include <cstdint>

#include "firn/device/internal/cuda_faults.h"
#include "firn/device/macros.h"

namespace firn {

// An argument that holds indices, as a static object: {"embedding", "indices"}.
using IndexSite = inner::internal::CudaIndexSite;

// No index stands for nothing.
inline constexpr int64_t kNoneIgnored = INT64_MIN;

// Indices that have been checked, into a dimension of `high` elements.
struct CheckedRange {
  int64_t high;
  int64_t ignored = kNoneIgnored;

  // The element, for a negative index counted from the end; -1 for the ignored one.
  FIRN_HOST_DEVICE int64_t operator()(int64_t index) const {
    if (index == ignored) return -1;
    return index < 0 ? index + high : index;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_INDEX_RANGE_H_
