#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/ratio_fn.h"

namespace firn::ratio_cuda {

FIRN_REGISTER_KERNELS(mul_ratio) { return cuda::FloatKernels<MulRatioFn, 3>(); }

}  // namespace firn::ratio_cuda
