#ifndef FIRN_TENSOR_KERNELS_CUDA_INDEX_RANGE_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_INDEX_RANGE_CUH_

// Bounds of indices, which only the kernel checks, since an earlier check would wait for the
// device. The kernel skips indices outside the bounds and notes the first one; the error comes with
// the next read from the device (device/internal/cuda_faults.h).

#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/cuda/atomic.cuh"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/kernels/index_range.h"

namespace firn::cuda {

using firn::IndexSite;

// The place where indices of one call's argument that are outside their bounds are noted.
class IndexFaults {
 public:
  IndexFaults() = default;
  // `site` must live on.
  IndexFaults(firn::inner::internal::CudaIndexFault* record, const IndexSite& site)
      : record_(record), site_(&site) {}
  IndexFaults(const KernelContext& k, const IndexSite& site) : IndexFaults(IndexFaultOf(k), site) {}

  FIRN_HOST_DEVICE void Report(int64_t index, int64_t low, int64_t high) const {
    if (!AtomicClaim(&record_->claimed)) return;
    record_->site = site_;
    record_->index = index;
    record_->low = low;
    record_->high = high;
    PublishToHost(&record_->written);
  }

 private:
  firn::inner::internal::CudaIndexFault* record_ = nullptr;
  const IndexSite* site_ = nullptr;
};

// The indices of a dimension: low <= index < high, and perhaps one that stands for nothing.
struct IndexRange {
  IndexFaults faults;
  int64_t low, high;
  int64_t ignored = kNoneIgnored;

  // The element that an index means, counted from `high` when negative; -1 for the ignored index
  // and for one outside the bounds, which is noted.
  FIRN_HOST_DEVICE int64_t operator()(int64_t index) const {
    if (index == ignored) return -1;
    if (index >= low && index < high) return index < 0 ? index + high : index;
    faults.Report(index, low, high);
    return -1;
  }
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_INDEX_RANGE_CUH_
