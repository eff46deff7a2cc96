#include "tensor/kernels/cuda/arg_reduce.cuh"

namespace firn::argmin_cuda {

FIRN_REGISTER_KERNELS(argmin) { return cuda::ArgReduceKernels<false>(); }

}  // namespace firn::argmin_cuda
