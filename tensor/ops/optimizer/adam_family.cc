// Optimizers' steps, which are rules: see adam_family_fn.h.

#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/ops/optimizer/adam_family_fn.h"

namespace firn {

FIRN_REGISTER_OP(adamax_step) {
  return cpu::OptimizerOp<AdamaxRule>(
      "One step of Adamax for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(nadam_step) {
  return cpu::OptimizerOp<NadamRule>(
      "One step of Nadam for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(radam_step) {
  return cpu::OptimizerOp<RadamRule>(
      "One step of rectified Adam for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(adabelief_step) {
  return cpu::OptimizerOp<AdabeliefRule>(
      "One step of AdaBelief for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(adabound_step) {
  return cpu::OptimizerOp<AdaboundRule>(
      "One step of AdaBound for all parameters, in place. Not differentiable.");
}

}  // namespace firn
