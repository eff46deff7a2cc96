#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/activation/sigmoids_fn.h"

namespace firn::sigmoids_cuda {

FIRN_REGISTER_KERNELS(sigmoid) { return cuda::FloatKernels<SigmoidFn>(); }
FIRN_REGISTER_KERNELS(sigmoid_grad) { return cuda::FloatKernels<SigmoidGradFn, 2>(); }

FIRN_REGISTER_KERNELS(log_sigmoid) { return cuda::FloatKernels<LogSigmoidFn>(); }
FIRN_REGISTER_KERNELS(log_sigmoid_grad) { return cuda::FloatKernels<LogSigmoidGradFn, 2>(); }

FIRN_REGISTER_KERNELS(tanh) { return cuda::FloatKernels<TanhFn>(); }
FIRN_REGISTER_KERNELS(tanh_grad) { return cuda::FloatKernels<TanhGradFn, 2>(); }

FIRN_REGISTER_KERNELS(softsign) { return cuda::FloatKernels<SoftsignFn>(); }

FIRN_REGISTER_KERNELS(silu) { return cuda::FloatKernels<SiluFn>(); }
FIRN_REGISTER_KERNELS(silu_grad) { return cuda::FloatKernels<SiluGradFn, 2>(); }

FIRN_REGISTER_KERNELS(gelu) { return cuda::FloatKernels<EitherGelu<GeluFn, GeluTanhFn>>(); }
FIRN_REGISTER_KERNELS(gelu_grad) {
  return cuda::FloatKernels<EitherGelu<GeluGradFn, GeluTanhGradFn>, 2>();
}

FIRN_REGISTER_KERNELS(softplus) { return cuda::FloatKernels<SoftplusFn>(); }
FIRN_REGISTER_KERNELS(softplus_grad) { return cuda::FloatKernels<SoftplusGradFn, 2>(); }

FIRN_REGISTER_KERNELS(mish) { return cuda::FloatKernels<MishFn>(); }
FIRN_REGISTER_KERNELS(mish_grad) { return cuda::FloatKernels<MishGradFn, 2>(); }

FIRN_REGISTER_KERNELS(logit) { return cuda::FloatKernels<LogitFn>(); }
FIRN_REGISTER_KERNELS(logit_grad) { return cuda::FloatKernels<LogitGradFn, 2>(); }

}  // namespace firn::sigmoids_cuda
