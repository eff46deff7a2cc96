#include "tensor/kernels/cuda/elementwise.cuh"
#include "tensor/ops/hardtanh_fn.h"

namespace firn::hardtanh_cuda {

FIRN_REGISTER_KERNELS(hardtanh) { return cuda::FloatKernels<HardtanhFn>(); }
FIRN_REGISTER_KERNELS(hardtanh_grad) { return cuda::FloatKernels<HardtanhGradFn, 2>(); }

}  // namespace firn::hardtanh_cuda
