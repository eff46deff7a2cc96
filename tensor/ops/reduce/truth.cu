#include "firn/tensor/kernels/cuda/reduce.cuh"

namespace firn::truth_cuda {

FIRN_REGISTER_KERNELS(all) { return cuda::ReductionKernels<AllReducer>(); }
FIRN_REGISTER_KERNELS(any) { return cuda::ReductionKernels<AnyReducer>(); }

}  // namespace firn::truth_cuda
