#include "tensor/kernels/cuda/elementwise_loss.cuh"
#include "tensor/ops/kl_div_fn.h"

namespace firn::kl_div_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  return k.attrs<KlDivAttrs>().log_target ? cuda::RunElementwiseLoss<KlDivLogFn>(k)
                                          : cuda::RunElementwiseLoss<KlDivFn>(k);
}

}  // namespace

FIRN_REGISTER_KERNELS(kl_div) { return cuda::ElementwiseLossKernels<KlDivFn>(Run); }

}  // namespace firn::kl_div_cuda
