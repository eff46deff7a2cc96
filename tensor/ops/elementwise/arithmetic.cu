#include "firn/tensor/kernels/cuda/elementwise.cuh"
#include "firn/tensor/kernels/sum_of_many.h"
#include "firn/tensor/ops/elementwise/arithmetic_fn.h"

namespace firn::arithmetic_cuda {
namespace {

absl::Status RunAddN(KernelContext& k) {
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return SumOfMany<T>(k, []<class Out, class First, class In>(KernelContext& pass, int count) {
      return cuda::ElementwiseLoop<Out, First, In, In, In>(pass, AddSomeFn{count});
    });
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(add) { return cuda::AnyKernels<AddAnyFn, 2>(); }

FIRN_REGISTER_KERNELS(add_n) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = WorkspaceOfSum,
           .run = RunAddN,
           .takes = Takes::kElementwise}};
}

FIRN_REGISTER_KERNELS(sub) { return cuda::NumericKernels<SubScaledFn, 2>(); }

FIRN_REGISTER_KERNELS(mul) { return cuda::AnyKernels<MulFn, 2>(); }

FIRN_REGISTER_KERNELS(div) { return cuda::NumericKernels<DivAnyFn, 2>(); }

FIRN_REGISTER_KERNELS(addcmul) { return cuda::FloatKernels<AddcmulFn, 3>(); }

FIRN_REGISTER_KERNELS(addcdiv) { return cuda::FloatKernels<AddcdivFn, 3>(); }

}  // namespace firn::arithmetic_cuda
