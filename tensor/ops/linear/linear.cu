// linear by its definition, for calls that cuBLAS does not take (linear_cuda.cc).

#include "firn/tensor/kernels/cuda/matmul.cuh"
#include "firn/tensor/ops/linear/linear.h"

namespace firn::linear_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  using In = LinearIn;
  const MatmulPlan plan = PlanMatmul(k.in_spec(In::kX), false, k.in_spec(In::kWeight), true);
  return VisitFloat(k.in_spec(In::kX).dtype,
                    [&]<class T>(TypeTag<T>) { return cuda::Multiply<T>(k, plan, In::kBias); });
}

}  // namespace

FIRN_REGISTER_KERNELS(linear) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run, .takes = Takes::kStrided}};
}

}  // namespace firn::linear_cuda
