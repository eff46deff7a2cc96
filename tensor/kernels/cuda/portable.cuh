#ifndef FIRN_TENSOR_KERNELS_CUDA_PORTABLE_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_PORTABLE_CUH_

// Portable kernels as launches: see kernels/for_each.h.

#include <utility>
#include <vector>

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/kernels/for_each.h"

namespace firn::cuda {

class Runner {
 public:
  static constexpr DeviceType kDevice = DeviceType::kCuda;
  static constexpr int kLanes = 1;  // a thread each

  explicit Runner(const KernelContext& k) : queue_(k), faults_(IndexFaultOf(queue_)) {}

  template <class Body>
  absl::Status ForEach(int64_t n, const Body& body) const {
    return cuda::ForEach(queue_, n, body);
  }
  template <class F>
  absl::Status Fold(const TensorSpec& over, const F& fold, void* workspace) const {
    return ReduceWith<false>(queue_, fold, PlanWork(over, {}), workspace);
  }
  template <class Acc>
  static size_t FoldBytes(const TensorSpec& over) {
    return PlanWork(over, {}).Bytes(sizeof(Acc));
  }
  // `site` must live on.
  IndexRange Indices(const IndexSite& site, int64_t low, int64_t high,
                     int64_t ignored = kNoneIgnored) const {
    return {IndexFaults(faults_, site), low, high, ignored};
  }

 private:
  Queue queue_;
  inner::internal::CudaIndexFault* faults_;
};

// An operation's kernels on CUDA devices; see PortableKernels.
template <class Kernels>
std::vector<Kernel> Portable(Kernel entry = {.name = "loop"}, std::vector<Kernel> before = {}) {
  return PortableKernels<Kernels, Runner>(entry, std::move(before));
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_PORTABLE_CUH_
