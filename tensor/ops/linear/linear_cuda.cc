// linear by cuBLASLt, which adds the bias as it writes the product.

#include "firn/tensor/kernels/cuda/blas.h"
#include "firn/tensor/ops/linear/linear.h"

namespace firn {
namespace {

struct Product {
  static constexpr int kBias = LinearIn::kBias;
  static MatmulPlan Plan(const TensorSpec& x, const TensorSpec& weight, AttrsRef) {
    return PlanMatmul(x, false, weight, true);
  }
};

}  // namespace

FIRN_REGISTER_KERNELS(linear) { return cuda::BlasKernels<Product>(); }

}  // namespace firn
