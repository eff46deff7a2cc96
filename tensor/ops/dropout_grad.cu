// dropout_grad: dropout behind a position that an input holds.
#include "tensor/kernels/cuda/dropout.cuh"
#include "tensor/ops/dropout_grad.h"

namespace firn::dropout_grad_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  return cuda::DropElements(k, k.in<int64_t>(1), k.attrs<DropoutAttrs>().p);
}

FIRN_REGISTER_KERNELS(dropout_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::dropout_grad_cuda
