#include "tensor/kernels/cuda/elementwise_loss.cuh"
#include "tensor/ops/smooth_l1_loss_fn.h"

namespace firn::smooth_l1_loss_cuda {

FIRN_REGISTER_KERNELS(smooth_l1_loss) { return cuda::ElementwiseLossKernels<SmoothL1LossFn>(); }

}  // namespace firn::smooth_l1_loss_cuda
