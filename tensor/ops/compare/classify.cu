#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/compare/classify_fn.h"

namespace firn::classify_cuda {

FIRN_REGISTER_KERNELS(isnan) { return cuda::PredicateKernels<IsnanFn>(); }
FIRN_REGISTER_KERNELS(isinf) { return cuda::PredicateKernels<IsinfFn>(); }
FIRN_REGISTER_KERNELS(isfinite) { return cuda::PredicateKernels<IsfiniteFn>(); }

}  // namespace firn::classify_cuda
