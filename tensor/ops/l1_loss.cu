#include "tensor/kernels/cuda/elementwise_loss.cuh"
#include "tensor/ops/l1_loss_fn.h"

namespace firn::l1_loss_cuda {

FIRN_REGISTER_KERNELS(l1_loss) { return cuda::ElementwiseLossKernels<L1LossFn>(); }

}  // namespace firn::l1_loss_cuda
