#include "firn/tensor/kernels/cuda/reduce.cuh"

namespace firn::sum_cuda {

FIRN_REGISTER_KERNELS(sum) { return cuda::ReductionKernels<SumReducer>(); }
FIRN_REGISTER_KERNELS(mean) { return cuda::ReductionKernels<MeanReducer>(); }

}  // namespace firn::sum_cuda
