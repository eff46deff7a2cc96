#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/kernels/cuda/random.cuh"
#include "firn/tensor/ops/random/distributions_body.h"

namespace firn::distributions_cuda {
namespace {

absl::Status RunBinomial(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(DrawBinomial(cuda::Runner(k), k, k.in<int64_t>(0)));
  return cuda::TakeCounters(k, 0, k.out_spec().num_elements());
}

FIRN_REGISTER_KERNELS(binomial) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunBinomial}};
}

absl::Status RunRandGamma(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(DrawGamma(cuda::Runner(k), k, k.in<int64_t>(0)));
  return cuda::TakeCounters(k, 0, k.out_spec().num_elements());
}

FIRN_REGISTER_KERNELS(rand_gamma) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunRandGamma}};
}

FIRN_REGISTER_KERNELS(rand_gamma_grad) { return cuda::Portable<RandGammaGradKernel>(); }

}  // namespace
}  // namespace firn::distributions_cuda
