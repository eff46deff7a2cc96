// matmul by cuBLASLt.

#include "firn/tensor/kernels/cuda/blas.h"
#include "firn/tensor/ops/linear/matmul.h"

namespace firn {
namespace {

struct Product {
  static constexpr int kBias = -1;
  static MatmulPlan Plan(const TensorSpec& a, const TensorSpec& b, AttrsRef attrs) {
    const MatmulAttrs& at = attrs.get<MatmulAttrs>();
    return PlanMatmul(a, at.transpose_a, b, at.transpose_b);
  }
};

}  // namespace

FIRN_REGISTER_KERNELS(matmul) { return cuda::BlasKernels<Product>(); }

}  // namespace firn
