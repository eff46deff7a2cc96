#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/trigonometry_fn.h"

namespace firn::trigonometry_cuda {

FIRN_REGISTER_KERNELS(sin) { return cuda::FloatKernels<SinFn>(); }
FIRN_REGISTER_KERNELS(cos) { return cuda::FloatKernels<CosFn>(); }
FIRN_REGISTER_KERNELS(tan) { return cuda::FloatKernels<TanFn>(); }
FIRN_REGISTER_KERNELS(asin) { return cuda::FloatKernels<AsinFn>(); }
FIRN_REGISTER_KERNELS(acos) { return cuda::FloatKernels<AcosFn>(); }
FIRN_REGISTER_KERNELS(atan) { return cuda::FloatKernels<AtanFn>(); }
FIRN_REGISTER_KERNELS(sinh) { return cuda::FloatKernels<SinhFn>(); }
FIRN_REGISTER_KERNELS(cosh) { return cuda::FloatKernels<CoshFn>(); }
FIRN_REGISTER_KERNELS(asinh) { return cuda::FloatKernels<AsinhFn>(); }
FIRN_REGISTER_KERNELS(acosh) { return cuda::FloatKernels<AcoshFn>(); }
FIRN_REGISTER_KERNELS(atanh) { return cuda::FloatKernels<AtanhFn>(); }
FIRN_REGISTER_KERNELS(atan2) { return cuda::FloatKernels<Atan2Fn, 2>(); }
FIRN_REGISTER_KERNELS(atan2_grad) { return cuda::FloatKernels<Atan2GradFn, 3>(); }

}  // namespace firn::trigonometry_cuda
