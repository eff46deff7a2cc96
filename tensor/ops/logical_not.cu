#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/logical_not_fn.h"

namespace firn::logical_not_cuda {

FIRN_REGISTER_KERNELS(logical_not) { return cuda::PredicateKernels<LogicalNotFn>(); }

}  // namespace firn::logical_not_cuda
