#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/compare/logical_fn.h"

namespace firn::logical_cuda {

FIRN_REGISTER_KERNELS(logical_and) { return cuda::PredicateKernels<LogicalAndFn, 2>(); }

FIRN_REGISTER_KERNELS(logical_or) { return cuda::PredicateKernels<LogicalOrFn, 2>(); }

FIRN_REGISTER_KERNELS(logical_xor) { return cuda::PredicateKernels<LogicalXorFn, 2>(); }

FIRN_REGISTER_KERNELS(logical_not) { return cuda::PredicateKernels<LogicalNotFn>(); }

}  // namespace firn::logical_cuda
