#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/quantize/levels_fn.h"

namespace firn::quantize_levels_cuda {

FIRN_REGISTER_KERNELS(fixed_point_quantize) { return cuda::FloatKernels<FixedPointFn>(); }
FIRN_REGISTER_KERNELS(pow2_quantize) { return cuda::FloatKernels<Pow2Fn>(); }
FIRN_REGISTER_KERNELS(pow2_quantize_grad) { return cuda::FloatKernels<Pow2GradFn, 2>(); }
FIRN_REGISTER_KERNELS(power_of_two) { return cuda::FloatKernels<PowerOfTwoFn>(); }

}  // namespace firn::quantize_levels_cuda
