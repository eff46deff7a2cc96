#ifndef FIRN_TENSOR_KERNELS_INDEX_RANGE_H_
#define FIRN_TENSOR_KERNELS_INDEX_RANGE_H_

// The meaning of an index for a body. On the CPU Apply has checked all indices; on a CUDA device
// they are not checked yet (kernels/cuda/index_range.cuh). So the code that runs a body gives it a
// range, and the body skips an index that means -1.

#include <cstdint>

#include "firn/device/internal/cuda_faults.h"
#include "firn/device/macros.h"

namespace firn {

// An argument that holds indices, as a static object: {"embedding", "indices"}.
using IndexSite = inner::internal::CudaIndexSite;

// The value of `ignored` where no index is ignored.
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
