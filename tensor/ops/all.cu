#include "tensor/kernels/cpu/reducers.h"
#include "tensor/kernels/cuda/reduce.cuh"

namespace firn::all_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::RunReduction<bool, T>(k, cpu::AllReducer());
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(all) { return cuda::ReductionKernels<1>(Run); }

}  // namespace firn::all_cuda
