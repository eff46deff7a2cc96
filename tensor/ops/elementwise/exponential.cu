#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/exponential_fn.h"

namespace firn::exponential_cuda {

FIRN_REGISTER_KERNELS(exp) { return cuda::FloatKernels<ExpFn>(); }
FIRN_REGISTER_KERNELS(exp2) { return cuda::FloatKernels<Exp2Fn>(); }
FIRN_REGISTER_KERNELS(expm1) { return cuda::FloatKernels<Expm1Fn>(); }
FIRN_REGISTER_KERNELS(log) { return cuda::FloatKernels<LogFn>(); }
FIRN_REGISTER_KERNELS(log1p) { return cuda::FloatKernels<Log1pFn>(); }
FIRN_REGISTER_KERNELS(log2) { return cuda::FloatKernels<Log2Fn>(); }
FIRN_REGISTER_KERNELS(log10) { return cuda::FloatKernels<Log10Fn>(); }
FIRN_REGISTER_KERNELS(logaddexp) { return cuda::FloatKernels<LogaddexpFn, 2>(); }

}  // namespace firn::exponential_cuda
