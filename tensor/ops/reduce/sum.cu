#include "tensor/kernels/cuda/reduce.cuh"
#include "tensor/kernels/reducers.h"
#include "tensor/ops/reduce/reduction.h"
#include "tensor/ops/reduce/sum_fn.h"

namespace firn::sum_cuda {
namespace {

absl::Status RunSum(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    return cuda::RunReduction<Out, T>(k, SumReducer<AccumulatorOf<T>>());
  });
}

absl::Status RunMean(KernelContext& k) {
  const int64_t count = ReducedCount(k.in_spec(0).shape, k.attrs<ReduceAttrs>());
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::RunReduction<T, T>(k, MeanReducer<AccumulatorOf<T>>(count));
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(sum) { return cuda::ReductionKernels(RunSum); }

FIRN_REGISTER_KERNELS(mean) { return cuda::ReductionKernels(RunMean); }

}  // namespace firn::sum_cuda
