#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/shape/pad_body.h"

namespace firn::pad_cuda {

FIRN_REGISTER_KERNELS(pad) { return cuda::Portable<PadKernel>(); }
FIRN_REGISTER_KERNELS(pad_grad) { return cuda::Portable<PadGradKernelOf<UnpadBody>>(); }

}  // namespace firn::pad_cuda
