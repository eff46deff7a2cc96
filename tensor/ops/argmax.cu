#include "tensor/kernels/cuda/arg_reduce.cuh"

namespace firn::argmax_cuda {

FIRN_REGISTER_KERNELS(argmax) { return cuda::ArgReduceKernels<true>(); }

}  // namespace firn::argmax_cuda
