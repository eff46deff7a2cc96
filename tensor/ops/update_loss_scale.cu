// update_loss_scale on CUDA: one thread.
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/ops/update_loss_scale_fn.h"

namespace firn::update_loss_scale_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  return cuda::ForEach(k, 1,
                       UpdateLossScaleFn{k.attrs<UpdateLossScaleAttrs>(), k.inout<float>(0),
                                         k.inout<int64_t>(1), k.inout<bool>(2), k.in<bool>(3)});
}

FIRN_REGISTER_KERNELS(update_loss_scale) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::update_loss_scale_cuda
