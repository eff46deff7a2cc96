#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/activation/rectifiers_fn.h"

namespace firn::rectifiers_cuda {

FIRN_REGISTER_KERNELS(relu) { return cuda::NumericKernels<ReluFn>(); }
FIRN_REGISTER_KERNELS(relu_grad) { return cuda::FloatKernels<ReluGradFn, 2>(); }

FIRN_REGISTER_KERNELS(leaky_relu) { return cuda::FloatKernels<LeakyReluFn>(); }
FIRN_REGISTER_KERNELS(leaky_relu_grad) { return cuda::FloatKernels<LeakyReluGradFn, 2>(); }

FIRN_REGISTER_KERNELS(prelu) { return cuda::FloatKernels<PreluFn, 2>(); }

FIRN_REGISTER_KERNELS(threshold) { return cuda::FloatKernels<ThresholdFn>(); }
FIRN_REGISTER_KERNELS(threshold_grad) { return cuda::FloatKernels<ThresholdGradFn, 2>(); }

FIRN_REGISTER_KERNELS(hardtanh) { return cuda::FloatKernels<HardtanhFn>(); }
FIRN_REGISTER_KERNELS(hardtanh_grad) { return cuda::FloatKernels<HardtanhGradFn, 2>(); }

FIRN_REGISTER_KERNELS(hardsigmoid) { return cuda::FloatKernels<HardsigmoidFn>(); }
FIRN_REGISTER_KERNELS(hardsigmoid_grad) { return cuda::FloatKernels<HardsigmoidGradFn, 2>(); }

FIRN_REGISTER_KERNELS(hardswish) { return cuda::FloatKernels<HardswishFn>(); }
FIRN_REGISTER_KERNELS(hardswish_grad) { return cuda::FloatKernels<HardswishGradFn, 2>(); }

FIRN_REGISTER_KERNELS(elu) { return cuda::FloatKernels<EluFn>(); }
FIRN_REGISTER_KERNELS(elu_grad) { return cuda::FloatKernels<EluGradFn, 2>(); }

}  // namespace firn::rectifiers_cuda
