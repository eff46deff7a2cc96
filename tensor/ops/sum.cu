#include "tensor/kernels/cpu/reducers.h"
#include "tensor/kernels/cuda/reduce.cuh"

namespace firn::sum_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    return cuda::RunReduction<Out, T>(k, cpu::SumReducer<AccumulatorOf<T>>());
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(sum) { return cuda::ReductionKernels(Run); }

}  // namespace firn::sum_cuda
