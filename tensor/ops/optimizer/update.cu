// accumulate on CUDA: the elementwise sum, written over the target.

#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/ops/elementwise/arithmetic_fn.h"
#include "firn/tensor/ops/optimizer/update.h"

namespace firn::update_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  KernelContext in_place(k.operands_in(), k.operands_in().subspan(0, 1), k.attrs_ref(), nullptr);
  in_place.set_stream(k.stream());
  return cuda::RunAny<AddFn, 2>(in_place);
}

FIRN_REGISTER_KERNELS(accumulate) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run, .takes = Takes::kStrided}};
}

}  // namespace
}  // namespace firn::update_cuda
