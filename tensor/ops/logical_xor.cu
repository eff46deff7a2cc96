#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/logical_xor_fn.h"

namespace firn::logical_xor_cuda {

FIRN_REGISTER_KERNELS(logical_xor) { return cuda::PredicateKernels<LogicalXorFn, 2>(); }

}  // namespace firn::logical_xor_cuda
