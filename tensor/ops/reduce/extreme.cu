#include "tensor/kernels/cuda/extreme.cuh"

namespace firn::extreme_cuda {

FIRN_REGISTER_KERNELS(amax) { return cuda::ReductionKernels(cuda::RunExtreme<true>); }

FIRN_REGISTER_KERNELS(amin) { return cuda::ReductionKernels(cuda::RunExtreme<false>); }

}  // namespace firn::extreme_cuda
