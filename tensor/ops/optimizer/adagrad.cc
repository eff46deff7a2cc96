// Optimizers' steps, which are rules: see adagrad_fn.h.

#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/ops/optimizer/adagrad_fn.h"

namespace firn {

FIRN_REGISTER_OP(adagrad_step) {
  return cpu::OptimizerOp<AdagradRule>(
      "One step of Adagrad for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(adadelta_step) {
  return cpu::OptimizerOp<AdadeltaRule>(
      "One step of Adadelta for all parameters, in place. Not differentiable.");
}

}  // namespace firn
