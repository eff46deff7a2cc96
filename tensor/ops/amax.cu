#include "tensor/kernels/cuda/extreme.cuh"

namespace firn::amax_cuda {

FIRN_REGISTER_KERNELS(amax) { return cuda::ReductionKernels(cuda::RunExtreme<true>); }

}  // namespace firn::amax_cuda
