#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/floor_fn.h"

namespace firn::floor_cuda {

FIRN_REGISTER_KERNELS(floor) { return cuda::NumericKernels<FloorFn>(); }

}  // namespace firn::floor_cuda
