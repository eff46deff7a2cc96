// adam_step: see adam_fn.h.

#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/ops/optimizer/adam_fn.h"

namespace firn {

FIRN_REGISTER_OP(adam_step) {
  return cpu::OptimizerOp<AdamRule>(
      "One step of Adam, AdamW or AMSGrad for all parameters, in place. Not differentiable.");
}

}  // namespace firn
