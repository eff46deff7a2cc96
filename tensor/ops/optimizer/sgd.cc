// sgd_step: see sgd_fn.h.

#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/ops/optimizer/sgd_fn.h"

namespace firn {

FIRN_REGISTER_OP(sgd_step) {
  return cpu::OptimizerOp<SgdRule>(
      "One step of gradient descent with momentum for all parameters, in place. Not "
      "differentiable.");
}

}  // namespace firn
