// sgd_step: see sgd_fn.h.

#include "tensor/kernels/cpu/optimizer_step.h"
#include "tensor/ops/optimizer/sgd_fn.h"

namespace firn {

FIRN_REGISTER_OP(sgd_step) {
  return cpu::OptimizerOp<SgdRule>(
      "One step of gradient descent with momentum for all parameters, in place. Not "
      "differentiable.");
}

}  // namespace firn
