#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/special_fn.h"

namespace firn::special_cuda {

FIRN_REGISTER_KERNELS(erf) { return cuda::FloatKernels<ErfFn>(); }
FIRN_REGISTER_KERNELS(sinc) { return cuda::FloatKernels<SincFn>(); }
FIRN_REGISTER_KERNELS(sinc_grad) { return cuda::FloatKernels<SincGradFn, 2>(); }
FIRN_REGISTER_KERNELS(lgamma) { return cuda::FloatKernels<LgammaFn>(); }
FIRN_REGISTER_KERNELS(digamma) { return cuda::FloatKernels<DigammaFn>(); }
FIRN_REGISTER_KERNELS(digamma_grad) { return cuda::FloatKernels<DigammaGradFn, 2>(); }

}  // namespace firn::special_cuda
