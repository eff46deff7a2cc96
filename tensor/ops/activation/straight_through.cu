#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/activation/straight_through_fn.h"

namespace firn::straight_through_cuda {

FIRN_REGISTER_KERNELS(straight_through) { return cuda::FloatKernels<StraightThroughFn, 2>(); }

}  // namespace firn::straight_through_cuda
