#include "firn/tensor/kernels/cuda/reduce.cuh"

namespace firn::sum_cuda {
namespace {

// In double, which holds sums of any f32; docs/gpu_unverified.md has how to see what that costs.
absl::Status RunMean(KernelContext& k) {
  const cuda::ReduceWork work = cuda::PlanWork(k.in_spec(0), k.attrs<ReduceAttrs>().dims);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const cuda::ReducerFold<MeanReducer<double>, T> fold = {{}, k.out<T>(), work.length};
    return cuda::ReduceWith(k, fold, work, k.workspace(), k.in<T>(0));
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(sum) { return cuda::ReductionKernels<SumReducer>(); }
FIRN_REGISTER_KERNELS(mean) { return cuda::ReductionKernels(RunMean); }

}  // namespace firn::sum_cuda
