// dropout, whose words are behind the state, and its gradient, which reads the choice.

#include "firn/tensor/kernels/cuda/dropout.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/ops/random/dropout.h"

namespace firn::dropout_cuda {
namespace {

absl::Status RunDropout(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(cuda::DropElements(k, k.in<int64_t>(1), k.attrs<DropoutAttrs>().p));
  return cuda::TakeCounters(k, 1, CeilDiv(k.in_spec(0).num_elements(), 4));
}

FIRN_REGISTER_KERNELS(dropout) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunDropout}};
}

absl::Status RunDropoutGrad(KernelContext& k) {
  return cuda::DropAgain(k, k.attrs<DropoutAttrs>().p);
}

FIRN_REGISTER_KERNELS(dropout_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunDropoutGrad}};
}

}  // namespace
}  // namespace firn::dropout_cuda
