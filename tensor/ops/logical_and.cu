#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/logical_and_fn.h"

namespace firn::logical_and_cuda {

FIRN_REGISTER_KERNELS(logical_and) { return cuda::PredicateKernels<LogicalAndFn, 2>(); }

}  // namespace firn::logical_and_cuda
