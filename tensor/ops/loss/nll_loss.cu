#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/loss/nll_loss_body.h"

namespace firn::nll_loss_cuda {

FIRN_REGISTER_KERNELS(nll_loss) { return cuda::Portable<NllLossKernel>(); }
FIRN_REGISTER_KERNELS(nll_loss_grad) { return cuda::Portable<NllLossGradKernel>(); }

}  // namespace firn::nll_loss_cuda
