#include "tensor/kernels/cuda/elementwise_loss.cuh"
#include "tensor/ops/mse_loss_fn.h"

namespace firn::mse_loss_cuda {

FIRN_REGISTER_KERNELS(mse_loss) { return cuda::ElementwiseLossKernels<MseLossFn>(); }

}  // namespace firn::mse_loss_cuda
