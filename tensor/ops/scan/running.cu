#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/scan/running_body.h"

namespace firn::running_cuda {

FIRN_REGISTER_KERNELS(running_extreme) { return cuda::Portable<RunningExtremeKernel>(); }
FIRN_REGISTER_KERNELS(logcumsumexp) { return cuda::Portable<LogcumsumexpKernel>(); }

}  // namespace firn::running_cuda
