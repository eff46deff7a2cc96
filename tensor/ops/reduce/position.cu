#include "firn/tensor/kernels/cuda/arg_reduce.cuh"

namespace firn::position_cuda {

FIRN_REGISTER_KERNELS(argmax) { return cuda::ArgReduceKernels<true>(); }

FIRN_REGISTER_KERNELS(argmin) { return cuda::ArgReduceKernels<false>(); }

}  // namespace firn::position_cuda
