#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/polygamma_body.h"

namespace firn::polygamma_cuda {

FIRN_REGISTER_KERNELS(polygamma) { return cuda::FloatKernels<PolygammaFn>(); }

}  // namespace firn::polygamma_cuda
