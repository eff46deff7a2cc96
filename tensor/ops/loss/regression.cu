#include "firn/tensor/kernels/cuda/elementwise_loss.cuh"
#include "firn/tensor/ops/loss/regression_fn.h"

namespace firn::regression_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  return k.attrs<KlDivAttrs>().log_target ? cuda::RunElementwiseLoss<KlDivLogFn>(k)
                                          : cuda::RunElementwiseLoss<KlDivFn>(k);
}

}  // namespace

FIRN_REGISTER_KERNELS(l1_loss) { return cuda::ElementwiseLossKernels<L1LossFn>(); }

FIRN_REGISTER_KERNELS(mse_loss) { return cuda::ElementwiseLossKernels<MseLossFn>(); }

FIRN_REGISTER_KERNELS(smooth_l1_loss) { return cuda::ElementwiseLossKernels<SmoothL1LossFn>(); }

FIRN_REGISTER_KERNELS(kl_div) { return cuda::ElementwiseLossKernels<KlDivFn>(Run); }

}  // namespace firn::regression_cuda
