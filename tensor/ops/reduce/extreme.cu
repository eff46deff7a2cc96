#include "firn/tensor/kernels/cuda/reduce.cuh"

namespace firn::extreme_cuda {

FIRN_REGISTER_KERNELS(amax) { return cuda::ReductionKernels<MaxReducer>(); }
FIRN_REGISTER_KERNELS(amin) { return cuda::ReductionKernels<MinReducer>(); }

}  // namespace firn::extreme_cuda
