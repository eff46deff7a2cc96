// Optimizers' steps, which are rules: see trust_ratio_fn.h.

#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/ops/optimizer/trust_ratio_fn.h"

namespace firn {

FIRN_REGISTER_OP(lamb_step) {
  return cpu::OptimizerOp<LambRule>(
      "One step of LAMB for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(lars_step) {
  return cpu::OptimizerOp<LarsRule>(
      "One step of LARS for all parameters, in place. Not differentiable.");
}

}  // namespace firn
