// where: values are only moved, so that dtypes of one size share a loop.

#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/choose_fn.h"

namespace firn::choose_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  switch (SizeOf(k.in_spec(1).dtype)) {
    case 1:
      return cuda::ElementwiseLoop<uint8_t, bool, uint8_t, uint8_t>(k, WhereFn());
    case 2:
      return cuda::ElementwiseLoop<uint16_t, bool, uint16_t, uint16_t>(k, WhereFn());
    case 4:
      return cuda::ElementwiseLoop<uint32_t, bool, uint32_t, uint32_t>(k, WhereFn());
    default:
      return cuda::ElementwiseLoop<uint64_t, bool, uint64_t, uint64_t>(k, WhereFn());
  }
}

FIRN_REGISTER_KERNELS(where) { return cuda::ElementwiseKernels(Run); }
FIRN_REGISTER_KERNELS(nan_to_num) { return cuda::NumericKernels<NanToNumFn>(); }
FIRN_REGISTER_KERNELS(lerp) { return cuda::FloatKernels<LerpFn, 3>(); }

}  // namespace
}  // namespace firn::choose_cuda
