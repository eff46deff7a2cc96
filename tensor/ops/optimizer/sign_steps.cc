// Optimizers' steps, which are rules: see sign_steps_fn.h.

#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/ops/optimizer/sign_steps_fn.h"

namespace firn {

FIRN_REGISTER_OP(lion_step) {
  return cpu::OptimizerOp<LionRule>(
      "One step of Lion for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(rprop_step) {
  return cpu::OptimizerOp<RpropRule>(
      "One step of Rprop for all parameters, in place. Not differentiable.");
}

}  // namespace firn
