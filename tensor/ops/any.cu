#include "tensor/kernels/cpu/reducers.h"
#include "tensor/kernels/cuda/reduce.cuh"

namespace firn::any_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::RunReduction<bool, T>(k, cpu::AnyReducer());
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(any) { return cuda::ReductionKernels<1>(Run); }

}  // namespace firn::any_cuda
