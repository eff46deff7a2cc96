#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/gt_fn.h"

namespace firn::gt_cuda {

FIRN_REGISTER_KERNELS(gt) { return cuda::PredicateKernels<GtFn, 2>(); }

}  // namespace firn::gt_cuda
