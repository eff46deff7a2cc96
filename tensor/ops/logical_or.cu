#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/logical_or_fn.h"

namespace firn::logical_or_cuda {

FIRN_REGISTER_KERNELS(logical_or) { return cuda::PredicateKernels<LogicalOrFn, 2>(); }

}  // namespace firn::logical_or_cuda
