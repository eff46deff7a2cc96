// linear as its definition, for what cuBLAS does not take (linear_cuda.cc).

#include "tensor/kernels/cuda/matmul.cuh"

namespace firn::linear_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  const MatmulPlan plan = PlanMatmul(k.in_spec(0), false, k.in_spec(1), true);
  return VisitFloat(k.in_spec(0).dtype,
                    [&]<class T>(TypeTag<T>) { return cuda::Multiply<T>(k, plan, 2); });
}

}  // namespace

FIRN_REGISTER_KERNELS(linear) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run, .takes = Takes::kStrided}};
}

}  // namespace firn::linear_cuda
