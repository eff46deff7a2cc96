// matmul by its definition, for integers and other calls that cuBLAS does not take
// (matmul_cuda.cc).

#include "firn/tensor/kernels/cuda/matmul.cuh"
#include "firn/tensor/ops/linear/matmul.h"

namespace firn::matmul_cuda {
namespace {

absl::Status Run(KernelContext& k) {
  const MatmulAttrs& at = k.attrs<MatmulAttrs>();
  const MatmulPlan plan = PlanMatmul(k.in_spec(0), at.transpose_a, k.in_spec(1), at.transpose_b);
  return VisitNumeric(k.in_spec(0).dtype,
                      [&]<class T>(TypeTag<T>) { return cuda::Multiply<T>(k, plan, -1); });
}

}  // namespace

FIRN_REGISTER_KERNELS(matmul) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run, .takes = Takes::kStrided}};
}

}  // namespace firn::matmul_cuda
