#include "tensor/kernels/cuda/reduce.cuh"
#include "tensor/kernels/reducers.h"

namespace firn::truth_cuda {
namespace {

absl::Status RunAll(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::RunReduction<bool, T>(k, AllReducer());
  });
}

absl::Status RunAny(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::RunReduction<bool, T>(k, AnyReducer());
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(all) { return cuda::ReductionKernels<1>(RunAll); }

FIRN_REGISTER_KERNELS(any) { return cuda::ReductionKernels<1>(RunAny); }

}  // namespace firn::truth_cuda
