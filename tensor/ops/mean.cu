#include "tensor/kernels/cuda/reduce.cuh"
#include "tensor/ops/mean_fn.h"
#include "tensor/reduction.h"

namespace firn::mean_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  const int64_t count = ReducedCount(k.in_spec(0).shape, k.attrs<ReduceAttrs>());
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::RunReduction<T, T>(k, MeanReducer<AccumulatorOf<T>>(count));
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(mean) { return cuda::ReductionKernels(Run); }

}  // namespace firn::mean_cuda
