#ifndef FIRN_TENSOR_KERNELS_CUDA_EXTREME_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_EXTREME_CUH_

#include "tensor/kernels/cuda/reduce.cuh"
#include "tensor/kernels/reducers.h"

namespace firn::cuda {

// The kernel of amax and amin.
template <bool kLargest>
absl::Status RunExtreme(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return RunReduction<T, T>(k, ExtremeReducer<ComparedAs<T>, kLargest>());
  });
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_EXTREME_CUH_
